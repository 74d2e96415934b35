"""Is one metric better than another: against golden p-values, and against draws worked out one by one."""

import pickle
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import scipy.stats

from metrics.errors import MetricError
from metrics.metaeval import permutation
from metrics.metaeval.correlation import correlate, correlation
from metrics.metaeval.data import rows_of
from metrics.metaeval.executor import BLOCK, swaps
from metrics.metaeval.permutation import compare, concluded, counted, prepare, standardised
from metrics.metaeval.plan import MetricDifference, figure_of
from metrics.metaeval.significance import clusters, compared, holm, williams, williams_p
from tests.metrics.metaeval.drawn import full, shuffled, without
from tests.metrics.metaeval.marco import EXPECTED, PAIRS, marco
from tests.metrics.metaeval.studies import study

METHODS = ("perm_inputs", "perm_both", "perm_systems")


@pytest.mark.parametrize("method", ["perm_inputs", "perm_both"])
def test_p_values_are_those_of_mt_metrics_eval(method):
    found = compare(marco(), PAIRS, "pearson", "global", method, draws=9999)
    for test in found:
        expected = EXPECTED["pairs"][f"{test.a} vs {test.b}"]
        assert test.delta == pytest.approx(expected["delta_pearson"], abs=1e-6)
        assert test.p == pytest.approx(
            expected[f"{method}_p_two_sided"], abs=EXPECTED["tolerance_stochastic"]
        )
        assert test.n == 1000


def test_williams_p_values_are_those_of_mt_metrics_eval():
    for test in williams(marco(), PAIRS):
        expected = EXPECTED["pairs"][f"{test.a} vs {test.b}"]
        assert test.p == pytest.approx(expected["williams_p_two_sided"], rel=1e-6)


def one_by_one(judged, pair, statistic, grouping, method, draws):
    """The p-value from draws that are worked out each by itself."""
    rows = rows_of(judged, sorted(pair))
    rows = rows.only(np.isfinite(rows.scores).all(axis=0))
    first, second = standardised(rows.scores)
    units = {
        "perm_inputs": rows.questions,
        "perm_both": np.arange(len(rows)),
        "perm_systems": rows.systems,
    }[method]

    def delta(a, b):
        one, two = (figure_of(statistic, grouping, rows, scores) for scores in (a, b))
        return None if one.value is None or two.value is None else one.value - two.value

    parts = [part for _, part in swaps(0, f"permutation {method}", 0, int(units.max()) + 1)]
    swapped = np.concatenate(parts, axis=1)[:draws] > 0
    observed = delta(first, second)
    extreme = 0
    for draw in swapped:
        moved = draw[units]
        drawn = delta(np.where(moved, second, first), np.where(moved, first, second))
        extreme += drawn is None or abs(drawn) >= abs(observed) - 1e-10
    return (1 + extreme) / (1 + draws)


EXACT = [
    *(("pearson", grouping) for grouping in ("global", "item", "by_system", "system")),
    *((statistic, grouping) for statistic in ("spearman", "kendall") for grouping in ("item", "system")),
    *((statistic, "item") for statistic in ("pair_acc", "acc_eq")),
    ("pa", "system"),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("statistic", "grouping"), EXACT)
@pytest.mark.parametrize("ties", [False, True])
def test_sums_over_units_give_what_each_draw_would(statistic, grouping, method, ties):
    judged = full(questions=12, systems=3, ties=ties)
    found = compare(judged, [("m0", "m1")], statistic, grouping, method, draws=60)[0]
    assert found.p == one_by_one(judged, ("m0", "m1"), statistic, grouping, method, 60)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("grouping", ["global", "by_system"])
def test_kendalls_tau_without_ties_is_exact_too(grouping, method):
    judged = full(questions=15, systems=3)
    found = compare(judged, [("m0", "m1")], "kendall", grouping, method, draws=60)[0]
    assert found.p == one_by_one(judged, ("m0", "m1"), "kendall", grouping, method, 60)


@pytest.mark.long
@pytest.mark.parametrize("statistic", ["spearman", "kendall"])
@pytest.mark.parametrize("grouping", ["global", "by_system"])
def test_ranks_that_are_swapped_come_close_to_ranks_made_anew(statistic, grouping):
    judged = full(questions=60, systems=3, seed=6)
    found = compare(judged, [("m1", "m2")], statistic, grouping, draws=400)[0]
    assert found.p == pytest.approx(
        one_by_one(judged, ("m1", "m2"), statistic, grouping, "perm_inputs", 400), abs=0.03
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("grouping", ["global", "item", "system"])
def test_missing_cells_leave_out_the_answer_for_this_pair_only(grouping, method):
    judged = without(full(questions=12, systems=3, metrics=3), "m1", [0, 4, 9])
    first, second = compare(judged, [("m0", "m1"), ("m0", "m2")], "pearson", grouping, method, draws=60)
    assert (first.n, second.n) == (33, 36)
    assert (
        second
        == compare(
            full(questions=12, systems=3, metrics=3), [("m0", "m2")], "pearson", grouping, method, draws=60
        )[0]
    )
    assert 0 < first.p <= 1


def test_questions_with_many_answers_are_worked_out_draw_by_draw():
    judged = full(questions=3, systems=10)
    found = compare(judged, [("m0", "m1")], "kendall", "item", "perm_both", draws=20)[0]
    assert found.p == one_by_one(judged, ("m0", "m1"), "kendall", "item", "perm_both", 20)


def test_ways_that_are_too_many_to_keep_are_worked_out_when_needed(monkeypatch):
    judged = full(questions=10, systems=3)
    kept = compare(judged, [("m0", "m1"), ("m1", "m2")], "spearman", "item", "perm_both", draws=100)
    monkeypatch.setattr(permutation, "TABLES", 0)
    monkeypatch.setattr(permutation, "ANSWER_CELLS", 300)
    assert compare(judged, [("m0", "m1"), ("m1", "m2")], "spearman", "item", "perm_both", draws=100) == kept


def test_no_pairs_are_no_tests_and_no_human_scores_at_all_are_told():
    for method in (*METHODS, "williams", "bootstrap"):
        assert compared(full(questions=5), [], method=method, draws=100) == []
    judged = study([("a", "x", float("nan")), ("b", "x", float("nan"))], {"m": [1, 2], "n": [2, 1]})
    for method in (*METHODS, "williams", "bootstrap"):
        found = compared(judged, [("m", "n")], method=method, draws=100)[0]
        assert found.reason == "m: not defined: no answer has both a human score and a score of this metric"


def test_blocks_may_be_counted_in_any_order_and_place():
    judged = full(questions=30, systems=4)
    pairs = list(combinations(judged.metrics, 2))
    whole = compare(judged, pairs, draws=2100)
    prepared = prepare(judged, pairs, "pearson", "global", "perm_inputs", draws=2100)
    assert len(prepared.blocks) == 5
    sent = pickle.loads(pickle.dumps(prepared))
    counts = {block: counted(sent, block) for block in reversed(prepared.blocks)}
    assert concluded(prepared, [counts[block] for block in prepared.blocks]) == whole


def test_a_spread_may_deal_out_the_blocks():
    judged = full(questions=30, systems=4)

    def backwards(work, parts, done=None):
        found = {part: pickle.loads(pickle.dumps(partial(work, part)))() for part in reversed(parts)}
        return [found[part] for part in parts]

    for method in ("perm_inputs", "bootstrap"):
        here = compared(judged, [("m0", "m1")], method=method, draws=1200)
        assert compared(judged, [("m0", "m1")], method=method, draws=1200, spread=backwards) == here


def test_draws_of_a_part_of_a_block_are_the_first_of_it():
    judged = full(questions=10, systems=3)
    few = prepare(judged, [("m0", "m1")], "pearson", "global", "perm_inputs", draws=BLOCK - 1)
    many = prepare(judged, [("m0", "m1")], "pearson", "global", "perm_inputs", draws=BLOCK)
    assert 0 <= int(counted(many, 0).extreme[0] - counted(few, 0).extreme[0]) <= 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("statistic", "grouping"), [("pearson", "global"), ("kendall", "item"), ("spearman", "by_system")]
)
def test_the_order_of_rows_changes_no_bit(method, statistic, grouping):
    judged = without(full(questions=20, systems=3), "m2", [3, 8])
    pairs = [("m0", "m1"), ("m1", "m2")]
    found = compare(judged, pairs, statistic, grouping, method, draws=100)
    assert compare(shuffled(judged, 7), pairs, statistic, grouping, method, draws=100) == found


def test_neither_direction_nor_scale_changes_p_and_the_same_metric_is_never_better():
    judged = full(questions=30, systems=3)
    one, other = compare(judged, [("m0", "m1"), ("m1", "m0")], draws=500)
    assert (one.p, one.delta) == (other.p, -other.delta)
    judged = full(questions=30, systems=3)
    scaled = replace(judged, metrics={**judged.metrics, "m1": 100 * judged.metrics["m1"] - 7})
    pair = [("m0", "m1")]
    for statistic, grouping in (("pearson", "global"), ("kendall", "item"), ("pearson", "system")):
        before, after = (
            compare(given, pair, statistic, grouping, draws=500)[0] for given in (judged, scaled)
        )
        assert before.p == after.p
    judged = full(questions=20, systems=3)
    twice = replace(judged, metrics={"m0": judged.metrics["m0"], "copy": judged.metrics["m0"]})
    assert compare(twice, [("m0", "copy")], draws=300)[0].p == 1.0


def test_p_values_under_the_null_are_uniform():
    ps = []
    for seed in range(200):
        rng = np.random.default_rng([seed, 1])
        judged = full(questions=25, systems=2, metrics=1, seed=seed)
        noise = {name: judged.human + rng.normal(0, 1, 50) for name in "ab"}
        ps.append(compare(replace(judged, metrics=noise), [("a", "b")], draws=199)[0].p)
    assert scipy.stats.kstest(ps, "uniform").pvalue > 0.01


def test_a_constant_metric_cannot_be_compared_and_says_why():
    judged = full(questions=10, systems=2)
    constant = replace(judged, metrics={**judged.metrics, "flat": np.ones(20)})
    for method in ("perm_inputs", "williams", "bootstrap"):
        found = compared(constant, [("m0", "flat"), ("m0", "m1")], method=method, draws=200)
        assert (found[0].p, found[0].delta, found[0].p_holm) == (None, None, None)
        assert found[0].as_json()["reason"] == "flat: not defined: all scores of this metric are the same"
        assert found[1].p is not None


def test_two_systems_are_no_ground_to_prefer_a_metric():
    found = compare(marco(), [("bleu1", "meteor")], "pearson", "system", draws=200)[0]
    assert (found.p, found.reason) == (None, "bleu1: not defined: there are only two systems")


def test_tests_that_do_not_exist_are_errors_in_words():
    judged = full(questions=5, systems=2)
    for statistic, grouping, method, words in (
        ("pearson", "global", "t-test", "There is no test “t-test”"),
        ("pearson", "item", "williams", "Williams' test is one of Pearson's r over all answers"),
        ("pair_acc", "global", "perm_inputs", "compares answers to one question: its grouping is item"),
        ("pa", "item", "perm_inputs", "compares systems: its grouping is system"),
        ("bleu", "item", "perm_inputs", "There is no statistic “bleu”"),
    ):
        with pytest.raises(MetricError, match=words):
            compared(judged, [("m0", "m1")], statistic, grouping, method)


def test_williams_needs_four_answers_and_two_metrics():
    assert williams_p(0.5, 0.3, 0.2, 3) is None
    judged = full(questions=20, systems=2)
    twice = replace(judged, metrics={"m0": judged.metrics["m0"], "copy": 2 * judged.metrics["m0"]})
    found = williams(twice, [("m0", "copy")])[0]
    assert (found.p, found.reason) == (None, "not defined: the two metrics are the same but for scale")


def test_holm_multiplies_the_smallest_by_all_and_never_falls():
    found = holm([0.04, 0.01, None, 0.03, 0.5])
    assert found == pytest.approx([0.09, 0.04, None, 0.09, 0.5])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_clusters_part_where_all_above_are_better_than_all_below():
    def test(a, b, p):
        return MetricDifference(a, b, "pearson", "global", "perm_inputs", 0.1, p, 10)

    values = {"a": 0.9, "b": 0.8, "c": 0.5, "d": 0.4, "none": None}
    tests = [
        test("b", "a", 0.3),
        test("a", "c", 0.01),
        test("b", "c", 0.02),
        test("d", "a", 0.01),
        test("b", "d", 0.01),
        test("c", "d", 0.2),
    ]
    assert clusters(values, tests) == [["a", "b"], ["c", "d"]]
    weaker = [replace(each, p_holm=0.06) if {each.a, each.b} == {"b", "c"} else each for each in tests]
    assert clusters(values, weaker) == [["a", "b", "c", "d"]]


def test_the_figures_behind_a_difference_are_the_correlations():
    judged = full(questions=20, systems=3)
    found = compare(judged, [("m0", "m3")], "spearman", "item", draws=50)[0]
    expected = [correlate(judged, name, "spearman", "item").value for name in ("m0", "m3")]
    assert found.delta == expected[0] - expected[1]


def test_rows_of_one_answer_each_have_no_test():
    judged = study(
        [("a", "x", 1.0), ("b", "y", 2.0), ("c", "z", 3.0)], {"m": [0.1, 0.2, 0.3], "n": [0.2, 0.1, 0.0]}
    )
    found = compare(judged, [("m", "n")], "pearson", "item", draws=50)[0]
    assert found.p is None
    assert "no question has answers that differ" in found.reason
    assert correlation(
        rows_of(judged, ["m"]), judged.metrics["m"], "pearson", "global"
    ).value == pytest.approx(1)
