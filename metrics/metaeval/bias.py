"""Do scores depend on how far an answer's length is from its references'? Lowe et al. 2017 (ADEM), Table 8.

Answers fall into two groups: dw, the absolute difference in words between answer and reference, is at most 6,
or more. With several references dw is the distance to their mean length. A metric that knows nothing but
length differs between the groups; people, in the paper, do not (2.671 and 2.698, p = .83).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.figure import Figure
from metrics.metaeval.correlation import p_of_t, related
from metrics.metaeval.data import Floats, ScoredAnswers
from metrics.metaeval.executor import generator

CUT = 6
NO_LENGTHS = "the lengths of the answers and their references are not known"
HUMAN = "human"
#: Answers times draws that are dealt at once.
_CELLS = 1 << 21


@dataclass(frozen=True, slots=True)
class Group:
    """The answers on one side of the cut that have a score: how many, and their mean and variance."""

    n: int
    mean: float
    variance: float


def length_bias(
    judged: ScoredAnswers, columns: Mapping[str, Floats], *, draws: int, seed: int, cut: float = CUT
) -> dict[str, dict[str, Any]]:
    """For each column of scores, what the two groups get and whether chance explains the difference.

    `welch` is the t-test for unequal variances; `permutation` deals the answers to groups of the same sizes
    at random, `draws` times, the same way for all columns, and takes the difference of means,
    p = (1 + #) / (1 + draws). Without lengths each value is null with its reason.
    """
    if judged.lengths is None or judged.reference_lengths is None:
        return {name: {"value": None, "reason": NO_LENGTHS} for name in columns}
    distance = np.abs(judged.lengths - judged.reference_lengths)
    known = ~np.isnan(distance)
    near = (distance <= cut)[known]
    values = {name: column[known] for name, column in columns.items()}
    p = permuted(near, values, draws=draws, seed=seed)
    said = {}
    for name, column in values.items():
        groups = _group(column[near]), _group(column[~near])
        said[name] = {
            "cut": cut,
            "near": _group_json(groups[0]),
            "far": _group_json(groups[1]),
            **_difference(*groups).as_json(),
            "welch_p": welch(*groups),
            "permutation_p": p[name],
            "draws": draws,
            "length": related(judged.lengths, columns[name], "pearson").as_json(),
            "distance": related(distance, columns[name], "pearson").as_json(),
        }
        del said[name]["ci"]
    return said


def welch(a: Group, b: Group) -> float | None:
    """Two-sided p-value of Welch's t-test; None where a group has fewer than two scores or no variance."""
    if min(a.n, b.n) < 2:
        return None
    of_a, of_b = a.variance / a.n, b.variance / b.n
    both = of_a + of_b
    if both <= 0:
        return None
    degrees = both**2 / (of_a**2 / (a.n - 1) + of_b**2 / (b.n - 1))
    return p_of_t((a.mean - b.mean) / math.sqrt(both), degrees)


def permuted(
    near: npt.NDArray[np.bool_], values: Mapping[str, Floats], *, draws: int, seed: int
) -> dict[str, float | None]:
    """p-value of the absolute difference of group means for each column, the groups dealt at random.

    Where a score is missing its answer takes part in the deal without counting, so that all columns share
    their draws.
    """
    if not values or near.all() or not near.any():
        return dict.fromkeys(values)
    stacked = np.stack(list(values.values()), axis=1)
    there = ~np.isnan(stacked)
    filled = np.where(there, stacked, 0.0)
    complete = bool(there.all())
    centre = filled.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    filled = np.where(there, filled - centre, 0.0)
    counted = np.ones((len(near), 1)) if complete else there.astype(np.float64)
    observed = np.abs(_differences(near[None, :], filled, counted))[0]
    rng = generator(seed, "length bias")
    size = int(near.sum())
    reached = np.zeros(stacked.shape[1], dtype=np.int64)
    possible = np.zeros(stacked.shape[1], dtype=np.int64)
    # Equal differences must count as equal whatever the order of summation.
    bound = observed - 1e-12 * np.maximum(np.abs(filled).max(axis=0, initial=0.0), 1e-300)
    at_once = max(1, _CELLS // len(near))
    for start in range(0, draws, at_once):
        keys = rng.random((min(at_once, draws - start), len(near)))
        dealt = keys < np.partition(keys, size, axis=1)[:, size, None]
        found = np.abs(_differences(dealt, filled, counted))
        possible += (~np.isnan(found)).sum(axis=0)
        reached += (found >= bound).sum(axis=0)
    return {
        name: None if math.isnan(observed[k]) else float((1 + reached[k]) / (1 + possible[k]))
        for k, name in enumerate(values)
    }


def _differences(near: npt.NDArray[np.bool_], filled: Floats, there: Floats) -> Floats:
    weights = near.astype(np.float64)
    sums, counts = weights @ filled, weights @ there
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = sums / counts - (filled.sum(axis=0) - sums) / (there.sum(axis=0) - counts)
    return found


def _group(scores: Floats) -> Group:
    scores = scores[~np.isnan(scores)]
    n = len(scores)
    return Group(
        n,
        float(scores.mean()) if n else math.nan,
        float(scores.var(ddof=1)) if n > 1 and scores.min() < scores.max() else 0.0,
    )


def _group_json(group: Group) -> dict[str, Any]:
    return {"n": group.n, "mean": group.mean if group.n else None}


def _difference(near: Group, far: Group) -> Figure:
    n = near.n + far.n
    if not near.n or not far.n:
        return Figure(None, "all answers are on the same side of the cut", n=n)
    return Figure(near.mean - far.mean, n=n)
