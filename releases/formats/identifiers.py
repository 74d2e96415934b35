"""Names and ids as other people's formats take them."""

import re
from urllib.parse import quote

_LONGEST = 120
_NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
_NOT_SAFE = re.compile(r"[^\w+-]+")


def identifier(key: str) -> int | str:
    """An id as formats with numbers for ids write it: a number where it is one in its shortest form."""
    return int(key) if _NUMBER.fullmatch(key) else key


def word(text: str) -> str:
    """A text as one word: white space, control characters and the percent sign are percent-encoded."""
    return "".join(sign if sign.isprintable() and sign not in " %" else quote(sign, safe="") for sign in text)


class FileNames:
    """Names of files for names of people: distinct, also where a file system does not tell case apart."""

    def __init__(self, reserved: re.Pattern[str]) -> None:
        self._reserved = reserved
        self._taken: set[str] = set()

    def of(self, name: str) -> str:
        """The name with _ for dots, slashes, white space and the like; one that is taken gets a number."""
        plain = _NOT_SAFE.sub("_", name).encode()[:_LONGEST].decode(errors="ignore") or "unnamed"
        found, number = plain, 1
        while found.casefold() in self._taken or self._reserved.fullmatch(found):
            number += 1
            found = f"{plain}-{number}"
        self._taken.add(found.casefold())
        return found


def line(text: str) -> str:
    """A text on one line, as formats with one text a line take it."""
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        return text  # nearly all; no white space but the blank is printable
    return " ".join(text.split())
