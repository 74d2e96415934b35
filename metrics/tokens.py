"""From text to tokens: the tokenisers by name, where their tokens are in a text, and many texts cut at once.

A tokeniser is a function with a name that signatures quote. One whose tokens are runs of characters cuts all
texts of a chunk at once: they become one array of characters, where the begin and end of a token is a
comparison of neighbours. A token of up to eight bytes is a number of 64 bits by itself, and those numbers get
places in a table: a token that finds another one at its place goes on to the next round with another table,
so that two tokens never share a number. Longer tokens are looked up in a dictionary.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from typing import Literal, overload
from unicodedata import category, normalize

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError

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

    _text: str
    _ids: Ids
    _begins: Places
    _ends: Places

    @cached_property
    def _all(self) -> list[str]:
        last = np.zeros(len(self), np.intp)
        last[self._ids] = np.arange(len(self._ids))
        bounds = zip(self._begins[last].tolist(), self._ends[last].tolist(), strict=True)
        return [self._text[a:b] for a, b in bounds]

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
    """Whether it is a combining mark or a joiner: no letter by itself, and part of the word it is in."""
    return category(character).startswith("M") or character in _JOINERS


def cut(texts: Sequence[str], rule: Runs) -> tuple[Ids, Places, Sequence[str]]:
    """Texts as numbers: (numbers of all tokens, start of each text and the end, token of each number)."""
    cased, joined = _joined(texts, rule)
    points, offsets = _code_points(joined)
    kinds = _kinds_of(points) if offsets is not None else _kinds_of_ascii(joined)
    first, last = _bounds(kinds, rule)
    if rule.alone == "all" and bool((last == first + 1).all()):
        ids = _of_characters(points[first])
    else:
        ids = _numbers(joined, points, offsets, first, last)
    starts = np.zeros(len(texts) + 1, np.intp)
    np.cumsum(np.fromiter(map(len, cased), np.intp, len(cased)) + 1, out=starts[1:])
    numbers = ids.astype(np.int32)
    return (
        numbers,
        np.searchsorted(first, starts).astype(np.intp, copy=False),
        Words(joined, numbers, first, last),
    )


def _joined(texts: Sequence[str], rule: Runs) -> tuple[Sequence[str], str]:
    """Texts in the form of the rule, each as long as it is there, and one after another."""
    joined = "\n".join(texts)
    if joined.isascii():  # which is composed, and as long in lower case
        return texts, joined.lower() if rule.lower else joined
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
    visible = kinds != _SPACE
    begins = visible.copy()
    begins[1:] &= ~(visible[:-1] & (kinds[1:] == _MEMBER))
    first = np.flatnonzero(begins)
    if len(first) == np.count_nonzero(visible):
        return first, first + 1
    ends = visible.copy()
    ends[:-1] &= begins[1:] | ~visible[1:]
    return first, np.flatnonzero(ends) + 1


def _of_characters(points: npt.NDArray[np.uint8 | np.uint32]) -> Places:
    """A number for each character, from 0 without gaps."""
    present = np.zeros(int(points.max(initial=0)) + 1, np.bool_)
    present[points] = True
    return (np.cumsum(present) - 1)[points]


def _code_points(text: str) -> tuple[npt.NDArray[np.uint8 | np.uint32], Places | None]:
    """The characters as numbers, and where each begins in UTF-8, or None if that is the same."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8), None
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (points >= 0x80).view(np.int8) + (points >= 0x800) + (points >= 0x10000)
    return points, np.concatenate(([0], np.cumsum(sizes)))


_kinds = np.zeros(_EVERY_CHARACTER, np.uint8)


def _kinds_of(points: npt.NDArray[np.uint8 | np.uint32]) -> npt.NDArray[np.uint8]:
    """What each character is; what is found out about one is kept."""
    kinds = _kinds[points]
    unknown = points[kinds == _UNKNOWN]
    if len(unknown):
        for point in np.unique(unknown).tolist():
            _kinds[point] = _kind(chr(point))
        kinds = _kinds[points]
    return kinds


@cache
def _ascii_kinds() -> bytes:
    return bytes(map(_kind, map(chr, range(256))))


def _kinds_of_ascii(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode("ascii").translate(_ascii_kinds()), np.uint8)


def _kind(character: str) -> int:
    if character.isspace():
        return _SPACE
    if belongs_to_letters(character):
        return _MEMBER
    return _WORD if character.isalnum() or character == "_" else _MARK


def _numbers(
    text: str,
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
        written = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    padded = np.concatenate((written, np.zeros(_KEY_BYTES, np.uint8)))
    windows = np.ndarray((len(written),), "<u8", buffer=padded, strides=(1,))
    sizes = ends - begins
    named = np.arange(len(first)) if "\0" in text else np.flatnonzero(sizes > _KEY_BYTES)
    keys = windows[begins]
    keys &= _MASKS.take(np.minimum(sizes, _KEY_BYTES))
    if not len(named):
        return _of_keys(keys)[0]
    ids = np.empty(len(first), np.intp)
    short = np.ones(len(first), np.bool_)
    short[named] = False
    ids[short], used = _of_keys(keys[short])
    names: defaultdict[str, int] = defaultdict(count(used).__next__)
    bounds = zip(first[named].tolist(), last[named].tolist(), strict=True)
    ids[named] = [names[text[a:b]] for a, b in bounds]
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
    ids = numbers.take(slots)
    others = np.flatnonzero(table.take(slots) != keys)
    ids[others], used = _of_keys(keys[others], turn + 1, int(numbers[-1]) + 1)
    return ids, used


@dataclass(frozen=True, slots=True)
class Tokeniser:
    """`split` turns a text into its tokens; `name` says which rules it follows, `version` in which form.

    Two tokenisers with the same name must split every text alike. `runs`, where a tokeniser has it, states
    the same rule as kinds of characters, by which many texts are cut at once, and quicker.
    """

    name: str
    split: Callable[[str], list[str]]
    runs: Runs | None = None
    version: int = 1

    @property
    def label(self) -> str:
        """Name and version as they stand in signatures: `ptb`, `default.2`."""
        return self.name if self.version == 1 else f"{self.name}.{self.version}"


# Scripts that put no spaces between words, where a tokeniser by words finds one long word.

#: Thai, Lao, Tibetan, Burmese, Khmer, kana and Han; Korean and Vietnamese have spaces.
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_LETTERS = re.compile(r"[^\W\d_]")
#: Tokenisers that take characters, and so need no spaces.
_BY_CHARACTER = frozenset({"char", "char-lower"})
_MANY = 0.05


def is_unspaced(text: str) -> bool:
    """Whether most letters of the text are of a script without spaces between words."""
    if text.isascii():
        return False
    return 2 * len(_UNSPACED.findall(text)) > len(_LETTERS.findall(text)) > 0


def spacing_warning(unspaced: int, answers: int, tokeniser: str) -> list[str]:
    """What to say where `unspaced` of the answers would be one long word each under the tokeniser."""
    if tokeniser in _BY_CHARACTER or unspaced <= _MANY * answers:
        return []
    return [
        f"{unspaced:,} of {answers:,} answers are in a script without spaces between words (as Chinese, "
        f"Japanese or Thai), where the tokeniser {tokeniser} finds one long word. Scores by words are "
        "then mostly 0 or 1. Choose --tokeniser char, or read chrF, which needs no words."
    ]


# Where tokens stand in the text that they were cut from, though they may be written differently there.

Span = tuple[int, int]
#: What tokenisers write for marks.
_WRITTEN = {
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}",
    "``": '"', "''": '"', "`": "'", "...": "\u2026", "--": "\u2014",
}  # fmt: skip
_SAME = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})


def placed(text: str, tokens: Sequence[str]) -> list[Span | None]:
    """Begin and end of each token in the text, token by token from the front; None where one is not found.

    Case and the shape of quotes do not matter. Marks and white space between tokens, or dropped within one,
    are passed over; letters and digits are not. A token that stands for something else than it says, such as
    a number written out, is not found, and the next one is looked for from the same place.
    """
    folded, places = _folded(text)
    spans: list[Span | None] = []
    at = 0
    for token in tokens:
        ends = None
        for written in (token, _WRITTEN.get(token.lower(), "")):
            folded_token = written.translate(_SAME).lower()
            ends = _next(folded, folded_token, at) or _scattered(folded, folded_token, at)
            if ends:
                break
        if ends is None:
            spans.append(None)
            continue
        spans.append((places[ends[0]], places[ends[1] - 1] + 1))
        at = ends[1]
    return spans


def _folded(text: str) -> tuple[str, list[int]]:
    """The text in lower case with plain quotes, and the place in the text of each of its characters."""
    parts = [character.translate(_SAME).lower() for character in text]
    places = [place for place, part in enumerate(parts) for _ in part]
    return "".join(parts), places


def _next(folded: str, token: str, at: int) -> Span | None:
    """The next place where the token occurs as it is, if nothing but marks is passed over."""
    begin = folded.find(token, at) if token else -1
    if begin < 0 or any(character.isalnum() for character in folded[at:begin]):
        return None
    return begin, begin + len(token)


def _scattered(folded: str, token: str, at: int) -> Span | None:
    """The same for a token that lost marks on the way, such as "eg" from "e.g."."""
    begin, place = -1, at
    for character in token:
        while place < len(folded) and folded[place] != character:
            if folded[place].isalnum() or (begin >= 0 and folded[place].isspace()):
                return None
            place += 1
        if place == len(folded):
            return None
        begin = place if begin < 0 else begin
        place += 1
    return (begin, place) if begin >= 0 else None


# Three readings of "all terms were lower-cased" (Mitra et al. 2016, Table 2), which names no tokeniser.
#
# Of these, `fit` is the one under which all five printed values of
# pa-BLEU come out; it is in the profile `distillery-2016`.

_NO_MARKS = str.maketrans({"\u2019": "'", ",": None, ".": None})
_SINGLE = str.maketrans({"\u2019": " ' ", "'": " ' ", ",": " , ", ".": " . "})
_FIT = str.maketrans({"\u2019": " ' ", "'": " ' ", ".": " . "})
_CENTIMETRES = re.compile(r"(\d)cm\b")


def _plain(text: str) -> list[str]:
    return text.lower().translate(_NO_MARKS).split()


def _marks(text: str) -> list[str]:
    return text.lower().translate(_SINGLE).split()


def _fit(text: str) -> list[str]:
    return _CENTIMETRES.sub(r"\1 cm", text.lower().translate(_FIT)).split()


#: Lower case; commas and full stops deleted; split on white space.
PLAIN = Tokeniser("distillery-plain", _plain)
#: Lower case; each comma, full stop and apostrophe is a token; split on white space.
MARKS = Tokeniser("distillery-marks", _marks)
#: Lower case; each full stop and apostrophe is a token, a comma stays with its word, "135cm" is two tokens.
FIT = Tokeniser("distillery-fit", _fit)


# Tokenisers of a line each: words and marks, characters, white space.
#
# All compare texts in Unicode's composed form (NFC): an é is one letter, whether it was typed as one or as
# two.

#: Unicode's combining marks, but for the selectors of variants far behind, stand in these blocks.
_LAST_WITH_MARKS = 0x1FFFF
_SELECTORS = "\U000e0100-\U000e01ef"


@cache
def _members() -> str:
    """Combining marks and joiners, for a class of a pattern."""
    return "".join(filter(belongs_to_letters, map(chr, range(0x300, _LAST_WITH_MARKS)))) + _SELECTORS


@cache
def _words_and_marks() -> re.Pattern[str]:
    r"""Like `\w+|[^\w\s]`, where combining marks and joiners are of the word."""
    word = rf"\w{_members()}"
    return re.compile(rf"[{word}]+|[^{word}\s]")


@cache
def _letters() -> re.Pattern[str]:
    return re.compile(rf"\S[{_members()}]*")


def _default(text: str) -> list[str]:
    return _words_and_marks().findall(composed(text).lower())


def _characters(text: str) -> list[str]:
    return list("".join(text.split())) if text.isascii() else _letters().findall(composed(text))


#: Lower case; runs of letters, digits and combining marks of any script are words, every other sign a token.
DEFAULT = Tokeniser("default", _default, Runs(lower=True, alone="marks"), version=2)
#: DuReader's rule: white space removed, one character is one token, with the combining marks it carries.
CHAR = Tokeniser("char", _characters, Runs(lower=False, alone="all"), version=3)
#: What is between white space, as it is.
WHITESPACE = Tokeniser(
    "whitespace", lambda text: composed(text).split(), Runs(lower=False, alone="none"), version=2
)
#: The characters in lower case.
LOWER_CHAR = Tokeniser(
    "char-lower", lambda text: _characters(composed(text).lower()), Runs(lower=True, alone="all"), version=3
)


# What two libraries that many papers quote make of a text, so that their figures can be had again.


def _latin_words(text: str) -> list[str]:
    return re.findall("[a-z0-9]+", text.lower())


#: What NIST's mteval-v13a undoes before it cuts, and what it cuts off: ASCII's marks, a full stop or comma
#: unless a digit is on both sides, and a hyphen behind a digit.
_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
_MARKS_OF_ASCII = re.compile(r"([!-&(-+/:-@\[-`{-~])")
_POINT_BEHIND = re.compile(r"([^0-9])([.,])")
_POINT_BEFORE = re.compile(r"([.,])([^0-9])")
_HYPHEN = re.compile(r"([0-9])(-)")


def _mteval(text: str) -> list[str]:
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, letter in _ENTITIES.items():
        text = text.replace(entity, letter)
    text = _MARKS_OF_ASCII.sub(r" \1 ", f" {text} ")
    text = _POINT_BEFORE.sub(r" \1 \2", _POINT_BEHIND.sub(r"\1 \2 ", text))
    return _HYPHEN.sub(r"\1 \2 ", text).split()


#: Google's rouge-score without stems: runs of a-z and 0-9 in lower case, and nothing else.
ROUGE_SCORE = Tokeniser("rouge-score", _latin_words)
#: sacrebleu's default, which keeps capitals.
MTEVAL = Tokeniser("13a", _mteval)


# The tokeniser `ptb`, and what Lee et al. (2021) made of its tokens.

#: What pycocoevalcap's tokeniser leaves out. It means brackets too, but asks for them in capitals after all
#: was made lower case, so they stay.
DROPPED = frozenset(("''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"))


def _ptb(text: str) -> list[str]:
    from metrics.treebank import tokens_of  # noqa: PLC0415 - patterns that take a while to compile

    return tokens_of(text)


def _split_ptb(text: str) -> list[str]:
    return [token for token in _ptb(text) if token not in DROPPED]


def _kept_words(text: str) -> list[str]:
    return " ".join(_split_ptb(text)).split()


#: CoreNLP 3.4.1's PTBTokenizer with -lowerCase, for a text by itself; "1 1/2" is one token with a
#: no-break space within.
PTB = Tokeniser("ptb", _ptb)
#: `ptb` without punctuation, as pycocoevalcap and with it Lee et al. (2021) have it.
PTB_KPQA = Tokeniser("ptb-kpqa", _split_ptb)
#: The same split at every white space, so that "1 1/2" makes two: so BLEU and CIDEr of that code read it.
PTB_KPQA_WORDS = Tokeniser("ptb-kpqa-words", _kept_words)


TOKENISERS: dict[str, Tokeniser] = {
    tokeniser_named.name: tokeniser_named for tokeniser_named in (DEFAULT, CHAR, WHITESPACE)
}
TOKENISERS |= {one.name: one for one in (PLAIN, MARKS, FIT)}
TOKENISERS |= {one.name: one for one in (ROUGE_SCORE, MTEVAL)}
TOKENISERS |= {one.name: one for one in (PTB, PTB_KPQA, PTB_KPQA_WORDS)}


def tokeniser_named(name: str) -> Tokeniser:
    """The tokeniser of that name; MetricError names those that there are."""
    try:
        return TOKENISERS[name]
    except KeyError:
        raise MetricError(f"There is no tokeniser {name!r}; there are {', '.join(TOKENISERS)}.") from None
