"""Finding the words that somebody marked in a passage."""

import re

#: Longest stretch of words that is looked for, in characters.
LONGEST = 2_000


def locate(text: str, words: str) -> tuple[int, int] | None:
    """Offsets in characters of the first place where these words stand in the text, or None.

    White space counts as one blank, for what is copied from a page has its line ends elsewhere.
    """
    parts = words.split()
    if not parts or len(words) > LONGEST:
        return None
    found = re.search(r"\s+".join(map(re.escape, parts)), text)
    return found.span() if found else None
