"""Objects of JSON files: one a line, those of a list or of an object, or any values of one big document.

`json.JSONDecoder.raw_decode` reads values from a sliding window of the text; only the window and one value
are in memory. What is a value is for the caller of `JsonStream` to say: members
of an object, items of an array.
"""

import json
from collections.abc import Collection, Iterator
from io import StringIO
from itertools import islice
from typing import Any

from core.files.reading import plain_name
from core.files.refusals import BadFieldError, FileRefusedError, Refuse
from core.files.text_source import TextSource

_SPACE = " \t\n\r"
Object = dict[str, Any]
#: Lines up to so many characters hold no more objects and lists than memory takes.
_LONG = 2**20


def no_constant(name: str) -> Any:
    """NaN and Infinity are no JSON, although Python reads them."""
    raise ValueError(f"{name} is no JSON value")


class TwiceError(ValueError):
    """A member that an object has twice: the name."""


def unique_members(pairs: list[tuple[str, Any]]) -> Object:
    """An object; of two members of one name Python would keep the last, and lose the other in silence."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _value in pairs]
        raise TwiceError(next(name for name in members if names.count(name) > 1))
    return members


def why_no_json(error: Exception) -> str:
    """What is wrong with a text that was read with `unique_members`, for a message."""
    if isinstance(error, TwiceError):
        return f"the member {str(error)[:60]!r} is there twice; keep one of the two"
    return error.msg.lower() if isinstance(error, json.JSONDecodeError) else "it cannot be read"


class JsonStream:
    """A cursor over the text of a JSON document; FileRefusedError says where the text is no JSON.

    With `twice` an object may have two members of one name, of which the last is kept.
    """

    def __init__(self, source: TextSource, *, twice: bool = False) -> None:
        self._source = source
        self._pieces = source.characters()
        self._window, self._at, self._passed = "", 0, 0
        self._decoder = json.JSONDecoder(
            parse_constant=no_constant, object_pairs_hook=None if twice else unique_members
        )
        self._ended = False

    def _more(self, least: int = 0) -> bool:
        """Make the window longer, by `least` characters where there are so many; False at the end."""
        if self._ended:
            return False
        self._passed += self._at
        pieces = [self._window[self._at :]]
        self._at, got = 0, 0
        for piece in self._pieces:
            pieces.append(piece)
            got += len(piece)
            if got > least:
                break
        else:
            self._ended = True
        self._window = "".join(pieces)
        return got > 0

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            window, at, size = self._window, self._at, len(self._window)
            while at < size and window[at] in _SPACE:
                at += 1
            self._at = at
            if at < size:
                return window[at]
            if not self._more() and self._at >= len(self._window):
                return ""

    def wrong(
        self, what: str, remedy: str = "The file is damaged, or in another format."
    ) -> FileRefusedError:
        """An error at this place."""
        return FileRefusedError(
            f"{self._source.name}, character {self._passed + self._at + 1}: {what}. {remedy}"
        )

    def expect(self, character: str) -> None:
        """Pass over one character that must be there."""
        actual = self.peek()
        if actual != character:
            raise self.wrong(
                f"expected {character!r}, found {actual!r}" if actual else "the text ends too early"
            )
        self._at += 1

    def value(self) -> tuple[Any, str]:
        """The next value whole, and its text."""
        if not self.peek():
            raise self.wrong("the text ends too early")
        while True:
            trouble = ""
            try:
                value, end = self._decoder.raw_decode(self._window, self._at)
            except TwiceError as error:
                what = f"the value that begins here has the member {str(error)[:60]!r} twice"
                raise self.wrong(what, "Keep one of the two.") from error
            except RecursionError as error:
                raise self.wrong("the value is nested too deeply") from error
            except ValueError as error:
                trouble, end = str(error), -1
            # A number at the very end of the window may go on.
            if end >= 0 and (end < len(self._window) or self._ended):
                text = self._window[self._at : end]
                self._at = end
                return value, text
            size = len(self._window) - self._at
            if size > self._source.limits.value_chars:
                raise self.wrong(f"a value is longer than {self._source.limits.value_chars:,} characters")
            # Twice as much each time: a long value is tried few times. The end is tried once more.
            if not self._more(size) and end < 0:
                raise self.wrong(trouble)

    def members(self) -> Iterator[str]:
        """Names of an object's members; the caller reads each value before asking for the next name."""
        self.expect("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise self.wrong("expected the name of a member")
            name, _ = self.value()
            self.expect(":")
            yield str(name)
            if not self._goes_on("}"):
                return

    def items(self) -> Iterator[None]:
        """One step per item of an array; the caller reads each item before the next step."""
        self.expect("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield None
            if not self._goes_on("]"):
                return

    def _goes_on(self, end: str) -> bool:
        character = self.peek()
        if character not in (",", end) or not character:
            raise self.wrong(
                f"expected ',' or {end!r}, found {character!r}" if character else "the text ends too early"
            )
        self._at += 1
        return character == ","

    def finish(self) -> None:
        """Nothing but white space may follow."""
        if self.peek():
            raise self.wrong("something follows the end of the document")


def read_json_records(source: TextSource, refuse: Refuse) -> Iterator[tuple[int, Object]]:
    """Objects of a JSON list, or of an object by their names, with their numbers.

    A name is the `id` of an object that has none, and its `key` where it has another.
    """
    stream = JsonStream(source)
    by_name = stream.peek() == "{"
    names: Iterator[str | None] = stream.members() if by_name else stream.items()
    for number, name in enumerate(names, 1):
        value, _text = stream.value()
        if not isinstance(value, dict):
            what = "item" if name is None else f"member {name[:60]!r}"
            refuse(number, f"The {what} is no object.")
        elif name is None or value.get("id") == name:
            yield number, value
        else:
            yield number, {"key" if "id" in value else "id": name, **value}
    stream.finish()


#: Members of an object that are looked at to find out what it is.
_FEW_MEMBERS = 20


def holds_records(source: TextSource, member_names: Collection[str]) -> bool:
    """Whether a file that begins with an object has a record in each of its members; else it is JSON lines.

    `member_names` are names that a record's members may have, as `plain_name` writes them. FileRefusedError
    for an object that holds rows in another way, with what to write in its place.
    """
    stream = JsonStream(source, twice=True)
    try:
        members = {name: stream.value()[0] for name in islice(stream.members(), _FEW_MEMBERS)}
        if not members or (len(members) < _FEW_MEMBERS and stream.peek()):
            return False  # one object of several
    except FileRefusedError:  # the reader of lines says where it is no JSON
        return False
    are_columns = any(plain_name(name) in member_names for name in members)
    if all(isinstance(value, dict) for value in members.values()):
        if are_columns:
            raise FileRefusedError(
                f"{source.name} is a JSON object of columns, as pandas writes a table: "
                f"{', '.join(repr(name[:60]) for name in islice(members, 5))}. "
                'Write its rows: to_json(…, orient="records", lines=True).'
            )
        return True
    for name, value in members.items():
        if not are_columns and isinstance(value, list) and any(isinstance(item, dict) for item in value):
            raise FileRefusedError(
                f"{source.name} is a JSON object that holds a list of records in its member {name[:60]!r}. "
                "Give that list as a file of its own."
            )
    return False


def read_json_lines(
    source: TextSource, refuse: Refuse, *, constants: bool = False
) -> Iterator[tuple[int, Object]]:
    """Objects with the numbers of their lines; with `constants` also NaN, as pandas writes it."""
    parse_constant = None if constants else no_constant
    for first, text in source.chunks(refuse):
        for line, each in enumerate(StringIO(text, newline="\n"), first):
            if each == "\n" or each.isspace():
                continue
            if len(each) > _LONG and each.count("{") + each.count("[") > source.limits.line_parts:
                refuse(line, f"The line holds more than {source.limits.line_parts:,} objects and lists.")
                continue
            try:
                value = json.loads(each, parse_constant=parse_constant, object_pairs_hook=unique_members)
            except TwiceError as error:
                refuse(line, f"The member {str(error)[:60]!r} is there twice. Keep one of the two.")
            except RecursionError:
                refuse(line, "The line is nested too deeply.")
            except ValueError as error:
                refuse(line, f"The line is no JSON: {error}. Write one object a line, or a list of objects.")
            else:
                if isinstance(value, dict):
                    yield line, value
                else:
                    refuse(line, "The line is JSON, but no object.")


def check_storable(value: Object) -> None:
    """BadFieldError for what JSON can say and no database keeps: NUL, half a surrogate pair, infinity."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError) as error:
        raise BadFieldError("It holds characters or numbers that cannot be stored.") from error
    if "\\u0000" in text:
        raise BadFieldError("It holds a NUL character; text has none.")
