import math
from functools import reduce
from operator import add
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.metaeval.ceiling import NO_RATINGS, _Halves, ceiling
from tests.metrics.metaeval.studies import known, study
from tests.scale import limit_cases

FOUR = [("s", f"q{k}", 0.0) for k in range(4)]


def rated(*columns: tuple[str, tuple[float, ...]]) -> list[tuple[int, str, float]]:
    return [(row, worker, score) for worker, scores in columns for row, score in enumerate(scores)]


def test_a_rater_stands_against_the_mean_of_the_others():
    # a against mean of b and c (1, 2, 3, 3.5) and so on, by hand with r = cov / (sd sd).
    judged = study(FOUR, ratings=rated(("a", (1, 2, 3, 4)), ("b", (1, 2, 3, 3)), ("c", (1, 2, 3, 4))))

    found = ceiling(judged, seed=0)["leave_one_out"]["pearson"]

    # a and c: (1 2 3 4) with (1 2 3 3.5); b: (1 2 3 3) with (1 2 3 4).
    of_a = (0.5 * 0.375 + 1.5 * 1.375 + 0.5 * 0.625 + 1.5 * 1.125) / math.sqrt(5 * 3.6875)
    of_b = (1.5 * 1.25 + 0.5 * 0.25 + 0.5 * 0.75 + 1.5 * 0.75) / math.sqrt(5 * 2.75)
    assert found["value"] == pytest.approx((2 * of_a + of_b) / 3)
    assert (found["raters"], found["n"]) == (3, 12)


def test_a_rater_weighs_as_much_as_they_rated():
    # c rated three of the answers and disagrees; a and b rated four.
    ratings = rated(("a", (1, 2, 3, 4)), ("b", (1, 2, 3, 4)), ("c", (3, 2, 1)))

    found = ceiling(study(FOUR, ratings=ratings), seed=0)["leave_one_out"]

    # a: (1 2 3 4) with (2 2 2 4): 3 / sqrt(5 * 3); b the same; c: -1.
    assert found["pearson"]["value"] == pytest.approx((8 * 3 / math.sqrt(15) - 3) / 11)
    assert found["pearson"]["raters"] == 3


def test_answers_with_one_rating_say_nothing():
    alone = study(FOUR, ratings=rated(("a", (1, 2, 3, 4))))

    found = ceiling(alone, seed=0)

    assert found["leave_one_out"]["pearson"]["value"] is None
    assert found["split_half"]["pearson"]["value"] is None


def test_halves_of_two_equal_raters_agree_fully():
    ratings = rated(("a", (1, 2, 3, 4)), ("b", (1, 2, 3, 4)))

    found = ceiling(study(FOUR, ratings=ratings), seed=0)["split_half"]

    assert found["pearson"]["value"] == pytest.approx(1)
    assert found["highest"]["value"] == pytest.approx(1)
    assert found["ratings_per_answer"] == 2


def test_two_ratings_per_answer_are_stepped_up_twice():
    found = ceiling(known(raters=2), seed=0)["split_half"]["pearson"]

    assert found["value"] == pytest.approx(2 * found["half"] / (1 + found["half"]))


def test_of_three_ratings_one_is_left_out_and_the_step_is_threefold():
    found = ceiling(known(raters=3), seed=0)["split_half"]["pearson"]

    assert found["value"] == pytest.approx(3 * found["half"] / (1 + 2 * found["half"]))


def test_split_half_finds_the_reliability_that_the_study_was_made_with():
    # Quality has variance 1 + spread of the systems, a rating adds .7 squared and the rounding's 1/12.
    true = 1.139 / (1.139 + (0.49 + 1 / 12) / 4)

    found = ceiling(known(questions=800), seed=0)["split_half"]

    assert found["pearson"]["value"] == pytest.approx(true, abs=0.03)
    assert found["highest"]["value"] == pytest.approx(math.sqrt(found["pearson"]["value"]))


def test_noise_has_no_reliability():
    ratings = rated(("a", (1, 2, 1, 2)), ("b", (2, 1, 2, 1)))

    found = ceiling(study(FOUR, ratings=ratings), seed=0)["split_half"]

    assert found["pearson"]["value"] is None
    assert found["pearson"]["half"] < 0
    assert found["highest"]["reason"] == "the halves do not agree above chance"


def test_without_single_ratings_there_is_no_ceiling_and_a_reason():
    found = ceiling(study(FOUR), seed=0)

    assert found["leave_one_out"]["pearson"] == {
        "value": None,
        "ci": None,
        "n": 0,
        "reason": NO_RATINGS,
        "raters": 0,
    }
    assert found["split_half"]["highest"]["reason"] == NO_RATINGS


@given(
    st.lists(st.lists(st.floats(-5, 5), min_size=2, max_size=7), min_size=1, max_size=9), st.integers(1, 20)
)
@settings(max_examples=limit_cases(200), deadline=None)
def test_halves_are_those_of_all_ratings_sorted_at_once(ratings, at_once):
    sizes = np.array([len(each) for each in ratings], np.int32)
    answers = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    scores = np.concatenate([np.sort(each) for each in ratings])
    shuffled = scores[np.lexsort((np.random.default_rng(1).random(len(scores)), answers))]
    each = np.split(shuffled, np.cumsum(sizes)[:-1])
    halves = [(some[: len(some) // 2], some[len(some) // 2 : len(some) // 2 * 2]) for some in each]
    with mock.patch("metrics.metaeval.ceiling._AT_ONCE", at_once):
        found = _Halves(answers, scores, sizes).dealt(np.random.default_rng(1))
    for side in (0, 1):  # summed one after the other: the same to the last bit
        means = [reduce(add, pair[side].tolist(), 0.0) / len(pair[side]) for pair in halves]
        assert found[side].tolist() == means
