import numpy as np
import pytest

from metrics.agreement.data import Sums
from metrics.agreement.planning import Rule, decision, half_widths, precision
from tests.metrics.agreement.goldens import golden


def prefixes(scores):
    """Sums after the first rating, after the second, and so on."""
    scores = np.array(scores)
    return Sums(np.arange(1, len(scores) + 1), scores.cumsum(), (scores**2).cumsum())


@pytest.mark.parametrize("case", golden("stopping")["cases"])
def test_an_item_stops_where_the_rule_says(case):
    sums = prefixes(case["ratings"])
    rule = Rule(case["prior_var"], least=case["n_min"], most=case["n_max"], prior_df=case["prior_df"])
    found = precision(sums, rule, half_width=case["half_width"])
    at = int(np.argmax(found.enough))

    assert sums.n[at] == case["stop_at"]
    assert sums.mean[at] == pytest.approx(case["mean"])
    assert found.half_width[at] == pytest.approx(case["half_width_at_stop"], abs=1e-9)


def test_an_item_fills_up_to_the_least_number_at_once_and_then_one_by_one():
    found = precision(prefixes([1, 5, 1, 5, 1, 5]), Rule(0.8), half_width=0.8)

    assert list(found.missing) == [4, 3, 2, 1, 1, 1]


def test_an_item_without_ratings_misses_the_least_number():
    found = precision(Sums(np.array([0]), np.array([0]), np.array([0])), Rule(0.8))

    assert (found.enough[0], found.missing[0]) == (False, 5)
    assert np.isnan(found.half_width[0])


def test_nothing_is_asked_beyond_the_most():
    found = precision(prefixes([1, 5] * 8), Rule(4.0))

    assert list(found.enough[13:]) == [False, True, True]
    assert list(found.missing[13:]) == [1, 0, 0]


def test_a_decision_is_made_when_the_interval_lies_on_one_side():
    rule = Rule(0.8)
    clear = decision(prefixes([5, 5, 4, 5, 5]), rule, threshold=3.5)
    close = decision(prefixes([4, 3, 4, 3, 4]), rule, threshold=3.5)
    low = decision(prefixes([1, 2, 1, 1, 2]), rule, threshold=3.5)

    assert [bool(found.enough[4]) for found in (clear, close, low)] == [True, False, True]


def test_three_equal_ratings_do_not_make_an_item_certain():
    assert half_widths(prefixes([5, 5, 5]), Rule(0.8))[2] == pytest.approx(1.0317, abs=1e-4)
