import numpy as np
import pytest

from metrics.agreement.data import Sums
from metrics.agreement.planning import (
    ScoreSpread,
    items_for_systems,
    power_for_systems,
    ratings_for,
    reliability_table,
    spearman_brown,
    spread_of,
)
from metrics.figure import Figure
from tests.metrics.agreement.goldens import golden


def test_reliabilities_are_those_of_spearman_and_brown():
    for case in golden("power")["spearman_brown"]:
        assert spearman_brown(case["icc"], case["n"]) == pytest.approx(case["reliability"], abs=1e-12)


def test_the_table_goes_from_one_to_twenty():
    table = reliability_table(0.39)

    assert [step.n for step in table] == list(range(1, 21))
    assert table[0].reliability == Figure(0.39)
    assert table[9].reliability.value == pytest.approx(0.8647450)


def test_without_agreement_no_number_helps():
    assert reliability_table(-0.1)[4].reliability.value is None
    assert ratings_for(None, 0.9).reason == (
        "not defined: without agreement above chance no number of ratings helps"
    )


def test_ratings_until_a_reliability_is_reached():
    assert ratings_for(0.39, 0.8647450110864746).value == 10
    assert ratings_for(0.39, 0.87).value == 11
    assert ratings_for(1.0, 0.9).value == 1


def test_items_for_two_systems():
    for case in golden("power")["items_two_systems_paired"]:
        spread = ScoreSpread(case["sd_true_diff"], case["sd_rating"])
        items = items_for_systems(
            spread,
            ratings=case["n_raters"],
            difference=case["delta"],
            power=case["power"],
            level=case["alpha"],
        )
        assert items == case["items"]


def test_items_help_more_than_raters():
    spread = ScoreSpread(1.55, 0.95)

    assert [items_for_systems(spread, ratings=n, difference=0.2) for n in (1, 3, 10)] == [826, 590, 507]


def test_so_many_items_have_the_power_they_were_asked_for():
    spread = ScoreSpread(1.55, 0.95)

    assert power_for_systems(spread, items=590, ratings=3, difference=0.2) == pytest.approx(0.8, abs=0.001)
    assert power_for_systems(spread, items=590, ratings=3, difference=0) == pytest.approx(0.05)


def sums(rows):
    rows = np.array(rows)
    return Sums(np.full(len(rows), rows.shape[1]), rows.sum(axis=1), (rows**2).sum(axis=1))


def test_the_spread_of_a_pilot_leaves_out_what_the_raters_scatter():
    first, second = sums([[4, 5], [2, 3], [5, 5]]), sums([[1, 2], [3, 2], [1, 1]])
    spread = spread_of(first, second)

    # inside items: 4 times 0.5 over 6; differences 3, 0, 4 with variance 4.3333, the raters make 1 / 3 of it
    assert spread.sd_rating == pytest.approx((2 / 6) ** 0.5)
    assert spread.sd_difference == pytest.approx(2.0)


def test_a_pilot_without_common_items_gives_no_spread():
    one = Sums(np.array([2, 0]), np.array([4, 0]), np.array([8, 0]))
    other = Sums(np.array([0, 2]), np.array([0, 4]), np.array([0, 8]))

    assert spread_of(one, other).reason == ("not defined: fewer than two items have ratings for both systems")


def test_a_pilot_with_one_rating_each_gives_no_spread():
    one = Sums(np.array([1, 1]), np.array([4, 2]), np.array([16, 4]))

    assert spread_of(one, one) == Figure(None, "not defined: no item has two ratings")


def test_a_difference_of_nothing_is_refused():
    with pytest.raises(ValueError, match="needs a difference"):
        items_for_systems(ScoreSpread(1.0, 1.0), ratings=3, difference=0)
