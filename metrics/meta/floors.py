"""Metrics that nobody would publish. A metric that is no better than they are has learned nothing, and a
data set on which they do well is no benchmark.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from metrics.meta.scored_answers import Codes, Floats, ScoredAnswers

OF_THE_OTHERS = "this floor is made of the human scores of the other answers to the question"
ONE_VALUE = "this floor has one value per system: its own human mean"


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """Scores of a floor, what they are in words, and the groupings in which they mean nothing, with why."""

    title: str
    scores: Floats
    without: Mapping[str, str] = field(default_factory=dict)


def floors(judged: ScoredAnswers) -> dict[str, Floor]:
    """The floors that these data allow, by name.

    `length`: number of tokens of the answer. `length-difference`: minus the distance between that and the
    mean length of the references. `question`: the same for every answer to a question but for its own part,
    the mean human score of the question's other answers; it knows how hard the question is and nothing of
    the answer. `system`: the mean human score of the system that answered; it knows who answered and nothing
    of the answer.
    """
    found = {}
    if judged.lengths is not None:
        found["length"] = Floor("Length of the answer", judged.lengths)
        if judged.reference_lengths is not None:
            distance = -np.abs(judged.lengths - judged.reference_lengths)
            found["length-difference"] = Floor("Closeness of its length to its references'", distance)
    found["question"] = Floor(
        "What the question's other answers got",
        _mean_of_others(judged.human, judged.questions),
        dict.fromkeys(("item", "pairs"), OF_THE_OTHERS),
    )
    found["system"] = Floor(
        "What the system gets on average",
        _mean(judged.human, judged.systems),
        dict.fromkeys(("by_system", "system"), ONE_VALUE),
    )
    return found


def _sums(human: Floats, groups: Codes) -> tuple[Floats, Floats]:
    """For each row the sum of the human scores in its group, and how many there are."""
    there = ~np.isnan(human)
    size = int(groups.max(initial=-1)) + 1
    sums = np.bincount(groups, weights=np.where(there, human, 0.0), minlength=size)
    counts = np.bincount(groups, weights=there.astype(np.float64), minlength=size)
    return np.asarray(sums[groups], np.float64), np.asarray(counts[groups], np.float64)


def _mean(human: Floats, groups: Codes) -> Floats:
    sums, counts = _sums(human, groups)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _mean_of_others(human: Floats, groups: Codes) -> Floats:
    sums, counts = _sums(human, groups)
    there = ~np.isnan(human)
    others = counts - there
    mean = (sums - np.where(there, human, 0.0)) / np.maximum(others, 1)
    # Equal means stay equal: what is left of a subtraction may differ in the last bits.
    return np.where(others > 0, np.round(mean, 12), np.nan)
