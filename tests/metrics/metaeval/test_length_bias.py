import numpy as np
import pytest
from scipy import stats

from metrics.metaeval.breakdown import NO_LENGTHS, length_bias
from tests.metrics.metaeval.studies import known, study


def biased(scores, lengths, references):
    judged = study(
        [("s", f"q{k}", 1.0) for k in range(len(scores))], lengths=lengths, reference_lengths=references
    )
    return length_bias(judged, {"m": np.array(scores, dtype=np.float64)}, draws=999, seed=0)["m"]


def test_answers_fall_into_two_groups_by_their_distance_to_the_references():
    found = biased([1, 3, 5, 10], [10, 4, 17, 30], [10, 10, 10, 10])

    # Distances 0, 6, 7, 20: six is near.
    assert found["near"] == {"n": 2, "mean": 2}
    assert found["far"] == {"n": 2, "mean": 7.5}
    assert found["value"] == -5.5


def test_p_of_welch_is_scipys():
    rng = np.random.default_rng(3)
    scores, lengths = rng.random(40), rng.integers(1, 30, 40)
    near = np.abs(lengths - 10) <= 6

    found = biased(scores, lengths, np.full(40, 10))

    assert found["welch_p"] == pytest.approx(
        stats.ttest_ind(scores[near], scores[~near], equal_var=False).pvalue
    )


def test_p_of_the_permutation_is_near_that_of_all_deals():
    # Of the 20 ways to choose three of six, the difference is as large in two: the groups and their exchange.
    found = biased([1, 2, 3, 7, 8, 9], [10, 10, 10, 30, 30, 30], [10] * 6)

    assert found["permutation_p"] == pytest.approx(0.1, abs=0.03)


def test_missing_scores_do_not_count():
    found = biased([1, np.nan, 5, 10], [10, 4, 17, 30], [10] * 4)

    assert found["near"] == {"n": 1, "mean": 1}
    assert found["welch_p"] is None
    assert 0 < found["permutation_p"] <= 1


def test_a_score_that_is_length_is_found_out_and_one_that_is_not_is_cleared():
    judged = known(questions=100)
    columns = {"length": -np.abs(judged.lengths - judged.reference_lengths), "human": judged.human}

    found = length_bias(judged, columns, draws=999, seed=0)

    assert found["length"]["permutation_p"] == 0.001
    assert found["human"]["permutation_p"] > 0.05


def test_all_answers_on_one_side_give_no_difference_and_a_reason():
    found = biased([1, 2, 3], [10, 11, 12], [10] * 3)

    assert found["value"] is None
    assert found["reason"] == "all answers are on the same side of the cut"
    assert found["permutation_p"] is None


def test_without_lengths_there_is_a_reason():
    judged = study([("s", "q", 1.0)])

    assert length_bias(judged, {"m": judged.human}, draws=9, seed=0) == {
        "m": {"value": None, "reason": NO_LENGTHS}
    }
