import numpy as np

from metrics import metric


def test_the_length_is_the_number_of_tokens_and_needs_no_reference():
    assert metric("length").score(["In May, 1937.", ""], [[], []]).tolist() == [5, 0]


def test_the_difference_is_that_to_the_reference_closest_in_length_and_never_above_0():
    found = metric("length-difference").score(
        ["one two three", "", "one"], [["one", "one two three four", "one two three four five"], ["a b"], []]
    )

    assert found[:2].tolist() == [-1, -2]
    assert np.isnan(found[2])
