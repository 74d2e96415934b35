"""Words of a text in any script, with their offsets; no dictionary and no segmentation is asked for.

A token is a run of letters, marks and digits; in scripts that are written without spaces (Han, kana, Thai,
Lao, Khmer, Myanmar) it is a single character with its marks. Two tokens are the same when their folded texts
are: compatibility forms, case, vowel marks and the Arabic tatweel make no difference.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_TATWEEL = "\u0640"
_SPACELESS = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})
#: Inside a word these join what stands around them: don't, l'eau.
_JOINERS = frozenset({"'", "\u2019"})


@dataclass(frozen=True, slots=True)
class Token:
    """`text[start:end]` of the original, and its folded form."""

    start: int
    end: int
    folded: str
    spaceless: bool


@lru_cache(maxsize=20_000)
def script_of(character: str) -> str:
    """The first word of a letter's Unicode name, such as LATIN, ARABIC or CJK; empty for others."""
    if not unicodedata.category(character).startswith("L"):
        return ""
    return unicodedata.name(character, "").partition(" ")[0].partition("-")[0]


@lru_cache(maxsize=20_000)
def _class_of(character: str) -> str:
    """`w` of a word, `c` a word by itself, `m` a mark, `f` invisible, empty between words."""
    category = unicodedata.category(character)
    if category.startswith("L"):
        return "c" if script_of(character) in _SPACELESS else "w"
    if category.startswith("M"):
        return "m"
    if category == "Cf":
        return "f"
    return "w" if category.startswith("N") else ""


def fold(text: str) -> str:
    """Text for comparing: compatibility forms, case, marks and tatweel are taken away."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    kept = (
        each for each in decomposed if unicodedata.category(each) not in ("Mn", "Cf") and each != _TATWEEL
    )
    return unicodedata.normalize("NFC", "".join(kept)).casefold()


@lru_cache(maxsize=64)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text in their order, in time linear in its length; kept for the next check of it."""
    found: list[Token] = []
    start, alone = -1, False
    for at, character in enumerate(text):
        kind = _class_of(character)
        if not kind and start >= 0 and not alone and _joins(text, at):
            continue
        goes_on = start >= 0 and (kind in ("m", "f") or (kind == "w" and not alone))
        if goes_on:
            continue
        if start >= 0:
            _add(found, text, start, at, alone)
            start = -1
        if kind in ("w", "c"):
            start, alone = at, kind == "c"
    if start >= 0:
        _add(found, text, start, len(text), alone)
    return tuple(found)


def _joins(text: str, at: int) -> bool:
    return text[at] in _JOINERS and at + 1 < len(text) and _class_of(text[at + 1]) == "w"


def _add(found: list[Token], text: str, start: int, end: int, alone: bool) -> None:
    folded = fold(text[start:end].replace("\u2019", "'"))
    if folded:
        found.append(Token(start, end, folded, alone))


def folded(text: str) -> tuple[str, ...]:
    """The folded tokens alone."""
    return tuple(token.folded for token in tokens(text))


@lru_cache(maxsize=256)
def words_of(texts: tuple[str, ...]) -> frozenset[str]:
    """All folded tokens of some texts, such as a query with its passages; kept, for many answers ask."""
    return frozenset(token.folded for text in texts for token in tokens(text))


def mostly_spaceless(found: Sequence[Token]) -> bool:
    """More than half of the tokens are single characters of a script without spaces."""
    return sum(token.spaceless for token in found) * 2 > len(found)


def shingles(text: str) -> frozenset[str]:
    """What overlap is counted in: words, and pairs of neighbours in scripts without spaces."""
    found = tokens(text)
    if len(found) == 1 or not mostly_spaceless(found):
        return frozenset(token.folded for token in found)
    return frozenset(a.folded + b.folded for a, b in pairwise(found))
