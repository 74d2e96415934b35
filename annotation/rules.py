"""Rules that turn what editors said into decisions: screening and curation, without a database."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

# Finding the words that somebody marked in a passage.

#: Longest stretch of words that is looked for, in characters.
LONGEST = 2_000


def locate(text: str, phrase: str) -> tuple[int, int] | None:
    """Offsets in characters of the first place where these words stand in the text, or None.

    White space counts as one blank, for what is copied from a page has its line ends elsewhere.
    """
    parts = phrase.split()
    if not parts or len(phrase) > LONGEST:
        return None
    match = re.search(r"\s+".join(map(re.escape, parts)), text)
    return match.span() if match else None


class CurationVerdict(StrEnum):
    """What becomes of the query. More: one more editor is to be asked."""

    CURATED = "curated"
    UNANSWERABLE = "unanswerable"
    DISPUTED = "disputed"
    MORE = "more"


@dataclass(frozen=True, slots=True)
class CurationDecision:
    """A verdict and why; of a curated query the chosen passages and the rule that chose them."""

    verdict: CurationVerdict
    reason: str
    rule: str = ""
    passages: frozenset[str] = field(default_factory=frozenset)


#: One editor's choice: keys of passages, or nothing where the passages cannot answer the query.
Selection = frozenset[str]


def decide_curation(selections: Sequence[Selection], *, needed: int, merging: str) -> CurationDecision:
    """Merge selections, of which there are at least `needed`; their order means nothing.

    One editor's choice is taken as it is, several equal ones too. Where they differ, `merging` says how
    to go on: `majority` keeps each passage that more than half of the editors chose; `exact` asks one more
    editor, and then takes the choice that more than half of them made. That more than half found the passages
    of no use decides in both. Whatever is left is disputed. Raises ValueError for too few selections.
    """
    count = len(selections)
    if count < max(1, needed):
        raise ValueError(f"There are {count} selections, and {needed} are wanted.")
    choice, same = Counter(selections).most_common(1)[0]
    if same == count:
        return _decide_for(choice, same, count, "single" if count == 1 else "exact")
    useless = sum(not selection for selection in selections)
    if 2 * useless > count:
        return _decide_for(frozenset(), useless, count, "")
    if merging == "exact":
        return _same_choice(choice, same, count, needed)
    return _each_passage(selections, useless)


def _same_choice(choice: Selection, same: int, count: int, needed: int) -> CurationDecision:
    if count == needed:
        return CurationDecision(CurationVerdict.MORE, f"{count} editors chose differently; one more is asked")
    if 2 * same > count:
        return _decide_for(choice, same, count, "exact")
    return CurationDecision(
        CurationVerdict.DISPUTED, f"No choice was made by more than half of {count} editors"
    )


def _each_passage(selections: Sequence[Selection], useless: int) -> CurationDecision:
    count = len(selections)
    times_by_key = Counter(key for selection in selections for key in selection)
    majority = frozenset(key for key, times in times_by_key.items() if 2 * times > count)
    if majority:
        reason = f"Each passage was chosen by more than half of {count} editors"
        return CurationDecision(CurationVerdict.CURATED, reason, "majority", majority)
    reason = f"No passage was chosen by more than half of {count} editors"
    if useless:
        reason += f"; {useless} of {count}: the passages cannot answer it"
    return CurationDecision(CurationVerdict.DISPUTED, reason)


def _decide_for(choice: Selection, same: int, count: int, rule: str) -> CurationDecision:
    if not choice:
        return CurationDecision(
            CurationVerdict.UNANSWERABLE, f"{same} of {count}: the passages cannot answer it"
        )
    reason = "Chosen by one editor" if count == 1 else f"{same} of {count} chose the same passages"
    return CurationDecision(CurationVerdict.CURATED, reason, rule, choice)


INFORMATIONAL = "informational"
#: What speaks against a query, in the order in which it is said.
_OBJECTIONS = {
    "navigational": "navigational",
    "transactional": "transactional",
    "directions": "asks for directions or places nearby",
    "list": "asks for a list that is never complete",
    "topic": "a general topic",
    "ambiguous": "its intent is not clear",
    "unanswerable": "no short passage could settle it",
}


class ScreeningVerdict(StrEnum):
    """What becomes of the query."""

    ACCEPTED = "accepted"
    EXCLUDED = "excluded"
    TIED = "tied"


@dataclass(frozen=True, slots=True)
class Vote:
    """One editor's form. `excluded_kind` is empty, directions, list or topic."""

    unambiguous: bool
    answerable: bool
    intent: str
    excluded_kind: str
    sensitive: bool
    adult: bool

    @property
    def fit(self) -> bool:
        """This editor would take the query, flags aside."""
        return not self.objections

    @property
    def objections(self) -> tuple[str, ...]:
        """What this editor has against the query, flags aside; names in the order of `_OBJECTIONS`."""
        kind = self.excluded_kind if self.intent == INFORMATIONAL else self.intent
        names = [kind] if kind else []
        if not self.unambiguous:
            names.append("ambiguous")
        if not self.answerable:
            names.append("unanswerable")
        return tuple(names)


@dataclass(frozen=True, slots=True)
class ScreeningDecision:
    """A verdict and why, in words: "2 of 3: navigational"."""

    verdict: ScreeningVerdict
    reason: str


def decide_screening(
    votes: Sequence[Vote], *, tolerated_sensitive: int = 0, tolerated_adult: int = 0, ties_wait: bool = True
) -> ScreeningDecision:
    """Decide about a query; the order of the votes means nothing.

    Flags come first: more than the tolerated number of either excludes, whatever else is said. Then a query
    is accepted where more than half of the editors find it informational, of no excluded kind, unambiguous
    and definitively answerable, all at once; excluded where fewer than half do; and tied at exactly half
    (excluded, where ties do not wait for a person). Raises ValueError without votes.
    """
    count = len(votes)
    if not count:
        raise ValueError("There is nothing to decide about without votes.")
    flags = [
        f"{flagged} of {count}: {what}"
        for flagged, tolerated, what in (
            (sum(vote.sensitive for vote in votes), tolerated_sensitive, "sensitive information"),
            (sum(vote.adult for vote in votes), tolerated_adult, "adult content"),
        )
        if flagged > tolerated
    ]
    if flags:
        return ScreeningDecision(ScreeningVerdict.EXCLUDED, "; ".join(flags))
    fit = sum(vote.fit for vote in votes)
    if 2 * fit > count:
        return ScreeningDecision(ScreeningVerdict.ACCEPTED, f"{fit} of {count}: fit to be answered")
    against = _against(votes)
    if 2 * fit == count:
        reason = f"{fit} of {count}: fit to be answered; {against}"
        return ScreeningDecision(ScreeningVerdict.TIED if ties_wait else ScreeningVerdict.EXCLUDED, reason)
    return ScreeningDecision(ScreeningVerdict.EXCLUDED, against)


def _against(votes: Sequence[Vote]) -> str:
    """Objections with their counts, the most frequent first; only those of a majority where there are any."""
    counts = {name: sum(name in vote.objections for vote in votes) for name in _OBJECTIONS}
    raised = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    shared = [name for name in raised if 2 * counts[name] > len(votes)]
    return "; ".join(f"{counts[name]} of {len(votes)}: {_OBJECTIONS[name]}" for name in shared or raised)
