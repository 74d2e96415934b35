"""Ratings made up for a test."""

import numpy as np

from metrics.agreement.data import Ratings, ratings_of
from metrics.agreement.scale import Scale


def by_coder(table):
    """Ratings from rows of coders, columns of units; None where a coder gave none."""
    return ratings_of(
        [
            (f"unit {unit}", f"coder {coder}", score)
            for coder, row in enumerate(table)
            for unit, score in enumerate(row)
            if score is not None
        ]
    )


def of_one_item(scores):
    """Ratings of one item, each by another worker, in the order of submission."""
    return ratings_of([("item", f"worker {place}", score) for place, score in enumerate(scores)])


def noise(items=60, workers=14, per_item=8, seed=0, scale=None):
    """Ratings without any agreement, in an order that mixes the items; nobody rates an item twice."""
    rng = np.random.default_rng(seed)
    scale = scale or Scale()
    n = items * per_item
    given = np.concatenate([rng.choice(workers, per_item, replace=False) for _ in range(items)])
    order = rng.permutation(n)
    return Ratings(
        np.repeat(np.arange(items), per_item)[order].astype(np.int32),
        given[order].astype(np.int32),
        rng.integers(scale.low, scale.high + 1, n).astype(np.int16),
        [f"item {code}" for code in range(items)],
        [f"worker {code}" for code in range(workers)],
        scale,
    )


def crowd(items=60, workers=14, per_item=8, seed=0):
    """Ratings by workers who see the same truth with noise; every fifth worker clicks at random."""
    ratings = noise(items, workers, per_item, seed)
    rng = np.random.default_rng(seed + 1)
    truth = rng.normal(3, 1.2, items)[ratings.items]
    seen = np.clip(np.rint(truth + rng.normal(0, 0.7, len(ratings))), 1, 5)
    return Ratings(
        ratings.items,
        ratings.workers,
        np.where(ratings.workers % 5 == 4, ratings.scores, seen).astype(np.int16),
        ratings.item_names,
        ratings.worker_names,
    )
