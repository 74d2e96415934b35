import numpy as np

from metrics.metaeval.ceiling import floors
from tests.metrics.metaeval.studies import study

ROWS = [("a", "q1", 1), ("b", "q1", 2), ("c", "q1", 5), ("a", "q2", 3), ("b", "q2", np.nan)]


def test_question_floor_is_the_mean_of_the_other_answers_to_the_question():
    found = floors(study(ROWS))["question"].scores

    np.testing.assert_array_equal(found, [3.5, 3, 1.5, np.nan, 3])


def test_system_floor_is_what_the_system_gets_on_average():
    found = floors(study(ROWS))["system"].scores

    np.testing.assert_array_equal(found, [2, 2, 5, 2, 2])


def test_floors_of_length_need_lengths():
    assert set(floors(study(ROWS))) == {"question", "system"}

    found = floors(study(ROWS, lengths=[3, 9, 1, 4, 5], reference_lengths=[5, 5, 5, 4.5, 4.5]))

    assert found["length"].scores.tolist() == [3, 9, 1, 4, 5]
    assert found["length-difference"].scores.tolist() == [-2, -4, -4, -0.5, -0.5]


def test_a_floor_made_of_the_same_question_is_not_compared_within_it():
    assert set(floors(study(ROWS))["question"].without) == {"item", "pairs"}
    assert set(floors(study(ROWS))["system"].without) == {"by_system", "system"}
