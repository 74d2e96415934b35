"""A line in the page that people do not see and a pasted page does, asking for two odd words in the answer.

The words are drawn by a seed, so that the same unit of the same stage always has the same ones, and none of
them stands in the query or its passages. `canary`: both words stand in the answer, one after the other.
"""

import random
from collections.abc import Iterable

from annotation.flags.shapes import Flag
from annotation.flags.tokens import folded, tokens

_FIRST = (
    "amber", "brindled", "cobalt", "dappled", "ermine", "fallow", "gossamer", "hazel",
    "indigo", "juniper", "lacquered", "madder", "ochre", "pewter", "russet", "umber",
)  # fmt: skip
_SECOND = (
    "lantern", "trellis", "barometer", "sextant", "thimble", "gazebo", "abacus", "carousel",
    "dulcimer", "escritoire", "galleon", "harpsichord", "marionette", "obelisk", "periscope", "weathervane",
)  # fmt: skip


def phrase(seed: str, known: Iterable[str] = ()) -> str:
    """The two words of a seed; not such as stand in the texts of `known` already."""
    there = {word for text in known for word in folded(text)}
    rng = random.Random(f"canary:{seed}")
    first = [word for word in _FIRST if word not in there] or list(_FIRST)
    second = [word for word in _SECOND if word not in there] or list(_SECOND)
    return f"{rng.choice(first)} {rng.choice(second)}"


def canary_flags(text: str, words: str) -> list[Flag]:
    """The flag `canary`; without words the canary is off."""
    wanted = folded(words)
    if not wanted:
        return []
    found = tokens(text)
    for at in range(len(found) - len(wanted) + 1):
        if tuple(token.folded for token in found[at : at + len(wanted)]) == wanted:
            span = {"start": found[at].start, "end": found[at + len(wanted) - 1].end}
            return [Flag("canary", None, None, {"spans": [span], "phrase": words})]
    return []
