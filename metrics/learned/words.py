"""Words of a text for models: runs of letters and digits, and single marks, with their places."""

import re

Span = tuple[int, int]
#: Which rule cuts words; what is kept of words by another rule is not used.
VERSION = 1
_WORDS = re.compile(r"\w+|[^\w\s]")


def cut(text: str) -> list[Span]:
    """Begin and end of each word and each mark, as the tokeniser `default` cuts them."""
    return [found.span() for found in _WORDS.finditer(text)]
