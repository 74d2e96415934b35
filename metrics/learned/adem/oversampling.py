"""Repeating examples until the length of a response says nothing about its score.

People may like short answers better (Lowe et al. 2017, section 5.2), and what learns from them learns that.
Responses fall into five bins of equally many by their words, and their scores into five by the scale. Within
each bin of length, examples of a score are repeated until scores are shared out there as they are in all
examples. None is dropped, and a bin of length has at most as many examples as there are in all. A score that
a bin of length has no example of stays missing there, so some correlation can be left.
"""

import numpy as np

from metrics.base import Floats
from metrics.texts import Places

BINS = 5


def rows(lengths: Places, scores: Floats, scale: tuple[float, float], seed: int) -> Places:
    """Rows of examples, each at least once, in order."""
    low, high = scale
    score_bins = np.clip(((scores - low) / (high - low) * BINS).astype(int), 0, BINS - 1)
    edges = np.quantile(lengths, np.arange(1, BINS) / BINS)
    length_bins = np.searchsorted(edges, lengths, side="left")
    shares = np.bincount(score_bins, minlength=BINS) / len(scores)
    chance = np.random.default_rng((seed, 2))
    taken = []
    for length in np.unique(length_bins):
        cells = [np.flatnonzero((length_bins == length) & (score_bins == score)) for score in range(BINS)]
        whole = max(len(cell) / share for cell, share in zip(cells, shares, strict=True) if len(cell))
        for cell, share in zip(cells, shares, strict=True):
            if len(cell):
                again, left = divmod(max(len(cell), round(whole * share)), len(cell))
                taken += [np.repeat(cell, again), chance.choice(cell, left, replace=False)]
    return np.sort(np.concatenate(taken)).astype(np.intp)
