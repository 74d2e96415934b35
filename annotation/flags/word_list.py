"""Words that a researcher listed, such as offensive ones.

`listed-word`: how many words of the answer are on the stage's list; case, vowel marks and full-width forms
make no difference. An entry of several words is found where they follow one another. No list is shipped:
which words offend depends on the language, the place and the time.
"""

from annotation.flags.registry import Flag, Limits
from annotation.flags.tokens import folded, tokens


def listed_flags(text: str, limits: Limits) -> list[Flag]:
    """The flag `listed-word`, or none."""
    listed = {words for entry in limits.listed_words if (words := folded(entry))}
    if not listed:
        return []
    found = tokens(text)
    words = tuple(token.folded for token in found)
    spans = [
        {"start": found[at].start, "end": found[at + size - 1].end}
        for size in sorted({len(entry) for entry in listed})
        for at in range(len(words) - size + 1)
        if words[at : at + size] in listed
    ]
    return [Flag("listed-word", float(len(spans)), None, {"spans": spans})] if spans else []
