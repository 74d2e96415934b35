import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.agreement.data import Ratings, ratings_of
from metrics.agreement.scale import Scale
from metrics.agreement.scores import item_scores
from tests.scale import limit_cases


def of(scores):
    return ratings_of([("a", f"w{n}", score) for n, score in enumerate(scores)])


def test_an_item_has_mean_sample_sd_median_and_trimmed_mean():
    scores = item_scores(of([1, 1, 2, 4, 5]))

    assert scores.n_raw[0] == 5
    assert scores.mean[0] == pytest.approx(2.6)
    assert scores.sd[0] == pytest.approx(1.816590, abs=1e-6)
    assert scores.median[0] == 2
    assert scores.trimmed[0] == pytest.approx(7 / 3)


def test_only_kept_ratings_count_but_all_are_counted():
    scores = item_scores(of([1, 5, 5, 4]), np.array([False, True, True, True]))

    assert (scores.n_raw[0], scores.n_kept[0]) == (4, 3)
    assert scores.mean[0] == pytest.approx(14 / 3)


def test_the_median_of_an_even_number_lies_half_way():
    assert item_scores(of([1, 2, 5, 5])).median[0] == 3.5


def test_fewer_than_five_ratings_are_not_trimmed():
    assert item_scores(of([1, 1, 1, 5])).trimmed[0] == 2


def test_what_the_ratings_do_not_define_is_nan():
    ratings = ratings_of([("a", "w", 3), ("b", "w", 4)])
    scores = item_scores(ratings, np.array([True, False]))

    assert scores.mean[0] == 3
    assert np.isnan(scores.sd[0])
    assert all(np.isnan(column[1]) for column in (scores.mean, scores.sd, scores.median, scores.trimmed))


def test_a_scale_may_start_below_zero():
    ratings = ratings_of([("a", "v", -2), ("a", "w", 1)], Scale(-2, 2))

    assert item_scores(ratings).mean[0] == -0.5


def test_no_ratings_have_no_scores():
    none = np.array([], dtype=np.int32)

    assert len(item_scores(Ratings(none, none, none.astype(np.int16), [], [])).mean) == 0


@given(st.lists(st.integers(1, 5), min_size=2, max_size=30))
@settings(max_examples=limit_cases(60), deadline=None)
def test_every_figure_is_that_of_the_plain_list(scores):
    found = item_scores(of(scores))
    cut = len(scores) // 5
    inner = sorted(scores)[cut : len(scores) - cut]

    assert found.mean[0] == pytest.approx(np.mean(scores))
    assert found.sd[0] == pytest.approx(np.std(scores, ddof=1))
    assert found.median[0] == np.median(scores)
    assert found.trimmed[0] == pytest.approx(np.mean(inner))
