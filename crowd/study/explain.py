"""What pydantic found wrong, in words that say what to do."""

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from crowd.study import notation
from crowd.study.locate import Path
from crowd.study.problems import Code
from crowd.study.values import Amount, Period


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that knows its field but not yet its line. `meant`: the key that was probably misspelt."""

    code: Code
    path: Path
    what: str
    remedy: str
    meant: str = ""


_TYPES = {
    "string_type": ("a string", 'Write it in quotes: "…".'),
    "int_type": ("a whole number", "Write a whole number, without quotes."),
    "float_type": ("a number", "Write a number, without quotes."),
    "bool_type": ("a switch", "Write true or false, without quotes."),
    "dict_type": ("a table", "Write a table: its name in square brackets, its keys below."),
    "model_type": ("a table", "Write a table: its name in square brackets, its keys below."),
    "list_type": ("a list", "Write a list: [one, another]."),
    "tuple_type": ("a list", "Write a list: [one, another]."),
    "mapping_type": ("a table", "Write a table: its name in square brackets, its keys below."),
}
_BOUNDS = {
    "greater_than": "it must be above {gt}",
    "greater_than_equal": "it must be at least {ge}",
    "less_than": "it must be below {lt}",
    "less_than_equal": "it must be at most {le}",
    "string_too_short": "it must have at least {min_length} characters",
    "string_too_long": "it must have at most {max_length} characters",
    "too_short": "it must have at least {min_length} entries",
    "too_long": "it must have at most {max_length} entries",
}
#: Types of errors that values.py and schema.py raise themselves.
_OURS: dict[str, Code] = {
    "wrong-type": "wrong-type",
    "out-of-bounds": "out-of-bounds",
    "not-together": "not-together",
}
_LONGEST_SHOWN = 60


def findings(
    error: ValidationError, model: type[BaseModel], data: object, at: Path = ()
) -> Iterator[Finding]:
    """All that a failed validation of `data` found, once per field; `at` is where the data stands."""
    found: dict[tuple[Path, str], Finding] = {}
    for details in error.errors(include_url=False):
        finding = _finding(cast(dict[str, Any], details), model, data, at)
        found.setdefault((finding.path, finding.code), finding)
    misspelt = {(*finding.path[:-1], finding.meant) for finding in found.values() if finding.meant}
    around = {path[:end] for path, _ in found for end in range(len(path))}
    for finding in found.values():
        follows = finding.code == "missing" and finding.path in misspelt
        if not follows and not (finding.code == "out-of-bounds" and finding.path in around):
            yield finding


def _finding(details: dict[str, Any], model: type[BaseModel], data: object, at: Path) -> Finding:
    kind, value, context = str(details["type"]), details["input"], details.get("ctx") or {}
    loc = _path_in(data, details["loc"], absent=kind == "missing")
    path, hint = (*at, *loc), _hint(field_at(model, loc))
    if kind == "extra_forbidden":
        found = unknown_key(path, keys_at(model, loc[:-1]))
    elif kind == "missing":
        found = Finding("missing", path, "this is missing", _joined("Add it.", hint))
    elif kind in _TYPES:
        wanted, remedy = _TYPES[kind]
        found = Finding("wrong-type", path, f"{shown(value)} is not {wanted}", _joined(remedy, hint))
    elif kind in _BOUNDS:
        words = _BOUNDS[kind].format(**context)
        found = Finding("out-of-bounds", path, f"{shown(value)}: {words}", hint or "Change it.")
    elif kind == "literal_error":
        found = _not_one_of(path, value, str(context.get("expected", "")))
    elif kind == "string_pattern_mismatch":
        found = Finding("wrong-value", path, f"{shown(value)} cannot stand here", hint or "Change it.")
    else:
        message = str(details["msg"]).removeprefix("Value error, ").rstrip(".")
        what = message if isinstance(value, Mapping) else f"{shown(value)}: {message}"
        found = Finding(_OURS.get(kind, "wrong-value"), path, what, hint or "Change what the sentence names.")
    return found


def unknown_key(path: Path, known: list[str]) -> Finding:
    """A key that means nothing here; the closest known one is named."""
    key = str(path[-1])[:60] if path else ""
    close = get_close_matches(key, known, n=1, cutoff=0.5)
    remedy = (
        f"Did you mean {close[0]!r}?"
        if close
        else f"Known here: {', '.join(sorted(known))}."
        if known
        else "Take it out."
    )
    return Finding("unknown-key", path, f"there is no field {key!r} here", remedy, *close)


def not_known(code: Code, path: Path, what: str, name: str, known: list[str]) -> Finding:
    """A name that nothing has; the closest one is named."""
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    there_are = f"There are: {', '.join(sorted(known)[:20])}." if known else "There are none yet."
    return Finding(code, path, what, f"Did you mean {close[0]!r}?" if close else there_are)


def _not_one_of(path: Path, value: object, expected: str) -> Finding:
    words = [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
    close = get_close_matches(str(value), words, n=1, cutoff=0.5)
    remedy = (f"Did you mean {close[0]!r}? " if close else "") + f"Choose one of: {', '.join(words)}."
    return Finding("wrong-value", path, f"{shown(value)} is none of the choices", remedy)


def shown(value: object) -> str:
    """A value as the file would have it, cut where it is long."""
    text = notation.value(value, width=1_000_000)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def _path_in(data: object, loc: tuple[str | int, ...], *, absent: bool) -> Path:
    """pydantic's location as it stands in the data, without the names of choices that pydantic adds.

    `absent`: the last part is a key that is not there.
    """
    path: list[str | int] = []
    for number, part in enumerate(loc):
        inside = (
            data if isinstance(data, Mapping) else dict(enumerate(data)) if isinstance(data, list) else {}
        )
        if part in inside:
            data = inside[part]
        elif not (absent and number == len(loc) - 1):
            continue
        path.append(part)
    return tuple(path)


def _hint(field: FieldInfo | None) -> str:
    """What a field takes, and what it is for."""
    if field is None:
        return ""
    for mark in marks(field):
        if isinstance(mark, Amount):
            return f'Write an amount such as "0.15", {mark.words()}. {field.description or ""}'.strip()
        if isinstance(mark, Period):
            return f'Write a duration such as "30m", "2h" or "7d", {mark.words()}. {field.description or ""}'
    return field.description or ""


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def marks(field: FieldInfo) -> list[Any]:
    """What is attached to a field's type, also inside an optional one."""
    found = list(field.metadata)
    for inner in (field.annotation, *get_args(field.annotation)):
        if get_origin(inner) is Annotated:
            found += get_args(inner)[1:]
    return found


def field_at(model: type[BaseModel], path: Path) -> FieldInfo | None:
    """The innermost field of a model on a path, through tables, lists and choices; None where none is."""
    return _walk(model, path)[0]


def keys_at(model: type[BaseModel], path: Path) -> list[str]:
    """Names of the keys that a table at a path can have."""
    return [
        name
        for annotation in _walk(model, path)[1]
        if isinstance(annotation, type) and issubclass(annotation, BaseModel)
        for name in annotation.model_fields
    ]


def _walk(model: type[BaseModel], path: Path) -> tuple[FieldInfo | None, list[Any]]:
    field: FieldInfo | None = None
    here: list[Any] = [model]
    for part in path:
        inside: list[Any] = []
        for annotation in here:
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                if part in annotation.model_fields:
                    field = annotation.model_fields[str(part)]
                    inside += plain_types(field.annotation)
            elif get_origin(annotation) in (dict, Mapping) or isinstance(part, int):
                inside += [
                    plain
                    for inner in get_args(annotation)[-1 if isinstance(part, str) else 0 :]
                    for plain in plain_types(inner)
                ]
        if not inside:
            return None, []
        here = inside
    return field, here


def plain_types(annotation: Any) -> list[Any]:
    """The types that a field can have, without marks and choices."""
    if get_origin(annotation) is Annotated:
        return plain_types(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [plain for inner in get_args(annotation) for plain in plain_types(inner)]
    return [annotation]
