"""Many texts cut and numbered at once, for tokenisers whose tokens are runs of characters.

The texts of a chunk become one array of characters; where a token begins and ends is a comparison of neighbours. A
token of up to eight bytes is a number of 64 bits by itself, and those numbers get places in a table: a token
that finds another one at its place goes on to the next round with another table, so that two tokens never
share a number. Longer tokens are looked up in a dictionary.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import overload

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]
Places = npt.NDArray[np.intp]
Keys = npt.NDArray[np.uint64]

_UNKNOWN, _SPACE, _WORD, _MARK = 0, 1, 2, 3
_KEY_BYTES = 8
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_KEY_BYTES + 1)], np.uint64)
_EVERY_CHARACTER = 0x110000


@dataclass(frozen=True, slots=True)
class Runs:
    r"""Tokens are runs of characters without white space, cased as they are or `lower`.

    With `marks`, only letters, digits and `_` make runs, and every other character is a token: the expression
    `\w+|[^\w\s]`.
    """

    lower: bool
    marks: bool


@dataclass(eq=False)
class Words(Sequence[str]):
    """The distinct tokens by number, cut out of the text when somebody asks."""

    _whole: str
    _begins: Places
    _ends: Places

    @cached_property
    def _all(self) -> list[str]:
        return [self._whole[a:b] for a, b in zip(self._begins.tolist(), self._ends.tolist(), strict=True)]

    def __len__(self) -> int:
        return len(self._begins)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self._all[place]


def cut(texts: Sequence[str], rule: Runs) -> tuple[Ids, Places, Sequence[str]]:
    """Texts as numbers: (numbers of all tokens, start of each text and the end, token of each number)."""
    cased = list(map(str.lower, texts)) if rule.lower else texts
    whole = "\n".join(cased)
    points, offsets = _characters(whole)
    kinds = _kinds_of(points)
    word = kinds == _WORD
    if not rule.marks:
        word |= kinds == _MARK
    begins = np.empty(len(word), np.bool_)
    ends = np.empty(len(word), np.bool_)
    begins[:1], ends[-1:] = word[:1], word[-1:]
    np.greater(word[1:], word[:-1], out=begins[1:])
    np.greater(word[:-1], word[1:], out=ends[:-1])
    if rule.marks:
        marks = kinds == _MARK
        begins |= marks
        ends |= marks
    first, last = np.flatnonzero(begins), np.flatnonzero(ends) + 1
    ids = _numbers(whole, points, offsets, first, last)
    starts = np.zeros(len(texts) + 1, np.intp)
    np.cumsum(np.fromiter(map(len, cased), np.intp, len(cased)) + 1, out=starts[1:])
    where = np.zeros(int(ids.max(initial=-1)) + 1, np.intp)
    where[ids] = np.arange(len(ids))
    words = Words(whole, first[where], last[where])
    return ids.astype(np.int32), np.searchsorted(first, starts).astype(np.intp), words


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


def _kind(character: str) -> int:
    if character.isspace():
        return _SPACE
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
    windows = np.lib.stride_tricks.sliding_window_view(padded, _KEY_BYTES)
    sizes = ends - begins
    keys = np.ascontiguousarray(windows[begins]).view("<u8")[:, 0]
    keys &= _MASKS[np.minimum(sizes, _KEY_BYTES)]
    by_name = np.flatnonzero(sizes > _KEY_BYTES)
    if "\0" in whole:
        by_name = np.arange(len(first))
    ids = np.empty(len(first), np.intp)
    short = np.ones(len(first), np.bool_)
    short[by_name] = False
    short_places = np.flatnonzero(short) if len(by_name) else np.arange(len(first))
    ids[short_places], used = _of_keys(keys[short_places])
    names: defaultdict[str, int] = defaultdict(count(used).__next__)
    bounds = zip(first[by_name].tolist(), last[by_name].tolist(), strict=True)
    ids[by_name] = [names[whole[a:b]] for a, b in bounds]
    return ids


_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)


def _of_keys(keys: Keys) -> tuple[Places, int]:
    """A number for each key, without gaps, and how many there are."""
    ids = np.empty(len(keys), np.intp)
    bits = max(4, len(keys).bit_length())
    table = np.zeros(1 << bits, np.uint64)
    left, used, turn = np.arange(len(keys)), 0, 0
    while len(left):
        asked = keys[left] if turn else keys
        if turn >= len(_ODD):
            distinct, inverse = np.unique(asked, return_inverse=True)
            ids[left] = inverse + used
            return ids, used + len(distinct)
        slots = (asked * _ODD[turn]) >> np.uint64(64 - bits)
        slots = slots.view(np.int64)
        table[slots] = asked
        mine = table[slots] == asked
        taken = np.zeros(1 << bits, np.int32)
        taken[slots[mine]] = 1
        numbers = np.cumsum(taken) - 1 + used
        ids[left[mine]] = numbers[slots[mine]]
        used = int(numbers[-1]) + 1
        left = left[~mine]
        turn += 1
    return ids, used
