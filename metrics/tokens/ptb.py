"""The tokeniser `ptb`, fast, and what Lee et al. (2021) made of its tokens.

Most tokens depend on nothing beyond the white space around them, so pieces between white space are kept with
their tokens. A text in which a token could reach across white space (a phone number, "1 1/2", a tag, ". . .")
is read as a whole.
"""

import re
from functools import lru_cache
from itertools import chain

from metrics.tokens.tokeniser import Tokeniser
from metrics.tokens.treebank import SPACE, STARTS, lexed

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
