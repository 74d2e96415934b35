"""Correlation by the number of references, and where a metric and people differ most: by hand."""

import math

import numpy as np
import pytest

from metrics.errors import MetricError
from metrics.metaeval.breakdown import largest_differences
from metrics.metaeval.ceiling import ReferenceModel, fit, plan_references, steps_to, summarise
from metrics.metaeval.data import ScoredAnswers


def test_the_steps_of_a_curve_end_with_all_references():
    assert steps_to(2) == [1, 2]
    assert steps_to(7) == [1, 2, 3, 4, 5, 6, 7]
    assert steps_to(20) == [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20]


def test_a_curve_that_follows_spearman_and_brown_is_found_again():
    # With reliability 1/3 of one reference: 1/3, 1/2, 3/5, 2/3 for one to four; r is .8 times its root.
    points = [
        (1, 0.8 / math.sqrt(3)),
        (2, 0.8 * math.sqrt(0.5)),
        (3, 0.8 * math.sqrt(0.6)),
        (4, 0.8 * math.sqrt(2 / 3)),
    ]
    model = fit(points)
    assert model.limit == pytest.approx(0.8, abs=1e-3)
    assert model.rho == pytest.approx(1 / 3, abs=1e-3)
    assert model.at(1) == pytest.approx(points[0][1], abs=1e-3)


def test_enough_references_reach_95_percent_of_the_limit():
    # .95² k / (k + 2) of reliability: k / (k + 2) >= .9025 needs k >= 18.5.
    points = [(k, 0.8 * math.sqrt(k / (k + 2))) for k in (1, 2, 4, 8)]
    plan = plan_references(points, questions=100)
    assert plan["enough"] == 19
    model = ReferenceModel(plan["limit"], plan["reliability"], 0)
    assert model.at(19) >= 0.95 * model.limit > model.at(18)


def test_a_trade_keeps_the_number_of_references_in_all():
    plan = plan_references([(1, 0.5), (2, 0.5), (4, 0.5)], questions=30)
    assert [(row["references"], row["questions"]) for row in plan["trade"]] == [
        (1, 120),
        (2, 60),
        (3, 40),
        (4, 30),
        (8, 15),
    ]
    assert plan["best"] == 1  # references that add nothing are best spent on questions
    # Fisher's z by hand: atanh(.5) = .5493, 1.96 / sqrt(117) = .1812.
    assert plan["trade"][0]["ci"] == pytest.approx([0.3523, 0.6237], abs=1e-3)


def test_one_number_of_references_is_no_curve():
    assert (
        plan_references([(1, 0.5)], questions=30)["reason"] == "the curve has a single number of references"
    )


def test_samples_without_a_correlation_are_left_out_of_the_mean():
    assert summarise([0.2, math.nan, 0.4])["value"] == pytest.approx(0.3)
    assert summarise([math.nan])["value"] is None


def judged(human, values):
    n = len(human)
    zeros = np.zeros(n, np.int32)
    return ScoredAnswers(
        np.array(human),
        {"m": np.array(values)},
        zeros,
        np.arange(n, dtype=np.int32),
        ["s"],
        [str(i) for i in range(n)],
    )


def test_answers_are_listed_by_the_difference_of_their_ranks():
    # Ranks by people: 1, 2.5, 2.5, 4; by the metric: 4, 1, 2, 3. The last two have no score to rank.
    found = largest_differences(judged([1, 3, 3, 5, np.nan, 4], [0.9, 0.1, 0.2, 0.3, 0.5, np.nan]), "m")
    assert [(each.row, each.human_rank, each.metric_rank, each.difference) for each in found] == [
        (0, 1.0, 4.0, 3.0),
        (1, 2.5, 1.0, -1.5),
        (3, 4.0, 3.0, -1.0),
        (2, 2.5, 2.0, -0.5),
    ]
    assert len(largest_differences(judged([1, 2, 3], [3, 2, 1]), "m", most=2)) == 2
    with pytest.raises(MetricError, match="no scores of the metric x"):
        largest_differences(judged([1], [1]), "x")
