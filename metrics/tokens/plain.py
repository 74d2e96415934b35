"""Tokenisers of a line each: words and marks, characters, white space."""

import re

from metrics.tokens.runs import Runs
from metrics.tokens.tokeniser import Tokeniser

_WORDS_AND_MARKS = re.compile(r"\w+|[^\w\s]")


def _default(text: str) -> list[str]:
    return _WORDS_AND_MARKS.findall(text.lower())


def _characters(text: str) -> list[str]:
    return list("".join(text.split()))


#: Lower case; runs of letters and digits of any script are words, every other mark is a token of its own.
DEFAULT = Tokeniser("default", _default, Runs(lower=True, alone="marks"))
#: DuReader's rule: white space removed, one character is one token.
CHAR = Tokeniser("char", _characters, Runs(lower=False, alone="all"))
#: What stands between white space, as it is.
WHITESPACE = Tokeniser("whitespace", str.split, Runs(lower=False, alone="none"))
#: The same in lower case.
LOWER_CHAR = Tokeniser("char-lower", lambda text: _characters(text.lower()), Runs(lower=True, alone="all"))
