"""Tokenisers by name, and those of a few lines each."""

import re
from functools import cache, lru_cache
from itertools import chain

from metrics.errors import MetricError
from metrics.tokens.runs import Runs, belongs_to_letters, composed
from metrics.tokens.tokeniser import Tokeniser
from metrics.tokens.treebank import SPACE, STARTS, lexed

# Three readings of "all terms were lower-cased" (Mitra et al. 2016, Table 2), which names no tokeniser.
#
# Of these, `fit` is the one under which all five printed values of
# pa-BLEU come out; it stands in the profile `distillery-2016`.

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
#: What stands between white space, as it is.
WHITESPACE = Tokeniser(
    "whitespace", lambda text: composed(text).split(), Runs(lower=False, alone="none"), version=2
)
#: The characters in lower case.
LOWER_CHAR = Tokeniser(
    "char-lower", lambda text: _characters(composed(text).lower()), Runs(lower=True, alone="all"), version=3
)


# The tokeniser `ptb`, fast, and what Lee et al. (2021) made of its tokens.
#
# Most tokens depend on nothing beyond the white space around them, so pieces between white space are kept
# with their tokens. A text in which a token could reach across white space (a phone number, "1 1/2", a tag,
# ". . .") is read as a whole.

_BREAKS = re.compile(r"[\r\n\u2028\u2029\x0b\x0c]+")
_ACROSS = re.compile(rf"<|[{SPACE}]{{2}}|\d[ \xa0]\d|\)[ \xa0]\d|\.[ \xa0]\.")
_SPLIT = re.compile(f"[{SPACE}]")
_COMPANY = ("pty.", "pte.", "co.")
_KNOWN = 1 << 17
#: What pycocoevalcap's tokeniser leaves out. It means brackets too, but asks for them in capitals after all
#: was made lower case, so they stay.
DROPPED = frozenset(("''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"))


def _ptb(text: str) -> list[str]:
    line = _BREAKS.sub(" ", text)
    if _ACROSS.search(line):
        return [token.lower() for token in lexed(line)]
    pieces = _SPLIT.split(line)
    return list(
        chain.from_iterable(
            _tokens(piece, _context(piece, after) if piece[-1:] == "." else "")
            for piece, after in zip(pieces, [*pieces[1:], ""], strict=True)
        )
    )


def _context(piece: str, after: str) -> str:
    """As much of what comes after a piece with a full stop as its tokens can depend on."""
    if not after:
        return ""
    if after in STARTS:
        return f" {after} "
    return f" {after[:3]}" if piece.lower().endswith(_COMPANY) else f" {after[0]}~"


@lru_cache(_KNOWN)
def _tokens(piece: str, context: str) -> tuple[str, ...]:
    return tuple(token.lower() for token in lexed(piece, context))


def _kept(text: str) -> list[str]:
    return [token for token in _ptb(text) if token not in DROPPED]


def _kept_words(text: str) -> list[str]:
    return " ".join(_kept(text)).split()


#: CoreNLP 3.4.1's PTBTokenizer with -lowerCase, for a text that stands by itself; "1 1/2" is one token with a
#: no-break space within.
PTB = Tokeniser("ptb", _ptb)
#: `ptb` without punctuation, as pycocoevalcap and with it Lee et al. (2021) have it.
PTB_KPQA = Tokeniser("ptb-kpqa", _kept)
#: The same split at every white space, so that "1 1/2" makes two: so BLEU and CIDEr of that code read it.
PTB_KPQA_WORDS = Tokeniser("ptb-kpqa-words", _kept_words)


TOKENISERS: dict[str, Tokeniser] = {
    tokeniser_named.name: tokeniser_named for tokeniser_named in (DEFAULT, CHAR, WHITESPACE)
}
TOKENISERS |= {one.name: one for one in (PLAIN, MARKS, FIT)}
TOKENISERS |= {one.name: one for one in (PTB, PTB_KPQA, PTB_KPQA_WORDS)}


def tokeniser_named(name: str) -> Tokeniser:
    """The tokeniser of that name; MetricError names those that there are."""
    try:
        return TOKENISERS[name]
    except KeyError:
        raise MetricError(f"There is no tokeniser {name!r}; there are {', '.join(TOKENISERS)}.") from None
