import numpy as np
import pytest

from metrics.agreement.data import ratings_of
from metrics.agreement.kappa import brennan_prediger, conger, gwet_ac1
from metrics.agreement.scale import Scale
from tests.metrics.agreement.goldens import golden


def four_coders():
    table = golden("irrcac_4coder")
    rows = [
        (f"unit {unit}", f"coder {coder}", label)
        for coder, labels in enumerate(table["ratings_by_coder"])
        for unit, label in enumerate(labels)
        if label is not None
    ]
    return ratings_of(rows), table["expected_rounded"]


def counts(ratings):
    table = np.zeros((ratings.n_items, ratings.scale.size), dtype=np.int64)
    np.add.at(table, (ratings.items, ratings.scores - ratings.scale.low), 1)
    return table


def test_four_coders_of_twelve_units_agree_as_published():
    ratings, expected = four_coders()

    assert gwet_ac1(counts(ratings)).value == pytest.approx(expected["gwet"], abs=1e-5)
    assert brennan_prediger(counts(ratings)).value == pytest.approx(expected["bp"], abs=1e-5)
    assert conger(ratings).value == pytest.approx(expected["conger"], abs=1e-5)


def test_two_raters_have_the_kappa_of_cohen():
    rows = [
        (f"i{n}", rater, label)
        for n, pair in enumerate([(1, 1), (1, 1), (2, 2), (1, 2)])
        for rater, label in zip("ab", pair, strict=True)
    ]

    # observed 3/4; expected 3/4 * 2/4 + 1/4 * 2/4
    assert conger(ratings_of(rows, Scale(1, 2))).value == pytest.approx(0.5)


def test_nearly_one_label_only_does_not_lower_gwets_figure():
    table = np.array([[2, 0]] * 18 + [[1, 1]] * 2)

    assert gwet_ac1(table).value == pytest.approx((0.9 - 0.095) / (1 - 0.095))


def test_what_is_undefined_says_why():
    alone = ratings_of([("a", "w", 1), ("b", "w", 2)])
    same = ratings_of([("a", "v", 1), ("a", "w", 1)])

    assert gwet_ac1(counts(alone)).reason == "not defined: no item has two ratings"
    assert gwet_ac1(np.zeros((2, 5), dtype=np.int64)).reason == "not defined: there are no ratings"
    assert conger(alone).reason == "not defined: all ratings are by one worker"
    assert conger(same).reason == "not defined: all ratings are the same"
    assert conger(ratings_of([])).reason == "not defined: there are no ratings"
