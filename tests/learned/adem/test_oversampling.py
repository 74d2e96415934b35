import numpy as np

from distillery_learned.training.adem import oversampled_rows


def test_length_says_little_of_the_score_afterwards_and_no_example_is_lost():
    chance = np.random.default_rng(0)
    scores = chance.uniform(1, 5, 600)
    lengths = np.maximum(1, np.rint(30 - 4 * scores + chance.normal(0, 6, 600))).astype(int)
    found = oversampled_rows(lengths, scores, (1.0, 5.0), seed=1)

    assert np.corrcoef(lengths, scores)[0, 1] < -0.5
    assert abs(np.corrcoef(lengths[found], scores[found])[0, 1]) < 0.2
    assert set(found) == set(range(600))
    assert len(found) <= 5 * 600
    assert np.array_equal(found, oversampled_rows(lengths, scores, (1.0, 5.0), seed=1))


def test_within_each_bin_of_length_scores_are_shared_out_as_in_all():
    scores = np.array([1.0] * 6 + [5.0] * 2 + [1.0] * 2 + [5.0] * 6)
    lengths = np.array([3] * 8 + [9] * 8)
    found = oversampled_rows(lengths, scores, (1.0, 5.0), seed=0)

    for length in (3, 9):
        of = scores[found][lengths[found] == length]
        assert (of == 1).sum() == (of == 5).sum() == 6


def test_without_a_difference_nothing_is_repeated():
    lengths, scores = np.full(10, 4), np.linspace(1, 5, 10)

    assert np.array_equal(oversampled_rows(lengths, scores, (1.0, 5.0), seed=0), np.arange(10))
