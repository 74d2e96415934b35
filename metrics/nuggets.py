"""What an answer says of a list: nuggets (TREC RAG 2024) and weighted criteria (HealthBench)."""

from collections.abc import Sequence
from dataclasses import dataclass

from metrics.item_means import mean_or_none

#: Labels of a nugget in rising order, and what they count; strictly a part counts nothing.
LABELS = ("not", "partial", "support")
WEIGHTS, STRICT_WEIGHTS = (0.0, 0.5, 1.0), (0.0, 0.0, 1.0)
OKAY_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Nugget:
    """One nugget and how far an answer has it, a place in `LABELS`."""

    is_vital: bool
    label: int


@dataclass(frozen=True, slots=True)
class NuggetScores:
    """Of one answer; None where it has no such nugget."""

    all: float | None
    all_strict: float | None
    vital: float | None
    vital_strict: float | None
    weighted: float | None
    weighted_strict: float | None


NAMES = ("all", "all_strict", "vital", "vital_strict", "weighted", "weighted_strict")


def nugget_scores(nuggets: Sequence[Nugget]) -> NuggetScores:
    """Means over nuggets; `weighted` counts an okay one half as much as a vital one (Pradeep et al. 2024)."""

    def scores(weights: Sequence[float]) -> tuple[float | None, float | None, float | None]:
        vital = [weights[nugget.label] for nugget in nuggets if nugget.is_vital]
        okay = [weights[nugget.label] for nugget in nuggets if not nugget.is_vital]
        room = len(vital) + OKAY_WEIGHT * len(okay)
        weighted = (sum(vital) + OKAY_WEIGHT * sum(okay)) / room if room else None
        return mean_or_none([*vital, *okay]), mean_or_none(vital), weighted

    plain, strict = scores(WEIGHTS), scores(STRICT_WEIGHTS)
    return NuggetScores(plain[0], strict[0], plain[1], strict[1], plain[2], strict[2])


def rubric_score(criteria: Sequence[tuple[float, bool]]) -> float | None:
    """Points of the criteria that are met, of all positive points; None where there are none.

    Criteria are (points, met); points below 0 are of what an answer must not do, so that it may be negative.
    """
    possible = sum(points for points, _ in criteria if points > 0)
    return sum(points for points, met in criteria if met) / possible if possible else None
