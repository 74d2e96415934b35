"""Pairs of answers and of systems: golden values, definitions, edges."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from metrics.figure import Figure
from metrics.metaeval.data import ScoredAnswers
from metrics.metaeval.pairwise import Pairs, acc_eq, acc_eq_cal, pa, pair_acc, rank_match, spa
from tests.metrics.goldens import golden
from tests.metrics.metaeval.drawn import full, judgments, shuffled
from tests.metrics.metaeval.marco import EXPECTED, METRICS, marco
from tests.metrics.metaeval.studies import study
from tests.scale import limit_cases

TABLE_7 = golden("kpqa_marco_correlations")["datasets"]["marco_all"]["table7"]


@pytest.mark.parametrize("metric", METRICS)
def test_accuracies_are_those_of_mt_metrics_eval(metric):
    expected = EXPECTED["metrics"][metric]
    assert acc_eq(marco(), metric, "global").value == pytest.approx(expected["acc_eq_eps0_none"], abs=1e-6)
    assert acc_eq(marco(), metric).value == pytest.approx(expected["acc_eq_eps0_item"], abs=1e-6)
    calibrated = acc_eq_cal(marco(), metric)
    assert calibrated.figure.value == pytest.approx(expected["acc_eq_calibrated_item"], abs=1e-6)
    assert calibrated.epsilon == expected["epsilon_item"]
    found = pair_acc(marco(), metric).figure
    assert found.value == pytest.approx(expected["pairwise_accuracy_within_question_no_human_ties"], abs=1e-6)
    assert found.n == expected["pairs_no_human_ties"]
    assert spa(marco(), [metric])[metric].value == pytest.approx(
        expected["soft_pairwise_accuracy_2_systems"], abs=EXPECTED["tolerance_stochastic"]
    )


def test_the_toy_with_ties_is_calibrated_as_mt_metrics_eval_does_it():
    toy = next(test for test in EXPECTED["toy"]["tests"] if test["fn"].startswith("kendall"))
    five = len(toy["gold"])
    one_question = ScoredAnswers(
        human=np.array(toy["gold"], float),
        metrics={"toy": np.array(toy["metric"], float)},
        systems=np.arange(five, dtype=np.int32),
        questions=np.zeros(five, np.int32),
        system_names=[f"system {number}" for number in range(five)],
        question_names=["question"],
    )
    assert acc_eq(one_question, "toy").value == pytest.approx(toy["expected"][3], abs=1e-6)
    assert acc_eq_cal(one_question, "toy").figure.value == pytest.approx(toy["expected"][5], abs=1e-6)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("gap", "name"), [(2.0, "same_item_pairs gap>=2"), (2.0001, "same_item_pairs gap>2")]
)
def test_win_lose_matches_are_those_of_table_7(metric, gap, name):
    found = rank_match(marco(), metric, gap)
    assert found.pairs == TABLE_7[name]["pairs"]
    assert {"match": found.match, "metric_ties": found.metric_ties} == TABLE_7[name][metric]


def test_matches_are_joined_by_question_in_whatever_order_rows_come():
    assert rank_match(shuffled(marco(), 3), "bleu1") == rank_match(marco(), "bleu1")


def accuracy_by_hand(judged, epsilon):
    there = np.isfinite(judged.human) & np.isfinite(judged.metrics["one"])
    shares = []
    for question in set(judged.questions[there]):
        of = np.flatnonzero(there & (judged.questions == question))
        right = []
        for i, j in combinations(of, 2):
            apart = judged.metrics["one"][i] - judged.metrics["one"][j]
            people = np.sign(judged.human[i] - judged.human[j])
            right.append(people == (0 if abs(apart) <= epsilon * (1 + 1e-12) else np.sign(apart)))
        if right:
            shares.append(np.mean(right))
    return float(np.mean(shares)) if shares else None


@settings(max_examples=limit_cases(80), deadline=None)
@given(judgments())
def test_no_threshold_does_better_than_the_calibrated_one(judged):
    found = acc_eq_cal(judged, "one")
    if found.figure.value is None:
        assert accuracy_by_hand(judged, 0.0) is None or found.figure.n == 1
        return
    scores = judged.metrics["one"]
    candidates = np.abs(scores[:, None] - scores)
    best = max(accuracy_by_hand(judged, epsilon) for epsilon in [0.0, *candidates[np.isfinite(candidates)]])
    assert found.figure.value == pytest.approx(best, abs=1e-9)
    assert accuracy_by_hand(judged, found.epsilon) == pytest.approx(best, abs=1e-9)
    assert acc_eq(judged, "one").value == pytest.approx(accuracy_by_hand(judged, 0.0), abs=1e-9)


def test_a_calibrated_threshold_makes_ties_of_small_differences():
    rows = [
        ("a", "x", 3.0),
        ("b", "x", 3.0),
        ("a", "y", 2.0),
        ("b", "y", 4.0),
        ("a", "z", 1.0),
        ("b", "z", 1.0),
    ]
    judged = study(rows, {"m": [0.50, 0.52, 0.2, 0.8, 0.30, 0.33]})
    found = acc_eq_cal(judged, "m")
    assert found.as_json() == {
        "value": 1.0,
        "ci": None,
        "n": 3,
        "epsilon": pytest.approx(0.03),
        "held_out": found.held_out.value,
    }
    assert acc_eq(judged, "m").value == pytest.approx(1 / 3)


def test_a_threshold_chosen_on_the_same_answers_flatters():
    rng = np.random.default_rng(3)
    rows = [(f"s{k}", f"q{n}", float(rng.integers(1, 3))) for n in range(12) for k in range(3)]
    found = acc_eq_cal(study(rows, {"m": list(rng.random(36))}), "m")
    assert found.held_out.value is not None
    assert found.held_out.value < found.figure.value


def test_one_question_has_no_other_to_choose_a_threshold_on():
    rows = [("a", "x", 1.0), ("b", "x", 2.0), ("c", "x", 3.0)]
    found = acc_eq_cal(study(rows, {"m": [0.1, 0.2, 0.3]}), "m")
    assert found.figure.value == 1.0
    assert found.as_json()["held_out"] is None
    assert found.as_json()["held_out_reason"].startswith("not defined: only one question")


def test_ties_of_the_metric_also_by_rounding_alone_are_misses_and_counted():
    rows = [
        ("a", "x", 1.0),
        ("b", "x", 2.0),
        ("a", "y", 3.0),
        ("b", "y", 1.0),
        ("a", "z", 2.0),
        ("b", "z", 2.0),
    ]
    found = pair_acc(study(rows, {"m": [0.1, 0.2, 0.5, 0.5, 0.1, 0.9]}), "m")
    assert found == Pairs(Figure(0.5, n=2), 1)
    assert found.as_json() == {"value": 0.5, "ci": None, "n": 2, "metric_ties": 1}
    rows = [("a", "x", 1.0), ("b", "x", 2.0), ("a", "y", 1.0), ("b", "y", 2.0)]
    assert pair_acc(study(rows, {"m": [0.3, 0.1 + 0.2, 0.0, 1.0]}), "m") == Pairs(Figure(0.5, n=2), 1)


def test_pairs_that_are_not_there_say_why():
    for rows, reason in (
        ([("a", "x", 1.0), ("a", "y", 2.0)], "no question has two answers"),
        ([("a", "x", 1.0), ("b", "x", 1.0)], "people rate all answers to the same question equal"),
        ([("a", "x", float("nan")), ("b", "x", float("nan"))], "no answer has both a human score"),
    ):
        found = pair_acc(study(rows, {"m": [0.1, 0.2]}), "m").figure
        assert found.value is None
        assert found.reason.startswith(f"not defined: {reason}")


def test_one_pair_or_no_clear_pair_has_no_figure_and_says_why():
    judged = study([("a", "x", 1.0), ("b", "x", 4.0)], {"m": [0.1, 0.2]})
    of_answers = "not defined: only one pair of answers to the same question has scores of both"
    assert [
        pair_acc(judged, "m").figure,
        acc_eq(judged, "m"),
        acc_eq_cal(judged, "m").figure,
        rank_match(judged, "m").figure,
        pa(judged, "m"),
    ] == [
        Figure(None, "not defined: people tell apart only one pair of answers to the same question", n=1),
        Figure(None, of_answers, n=1),
        Figure(None, of_answers, n=1),
        Figure(None, "not defined: only one pair of answers to a question is 2 apart for people", n=1),
        Figure(None, "not defined: people tell apart only one pair of systems", n=1),
    ]
    found = rank_match(study([("a", "x", 1.0), ("b", "x", 2.0)], {"m": [0.1, 0.2]}), "m")
    assert found.figure == Figure(
        None, "not defined: no two answers to a question are 2 apart for people", n=0
    )


def test_systems_in_the_order_of_people_are_right_pairs():
    rows = [("a", "x", 1.0), ("b", "x", 2.0), ("c", "x", 4.0)]
    assert pa(study(rows, {"m": [0.1, 0.3, 0.2]}), "m") == Figure(pytest.approx(2 / 3), n=3)


def test_a_metric_that_is_the_human_score_has_full_soft_accuracy():
    judged = full(questions=50)
    same = replace(judged, metrics={"same": judged.human, "opposite": -judged.human})
    found = spa(same)
    assert found["same"] == Figure(1.0, n=3)
    assert found["opposite"].value < 0.5


def test_the_soft_accuracy_does_not_depend_on_which_system_comes_first():
    judged = full(questions=60, systems=4)
    named = shuffled(judged, 1)
    other = shuffled(judged, 2)
    renamed = replace(other, system_names=["d", "c", "b", "a"])
    assert spa(named, ["m1"]) == spa(judged, ["m1"])
    assert spa(renamed, ["m1"])["m1"].value == pytest.approx(spa(judged, ["m1"])["m1"].value, abs=1e-9)


def test_systems_that_cannot_be_paired_have_a_reason():
    judged = study([("a", "x", 1.0), ("a", "y", 2.0)], {"m": [0.1, 0.2]})
    assert pa(judged, "m").reason == "not defined: there is only one system"
    assert spa(judged, ["m"])["m"].reason == "not defined: there is only one system"
    judged = study([("a", "x", 1.0), ("b", "y", 2.0)], {"m": [0.1, 0.2]})
    assert spa(judged, ["m"])["m"].reason == "not defined: no two systems answered the same question"
