"""Queries as text: what counts as the same query, and how it is named."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

# Words of strangers inside our own sentences.

_LONGEST = 60
#: Unicode's "first strong isolate" and its end: what lies between turns nothing around that stands outside.
_ISOLATE, _END = "\u2068", "\u2069"


def quoted(words: str) -> str:
    """The words in quotation marks, on one line and not too long, read in their own direction."""
    words = " ".join(words.replace(_END, "").split())
    short = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
    return f"“{_ISOLATE}{short}{_END}”"


_UNSEEN = re.compile("[\u0000-\u0008\u000e-\u001b\u007f-\u009f\u200b\u2060\ufeff]")
#: Stands between the turns of a conversation; no normalised text has it, for it is white space.
_BETWEEN = "\n"


def normal(text: str) -> str:
    """NFC, white space collapsed and stripped, invisible control characters left out.

    Joiners and direction marks stay: some scripts need them.
    """
    if text.isascii():
        if not text.isprintable():
            text = _UNSEEN.sub("", text)
    else:
        text = _UNSEEN.sub("", unicodedata.normalize("NFC", text))
    return " ".join(text.split())


def folded(text: str) -> str:
    """A normalised text without its case: equal ones are the same query."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def identity(text: str, context: Sequence[str] = ()) -> str:
    """What two records of one query share: the text without case, after the same turns. Both normalised."""
    if not context:
        return folded(text)
    return _BETWEEN.join(folded(each) for each in [*context, text])


def query_digest(text: str, context: Sequence[str] = ()) -> str:
    """`Query.digest`: SHA-256 of the identity."""
    return hashlib.sha256(identity(text, context).encode()).hexdigest()
