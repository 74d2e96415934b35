"""How the selections of several editors become one curated set."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

# Finding the words that somebody marked in a passage.

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


class Verdict(StrEnum):
    """What becomes of the query. More: one more editor is to be asked."""

    CURATED = "curated"
    UNANSWERABLE = "unanswerable"
    DISPUTED = "disputed"
    MORE = "more"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict and why; of a curated query the chosen passages and the rule that chose them."""

    verdict: Verdict
    reason: str
    rule: str = ""
    passages: frozenset[str] = field(default_factory=frozenset)


#: One editor's choice: keys of passages, or nothing where the passages cannot answer the query.
Selection = frozenset[str]


def decide(selections: Sequence[Selection], *, wanted: int, merging: str) -> Decision:
    """Merge selections, of which there are at least `wanted`; their order means nothing.

    One editor's choice stands as it is. Several equal ones stand too. Where they differ, `merging` says how
    to go on: `majority` keeps each passage that more than half of the editors chose; `exact` asks one more
    editor, and then takes the choice that more than half of them made. That more than half found the passages
    of no use decides in both. Whatever is left is disputed. Raises ValueError for too few selections.
    """
    count = len(selections)
    if count < max(1, wanted):
        raise ValueError(f"There are {count} selections, and {wanted} are wanted.")
    choice, same = Counter(selections).most_common(1)[0]
    if same == count:
        return _taken(choice, same, count, "single" if count == 1 else "exact")
    useless = sum(not selection for selection in selections)
    if 2 * useless > count:
        return _taken(frozenset(), useless, count, "")
    if merging == "exact":
        return _same_choice(choice, same, count, wanted)
    return _each_passage(selections, useless)


def _same_choice(choice: Selection, same: int, count: int, wanted: int) -> Decision:
    if count == wanted:
        return Decision(Verdict.MORE, f"{count} editors chose differently; one more is asked")
    if 2 * same > count:
        return _taken(choice, same, count, "exact")
    return Decision(Verdict.DISPUTED, f"No choice was made by more than half of {count} editors")


def _each_passage(selections: Sequence[Selection], useless: int) -> Decision:
    count = len(selections)
    chosen = Counter(key for selection in selections for key in selection)
    kept = frozenset(key for key, times in chosen.items() if 2 * times > count)
    if kept:
        reason = f"Each passage was chosen by more than half of {count} editors"
        return Decision(Verdict.CURATED, reason, "majority", kept)
    reason = f"No passage was chosen by more than half of {count} editors"
    if useless:
        reason += f"; {useless} of {count}: the passages cannot answer it"
    return Decision(Verdict.DISPUTED, reason)


def _taken(choice: Selection, same: int, count: int, rule: str) -> Decision:
    if not choice:
        return Decision(Verdict.UNANSWERABLE, f"{same} of {count}: the passages cannot answer it")
    words = "Chosen by one editor" if count == 1 else f"{same} of {count} chose the same passages"
    return Decision(Verdict.CURATED, words, rule, choice)
