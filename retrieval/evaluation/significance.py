"""Is one system better than another on the same queries? Paired tests (Smucker, Allan and Carterette 2007).

- Student's paired t-test over queries.
- The randomisation test (Fisher's): if both systems were the same, it would make no difference to swap their
  values. Units are swapped with probability 1/2; p is the share of draws whose mean difference is at least as
  far from 0 as the one observed, (1 + #) / (1 + draws), never 0. Few units are swapped in every possible way.
  All turns of a conversation are one unit, as they share their topic.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from metrics.metaeval.executor import BLOCK, blocks, kept, swaps
from metrics.metaeval.significance import holm

DRAWS = 9_999
#: A draw this close to what was observed counts as far: the last bit of a sum must not decide.
CLOSE = 1e-10
_PURPOSE = "retrieval evaluation"
_LEVEL = 0.95

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MeanDifference:
    """A difference of means, its 95 % interval by Student's t, and what the two tests say.

    None, where a test is not defined; `reason` says why. `units`: what was swapped.
    """

    difference: float
    interval: tuple[float, float] | None
    better: int
    worse: int
    equal: int
    t: float | None
    t_p: float | None
    randomisation_p: float | None
    units: int
    draws: int
    reason: str = ""
    t_p_holm: float | None = None
    randomisation_p_holm: float | None = None


def paired(
    systems: Sequence[Floats],
    baseline: Floats,
    units: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[MeanDifference]:
    """Each system's (queries,) values against the baseline's; corrected by Holm over the systems.

    `units` names what each query is swapped with.
    """
    if not systems:
        return []
    differences = np.stack([values - baseline for values in systems], axis=1)
    order = {name: number for number, name in enumerate(dict.fromkeys(units))}
    sums = np.zeros((len(order), len(systems)))
    np.add.at(sums, [order[name] for name in units], differences)
    ps, made = _randomised(sums, draws, seed)
    found = [_one(differences[:, at], float(ps[at]), len(order), made) for at in range(len(systems))]
    ts, rs = holm([each.t_p for each in found]), holm([each.randomisation_p for each in found])
    return [
        replace(each, t_p_holm=t, randomisation_p_holm=r) for each, t, r in zip(found, ts, rs, strict=True)
    ]


def _one(differences: Floats, p: float, units: int, draws: int) -> MeanDifference:
    from scipy import stats  # takes a second to import

    n, mean = len(differences), float(differences.mean())
    signs = [int((differences > CLOSE).sum()), int((differences < -CLOSE).sum())]
    counts = (signs[0], signs[1], n - sum(signs))
    if not any(signs):
        reason = "both have the same value on every query"
        return MeanDifference(mean, (0.0, 0.0), *counts, None, None, 1.0, units, draws, reason)
    if n < 2:
        return MeanDifference(mean, None, *counts, None, None, p, units, draws, "there is one query only")
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    if error < CLOSE:
        reason = "the difference is the same on every query, which Student's t does not know"
        return MeanDifference(mean, (mean, mean), *counts, None, None, p, units, draws, reason)
    t = mean / error
    half = float(stats.t.ppf((1 + _LEVEL) / 2, n - 1)) * error
    t_p = float(2 * stats.t.sf(abs(t), n - 1))
    return MeanDifference(mean, (mean - half, mean + half), *counts, t, t_p, p, units, draws)


def _randomised(sums: Floats, draws: int, seed: int) -> tuple[Floats, int]:
    """p of each column of (units, systems) sums, and how many draws there were."""
    observed = np.abs(sums.sum(axis=0)) - CLOSE
    units = len(sums)
    if 2**units <= draws:
        signs = np.array(list(product((1.0, -1.0), repeat=units)))
        far = np.abs(signs @ sums) >= observed
        return far.mean(axis=0), len(signs)
    extreme = np.zeros(sums.shape[1], np.int64)
    for block in blocks(draws):
        total = np.zeros((BLOCK, sums.shape[1]))
        for part, swapped in swaps(seed, _PURPOSE, block, units):
            total += (1 - 2 * swapped) @ sums[part]
        extreme += (np.abs(total[: kept(draws, block)]) >= observed).sum(axis=0)
    return (1 + extreme) / (1 + draws), draws
