"""What must not matter does not: the order of rows, names, which end of the scale is which."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.agreement.data import Ratings, sums_of, value_counts
from metrics.agreement.kappa import conger, gwet_ac1
from metrics.agreement.reliability import one_way
from metrics.agreement.scores import adjusted, dawid_skene, item_scores

EVERY = settings(max_examples=10, deadline=None)


@st.composite
def some_ratings(draw):
    """Twelve items with five ratings each by eight workers, agreeing more or less."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    noise = draw(st.floats(0.2, 2))
    workers = np.concatenate([random.permutation(8)[:5] for _ in range(12)])
    items = np.repeat(np.arange(12), 5)
    felt = random.uniform(1, 5, 12)[items] + noise * random.standard_normal(60)
    return ratings(items, workers, np.clip(np.rint(felt), 1, 5))


def ratings(items, workers, scores):
    return Ratings(
        np.asarray(items, dtype=np.int32),
        np.asarray(workers, dtype=np.int32),
        np.asarray(scores, dtype=np.int16),
        [f"i{n}" for n in range(12)],
        [f"w{n}" for n in range(8)],
    )


@given(some_ratings(), st.randoms())
@EVERY
def test_the_order_of_rows_does_not_matter(given_ratings, random):
    order = list(range(60))
    random.shuffle(order)
    shuffled = given_ratings.only(np.array(order))

    assert item_scores(shuffled).trimmed == pytest.approx(item_scores(given_ratings).trimmed)
    assert adjusted(shuffled).quality == pytest.approx(adjusted(given_ratings).quality, abs=1e-6)
    assert dawid_skene(shuffled).posterior == pytest.approx(dawid_skene(given_ratings).posterior, abs=1e-6)
    assert conger(shuffled).value == pytest.approx(conger(given_ratings).value)


@given(some_ratings())
@EVERY
def test_reversing_the_scale_mirrors_scores_and_leaves_agreement(given_ratings):
    mirrored = ratings(given_ratings.items, given_ratings.workers, 6 - given_ratings.scores)
    here, there = item_scores(given_ratings), item_scores(mirrored)

    assert there.mean == pytest.approx(6 - here.mean)
    assert there.median == pytest.approx(6 - here.median)
    assert there.sd == pytest.approx(here.sd)
    assert adjusted(mirrored).quality == pytest.approx(6 - adjusted(given_ratings).quality, abs=1e-6)
    assert one_way(sums_of(mirrored)).single.value == pytest.approx(
        one_way(sums_of(given_ratings)).single.value
    )
    assert gwet_ac1(value_counts(mirrored)).value == pytest.approx(
        gwet_ac1(value_counts(given_ratings)).value
    )


@given(some_ratings(), st.permutations(range(8)))
@EVERY
def test_other_codes_for_workers_only_move_their_figures(given_ratings, codes):
    renamed = ratings(given_ratings.items, np.array(codes)[given_ratings.workers], given_ratings.scores)
    here, there = adjusted(given_ratings), adjusted(renamed)

    assert there.quality == pytest.approx(here.quality, abs=1e-6)
    assert there.bias[list(codes)] == pytest.approx(here.bias, abs=1e-6, nan_ok=True)
    assert conger(renamed).value == pytest.approx(conger(given_ratings).value)
