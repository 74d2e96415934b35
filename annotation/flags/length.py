"""Answers far longer or shorter than the others of their query.

`length`: the modified z-score of the logarithm of the length in characters is beyond `length_z` on either
side (Iglewicz & Hoaglin 1993: 0.6745 · distance to the median ÷ median absolute deviation; where that
deviation is zero, distance ÷ 1.2533 · mean absolute deviation), the length differs from the median by the
factor `FACTOR` at least, and the query has `LEAST` answers or more.
"""

from collections.abc import Mapping, Sequence
from math import log
from statistics import fmean, median

from annotation.flags.shapes import Flag, Limits

LEAST = 5
FACTOR = 3.0


def scores(lengths: Sequence[int]) -> list[float]:
    """The modified z-score of each length; zeros where all are the same."""
    logs = [log(max(1, length)) for length in lengths]
    if not logs:
        return []
    middle = median(logs)
    distances = [abs(value - middle) for value in logs]
    scale = median(distances) / 0.6745
    if not scale:
        scale = fmean(distances) * 1.2533
    return [(value - middle) / scale if scale else 0.0 for value in logs]


def outliers(lengths: Mapping[int, int], limits: Limits) -> dict[int, list[Flag]]:
    """The flag `length` by the answers' keys."""
    if len(lengths) < LEAST:
        return {}
    middle = median(lengths.values())
    found = {}
    for (key, length), score in zip(lengths.items(), scores(list(lengths.values())), strict=True):
        factor = max(length, 1) / max(middle, 1)
        if abs(score) > limits.length_z and max(factor, 1 / factor) >= FACTOR:
            evidence = {"length": length, "median": middle, "compared": len(lengths)}
            found[key] = [Flag("length", round(score, 2), limits.length_z, evidence)]
    return found
