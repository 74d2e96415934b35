"""Tokenisers of a line each: words and marks, characters, white space.

All compare texts in Unicode's composed form (NFC): an é is one letter, whether it was typed as one or as two.
"""

import re
from functools import cache

from metrics.tokens.runs import Runs, belongs_to_letters, composed
from metrics.tokens.tokeniser import Tokeniser

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
