"""A metric's scores beside people's: points with jitter for the eye, and what fifths of the answers say."""

import random
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from evaluations.reporting.points import Points
from web.charts.evaluation import ANSWER, FIFTH

#: Points that all scatter plots of a page have together, and the fewest and most that one of them has.
_ALL, _FEWEST, _MOST = 6000, 150, 1000
_FIFTHS = 5
#: A metric with so few different scores is jittered as well, as people's scores always are.
_FEW_VALUES = 20
_JITTER = 0.025

Row = dict[str, Any]


def drawn_of(plots: int) -> int:
    """How many points a plot has where there are so many plots."""
    return min(_MOST, max(_FEWEST, _ALL // max(plots, 1)))


def rows_of(points: Points, metric: str, *, scale: tuple[float, float], most: int, seed: int) -> list[Row]:
    """Answers and means of fifths, as the plot draws them; nothing where no answer has both scores."""
    pairs = points.pairs(metric)
    if not pairs:
        return []
    jitter = random.Random(f"{seed}|jitter|{metric}")  # noqa: S311 - for the eye
    width = max(a for a, _ in pairs) - min(a for a, _ in pairs)
    across = width * _JITTER if len({a for a, _ in pairs}) <= _FEW_VALUES else 0.0
    up = (scale[1] - scale[0]) * _JITTER
    shown = pairs if len(pairs) <= most else jitter.sample(pairs, most)
    answers = [
        _row(ANSWER, a, b, a + jitter.uniform(-across, across), b + jitter.uniform(-up, up)) for a, b in shown
    ]
    means = [_row(FIFTH, row["score"], row["human"], row["score"], row["human"]) for row in fifths(pairs)]
    return answers + means


def fifths(pairs: Sequence[tuple[float, float]]) -> list[Row]:
    """Means of both scores in fifths of the answers by the metric; equal scores stay together."""
    ordered = sorted(pairs)
    size = len(ordered) / _FIFTHS
    groups: list[list[tuple[float, float]]] = [[] for _ in range(_FIFTHS)]
    place, last = 0, None
    for at, (score, human) in enumerate(ordered):
        if score != last:
            place = min(int(at / size), _FIFTHS - 1)
        groups[place].append((score, human))
        last = score
    return [
        {
            "answers": len(group),
            "score": fmean(a for a, _ in group),
            "from": group[0][0],
            "to": group[-1][0],
            "human": fmean(b for _, b in group),
        }
        for group in groups
        if group
    ]


def _row(what: str, metric: float, human: float, x: float, y: float) -> Row:
    return {"what": what, "metric": metric, "human": round(human, 4), "x": round(x, 5), "y": round(y, 4)}
