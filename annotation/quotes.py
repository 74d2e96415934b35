"""Words of strangers inside our own sentences."""

_LONGEST = 60
#: Unicode's "first strong isolate" and its end: what lies between turns nothing around that stands outside.
_ISOLATE, _END = "\u2068", "\u2069"


def quoted(words: str) -> str:
    """The words in quotation marks, on one line and not too long, read in their own direction."""
    words = " ".join(words.replace(_END, "").split())
    short = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
    return f"“{_ISOLATE}{short}{_END}”"
