"""Problems of a study's file in words, with the line that each is in, and where two documents differ."""

import re
import tomllib
import types
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from crowd.study.schema import Amount, Period

# Where in a TOML text a field is. The standard library reads values without their lines.
#
# The text is scanned once for its structure alone: headers, keys, arrays, inline tables. Where it is no TOML,
# what was found up to there is kept.

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_SPACE = re.compile(r"[ \t]*+")
_KEY = re.compile(r"""[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\[^\n])*+"|'[^'\n]*+'""")
_STRING = re.compile(
    r'''"""(?:[^\\]|\\.)*?""""{0,2}'''
    r"|'''.*?''''{0,2}"
    r'''|"(?:[^"\\\n]|\\[^\n])*+"'''
    r"|'[^'\n]*+'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\[\]{}#\n\"']++")


@dataclass(frozen=True, slots=True)
class Repeat:
    """A key or table that is given a second time."""

    path: Path
    first: int
    second: int


class _NotTomlError(Exception):
    """The text goes on in a way that is no TOML."""


class Locator:
    """Lines of all fields of a TOML text, by path: ("stages", 0, "task", "title")."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self.repeats: list[Repeat] = []
        self.text = text
        self._at = 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._sizes: dict[Path, int] = {}
        self._said: set[Path] = set()
        try:
            self._document()
        except (_NotTomlError, RecursionError):
            return

    def line(self, path: Path) -> int:
        """Line of a field; of the innermost table or array around it where the field itself is missing."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def _document(self) -> None:
        table: Path = ()
        while self._skip(_BLANK) < len(self.text):
            line = self._line()
            if self._take("[["):
                table = self._header(self._keys(), line, of_array=True)
                self._need("]]")
            elif self._take("["):
                table = self._header(self._keys(), line, of_array=False)
                self._need("]")
            else:
                self._pair(table)

    def _header(self, keys: list[str], line: int, *, of_array: bool) -> Path:
        path: Path = ()
        for key in keys[:-1]:
            path = (*path, key)
            self.lines.setdefault(path, line)
            if path in self._sizes:
                path = (*path, self._sizes[path] - 1)
        path = (*path, keys[-1])
        if of_array:
            self.lines.setdefault(path, line)
            self._sizes[path] = self._sizes.get(path, 0) + 1
            path = (*path, self._sizes[path] - 1)
        self._say(path, line)
        return path

    def _pair(self, table: Path) -> None:
        line = self._line()
        keys = self._keys()
        for end in range(1, len(keys)):
            self.lines.setdefault((*table, *keys[:end]), line)
        path = (*table, *keys)
        self._say(path, line)
        self._skip(_SPACE)
        self._need("=")
        self._skip(_SPACE)
        self._value(path)

    def _value(self, path: Path) -> None:
        if self._take("["):
            self._array(path)
        elif self._take("{"):
            while self._skip(_BLANK) < len(self.text) and not self._take("}"):
                self._pair(path)
                self._skip(_BLANK)
                self._take(",")
        elif match := _STRING.match(self.text, self._at) or _SCALAR.match(self.text, self._at):
            self._at = match.end()
        else:
            raise _NotTomlError

    def _array(self, path: Path) -> None:
        number = 0
        while self._skip(_BLANK) < len(self.text) and not self._take("]"):
            item = (*path, number)
            self.lines[item] = self._line()
            self._value(item)
            number += 1
            self._skip(_BLANK)
            self._take(",")

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_SPACE)
            match = _KEY.match(self.text, self._at)
            if match is None:
                raise _NotTomlError
            self._at = match.end()
            keys.append(_plain(match[0]))
            self._skip(_SPACE)
            if not self._take("."):
                return keys

    def _say(self, path: Path, line: int) -> None:
        if path in self._said:
            self.repeats.append(Repeat(path, self.lines[path], line))
        else:
            self._said.add(path)
            self.lines[path] = line

    def _line(self) -> int:
        return bisect_right(self._starts, self._at)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self._at)
        assert match is not None
        self._at = match.end()
        return self._at

    def _take(self, sign: str) -> bool:
        matches = self.text.startswith(sign, self._at)
        self._at += len(sign) * matches
        return matches

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise _NotTomlError


def _plain(key: str) -> str:
    if key[0] not in "\"'":
        return key
    try:
        return str(tomllib.loads(f"k = {key}")["k"])
    except tomllib.TOMLDecodeError as error:
        raise _NotTomlError from error


def spelled(path: Path) -> str:
    """A path as people write it: stages[0].task.title, config.checks."a b"."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            word = part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else '"' + part.replace('"', '\\"') + '"'
            text += f".{word}" if text else word
    return text


Code = Literal[
    "unreadable",
    "too-large",
    "not-utf8",
    "not-toml",
    "repeated",
    "unknown-key",
    "missing",
    "wrong-type",
    "wrong-value",
    "out-of-bounds",
    "not-together",
    "no-such-user",
    "no-such-kind",
    "no-such-endpoint",
    "no-such-stage",
    "no-such-name",
    "no-keys",
    "below-spent",
    "not-changeable",
    "refused",
    "caution",
    "commits-money",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it is, and what to do. A caution keeps nobody from applying."""

    code: Code
    file: str
    line: int
    field: str
    what: str
    remedy: str

    @property
    def caution(self) -> bool:
        """Worth a look, but no error."""
        return self.code in ("caution", "commits-money")

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " + (f"{self.field}: " if self.field else "")
        return f"{where}{'caution: ' if self.caution else ''}{self.what}\n    {self.remedy}"

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {"level": "caution" if self.caution else "error", **asdict(self)}


class StudyError(Exception):
    """A file that cannot be applied; `problems` says why, all of it at once."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


# TOML as text: keys, values, tables. The standard library only reads it.

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_WIDTH = 100


def table(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    """A table with the tables in it below; what is None has no place in TOML and means the default."""
    inner = {below: inside for below, inside in values.items() if isinstance(inside, dict) and inside}
    yield f"[{name}]"
    yield from pairs(without(values, *inner))
    for below, inside in inner.items():
        yield ""
        yield from table(f"{name}.{key(below)}", inside)


def pairs(values: Mapping[str, Any]) -> Iterator[str]:
    """A line for each key."""
    for name, entry in values.items():
        if entry is not None:
            yield f"{key(name)} = {value_text(entry)}"


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A table less some of its keys."""
    return {name: entry for name, entry in values.items() if name not in names}


def key(name: str) -> str:
    """A key, in quotes where it must have them."""
    return name if _BARE.fullmatch(name) else _string(name)


def value_text(entry: Any, *, width: int = _WIDTH) -> str:
    """A value; lists that are longer than `width` have a line for each item."""
    if isinstance(entry, bool):
        return "true" if entry else "false"
    if isinstance(entry, str):
        return _string(entry)
    if isinstance(entry, Mapping):
        return "{" + ", ".join(pairs(entry)) + "}"
    if isinstance(entry, list | tuple):
        items = [value_text(item) for item in entry if item is not None]
        short = f"[{', '.join(items)}]"
        return short if len(short) <= width else "[\n" + "".join(f"    {item},\n" for item in items) + "]"
    return repr(entry) if isinstance(entry, int | float) else str(entry)


def _string(text: str) -> str:
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    number = ord(character)
    return f"\\u{number:04X}" if number < 0x20 or number == 0x7F else character


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
    """All that a failed validation of `data` found, once per field; `at` is where the data is."""
    by_path: dict[tuple[Path, str], Finding] = {}
    for details in error.errors(include_url=False):
        finding = _finding(cast(dict[str, Any], details), model, data, at)
        by_path.setdefault((finding.path, finding.code), finding)
    misspelt = {(*finding.path[:-1], finding.meant) for finding in by_path.values() if finding.meant}
    around = {path[:end] for path, _ in by_path for end in range(len(path))}
    for finding in by_path.values():
        follows = finding.code == "missing" and finding.path in misspelt
        if not follows and not (finding.code == "out-of-bounds" and finding.path in around):
            yield finding


def _finding(details: dict[str, Any], model: type[BaseModel], data: object, at: Path) -> Finding:
    kind, value, context = str(details["type"]), details["input"], details.get("ctx") or {}
    loc = _path_in(data, details["loc"], absent=kind == "missing")
    loc = (*loc, *context.get("within", ()))
    path, hint = (*at, *loc), _hint(field_at(model, loc))
    if kind == "extra_forbidden":
        finding = unknown_key(path, keys_at(model, loc[:-1]))
    elif kind == "missing":
        finding = Finding("missing", path, "this is missing", _joined("Add it.", hint))
    elif kind in _TYPES:
        type_name, remedy = _TYPES[kind]
        finding = Finding(
            "wrong-type", path, f"{show_value(value)} is not {type_name}", _joined(remedy, hint)
        )
    elif kind in _BOUNDS:
        bounds = _BOUNDS[kind].format(**context)
        finding = Finding("out-of-bounds", path, f"{show_value(value)}: {bounds}", hint or "Change it.")
    elif kind == "literal_error":
        finding = _not_one_of(path, value, str(context.get("expected", "")))
    elif kind == "string_pattern_mismatch":
        finding = Finding(
            "wrong-value", path, f"{show_value(value)} cannot be used here", hint or "Change it."
        )
    else:
        message = str(details["msg"]).removeprefix("Value error, ").rstrip(".")
        what = message if isinstance(value, Mapping) else f"{show_value(value)}: {message}"
        finding = Finding(
            _OURS.get(kind, "wrong-value"), path, what, hint or "Change what the sentence names."
        )
    return finding


def unknown_key(path: Path, known_keys: list[str]) -> Finding:
    """A key that means nothing here; the closest known one is named."""
    key = str(path[-1])[:60] if path else ""
    close = get_close_matches(key, known_keys, n=1, cutoff=0.5)
    remedy = (
        f"Did you mean {close[0]!r}?"
        if close
        else f"Known here: {', '.join(sorted(known_keys))}."
        if known_keys
        else "Take it out."
    )
    return Finding("unknown-key", path, f"there is no field {key!r} here", remedy, *close)


def not_known(code: Code, path: Path, what: str, name: str, names: list[str]) -> Finding:
    """A name that nothing has; the closest one is named."""
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    there_are = f"There are: {', '.join(sorted(names)[:20])}." if names else "There are none yet."
    return Finding(code, path, what, f"Did you mean {close[0]!r}?" if close else there_are)


def _not_one_of(path: Path, value: object, expected: str) -> Finding:
    options = [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
    close = get_close_matches(str(value), options, n=1, cutoff=0.5)
    remedy = (f"Did you mean {close[0]!r}? " if close else "") + f"Choose one of: {', '.join(options)}."
    return Finding("wrong-value", path, f"{show_value(value)} is none of the choices", remedy)


def show_value(value: object) -> str:
    """A value as the file would have it, cut where it is long."""
    text = value_text(value, width=1_000_000)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def _path_in(data: object, loc: tuple[str | int, ...], *, absent: bool) -> Path:
    """pydantic's location as it is in the data, without the names of choices that pydantic adds.

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
            return f'Write an amount such as "0.15", {mark.bounds()}. {field.description or ""}'.strip()
        if isinstance(mark, Period):
            return f'Write a duration such as "30m", "2h" or "7d", {mark.bounds()}. {field.description or ""}'
    return field.description or ""


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def marks(field: FieldInfo) -> list[Any]:
    """What is attached to a field's type, also inside an optional one."""
    metadata = list(field.metadata)
    for inner in (field.annotation, *get_args(field.annotation)):
        if get_origin(inner) is Annotated:
            metadata += get_args(inner)[1:]
    return metadata


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
    models: list[Any] = [model]
    for part in path:
        inside: list[Any] = []
        for annotation in models:
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
        models = inside
    return field, models


def plain_types(annotation: Any) -> list[Any]:
    """The types that a field can have, without marks and choices."""
    if get_origin(annotation) is Annotated:
        return plain_types(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [plain for inner in get_args(annotation) for plain in plain_types(inner)]
    return [annotation]


# Differences of values in one line each; what is long is shown where it differs.

_BEFORE, _NAMED = 12, 3


def difference(old: Any, new: Any) -> str:
    """Old → new. Lists and tables say what they gain and lose, long texts begin where they differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        return _gains(_entries(old), _entries(new))
    if isinstance(old, list) and isinstance(new, list):
        return _gains([show_value(item) for item in old], [show_value(item) for item in new])
    if isinstance(old, str) and isinstance(new, str):
        start = _first_difference(old, new) - _BEFORE
        if start > 0:
            return f"{show_value('…' + old[start:])} → {show_value('…' + new[start:])}"
    return f"{worded(old)} → {worded(new)}"


def worded(value: Any) -> str:
    """A value, or "none"."""
    return "none" if value is None else show_value(value)


def _entries(table: dict[str, Any]) -> list[str]:
    return [f"{key(name)} = {show_value(value)}" for name, value in table.items()]


def _gains(old: list[str], new: list[str]) -> str:
    gone = [item for item in old if item not in new]
    come = [item for item in new if item not in old]
    if not gone and not come:
        return (
            f"{len(new)} entries in another order"
            if len(old) == len(new)
            else f"{len(old)} → {len(new)} entries"
        )
    parts = [_few("+", come), _few("-", gone)]
    return f"{len(old)} → {len(new)} entries: " + ", ".join(part for part in parts if part)


def _few(sign: str, items: list[str]) -> str:
    listing = ", ".join(f"{sign} {item}" for item in items[:_NAMED])
    more = len(items) - _NAMED
    return f"{listing} and {more} more" if more > 0 else listing


def _first_difference(old: str, new: str) -> int:
    pairs = zip(old, new, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new)))


def in_words(problem: Problem) -> str:
    """What is wrong and what to do, without naming other people's accounts."""
    remedy = problem.remedy
    if problem.code == "no-such-user":
        remedy = "Members need an account here; leave them out and invite them later."
    return f"{problem.what[:1].upper()}{problem.what[1:]}. {remedy}"
