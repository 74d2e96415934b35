"""Intervals: golden values, samples worked out one by one, edges."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from metrics.errors import MetricError
from metrics.metaeval.bootstrap import WANTED, bounds, draw_block, fisher, intervals, paired, prepare
from metrics.metaeval.data import ScoredAnswers, rows_of
from metrics.metaeval.executor import samples
from metrics.metaeval.plan import figure_of
from tests.metrics.metaeval.drawn import full, shuffled, without
from tests.metrics.metaeval.marco import EXPECTED, METRICS, PAIRS, marco
from tests.metrics.metaeval.studies import study

KINDS = ("boot_inputs", "boot_systems", "boot_both")


def test_intervals_over_questions_are_those_of_mt_metrics_eval():
    found = intervals(marco(), statistics=[("pearson", "global")])
    for metric in METRICS:
        expected = EXPECTED["metrics"][metric]["boot_inputs_ci95_pearson_none"]
        assert found[metric, "pearson", "global"] == pytest.approx(
            expected, abs=EXPECTED["tolerance_stochastic"]
        )


@pytest.mark.parametrize("metric", METRICS)
def test_fishers_interval_is_that_of_mt_metrics_eval(metric):
    expected = EXPECTED["metrics"][metric]
    assert fisher(expected["pearson_none"], 1000) == pytest.approx(
        expected["fisher_ci95_pearson_none"], abs=1e-6
    )


def test_fisher_has_none_for_few_answers_or_a_perfect_correlation():
    assert fisher(0.5, 3) is None
    assert fisher(1.0, 100) is None


def copied(judged, questions, systems):
    """The sample itself: copies of questions get names of their own, copies of systems do not."""
    question_of, rows = [], []
    for question, times in enumerate(questions):
        for _ in range(int(times)):
            name = len(question_of)
            question_of.append(name)
            rows += [
                (row, name)
                for row in np.flatnonzero(judged.questions == question)
                for _ in range(int(systems[judged.systems[row]]))
            ]
    places = np.array([row for row, _ in rows], dtype=np.int64)
    return ScoredAnswers(
        judged.human[places],
        {name: values[places] for name, values in judged.metrics.items()},
        judged.systems[places],
        np.array([name for _, name in rows], dtype=np.int32),
        judged.system_names,
        [f"{name:05}" for name in question_of],
    )


@pytest.mark.parametrize("kind", ["boot_inputs", "boot_both", "boot_systems"])
@pytest.mark.parametrize("ties", [False, True])
def test_weights_give_what_the_sample_itself_would(kind, ties):
    judged = full(questions=14, systems=3, ties=ties)
    questions, systems = np.ones((14, 100)), np.ones((3, 100))
    if kind != "boot_systems":
        questions = samples(0, "boot questions", 0, 14)
    if kind != "boot_inputs":
        systems = samples(0, "boot systems", 0, 3)
    # Where systems are copied, statistics of systems and pairs of copies are not those of a plain table.
    wanted = [
        (statistic, grouping)
        for statistic, grouping in WANTED
        if kind == "boot_inputs"
        or (grouping in ("global", "item") and statistic in ("pearson", "spearman", "kendall", "pair_acc"))
    ]
    prepared = prepare(judged, ["m1"], kind=kind, statistics=wanted, replicates=100)
    found = draw_block(prepared, 0)
    for sample in range(8):
        rows = rows_of(copied(judged, questions[:, sample], systems[:, sample]), ["m1"])
        for (statistic, grouping), values in zip(wanted, found, strict=True):
            if statistic == "acc_eq_cal":
                continue
            expected = figure_of(statistic, grouping, rows, rows.column("m1")).value
            value = values[sample]
            assert (None if np.isnan(value) else value) == pytest.approx(expected, abs=1e-9), (
                statistic,
                grouping,
            )


def test_by_system_counts_a_drawn_system_as_often_as_it_was_drawn():
    judged = full(questions=10, systems=3)
    found = draw_block(
        prepare(judged, ["m1"], kind="boot_systems", statistics=[("pearson", "by_system")], replicates=100), 0
    )
    weights = samples(0, "boot systems", 0, 3)
    own = [
        np.corrcoef(judged.human[judged.systems == s], judged.metrics["m1"][judged.systems == s])[0, 1]
        for s in range(3)
    ]
    assert found[0] == pytest.approx(own @ weights / 3, abs=1e-9)


def test_kendalls_tau_of_many_answers_is_close_to_first_order():
    judged = full(questions=300, systems=3, ties=True)
    questions = samples(0, "boot questions", 0, 300)
    found = draw_block(prepare(judged, ["m1"], statistics=[("kendall", "global")], replicates=100), 0)[0]
    for sample in range(5):
        rows = rows_of(copied(judged, questions[:, sample], np.ones(3)), ["m1"])
        assert found[sample] == pytest.approx(
            figure_of("kendall", "global", rows, rows.column("m1")).value, abs=5e-3
        )


@pytest.mark.parametrize("kind", KINDS)
def test_every_statistic_lies_in_its_interval(kind):
    judged = full(questions=60, systems=5, seed=2)
    found = intervals(judged, ["m1"], kind=kind, replicates=300)
    rows = rows_of(judged, ["m1"])
    assert set(found) == {("m1", *wanted) for wanted in WANTED}
    for (_, statistic, grouping), (low, high) in found.items():
        value = figure_of(statistic, grouping, rows, rows.column("m1")).value
        assert low - 0.02 <= value <= high + 0.02, (statistic, grouping)


@pytest.mark.long
def test_intervals_over_questions_hold_the_truth_as_often_as_they_say():
    held = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        human = rng.normal(0, 1, 200)
        judged = ScoredAnswers(
            human,
            {"m": 0.6 * human + 0.8 * rng.normal(0, 1, 200)},
            np.tile([0, 1], 100).astype(np.int32),
            np.repeat(np.arange(100), 2).astype(np.int32),
            ("a", "b"),
            [f"q{n:03}" for n in range(100)],
        )
        low, high = intervals(judged, replicates=200, statistics=[("pearson", "global")])[
            "m", "pearson", "global"
        ]
        held += low <= 0.6 <= high
    assert 0.88 <= held / 150 <= 0.99


def test_blocks_may_be_drawn_in_any_order_and_place():
    judged = full(questions=20, systems=3)
    prepared = prepare(judged, ["m0", "m1"], replicates=350)
    assert len(prepared.blocks) == 4
    sent = pickle.loads(pickle.dumps(prepared))
    values = {block: draw_block(sent, block) for block in reversed(prepared.blocks)}
    assert bounds(prepared, [values[block] for block in prepared.blocks]) == intervals(
        judged, ["m0", "m1"], replicates=350
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_changes_no_bit(kind):
    judged = without(full(questions=15, systems=3, ties=True), "m1", [2, 7])
    assert intervals(shuffled(judged, 5), ["m1"], kind=kind, replicates=100) == intervals(
        judged, ["m1"], kind=kind, replicates=100
    )


def test_a_metric_has_the_same_interval_alone_and_among_others():
    judged = full(questions=15, systems=3)
    together = intervals(judged, replicates=100)
    alone = intervals(judged, ["m2"], replicates=100)
    assert {key: together[key] for key in alone} == alone


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_no_value_has_no_interval(kind):
    judged = full(questions=8, systems=3)
    flat = replace(judged, metrics={"flat": np.ones(24), "none": np.full(24, np.nan)})
    found = intervals(flat, kind=kind, replicates=100)
    assert not {key for key in found if key[1] in ("pearson", "spearman", "kendall")}
    assert not {key for key in found if key[0] == "none"}


def test_one_system_has_intervals_but_of_systems():
    judged = study(
        [("a", f"q{k}", float(k % 5)) for k in range(30)], {"m": [(k * 7) % 11 for k in range(30)]}
    )
    found = intervals(judged, replicates=100)
    assert ("m", "pearson", "global") in found
    assert ("m", "pearson", "by_system") in found
    assert ("m", "pearson", "system") not in found
    assert ("m", "pair_acc", "item") not in found


def test_no_scores_have_no_intervals():
    assert intervals(study([("a", "x", 1.0)], {"m": [float("nan")]}), replicates=100) == {}


def test_an_unknown_bootstrap_is_an_error_in_words():
    with pytest.raises(
        MetricError, match="There is no bootstrap “boot_raters”; known are: boot_inputs, boot_systems"
    ):
        intervals(full(questions=5), kind="boot_raters")


def test_the_paired_bootstrap_agrees_with_permutations_on_what_is_clear():
    found = {(test.a, test.b): test.p for test in paired(marco(), PAIRS, draws=500)}
    assert found["bleu1", "bleu4"] == pytest.approx(2 / 501)
    assert found["rougeL", "cider"] > 0.05


def test_the_paired_bootstrap_of_the_same_metric_twice_is_sure_of_nothing():
    judged = full(questions=10, systems=3)
    twice = replace(judged, metrics={"m0": judged.metrics["m0"], "copy": judged.metrics["m0"]})
    found = paired(twice, [("m0", "copy")], draws=100)[0]
    assert (found.p, found.delta) == (1.0, 0.0)
