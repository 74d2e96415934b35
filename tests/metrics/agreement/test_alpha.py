import krippendorff
import numpy as np
import pytest

from metrics.agreement.alpha import LEVELS, alpha, alpha_of, pearson_two, percent_agreement
from metrics.agreement.data import Ratings, ratings_of, value_counts
from metrics.agreement.scale import Scale
from tests.metrics.agreement.goldens import golden, ratings_from
from tests.metrics.agreement.made import by_coder

CASES = golden("alpha")


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["id"])
@pytest.mark.parametrize("level", LEVELS)
def test_published_examples_have_their_alpha(case, level):
    found = alpha_of(by_coder(case["ratings_by_coder"]), level)

    assert found.value == pytest.approx(case["expected"][level], abs=case["tol"])


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("unanimous", "not defined: all ratings are the same"),
        ("singletons", "not defined: no item has two ratings"),
        ("empty", "not defined: there are no ratings"),
        ("one-coder", "not defined: all ratings are by one worker"),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_an_alpha_that_does_not_exist_says_why(case, reason, level):
    table = next(given["ratings_by_coder"] for given in CASES["undefined"] if given["id"] == case)

    found = alpha_of(by_coder(table), level)

    assert found.value is None
    assert found.reason == reason


def test_four_coders_have_the_nominal_alpha_of_irrcac():
    table = golden("irrcac_4coder")

    found = alpha_of(by_coder(table["ratings_by_coder"]), "nominal")

    assert found.value == pytest.approx(table["expected_rounded"]["krippendorff"], abs=table["tol"])


def test_a_crowd_has_the_alphas_of_the_reference():
    data = golden("pipeline")
    ratings = ratings_from(data["ratings"])

    assert alpha_of(ratings).value == pytest.approx(data["expected"]["alpha_interval_raw"], abs=1e-9)
    assert alpha_of(ratings, "ordinal").value == pytest.approx(
        data["expected"]["alpha_ordinal_raw"], abs=1e-9
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("level", LEVELS)
def test_sparse_designs_have_the_alpha_of_the_package(level, seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.5, (40, rng.integers(2, 8)))
    values = np.arange(1, counts.shape[1] + 1)

    expected = krippendorff.alpha(
        value_counts=counts[counts.sum(axis=1) > 1], value_domain=values, level_of_measurement=level
    )

    assert alpha(counts, values, level).value == pytest.approx(expected, abs=1e-12)


def test_a_level_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="no level of measurement: cardinal"):
        alpha(np.array([[1, 1]]), [1, 2], "cardinal")


def test_a_score_outside_the_scale_is_refused():
    with pytest.raises(ValueError, match="a score of 6 is not on the scale from 1 to 5"):
        value_counts(ratings_of([("i", "w", 3), ("i", "v", 6)]))


def test_counts_have_a_row_for_items_that_nobody_rated():
    ratings = ratings_of([("a", "w", 2), ("b", "w", 3), ("a", "v", 2)], Scale(2, 4))

    counts = value_counts(ratings.only(ratings.items == 0))

    assert counts.tolist() == [[2, 0, 0], [0, 0, 0]]


def test_weights_count_a_rating_as_often_as_they_say():
    ratings = ratings_of([("a", "w", 1), ("a", "v", 2)], Scale(1, 2))

    assert value_counts(ratings, [0.5, 3]).tolist() == [[0.5, 3.0]]
    with pytest.raises(ValueError, match="as many weights as ratings"):
        value_counts(ratings, [1.0])


def test_a_million_workers_with_one_rating_each_have_an_alpha():
    n = 1_000_000
    rng = np.random.default_rng(0)
    ratings = Ratings(
        np.arange(n, dtype=np.int32) // 10,
        np.arange(n, dtype=np.int32),
        rng.integers(1, 6, n).astype(np.int16),
        range(n // 10),
        range(n),
    )

    assert alpha_of(ratings).value == pytest.approx(0, abs=0.003)


def test_percent_agreement_is_the_mean_over_items_of_pairs_that_agree():
    # One of three pairs agrees, all of one pair, none of one; the last item has a single rating.
    counts = np.array([[2, 1], [0, 2], [1, 1], [1, 0]])

    assert percent_agreement(counts).value == pytest.approx((1 / 3 + 1 + 0) / 3)


def test_percent_agreement_of_single_ratings_is_not_defined():
    assert percent_agreement(np.array([[1, 0], [0, 1]])).reason == "not defined: no item has two ratings"
    assert percent_agreement(np.zeros((2, 2))).reason == "not defined: there are no ratings"


def test_two_annotators_correlate():
    ratings = by_coder([[1, 2, 3, 4, None], [2, 2, 4, 3, 5]])

    assert pearson_two(ratings).value == pytest.approx(np.corrcoef([1, 2, 3, 4], [2, 2, 4, 3])[0, 1])


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([], "not defined: there are no ratings"),
        ([[1, 2]], "not defined: all ratings are by one worker"),
        ([[1, None], [None, 2]], "not defined: no item has two ratings"),
        ([[1, 2], [3, 3]], "not defined: an annotator gave the same score to every item"),
        ([[1, 2], [1, 2], [1, 2]], "not defined: there are 3 annotators, not two"),
    ],
)
def test_a_correlation_that_does_not_exist_says_why(table, reason):
    found = pearson_two(by_coder(table))

    assert found.value is None
    assert found.reason == reason
