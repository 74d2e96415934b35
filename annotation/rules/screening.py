"""When a query is accepted, excluded or tied in screening (paper 000, section 3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

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


class Verdict(StrEnum):
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
        found = [kind] if kind else []
        if not self.unambiguous:
            found.append("ambiguous")
        if not self.answerable:
            found.append("unanswerable")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict and why, in words: "2 of 3: navigational"."""

    verdict: Verdict
    reason: str


def decide(
    votes: Sequence[Vote], *, tolerated_sensitive: int = 0, tolerated_adult: int = 0, ties_wait: bool = True
) -> Decision:
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
        f"{flagged} of {count}: {words}"
        for flagged, tolerated, words in (
            (sum(vote.sensitive for vote in votes), tolerated_sensitive, "sensitive information"),
            (sum(vote.adult for vote in votes), tolerated_adult, "adult content"),
        )
        if flagged > tolerated
    ]
    if flags:
        return Decision(Verdict.EXCLUDED, "; ".join(flags))
    fit = sum(vote.fit for vote in votes)
    if 2 * fit > count:
        return Decision(Verdict.ACCEPTED, f"{fit} of {count}: fit to be answered")
    against = _against(votes)
    if 2 * fit == count:
        reason = f"{fit} of {count}: fit to be answered; {against}"
        return Decision(Verdict.TIED if ties_wait else Verdict.EXCLUDED, reason)
    return Decision(Verdict.EXCLUDED, against)


def _against(votes: Sequence[Vote]) -> str:
    """Objections with their counts, the most frequent first; only those of a majority where there are any."""
    counts = {name: sum(name in vote.objections for vote in votes) for name in _OBJECTIONS}
    raised = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    shared = [name for name in raised if 2 * counts[name] > len(votes)]
    return "; ".join(f"{counts[name]} of {len(votes)}: {_OBJECTIONS[name]}" for name in shared or raised)
