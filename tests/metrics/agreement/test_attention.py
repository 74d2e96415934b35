import numpy as np
import pytest

from metrics.agreement.filters import check_verdicts


def judged(presented, failed, **options):
    return check_verdicts(np.arange(len(presented), dtype=np.int32), presented, failed, **options)


def test_two_failures_of_four_checks_remove_a_worker():
    found = judged([4, 4, 9], [2, 1, 2])

    assert found.removed.tolist() == [True, False, True]
    assert found.undetermined.tolist() == [False, False, False]
    assert found.reason(0) == "failed 2 of 4 attention checks"
    assert found.reason(1) == ""


def test_with_fewer_checks_a_worker_is_undetermined_and_stays():
    found = judged([3, 0], [3, 0])

    assert found.removed.tolist() == [False, False]
    assert found.undetermined.tolist() == [True, True]
    assert found.reason(0) == "was shown 3 attention checks; a decision needs 4"


def test_any_failure_removes_where_the_rule_says_so():
    found = judged([1, 3, 0], [1, 0, 0], failures=1, least=1)

    assert found.removed.tolist() == [True, False, False]
    assert found.undetermined.tolist() == [False, False, True]


def test_rows_of_single_checks_are_added_up():
    workers = np.array([2, 0, 2, 2, 2, 0], dtype=np.int32)

    found = check_verdicts(workers, np.ones(6), [1, 0, 1, 0, 0, 1], n_workers=4)

    assert found.removed.tolist() == [False, False, True, False]
    assert found.n.tolist() == [2, 0, 4, 0]
    assert found.value.tolist() == [1, 0, 2, 0]


def test_a_check_left_unanswered_is_presented_and_not_failed():
    found = judged([4], [0])

    assert (found.removed.tolist(), found.undetermined.tolist()) == ([False], [False])


def test_more_failed_than_presented_is_refused():
    with pytest.raises(ValueError, match="more attention checks than were presented"):
        judged([1], [2])
    with pytest.raises(ValueError, match="as many numbers as workers"):
        check_verdicts(np.array([0], dtype=np.int32), [1, 1], [0])


def test_without_checks_there_is_nobody_to_judge():
    assert check_verdicts(np.zeros(0, dtype=np.int32), [], []).removed.tolist() == []
