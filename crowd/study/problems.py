"""Problems of a study's file, for people and for programs, and the line of the file that each is in."""

import re
import tomllib
from bisect import bisect_right
from dataclasses import asdict, dataclass
from typing import Any, Literal

# Where in a TOML text a field stands. The standard library reads values without their lines.
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
        taken = self.text.startswith(sign, self._at)
        self._at += len(sign) * taken
        return taken

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
    """One thing that is wrong, where it stands, and what to do. A caution keeps nobody from applying."""

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
