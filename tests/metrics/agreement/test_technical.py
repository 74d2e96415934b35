import numpy as np
import pytest

from metrics.agreement import filters
from metrics.agreement.data import ratings_of
from metrics.agreement.filters import duplicates, straight_lining, too_fast


def test_the_first_rating_of_an_item_stays_and_later_ones_are_duplicates():
    ratings = ratings_of(
        [("a", "w", 1), ("b", "w", 2), ("a", "v", 3), ("a", "w", 4), ("a", "w", 1), ("b", "v", 2)]
    )

    assert duplicates(ratings).tolist() == [False, False, False, True, True, False]


def test_ratings_of_different_items_are_no_duplicates():
    assert duplicates(ratings_of([("a", "w", 1), ("b", "w", 1), ("a", "v", 1)])).tolist() == [False] * 3
    assert duplicates(ratings_of([])).tolist() == []


def test_a_worker_is_too_fast_by_the_median_of_their_seconds():
    ratings = ratings_of([(item, worker, 3) for worker in "wvu" for item in "abc"])
    seconds = [1, 2, 600, 9, 8, 1, np.nan, np.nan, np.nan]

    found = too_fast(ratings, seconds, limit=3)

    assert found.removed.tolist() == [True, False, False]
    assert found.undetermined.tolist() == [False, False, True]
    assert found.value[:2].tolist() == [2, 8]
    assert np.isnan(found.value[2])
    assert found.reason(0) == "took a median of 2.0 s for a rating over 3 ratings; the limit is 3 s"
    assert found.reason(2) == "0 ratings have a known time; a decision needs 1"


def test_the_median_of_an_even_number_of_times_lies_between_the_middle_two():
    ratings = ratings_of([(item, "w", 3) for item in "abcd"])

    found = too_fast(ratings, [10, 1, 2, 4], limit=3)

    assert found.value.tolist() == [3]
    assert found.removed.tolist() == [False]


def test_as_many_times_as_ratings_are_needed():
    with pytest.raises(ValueError, match="as many times as ratings"):
        too_fast(ratings_of([("a", "w", 1)]), [], limit=3)


def test_who_gives_one_score_only_is_straight_lining():
    rows = [(f"i{n}", "constant", 4) for n in range(10)]
    rows += [(f"i{n}", "varied", 1 + n % 5) for n in range(10)]
    rows += [(f"i{n}", "short", 4) for n in range(9)]

    found = straight_lining(ratings_of(rows), least=10)

    assert found.removed.tolist() == [True, False, False]
    assert found.undetermined.tolist() == [False, False, True]
    assert found.reason(0) == "gave the same score 100% of 10 ratings in a row"


def test_the_longest_run_is_counted_in_the_order_of_submission():
    scores = [1, 3, 3, 3, 3, 3, 3, 1, 3, 2]
    rows = [
        row
        for n, score in enumerate(scores)
        for row in ((f"i{n}", "w", score), (f"i{n}", "other", n % 2 + 1))
    ]

    found = straight_lining(ratings_of(rows), least=10, share=0.6)

    assert found.value.tolist() == [0.6, 0.1]
    assert found.removed.tolist() == [True, False]


def test_nobody_is_straight_lining_without_ratings():
    assert straight_lining(ratings_of([])).removed.tolist() == []


def test_accounts_for_testing_go_by_name_or_by_the_beginning_of_it():
    found = filters.test_accounts(["A1", "Tester", "sandbox-7", "b2"], ["tester"], prefixes=["SANDBOX-"])

    assert found.removed.tolist() == [False, True, True, False]
    assert found.reason(1) == "is an account for testing"


def test_without_names_no_account_is_for_testing():
    assert filters.test_accounts(["A1", ""]).removed.tolist() == [False, False]
