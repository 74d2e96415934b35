from dataclasses import replace

import numpy as np
import pytest

from metrics.errors import MetricError
from metrics.metaeval.permutation import compare
from metrics.metaeval.report import Comparison, Plan, evaluate
from metrics.metaeval.significance import detectable
from tests.metrics.metaeval.studies import known, study

QUICK = Plan(replicates=0, draws=499)


def of(report, statistic: str, grouping: str, method: str = "perm_inputs"):
    wanted = (statistic, grouping, method)
    return [
        test for test in report["tests"] if (test["statistic"], test["grouping"], test["method"]) == wanted
    ]


def test_the_minimal_detectable_difference_is_2_80_standard_errors():
    # z(.975) = 1.959964, z(.8) = .841621.
    assert detectable(0.1).value == pytest.approx(0.2801585, abs=1e-7)


def test_a_higher_power_asks_for_a_larger_difference():
    assert detectable(0.1, power=0.95).value == pytest.approx(0.3604818, abs=1e-7)


def test_without_a_spread_no_difference_is_said_to_be_detectable():
    assert detectable(None).reason == "the spread of the difference is not known"
    assert detectable(0.0).value is None


def test_the_spread_of_the_draws_is_that_of_the_difference_from_study_to_study():
    # Two metrics of one make: how their difference varies over studies is the true standard error.
    found = [
        compare(
            known(questions=40, systems=2, raters=2, seed=seed, noise=(1, 1)),
            [("seen-0", "seen-1")],
            draws=199,
        )[0]
        for seed in range(40)
    ]

    assert np.mean([test.null_sd for test in found]) == pytest.approx(
        np.std([test.delta for test in found]), rel=0.25
    )


def test_every_pair_is_tested_in_every_comparison_and_corrected():
    report = evaluate(known(), QUICK)

    for statistic, grouping in (("pearson", "global"), ("spearman", "global"), ("pearson", "item")):
        tests = of(report, statistic, grouping)
        assert [(test["a"], test["b"]) for test in tests] == [
            ("random", "seen-0"),
            ("random", "seen-1"),
            ("random", "seen-2"),
            ("seen-0", "seen-1"),
            ("seen-0", "seen-2"),
            ("seen-1", "seen-2"),
        ]
        assert all(test["p"] <= test["p_holm"] <= 1 for test in tests)
    assert len(of(report, "pearson", "global", "williams")) == 6


def test_metrics_that_see_differently_much_are_in_clusters_of_their_own():
    report = evaluate(known(questions=150), QUICK)

    assert report["clusters"]["pearson|global"] == [["seen-0"], ["seen-1"], ["seen-2"], ["random"]]


def test_two_metrics_that_see_the_same_share_a_cluster_and_the_test_says_what_it_would_have_found():
    judged = known(noise=(1, 1))

    report = evaluate(judged, QUICK)

    assert report["clusters"]["pearson|global"] == [["seen-0", "seen-1"], ["random"]] or report["clusters"][
        "pearson|global"
    ] == [["seen-1", "seen-0"], ["random"]]
    test = of(report, "pearson", "global")[-1]
    assert test["p_holm"] > 0.05
    assert abs(test["delta"]) < test["mdd"] < 0.2


def test_a_metric_without_a_figure_is_not_tested_and_says_why():
    judged = study([("a", "q", 1), ("b", "q", 2), ("a", "r", 5)], {"m": [1, 2, 3], "same": [1, 1, 1]})

    test = of(evaluate(judged, QUICK), "pearson", "global")[0]

    assert test["p"] is None
    assert test["reason"] == "same: not defined: all scores of this metric are the same"
    assert test["mdd"] is None
    assert test["mdd_reason"]


def test_one_metric_has_nobody_to_be_compared_with():
    report = evaluate(study([("a", "q", 1), ("b", "q", 2)], {"m": [1, 2]}), QUICK)

    assert (report["tests"], report["clusters"]) == ([], {})


def test_other_comparisons_can_be_asked_for():
    plan = replace(
        QUICK,
        comparisons=(Comparison("pa", "system", "perm_inputs"), Comparison("kendall", "global", "perm_both")),
    )

    report = evaluate(known(questions=20), plan)

    assert list(report["clusters"]) == ["pa|system", "kendall|global"]
    assert len(of(report, "kendall", "global", "perm_both")) == 6


@pytest.mark.parametrize(
    "wrong",
    [
        ("spearman", "global", "williams"),
        ("pair_acc", "global", "perm_inputs"),
        ("phi", "global", "perm_inputs"),
        ("pearson", "everything", "perm_inputs"),
        ("pearson", "global", "guess"),
    ],
)
def test_a_comparison_that_there_is_not_is_refused(wrong):
    with pytest.raises(MetricError):
        Comparison(*wrong)
