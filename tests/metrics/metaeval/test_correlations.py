"""Correlations against mt-metrics-eval's values, scipy, and their definitions."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings

from metrics.errors import MetricError
from metrics.figure import Figure
from metrics.metaeval.correlation import correlate, correlations, inversions, pair_counts, within
from metrics.metaeval.data import rows_of
from metrics.metaeval.weighted_correlations import sign_sums
from tests.metrics.metaeval.drawn import full, judgments, shuffled
from tests.metrics.metaeval.marco import EXPECTED, METRICS, marco
from tests.metrics.metaeval.studies import study
from tests.scale import limit_cases

STATISTICS = ("pearson", "spearman", "kendall")
OF_SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
}
ALL = np.zeros(1, np.int64)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("statistic", "name"), [("pearson", "pearson"), ("spearman", "spearman"), ("kendall", "kendall_b")]
)
def test_correlations_are_those_of_mt_metrics_eval(metric, statistic, name):
    expected = EXPECTED["metrics"][metric]
    found = correlations(marco(), [metric], [statistic])
    assert found[metric, statistic, "global"].value == pytest.approx(expected[f"{name}_none"], abs=1e-6)
    assert found[metric, statistic, "by_system"].value == pytest.approx(expected[f"{name}_sys"], abs=1e-6)
    assert found[metric, statistic, "global"].n == 1000
    assert found[metric, statistic, "by_system"].n == 2


def toy(fn):
    return next(test for test in EXPECTED["toy"]["tests"] if test["fn"].startswith(fn))


def test_the_toy_of_mt_metrics_eval_in_three_groupings():
    test = toy("Pearson")
    rows = [(f"system {k // 3}", f"question {k % 3}", score) for k, score in enumerate(test["gold"])]
    found = correlations(study(rows, {"m": test["metric"]}), ["m"], ["pearson"])
    values = [found["m", "pearson", grouping].value for grouping in ("global", "by_system", "item")]
    assert values == pytest.approx(test["expected"], abs=1e-9)


def test_the_toy_of_mt_metrics_eval_with_ties():
    test = toy("kendall")
    human, scores = np.array(test["gold"], float), np.array(test["metric"], float)
    counts = pair_counts(human, scores[None], ALL)
    concordant, discordant = int(counts.concordant[0, 0]), int(counts.discordant[0, 0])
    both, total = int(counts.tied_both[0, 0]), int(counts.total[0, 0])
    tau_c = 2 * (concordant - discordant) / (5**2 * 3 / 4)
    tau_23 = (2 * (concordant + both) - total) / total
    found = [within("kendall", human, scores[None], ALL)[0, 0], tau_c, tau_23, (concordant + both) / total]
    assert found == pytest.approx(test["expected"][:4], abs=1e-9)


def naive(statistic, human, scores):
    """scipy's value of one group, nan where it has none."""
    if len(human) < 2 or len(set(human)) < 2 or len(set(scores)) < 2:
        return math.nan
    return float(OF_SCIPY[statistic](human, scores).statistic)


@settings(max_examples=limit_cases(60), deadline=None)
@given(judgments())
def test_every_grouping_is_the_mean_of_scipys_values(judged):
    for statistic in STATISTICS:
        there = np.isfinite(judged.human) & np.isfinite(judged.metrics["one"])
        human, scores = judged.human[there], judged.metrics["one"][there]
        for grouping, codes in (
            ("global", np.zeros(len(human))),
            ("item", judged.questions[there]),
            ("by_system", judged.systems[there]),
        ):
            values = [naive(statistic, human[codes == code], scores[codes == code]) for code in set(codes)]
            defined = [value for value in values if not math.isnan(value)]
            found = correlate(judged, "one", statistic, grouping)
            if len(human) > 2 if grouping == "global" else len(defined) > 1:
                wanted = np.mean(defined) if defined else None
                assert found.value == (wanted if wanted is None else pytest.approx(wanted, abs=1e-9))
            else:
                assert found.value is None
                assert found.reason.startswith("not defined: ")


def test_a_line_through_two_systems_is_no_correlation():
    judged = study([("a", "x", 1.0), ("b", "x", 2.0), ("a", "y", 2.0), ("b", "y", 4.0)], {"m": [4, 3, 2, 1]})
    assert correlate(judged, "m", "pearson", "system") == Figure(
        None, "not defined: there are only two systems", n=2
    )


@settings(max_examples=limit_cases(40), deadline=None)
@given(judgments())
def test_at_system_level_means_are_over_answers_with_both_scores(judged):
    there = np.isfinite(judged.human) & np.isfinite(judged.metrics["one"])
    systems = sorted(set(judged.systems[there]))
    human = [judged.human[there & (judged.systems == code)].mean() for code in systems]
    scores = [judged.metrics["one"][there & (judged.systems == code)].mean() for code in systems]
    found = correlate(judged, "one", "pearson", "system")
    assert found.n == len(systems)
    if found.value is not None and np.ptp(human) > 1e-9 and np.ptp(scores) > 1e-9:
        assert found.value == pytest.approx(naive("pearson", human, scores), abs=1e-6)


@settings(max_examples=limit_cases(40), deadline=None)
@given(judgments())
def test_the_order_of_rows_and_the_numbers_of_names_change_no_bit(judged):
    assert correlations(judged, ["one", "two"]) == correlations(shuffled(judged, 4), ["one", "two"])


@settings(max_examples=limit_cases(60), deadline=None)
@given(judgments(missing=False))
def test_pairs_are_counted_as_one_by_one(judged):
    rows = rows_of(judged, ["one"])
    scores = rows.column("one")
    starts = np.flatnonzero(np.diff(rows.questions, prepend=-1))
    counts = pair_counts(rows.human, scores[None], starts)
    signs = [
        (int(np.sign(rows.human[i] - rows.human[j])), int(np.sign(scores[i] - scores[j])))
        for i, j in combinations(range(len(rows)), 2)
        if rows.questions[i] == rows.questions[j]
    ]
    assert int(counts.concordant.sum()) == sum(h * m == 1 for h, m in signs)
    assert int(counts.discordant.sum()) == sum(h * m == -1 for h, m in signs)
    assert int(counts.tied_human.sum()) == sum(h == 0 and m != 0 for h, m in signs)
    assert int(counts.tied_metric.sum()) == sum(h != 0 and m == 0 for h, m in signs)
    assert int(counts.tied_both.sum()) == sum(h == 0 and m == 0 for h, m in signs)


@pytest.mark.parametrize("ties", [False, True])
def test_many_answers_in_large_groups_have_the_tau_of_scipy(ties):
    judged = full(questions=700, systems=3, ties=ties)
    found = correlate(judged, "m2", "kendall", "global")
    assert found.value == pytest.approx(naive("kendall", judged.human, judged.metrics["m2"]), abs=1e-12)


def test_inversions_of_groups_are_counted_apart():
    assert inversions(np.array([2, 1, 0, 0, 1, 1, 0]), np.array([0, 3, 5])).tolist() == [3, 0, 1]


@settings(max_examples=limit_cases(60), deadline=None)
@given(judgments(missing=False))
def test_sums_of_signs_are_those_of_all_pairs(judged):
    human, one, two = judged.human, judged.metrics["one"], judged.metrics["two"]
    expected = np.sign(human[:, None] - human) * np.sign(one[:, None] - two)
    assert sign_sums(human, one, two).tolist() == expected.sum(axis=1).tolist()


ROWS = [("a", "x", 1.0), ("b", "x", 2.0), ("a", "y", 3.0), ("b", "y", 5.0)]
NAN = float("nan")


@pytest.mark.parametrize(
    ("scores", "grouping", "reason"),
    [
        ([NAN, NAN, NAN, NAN], "global", "no answer has both a human score and a score of this metric"),
        ([NAN, 0.5, NAN, NAN], "global", "only one answer has both a human score and a score of this metric"),
        ([0.5, 0.5, 0.5, 0.5], "global", "all scores of this metric are the same"),
        (
            [0.5, 0.5, 0.7, 0.7],
            "item",
            "no question has answers that differ both for people and for this metric",
        ),
        (
            [0.5, 0.7, 0.5, 0.7],
            "by_system",
            "no system has answers that differ both for people and for this metric",
        ),
        ([0.5, NAN, 0.7, NAN], "system", "there is only one system"),
        ([0.5, 0.75, 0.75, 0.5], "system", "the mean scores of this metric are the same for all systems"),
    ],
)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_what_is_not_defined_says_why(scores, grouping, reason, statistic):
    found = correlate(study(ROWS, {"m": scores}), "m", statistic, grouping)
    assert (found.value, found.reason) == (None, f"not defined: {reason}")


def test_constant_human_scores_say_so():
    rows = [(system, question, 3.0) for system, question, _ in ROWS]
    found = correlate(study(rows, {"m": [1, 2, 3, 4]}), "m", "kendall", "global")
    assert found == Figure(None, "not defined: all human scores are the same", n=4)


def test_scores_that_are_not_finite_are_missing():
    judged = study(ROWS, {"m": [1, 2, 3, float("inf")]})
    assert correlate(judged, "m", "pearson", "global").n == 3


def test_scores_of_any_size_keep_their_correlation():
    judged = full()
    tiny = replace(judged, metrics={"m0": judged.metrics["m0"] * 1e-200})
    assert correlate(tiny, "m0", "pearson", "global").value == pytest.approx(
        correlate(judged, "m0", "pearson", "global").value, abs=1e-12
    )


def test_unknown_names_are_errors_in_words():
    with pytest.raises(MetricError, match="There are no scores of the metric bleu; there are those of: m"):
        correlate(study(ROWS, {"m": [1, 2, 3, 4]}), "bleu", "pearson", "global")
    with pytest.raises(MetricError, match="There is no correlation “tau”"):
        correlate(study(ROWS, {"m": [1, 2, 3, 4]}), "m", "tau", "global")
    with pytest.raises(MetricError, match="cannot be grouped as “question”"):
        correlate(study(ROWS, {"m": [1, 2, 3, 4]}), "m", "pearson", "question")
