import numpy as np
import pytest

from metrics.agreement.data import ratings_of, sums_of
from metrics.agreement.reliability import complete_table, correlations, correlations_of, one_way
from tests.metrics.agreement.goldens import golden


def long_form(table):
    return ratings_of([(f"i{i}", f"w{w}", x) for i, row in enumerate(table) for w, x in enumerate(row)])


def test_the_example_of_shrout_and_fleiss():
    example = golden("icc")
    expected = example["expected"]
    found = correlations(np.array(example["targets_by_raters"], dtype=float))

    assert found.one_way.single.value == pytest.approx(expected["ICC(1,1)"], abs=1e-6)
    assert found.agreement.single.value == pytest.approx(expected["ICC(A,1)"], abs=1e-6)
    assert found.consistency.single.value == pytest.approx(expected["ICC(C,1)"], abs=1e-6)
    assert found.one_way.mean.value == pytest.approx(expected["ICC(1,k)"], abs=1e-6)
    assert found.agreement.mean.value == pytest.approx(expected["ICC(A,k)"], abs=1e-6)
    assert found.consistency.mean.value == pytest.approx(expected["ICC(C,k)"], abs=1e-6)


def test_with_the_same_number_everywhere_the_sparse_form_is_the_same():
    table = golden("icc")["targets_by_raters"]
    found = one_way(sums_of(long_form(table)))

    assert found.single.value == pytest.approx(0.1657417684, abs=1e-9)
    assert found.mean.value == pytest.approx(0.4427971337, abs=1e-9)


def test_unequal_numbers_of_ratings_use_their_typical_number():
    rows = [("a", 1), ("a", 2), ("b", 4), ("b", 5), ("b", 5), ("c", 3)]
    ratings = ratings_of([(item, f"w{n}", score) for n, (item, score) in enumerate(rows)])

    # squares between items 12.1667 on 2, within 1.1667 on 3, n0 = (6 - 14 / 6) / 2 = 1.8333
    assert one_way(sums_of(ratings)).single.value == pytest.approx(0.8887, abs=1e-4)


def test_a_design_with_gaps_has_only_the_one_way_form():
    ratings = ratings_of([("a", "v", 1), ("a", "w", 2), ("b", "v", 5), ("b", "x", 4)])
    found = correlations_of(ratings)

    assert complete_table(ratings) is None
    assert found.one_way.single.value == pytest.approx(0.8947368)
    assert found.agreement.single.value is None
    assert found.agreement.single.reason == "not defined: not every worker rated every item once"


def test_the_table_of_a_complete_design_does_not_mind_the_order_of_rows():
    ratings = ratings_of([("a", "v", 1), ("b", "w", 4), ("a", "w", 2), ("b", "v", 5)])

    assert complete_table(ratings).tolist() == [[1, 2], [5, 4]]


def test_raters_who_disagree_inside_items_only_are_below_zero():
    assert correlations(np.array([[1.0, 5.0], [5.0, 1.0]])).one_way.single.value == -1


def reason(rows):
    return one_way(sums_of(ratings_of(rows))).single.reason


def test_what_is_undefined_says_why():
    assert reason([]) == "not defined: there are no ratings"
    assert reason([("a", "v", 1), ("b", "w", 2)]) == "not defined: no item has two ratings"
    assert reason([("a", "v", 1), ("a", "w", 2)]) == "not defined: only one item has ratings"
    assert reason([("a", "v", 3), ("a", "w", 3), ("b", "v", 3)]) == "not defined: all ratings are the same"
    assert correlations(np.array([[1.0], [2.0]])).one_way.single.reason == (
        "not defined: all ratings are by one worker"
    )
