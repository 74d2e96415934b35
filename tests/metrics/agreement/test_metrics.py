import numpy as np
import pytest

from metrics.agreement.planning import Three, attenuated, items_for_metrics, power_for_metrics, williams
from tests.metrics.agreement.goldens import golden


def test_the_statistic_of_williams():
    for case in golden("power")["williams_t"]:
        found = williams(Three(case["r_human_a"], case["r_human_b"], case["r_ab"]), case["n"])

        assert found.t == pytest.approx(case["t"], abs=1e-9)
        assert found.df == case["df"]
        assert found.p == pytest.approx(case["p_two_sided"], abs=1e-9)


def test_swapping_the_metrics_turns_the_sign():
    one, other = williams(Three(0.6, 0.5, 0.7), 200), williams(Three(0.5, 0.6, 0.7), 200)

    assert one.t == -other.t
    assert one.p == other.p


def test_the_power_is_that_of_simulated_studies():
    three, n = Three(0.6, 0.5, 0.7), 150
    matrix = np.array([[1, 0.6, 0.5], [0.6, 1, 0.7], [0.5, 0.7, 1]])
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(400):
        human, a, b = rng.multivariate_normal(np.zeros(3), matrix, n).T
        r = np.corrcoef([human, a, b])
        found += williams(Three(r[0, 1], r[0, 2], r[1, 2]), n).p < 0.05

    assert power_for_metrics(three, n).value == pytest.approx(found / 400, abs=0.05)


def test_the_fewest_items_have_the_power_and_one_less_does_not():
    three = Three(0.5, 0.45, 0.8)
    n = int(items_for_metrics(three).value)

    assert power_for_metrics(three, n).value >= 0.8
    assert power_for_metrics(three, n - 1).value < 0.8


def test_metrics_that_are_alike_need_more_items_than_there_are():
    assert items_for_metrics(Three(0.5, 0.5, 0.8)).reason == (
        "not defined: both metrics correlate with people alike, there is nothing to find"
    )
    assert items_for_metrics(Three(0.5, 0.4999, 0.1)).reason == "not found: more than 10,000,000 items"


def test_impossible_correlations_are_named():
    assert williams(Three(0.9, -0.9, 0.9), 100).reason == (
        "not defined: three correlations like these cannot occur together"
    )
    assert williams(Three(0.5, 0.4, 0.3), 3).reason == "not defined: fewer than four items"
    assert power_for_metrics(Three(0.5, 0.5, 1.0), 30).reason == (
        "not defined: the two metrics score all items alike"
    )


def test_unreliable_human_scores_lower_a_correlation():
    assert attenuated(0.8, 0.81) == pytest.approx(0.72)
