"""Many ratings are worked on in portions of items: results are those of all at once, to the last bit."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from metrics.agreement import data
from metrics.agreement.data import Ratings, divided
from metrics.agreement.filters import duplicates
from metrics.agreement.scores import _variances, adjusted, item_scores


def drawn(seed, n, items, workers, *, once):
    rng = np.random.default_rng(seed)
    pairs = rng.choice(items * workers, size=n, replace=not once)
    return Ratings(
        (pairs // workers).astype(np.int32),
        (pairs % workers).astype(np.int32),
        rng.integers(1, 6, size=n).astype(np.int16),
        [f"A{number}" for number in range(items + 2)],
        [f"W{number}" for number in range(workers)],
    )


def adjusted_at_once(ratings, shrink=5.0):
    """The model as one matrix."""
    n = np.bincount(ratings.workers, minlength=ratings.n_workers)
    middle = float(ratings.scores.mean())
    scores = ratings.scores.astype(np.float64) - middle
    sums = np.bincount(ratings.workers, weights=scores, minlength=len(n))
    squares = np.bincount(ratings.workers, weights=scores**2, minlength=len(n))
    shape, places = (ratings.n_items, ratings.n_workers), (ratings.items, ratings.workers)
    given, rated = (
        csr_array((scores, places), shape=shape),
        csr_array((np.ones(len(scores)), places), shape=shape),
    )

    def residuals(quality):
        known = np.nan_to_num(quality)
        first = rated.T @ known
        return sums - first, squares - 2 * (given.T @ known) + rated.T @ known**2

    quality = divided(given.sum(axis=1), rated.sum(axis=1))
    above, beyond = residuals(quality)
    bias = divided(above, n)
    for _ in range(500):
        before = quality
        variance = _variances(above, beyond, n, shrink)
        weights = np.nan_to_num(1 / variance)
        quality = divided(given @ weights - rated @ (np.nan_to_num(bias) * weights), rated @ weights)
        above, beyond = residuals(quality)
        bias = divided(above, n)
        if np.nanmax(np.abs(quality - before)) < 1e-8:
            break
    shift = float(np.nanmean(bias))
    return quality + shift + middle, bias - shift, np.sqrt(variance)


def same(found, expected):
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("at_once", [1, 60, 1 << 20])
def test_adjusted_scores_are_those_of_one_matrix(monkeypatch, once, at_once):
    monkeypatch.setattr(data, "AT_ONCE", at_once)
    ratings = drawn(3, 900, 150, 12, once=once)
    found = adjusted(ratings)
    for column, expected in zip(
        (found.quality, found.bias, found.inconsistency), adjusted_at_once(ratings), strict=True
    ):
        same(column, expected)


@pytest.mark.parametrize("at_once", [40, 1 << 20])
def test_rows_of_a_mask_are_as_good_as_those_rows_alone(monkeypatch, at_once):
    monkeypatch.setattr(data, "AT_ONCE", at_once)
    ratings = drawn(4, 700, 90, 15, once=True)
    mask = np.random.default_rng(5).random(len(ratings)) < 0.7
    alone = ratings.only(mask)
    for name in ("quality", "bias", "inconsistency", "rounds", "settled"):
        same(getattr(adjusted(ratings, mask), name), getattr(adjusted(alone), name))
    for name in ("n_kept", "mean", "sd", "median", "trimmed"):
        same(getattr(item_scores(ratings, mask), name), getattr(item_scores(alone), name))
    assert np.isnan(adjusted(ratings, np.zeros(len(ratings), dtype=np.bool_)).quality).all()


@pytest.mark.parametrize("at_once", [1, 50, 1 << 20])
def test_repeats_are_found_whatever_the_portion(monkeypatch, at_once):
    monkeypatch.setattr(data, "AT_ONCE", at_once)
    ratings = drawn(6, 800, 60, 20, once=False)
    seen = set()
    expected = []
    for pair in zip(ratings.items.tolist(), ratings.workers.tolist(), strict=True):
        expected.append(pair in seen)
        seen.add(pair)
    assert duplicates(ratings).tolist() == expected
    assert any(expected)


def test_portions_have_every_row_once(monkeypatch):
    monkeypatch.setattr(data, "AT_ONCE", 7)
    ratings = drawn(7, 200, 40, 9, once=True)
    parts = list(data.rows_by_items(ratings))
    assert sorted(row for _, rows in parts for row in rows.tolist()) == list(range(200))
    assert all(
        ((ratings.items[rows] >= at.start) & (ratings.items[rows] < at.stop)).all() for at, rows in parts
    )
    assert [at.start for at, _ in parts][1:] == [at.stop for at, _ in parts][:-1]
    assert list(data.rows_by_items(ratings.only(slice(0, 0)))) == []
