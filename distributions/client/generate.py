"""Writes what the client knows of the API from `docs/openapi.json`: models, and a method for each operation.

    python distributions/client/generate.py        # into the sources, where git ignores it; `make client`

It also writes the modules without asyncio from those for asyncio, so that both clients are the same. A build of
the package does the same (`setup.py`). The names that programs use are in `tests/contracts/snapshots/client.txt`.
"""

import json
import keyword
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "distillery_client"
#: In the repository; a source distribution has a copy of its own.
SCHEMA = HERE.parent.parent / "docs" / "openapi.json"
SCHEMA_COPY = HERE / "openapi.json"
_HEAD = "Written from docs/openapi.json by `generate.py`; not by hand."
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_PAGE = re.compile(r"Page_(\w+?)_$")
#: A parameter that the client sends by itself unless it is given.
_KEY = "Idempotency-Key"
#: Media types of answers, and parameters that only pages have.
_JSON, _LINES = "application/json", "application/jsonl"
_OF_PAGES = ("limit", "cursor", "order")
#: Modules for asyncio, and those that are written from them.
_TWINS = {
    "async_client.py": "client.py",
    "async_rows.py": "rows.py",
    "async_transfers.py": "transfers.py",
}
#: Patterns and their replacements without asyncio, applied in this order.
_SYNC = (
    (r"\b(async def|async with|async for)\b", lambda found: found[1].removeprefix("async ")),
    (r"\bawait asyncio\.sleep\(", "time.sleep("),
    (r"\bawait ", ""),
    (r"Awaitable\[(models\.Page\[Item\])\]", r"\1"),
    (r"\bAwaitable, ", ""),
    (r"__a(enter|exit|iter)__", r"__\1__"),
    (r"\basync_", ""),
    (r"\ba(read|iter_bytes)\(", r"\1("),
    (r"\bAsync([A-Z]\w+)", r"\1"),
    (r"\bimport asyncio\n", "import time\n"),
    ("as a coroutine", "as a method"),
)


def read_schema() -> dict[str, Any]:
    """The schema of the version that the client belongs to."""
    path = SCHEMA_COPY if SCHEMA_COPY.exists() else SCHEMA
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def write_models(schema: dict[str, Any]) -> str:
    """A pydantic model, or an alias of literals, for each component that a body or an answer has."""
    reachable = _reachable(schema)
    parts = [
        f'"""Models of what the API takes and gives. {_HEAD}"""\n',
        "from __future__ import annotations\n",
        "from datetime import datetime\nfrom typing import Any, Generic, Literal, TypeVar\n",
        "from pydantic import BaseModel, ConfigDict\n",
        'Item = TypeVar("Item")\n\n',
        'class Model(BaseModel):\n    """Base of all: fields that a newer installation adds are kept."""\n\n'
        '    model_config = ConfigDict(extra="allow")\n\n',
        'class Page(Model, Generic[Item]):\n    """One page of a list."""\n\n    items: list[Item]\n'
        "    next: str | None = None\n\n",
    ]
    names = [name for name in sorted(schema["components"]["schemas"]) if name in reachable]
    for name in names:
        if not _PAGE.match(name):
            parts.append(_model(name, schema["components"]["schemas"][name]))
    return "\n".join(parts)


def write_operations(schema: dict[str, Any], *, is_async: bool) -> str:
    """A class with a method for each operation, which sends it by `self._send`, `_lines` or `_bytes`."""
    base = "AsyncSender" if is_async else "Sender"
    name = "AsyncOperations" if is_async else "Operations"
    kind = "coroutines" if is_async else "methods"
    lines = "AsyncIterator" if is_async else "Iterator"
    parts = [
        f'"""A {"coroutine" if is_async else "method"} for each operation of the API. {_HEAD}"""\n',
        "from __future__ import annotations\n",
        f"from collections.abc import {lines}, Mapping\nfrom datetime import datetime\nfrom typing import Any, Literal\n",
        "from distillery_client.generated import models\n"
        f"from distillery_client.sending import {'AsyncContent' if is_async else 'Content'}, {base}\n\n",
        f'class {name}({base}):\n    """All operations as {kind}, named as in the schema."""\n',
    ]
    for path, methods in sorted(schema["paths"].items()):
        for method, operation in sorted(methods.items()):
            for one in _by_media(operation):
                parts.append(_method(path, method, one, is_async=is_async))
    return "\n".join(parts)


def write_lines(schema: dict[str, Any]) -> str:
    """Names and kinds of the columns of every stream of lines, in the order of the installation."""
    columns: dict[str, dict[str, str]] = {}
    every = [each for methods in schema["paths"].values() for each in methods.values()]
    for operation in (one for each in every for one in _by_media(each)):
        for content in (_answer_of(operation) or {}).get("content", {}).values():
            if line := content.get("x-line"):
                columns[operation["operationId"]] = _columns(line)
    return (
        f'"""Columns of streams of rows. {_HEAD}"""\n\n'
        "#: By operation: name and kind; an empty kind stays as it comes.\n"
        f"COLUMNS: dict[str, dict[str, str]] = {json.dumps(dict(sorted(columns.items())), indent=4)}\n"
    )


def _columns(line: dict[str, Any]) -> dict[str, str]:
    properties = line["properties"]
    names = dict.fromkeys([*line.get("required", []), *properties])
    return {name: _kind(properties[name]) for name in names}


def _kind(field_schema: dict[str, Any]) -> str:
    """integer, number, boolean or time, also where it may be null; else empty."""
    every = [each for each in field_schema.get("anyOf", [field_schema]) if each.get("type") != "null"]
    kinds = {"time" if each.get("format") == "date-time" else each.get("type", "") for each in every}
    kind = kinds.pop() if len(kinds) == 1 else ""
    return kind if kind in ("integer", "number", "boolean", "time") else ""


def write_without_asyncio(name: str) -> str:
    """The text of a module without asyncio, from the one for asyncio."""
    text = (PACKAGE / name).read_text(encoding="utf-8")
    for pattern, instead in _SYNC:
        text = re.sub(pattern, instead, text)
    # The note goes at the end of the docstring, which is one line or ends with a line of quotes.
    docstring = re.match(r'"""(.+?)\n?"""\n', text, re.S)
    assert docstring, f"{name} has no docstring"
    note = f"Written from {name} by `generate.py`; not by hand."
    return f'"""{docstring[1]}\n\n{note}\n"""\n{text[docstring.end() :]}'


def _reachable(schema: dict[str, Any]) -> set[str]:
    """Names of components that bodies and answers lead to."""
    every = schema["components"]["schemas"]
    names: set[str] = set()
    waiting = [
        name
        for methods in schema["paths"].values()
        for operation in methods.values()
        for part in (operation.get("requestBody"), _answer_of(operation))
        for name in _references(part)
    ]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += _references(every[name])
    return names


def _answer_of(operation: dict[str, Any]) -> Any:
    return next((value for status, value in operation["responses"].items() if status < "300"), None)


def _by_media(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """The operation for each kind of answer: a list that also gives all its rows as lines is `export_…` too."""
    answer = _answer_of(operation) or {}
    contents = answer.get("content", {})
    if len(contents) < 2:
        return [operation]
    status = next(each for each, value in operation["responses"].items() if value is answer)
    page = {**operation, "responses": {status: {**answer, "content": {_JSON: contents[_JSON]}}}}
    lines = {
        **operation,
        "operationId": operation["operationId"].replace("list_", "export_", 1),
        "description": f"{operation['description']}\n\nAll rows, one at a time.",
        "parameters": [each for each in operation["parameters"] if each["name"] not in _OF_PAGES],
        "responses": {status: {**answer, "content": {_LINES: contents[_LINES]}}},
    }
    return [page, lines]


def _references(part: Any) -> list[str]:
    return re.findall(r"#/components/schemas/(\w+)", json.dumps(part))


def _model(name: str, model_schema: dict[str, Any]) -> str:
    if "enum" in model_schema:
        return f"{name} = Literal[{', '.join(json.dumps(each) for each in model_schema['enum'])}]\n"
    docstring = _docstring(model_schema.get("description", name), "    ")
    rows = [f"class {name}(Model):", f"    {docstring}", ""]
    required = model_schema.get("required", [])
    for field, of in model_schema.get("properties", {}).items():
        kind = _type(of)
        if field not in required:
            default = of.get("default")
            if isinstance(default, dict | list):
                kind, default = f"{kind} | None", None
            elif default is None and "None" not in kind.split(" | "):
                kind = f"{kind} | None"
            rows.append(f"    {field}: {kind} = {default!r}")
        else:
            rows.append(f"    {field}: {kind}")
    if len(rows) == 3:
        rows.pop()
    return "\n".join(rows) + "\n"


def _docstring(text: str, indent: str) -> str:
    lines = [line.rstrip() for line in text.strip().replace("\\", "\\\\").splitlines()]
    if len(lines) == 1:
        return f'"""{lines[0]}"""'
    rest = "\n".join(f"{indent}{line}".rstrip() for line in lines[1:])
    return f'"""{lines[0]}\n{rest}\n{indent}"""'


def _type(field_schema: dict[str, Any], prefix: str = "") -> str:
    if "$ref" in field_schema:
        return _named(field_schema["$ref"].rpartition("/")[2], prefix)
    if "allOf" in field_schema and len(field_schema["allOf"]) == 1:
        return _type(field_schema["allOf"][0], prefix)
    if "const" in field_schema:
        return f"Literal[{field_schema['const']!r}]"
    if "enum" in field_schema:
        return f"Literal[{', '.join(map(repr, field_schema['enum']))}]"
    if "anyOf" in field_schema:
        return " | ".join(dict.fromkeys(_type(each, prefix) for each in field_schema["anyOf"]))
    kind = field_schema.get("type")
    if kind == "array":
        return f"list[{_type(field_schema.get('items', {}), prefix)}]"
    if kind == "object":
        more = field_schema.get("additionalProperties", {})
        return f"dict[str, {_type(more, prefix) if isinstance(more, dict) and more else 'Any'}]"
    if kind == "string" and field_schema.get("format") == "date-time":
        return "datetime"
    return _SCALARS.get(kind or "", "Any")


def _named(name: str, prefix: str) -> str:
    page = _PAGE.match(name)
    return f"{prefix}Page[{prefix}{page[1]}]" if page else f"{prefix}{name}"


def _method(path: str, method: str, operation: dict[str, Any], *, is_async: bool) -> str:
    parameters = _Parameters(path, operation, is_async=is_async)
    answer = _answer_of(operation) or {}
    contents: dict[str, dict[str, Any]] = answer.get("content") or {"": {}}
    media, content = next(iter(contents.items()))
    define = "async def" if is_async else "def"
    wait = "await " if is_async else ""
    call = f'"{method.upper()}", {parameters.address}{parameters.sent}'
    if media == _JSON:
        kind = _type(content["schema"], "models.")
        body = f"return {wait}self._send({kind}, {call})"
        if " | None" in kind:
            body = f"return {wait}self._send_or_none({kind.replace(' | None', '')}, {call})"
    elif media == _LINES:
        define, wait = "def", ""
        kind = f"{'AsyncIterator' if is_async else 'Iterator'}[dict[str, Any]]"
        body = f"return self._lines({call})"
    elif media:
        kind, body = "bytes", f"return {wait}self._bytes({call})"
    else:
        kind, body = "None", f"{wait}self._send_nothing({call})"
    docstring = _docstring(operation.get("description") or operation["summary"], "        ")
    return f"    {define} {operation['operationId']}({parameters.signature}) -> {kind}:\n        {docstring}\n        {body}\n"


class _Parameters:
    """How an operation is called: the signature, the address, and what is sent."""

    def __init__(self, path: str, operation: dict[str, Any], *, is_async: bool) -> None:
        every = [each for each in operation.get("parameters", []) if each["name"] != _KEY]
        takes_key = any(each["name"] == _KEY for each in operation.get("parameters", []))
        inside = {each["name"]: each for each in every if each["in"] == "path"}
        query = [each for each in every if each["in"] == "query"]
        match = any(each["name"] == "If-Match" for each in every)
        names = re.findall(r"{(\w+)}", path)
        first = [f"{_safe(name)}: {_type(inside[name]['schema'], 'models.')}" for name in names]
        last: list[str] = []
        sent: list[str] = []
        self._add_body(operation, first, last, sent, "AsyncContent" if is_async else "Content")
        last += [f"{_safe(each['name'])}: {_optional(each['schema'])} = None" for each in query]
        if query:
            pairs = ", ".join(f'"{each["name"]}": {_safe(each["name"])}' for each in query)
            sent.append(f"query={{{pairs}}}")
        if match:
            last.append("if_match: str")
            sent.append("if_match=if_match")
        if takes_key:
            last.append("idempotency_key: str | None = None")
            sent.append("idempotency_key=idempotency_key")
        star = ["*", *sorted(last, key=lambda each: "=" in each)] if last else []
        self.signature = ", ".join(["self", *first, *star])
        place = re.sub(r"{(\w+)}", lambda placeholder: "{self._part(" + _safe(placeholder[1]) + ")}", path)
        self.address = f'f"{place}"' if names else f'"{path}"'
        self.sent = "".join(f", {each}" for each in sent)

    @staticmethod
    def _add_body(
        operation: dict[str, Any], first: list[str], last: list[str], sent: list[str], content_type: str
    ) -> None:
        body = operation.get("requestBody")
        if not body:
            return
        (media, content), *_ = body["content"].items()
        if media != _JSON:
            first.append(f"content: {content_type}")
            sent += ["content=content", f'media="{media}"']
            return
        kind = f"{_type(content['schema'], 'models.')} | Mapping[str, Any]"
        if body.get("required"):
            first.append(f"body: {kind}")
        else:
            last.append(f"body: {kind} | None = None")
        sent.append("body=body")


def _optional(field_schema: dict[str, Any]) -> str:
    kind = _type(field_schema, "models.")
    return kind if "None" in kind.split(" | ") else f"{kind} | None"


def _safe(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def write_all(package: Path) -> None:
    """Write all of it into this folder of the package."""
    schema = read_schema()
    texts = {
        "generated/__init__.py": f'"""Models and operations of the API. {_HEAD}"""\n',
        "generated/models.py": write_models(schema),
        "generated/operations.py": write_operations(schema, is_async=False),
        "generated/async_operations.py": write_operations(schema, is_async=True),
        "generated/lines.py": write_lines(schema),
        **{twin: write_without_asyncio(name) for name, twin in _TWINS.items()},
    }
    (package / "generated").mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (package / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_all(PACKAGE)
