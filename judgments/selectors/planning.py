"""How many answers and judges a study needs, and what they cost at a stage's reward and fees."""

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from crowd.models import Stage
from crowd.services.quotes import fee, sizes
from judgments.models import Candidate
from judgments.selectors.live import Live, score_counts, systems_of
from judgments.selectors.ratings import scale_of

if TYPE_CHECKING:
    from metrics.agreement.planning import ScoreSpread
    from metrics.figure import Figure

#: Judges per answer that the table of two systems shows.
JUDGES = (1, 2, 3, 5, 7, 10, 15)
MOST_JUDGES = 20


@dataclass(frozen=True, slots=True)
class Design:
    """So many judges per answer need so many questions, which both systems answer."""

    judges: int
    questions: int
    judgments: int
    cents: int
    cheapest: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Reliability of the mean of n judgments, None with a reason, and what all answers cost with n each."""

    n: int
    reliability: float | None
    reason: str
    width: float
    cents: int
    wanted: bool


def cost(stage: Stage, answers: int, judges: int) -> int:
    """Cents for so many judges for each of so many answers: rewards and fees, HITs split as they would be."""
    per_hit = sum(size * (stage.reward_cents + fee(stage, size)) for size in sizes(stage, judges))
    return ceil(answers / stage.units_per_hit) * per_hit


def designs(stage: Stage, spread: "ScoreSpread", difference: float, power: float) -> list[Design]:
    """Designs that find a true difference of two systems' means with this power."""
    from metrics.agreement.planning import items_for_systems

    found = []
    for judges in JUDGES:
        questions = items_for_systems(spread, ratings=judges, difference=difference, power=power)
        answers = 2 * questions
        found.append(Design(judges, questions, answers * judges, cost(stage, answers, judges)))
    least = min(each.cents for each in found)
    return [
        Design(each.judges, each.questions, each.judgments, each.cents, each.cents == least) for each in found
    ]


def steps(stage: Stage, one: float | None, answers: int) -> list[Step]:
    """Reliability at 1 to 20 judges from the agreement of single judgments (Spearman-Brown)."""
    from metrics.agreement.planning import reliability_table

    return [
        Step(
            step.n,
            step.reliability.value,
            step.reliability.reason,
            round(100 * (step.reliability.value or 0), 2),
            cost(stage, answers, step.n),
            step.n == stage.redundancy,
        )
        for step in reliability_table(one, MOST_JUDGES)
    ]


def spread_of_stage(stage: Stage, now: Live) -> "ScoreSpread | Figure | None":
    """What the stage's own judgments show, of its two systems with most answers; None for fewer."""
    import numpy as np  # start-up does without numpy

    from metrics.agreement.data import Sums
    from metrics.agreement.planning import ScoreSpread, spread_of

    names = [row.system for row in sorted(now.systems, key=lambda row: (-row.items, row.system))[:2]]
    if len(names) < 2:
        return None
    scale = scale_of(stage)
    given = score_counts(stage, now.stamp, scale.low, scale.size)
    systems = systems_of(stage, given.candidates)
    queries = dict(
        Candidate.objects.filter(system__project=stage.project_id, system__name__in=names)
        .order_by()
        .values_list("pk", "query_id")
    )
    rows: dict[str, dict[int, int]] = {name: {} for name in names}
    for at, (key, system) in enumerate(zip(given.candidates.tolist(), systems, strict=True)):
        if system in rows:
            rows[system][queries[key]] = at
    common = sorted(set(rows[names[0]]) & set(rows[names[1]]))

    def sums(name: str) -> Sums:
        counts = given.counts[np.array([rows[name][query] for query in common], dtype=np.int64)]
        values = scale.steps
        return Sums(counts.sum(axis=1), counts @ values, counts @ (values * values))

    found, unit = spread_of(sums(names[0]), sums(names[1])), float(scale.unit)
    if not isinstance(found, ScoreSpread):
        return found
    return ScoreSpread(found.sd_difference * unit, found.sd_rating * unit)
