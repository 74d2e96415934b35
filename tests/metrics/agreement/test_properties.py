"""What must not matter does not: the order of rows, the names of things, which end of the scale is high."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.agreement.alpha import LEVELS, alpha, alpha_of, percent_agreement
from metrics.agreement.data import Ratings, value_counts
from metrics.agreement.filters import duplicates, z_removed
from metrics.agreement.kappa import consensus, fleiss, pairwise_median, pooled
from tests.metrics.agreement.made import noise

few = settings(max_examples=15, deadline=None)


@st.composite
def designs(draw):
    return noise(
        items=draw(st.integers(1, 25)),
        workers=(workers := draw(st.integers(1, 9))),
        per_item=draw(st.integers(1, workers)),
        seed=draw(st.integers(0, 10_000)),
    )


def renamed(ratings, items, workers):
    return Ratings(
        items[ratings.items].astype(np.int32),
        workers[ratings.workers].astype(np.int32),
        ratings.scores,
        [ratings.item_names[code] for code in np.argsort(items)],
        [ratings.worker_names[code] for code in np.argsort(workers)],
        ratings.scale,
    )


def reversed_scale(ratings):
    scores = ratings.scale.low + ratings.scale.high - ratings.scores
    return Ratings(
        ratings.items,
        ratings.workers,
        scores.astype(np.int16),
        ratings.item_names,
        ratings.worker_names,
        ratings.scale,
    )


def agreement(ratings, levels=LEVELS):
    counts = value_counts(ratings)
    figures = [alpha_of(ratings, level) for level in levels] + [percent_agreement(counts), fleiss(counts)]
    return [np.nan if figure.value is None else figure.value for figure in figures]


def kappas(ratings, weights="quadratic"):
    return np.stack(
        [found(ratings, weights).kappa for found in (pooled, consensus)]
        + [pairwise_median(ratings, weights, least=2).kappa]
    )


def same(first, second):
    return np.allclose(first, second, rtol=0, atol=1e-9, equal_nan=True)


@few
@given(designs(), st.integers(0, 1000))
def test_the_order_of_rows_changes_no_figure(ratings, seed):
    mixed = ratings.only(np.random.default_rng(seed).permutation(len(ratings)))

    assert same(agreement(mixed), agreement(ratings))
    assert same(kappas(mixed), kappas(ratings))


@few
@given(designs(), st.integers(0, 1000))
def test_the_order_of_rows_decides_nothing_but_ties_at_the_cap(ratings, seed):
    order = np.random.default_rng(seed).permutation(len(ratings))
    mixed = ratings.only(order)

    assert (z_removed(mixed, ties="group").mask == z_removed(ratings, ties="group").mask[order]).all()
    at_the_cap = z_removed(ratings).capped_items
    differs = z_removed(mixed).mask != z_removed(ratings).mask[order]
    assert not differs[~at_the_cap[mixed.items]].any()
    assert (
        value_counts(mixed.only(z_removed(mixed).mask)).sum(axis=1)
        == value_counts(ratings.only(z_removed(ratings).mask)).sum(axis=1)
    ).all()


@few
@given(designs(), st.integers(0, 1000))
def test_names_of_items_and_workers_change_nothing(ratings, seed):
    rng = np.random.default_rng(seed)
    items, workers = rng.permutation(ratings.n_items), rng.permutation(ratings.n_workers)
    other = renamed(ratings, items, workers)

    assert same(agreement(other), agreement(ratings))
    assert same(kappas(other)[:, workers], kappas(ratings))
    assert (z_removed(other).mask == z_removed(ratings).mask).all()
    assert (z_removed(other).rank == z_removed(ratings).rank).all()


@few
@given(designs(), st.sampled_from(["unweighted", "linear", "quadratic"]))
def test_reversing_the_scale_changes_nothing(ratings, weights):
    other = reversed_scale(ratings)

    # The ratio level has a nought, and so a beginning.
    assert same(agreement(other, LEVELS[:3]), agreement(ratings, LEVELS[:3]))
    assert same(kappas(other, weights), kappas(ratings, weights))
    assert (z_removed(other).mask == z_removed(ratings).mask).all()
    assert same(z_removed(other).z, -z_removed(ratings).z)


@few
@given(designs())
def test_the_filter_keeps_its_promises(ratings):
    found = z_removed(ratings, keep=2)
    left = value_counts(ratings.only(~found.mask)).sum(axis=1)
    gone = value_counts(ratings.only(found.mask)).sum(axis=1)

    assert (gone <= 5).all()
    assert (left >= np.minimum(2, left + gone)).all()
    assert (np.abs(found.z[found.mask]) > 1).all()
    assert ((found.rank > 0) == found.mask).all()
    for item in range(ratings.n_items):
        assert sorted(found.rank[found.mask & (ratings.items == item)]) == list(range(1, gone[item] + 1))


@few
@given(designs(), st.integers(1, 40), st.integers(0, 1000))
def test_repeated_ratings_are_found_wherever_they_are(ratings, repeats, seed):
    extra = np.random.default_rng(seed).integers(len(ratings), size=repeats)
    rows = np.random.default_rng(seed).permutation(np.concatenate([np.arange(len(ratings)), extra]))
    seen, expected = set(), []
    for row in rows.tolist():
        expected.append(row in seen)
        seen.add(row)

    assert duplicates(ratings.only(rows)).tolist() == expected


@pytest.mark.parametrize("level", LEVELS)
def test_more_of_the_same_items_change_alpha_hardly(level):
    ratings = noise(items=30, workers=6, per_item=4, seed=2)
    once, thrice = value_counts(ratings), np.repeat(value_counts(ratings), 3, axis=0)

    values = ratings.scale.values
    assert alpha(thrice, values, level).value == pytest.approx(alpha(once, values, level).value, abs=0.02)
