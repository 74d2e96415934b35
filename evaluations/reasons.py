"""What metrics see in a query: the weight of its references, and why an answer got its score.

It knows the library of metrics, so only pages that show reasons import it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from evaluations.desk.offers import by_family
from metrics.errors import MetricError
from metrics.explanation import Explanation, ReferenceShare, explain, explainable, weights
from metrics.profiles import PROFILES

#: Characters of text times number of texts that a page compares; METEOR looks for alignments, which is slow.
_MOST, _MOST_ALIGNED = 4_000_000, 120_000
#: Importance that differs by less than this share of the greatest is alike, and shaded so.
_ALIKE, _MIDDLE = 0.01, 3
#: Starts a Java process for every page, which takes seconds.
_SLOW = ("meteor-1.5", "pa-meteor-1.5")


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """A reference on the page; `level` goes from 1, the least important one of the query, to 5, the most."""

    against: ReferenceShare
    number: int
    level: int
    width: float
    best: bool


@dataclass(frozen=True, slots=True)
class Reasons:
    """What the page shows: references by importance, and the explanation where an answer is given."""

    references: tuple[ReferenceView, ...]
    explanation: Explanation | None


@cache
def metrics_by_family(profile: str) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Metrics that one answer can be explained under, as families of (name, title)."""
    found = []
    for family, offers in by_family(profile):
        here = {each.name: each.title for each in offers if not each.missing and each.name not in _SLOW}
        names = explainable(list(here), profile)
        if names:
            found.append((family, tuple((name, here[name]) for name in names)))
    return tuple(found)


def profiles() -> list[tuple[str, str]]:
    """Profiles with what each says of itself."""
    return [(each.name, f"{each.name}: {each.says}") for each in PROFILES.values()]


def reasons(name: str, profile: str, references: Sequence[str], answer: str | None, question: str) -> Reasons:
    """The references by importance and, with an answer, why it has its score; MetricError in words."""
    texts = [*references, answer or ""]
    most = _MOST_ALIGNED if "meteor" in name else _MOST
    if sum(map(len, texts)) * len(texts) > most:
        raise MetricError(
            f"Its {len(references)} references are too much text to be compared pair by pair on a page. "
            "Choose another metric, or evaluate a release."
        )
    explanation = None
    if answer is None:
        found = weights(name, profile, references)
    else:
        explanation = explain(name, profile, answer, references, question)
        found = explanation.references
    best = explanation.best if explanation else None
    shares = [each.share or 0.0 for each in found]
    lowest, highest = min(shares, default=0.0), max(shares, default=0.0)
    return Reasons(tuple(_shown(each, lowest, highest, best) for each in found), explanation)


def _shown(each: ReferenceShare, lowest: float, highest: float, best: int | None) -> ReferenceView:
    share = each.share or 0.0
    part = share / highest if highest else 0.0
    spread = highest - lowest
    level = 1 + round(4 * (share - lowest) / spread) if spread > _ALIKE * highest else _MIDDLE
    return ReferenceView(each, each.place + 1, level, round(100 * part, 1), each.place == best)
