"""The words and marks of a text by their places, as keyphrase weights and pages about them count words."""

import re

Span = tuple[int, int]
#: Which rule cuts words; what is kept of words by another rule is not used.
VERSION = 1
_WORDS = re.compile(r"\w+|[^\w\s]")


def cut_words(text: str) -> list[Span]:
    """Begin and end of each word and each mark, as the tokeniser `default` cuts them."""
    return [match.span() for match in _WORDS.finditer(text)]
