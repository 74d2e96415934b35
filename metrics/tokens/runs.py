"""Many texts cut and numbered at once, for tokenisers whose tokens are runs of characters.

The texts of a chunk become one array of characters; where a token begins and ends is a comparison of
neighbours. A token of up to eight bytes is a number of 64 bits by itself, and those numbers get places in a
table: a token that finds another one at its place goes on to the next round with another table, so that two
tokens never share a number. Longer tokens are looked up in a dictionary.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from typing import Literal, overload
from unicodedata import category, normalize

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]
Places = npt.NDArray[np.intp]
Keys = npt.NDArray[np.uint64]

#: What is at least _WORD is of a word; a _MEMBER belongs to the letter before it.
_UNKNOWN, _SPACE, _MARK, _WORD, _MEMBER = 0, 1, 2, 3, 4
_KEY_BYTES = 8
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_KEY_BYTES + 1)], np.uint64)
_EVERY_CHARACTER = 0x110000
#: Zero-width non-joiner and joiner, which stand within words of Persian and of scripts of India.
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Runs:
    """Tokens are runs of characters of composed texts without white space, cased as they are or `lower`.

    `alone` says which characters are tokens of their own: `none`; `marks`, all but letters, digits, `_`, and
    the marks and joiners that belong to letters, as the vowels of Devanagari and Arabic do; or `all`, each
    with the marks and joiners that belong to it.
    """

    lower: bool
    alone: Literal["none", "marks", "all"]


@dataclass(eq=False)
class Words(Sequence[str]):
    """The distinct tokens by number, cut out of the text when first asked for: counting needs none."""

    _whole: str
    _ids: Ids
    _begins: Places
    _ends: Places

    @cached_property
    def _all(self) -> list[str]:
        last = np.zeros(len(self), np.intp)
        last[self._ids] = np.arange(len(self._ids))
        bounds = zip(self._begins[last].tolist(), self._ends[last].tolist(), strict=True)
        return [self._whole[a:b] for a, b in bounds]

    @cached_property
    def _size(self) -> int:
        return int(self._ids.max(initial=-1)) + 1

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self._all[place]


def composed(text: str) -> str:
    """The text in Unicode's composed form (NFC), in which the same writing is the same characters."""
    return text if text.isascii() else normalize("NFC", text)


def belongs_to_letters(character: str) -> bool:
    """Whether it is a combining mark or a joiner: no letter by itself, and part of the word it stands in."""
    return category(character).startswith("M") or character in _JOINERS


def cut(texts: Sequence[str], rule: Runs) -> tuple[Ids, Places, Sequence[str]]:
    """Texts as numbers: (numbers of all tokens, start of each text and the end, token of each number)."""
    cased, whole = _joined(texts, rule)
    points, offsets = _characters(whole)
    kinds = _kinds_of(points) if offsets is not None else _kinds_of_ascii(whole)
    first, last = _bounds(kinds, rule)
    if rule.alone == "all" and bool((last == first + 1).all()):
        ids = _of_characters(points[first])
    else:
        ids = _numbers(whole, points, offsets, first, last)
    starts = np.zeros(len(texts) + 1, np.intp)
    np.cumsum(np.fromiter(map(len, cased), np.intp, len(cased)) + 1, out=starts[1:])
    numbers = ids.astype(np.int32)
    return (
        numbers,
        np.searchsorted(first, starts).astype(np.intp, copy=False),
        Words(whole, numbers, first, last),
    )


def _joined(texts: Sequence[str], rule: Runs) -> tuple[Sequence[str], str]:
    """Texts in the form of the rule, each as long as it is there, and one after another."""
    whole = "\n".join(texts)
    if whole.isascii():  # which is composed, and as long in lower case
        return texts, whole.lower() if rule.lower else whole
    cased = list(map(composed, texts))
    if rule.lower:
        cased = list(map(str.lower, cased))
    return cased, "\n".join(cased)


def _bounds(kinds: npt.NDArray[np.uint8], rule: Runs) -> tuple[Places, Places]:
    """The first character of each token, and the one after its last."""
    if rule.alone == "all":
        return _bounds_of_characters(kinds)
    inside = kinds >= _WORD if rule.alone == "marks" else kinds != _SPACE
    begins = np.empty(len(kinds), np.bool_)
    ends = np.empty(len(kinds), np.bool_)
    begins[:1], ends[-1:] = inside[:1], inside[-1:]
    np.greater(inside[1:], inside[:-1], out=begins[1:])
    np.greater(inside[:-1], inside[1:], out=ends[:-1])
    if rule.alone == "marks":
        marks = kinds == _MARK
        begins |= marks
        ends |= marks
    return np.flatnonzero(begins), np.flatnonzero(ends) + 1


def _bounds_of_characters(kinds: npt.NDArray[np.uint8]) -> tuple[Places, Places]:
    """The same where each character is a token; what belongs to a letter goes with what is before it."""
    there = kinds != _SPACE
    begins = there.copy()
    begins[1:] &= ~(there[:-1] & (kinds[1:] == _MEMBER))
    first = np.flatnonzero(begins)
    if len(first) == np.count_nonzero(there):
        return first, first + 1
    ends = there.copy()
    ends[:-1] &= begins[1:] | ~there[1:]
    return first, np.flatnonzero(ends) + 1


def _of_characters(points: npt.NDArray[np.uint8 | np.uint32]) -> Places:
    """A number for each character, from 0 without gaps."""
    there = np.zeros(int(points.max(initial=0)) + 1, np.bool_)
    there[points] = True
    return (np.cumsum(there) - 1)[points]


def _characters(whole: str) -> tuple[npt.NDArray[np.uint8 | np.uint32], Places | None]:
    """The characters as numbers, and where each begins in UTF-8, or None if that is the same."""
    if whole.isascii():
        return np.frombuffer(whole.encode("ascii"), np.uint8), None
    points = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (points >= 0x80).view(np.int8) + (points >= 0x800) + (points >= 0x10000)
    return points, np.concatenate(([0], np.cumsum(sizes)))


_kinds = np.zeros(_EVERY_CHARACTER, np.uint8)


def _kinds_of(points: npt.NDArray[np.uint8 | np.uint32]) -> npt.NDArray[np.uint8]:
    """What each character is; what is found out about one is kept."""
    found = _kinds[points]
    unknown = points[found == _UNKNOWN]
    if len(unknown):
        for point in np.unique(unknown).tolist():
            _kinds[point] = _kind(chr(point))
        found = _kinds[points]
    return found


@cache
def _ascii_kinds() -> bytes:
    return bytes(map(_kind, map(chr, range(256))))


def _kinds_of_ascii(whole: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(whole.encode("ascii").translate(_ascii_kinds()), np.uint8)


def _kind(character: str) -> int:
    if character.isspace():
        return _SPACE
    if belongs_to_letters(character):
        return _MEMBER
    return _WORD if character.isalnum() or character == "_" else _MARK


def _numbers(
    whole: str,
    points: npt.NDArray[np.uint8 | np.uint32],
    offsets: Places | None,
    first: Places,
    last: Places,
) -> Places:
    """A number for each token, the same for the same token and no other, from 0 without gaps."""
    if offsets is None:
        begins, ends, written = first, last, points.view(np.uint8)
    else:
        begins, ends = offsets[first], offsets[last]
        written = np.frombuffer(whole.encode("utf-8", "surrogatepass"), np.uint8)
    padded = np.concatenate((written, np.zeros(_KEY_BYTES, np.uint8)))
    windows = np.ndarray((len(written),), "<u8", buffer=padded, strides=(1,))
    sizes = ends - begins
    named = np.arange(len(first)) if "\0" in whole else np.flatnonzero(sizes > _KEY_BYTES)
    keys = windows[begins]
    keys &= _MASKS[np.minimum(sizes, _KEY_BYTES)]
    if not len(named):
        return _of_keys(keys)[0]
    ids = np.empty(len(first), np.intp)
    short = np.ones(len(first), np.bool_)
    short[named] = False
    ids[short], used = _of_keys(keys[short])
    names: defaultdict[str, int] = defaultdict(count(used).__next__)
    bounds = zip(first[named].tolist(), last[named].tolist(), strict=True)
    ids[named] = [names[whole[a:b]] for a, b in bounds]
    return ids


_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)


def _of_keys(keys: Keys, turn: int = 0, used: int = 0) -> tuple[Places, int]:
    """A number from `used` on, without gaps, for each key, none of which is 0; and the next number."""
    if not len(keys):
        return np.zeros(0, np.intp), used
    if turn == len(_ODD):
        distinct, inverse = np.unique(keys, return_inverse=True)
        return inverse + used, used + len(distinct)
    bits = max(4, len(keys).bit_length() - 2)
    slots = ((keys * _ODD[turn]) >> np.uint64(64 - bits)).view(np.intp)
    table = np.zeros(1 << bits, np.uint64)
    table[slots] = keys
    numbers = np.cumsum(table != 0) + (used - 1)
    ids = numbers[slots]
    others = np.flatnonzero(table[slots] != keys)
    ids[others], used = _of_keys(keys[others], turn + 1, int(numbers[-1]) + 1)
    return ids, used
