"""Pairs as people judged them: figures as of human scores that say the same, and what must not matter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.metaeval.bootstrap import intervals
from metrics.metaeval.data import JudgedPairs, ScoredAnswers, canonical, rows_of, select_answers
from metrics.metaeval.pairwise import acc_eq, acc_eq_cal, index_pairs, pair_acc, rank_match
from metrics.metaeval.plan import Plan
from metrics.metaeval.report import evaluate
from tests.metrics.metaeval.drawn import SCORES
from tests.scale import limit_cases

QUESTIONS, SYSTEMS = 4, 3
LEADS = st.sampled_from([-1.0, -1 / 3, 0.0, 1 / 3, 1.0])


def answers_of(metric, pairs=None, human=None):
    """Every system's answer to every question, question by question."""
    n = QUESTIONS * SYSTEMS
    return ScoredAnswers(
        human=np.full(n, 0.5) if human is None else human,
        metrics={"one": np.array(metric)},
        systems=np.tile(np.arange(SYSTEMS, dtype=np.int32), QUESTIONS),
        questions=np.repeat(np.arange(QUESTIONS, dtype=np.int32), SYSTEMS),
        system_names=("b", "a", "c"),
        question_names=("q2", "q1", "q4", "q3"),
        pairs=pairs,
    )


def every_pair():
    return index_pairs(np.arange(QUESTIONS) * SYSTEMS, np.full(QUESTIONS, SYSTEMS))


@st.composite
def judged(draw):
    metric = draw(st.lists(SCORES, min_size=QUESTIONS * SYSTEMS, max_size=QUESTIONS * SYSTEMS))
    ((first, second),) = every_pair()
    keep = np.array(draw(st.lists(st.booleans(), min_size=len(first), max_size=len(first))))
    leads = np.array(draw(st.lists(LEADS, min_size=len(first), max_size=len(first))))
    return answers_of(metric, JudgedPairs(first[keep], second[keep], leads[keep]))


def figures(answers):
    return [
        pair_acc(answers, "one"),
        acc_eq(answers, "one"),
        acc_eq_cal(answers, "one"),
        rank_match(answers, "one", 0.5),
    ]


@settings(max_examples=limit_cases(400), deadline=None)
@given(
    metric=st.lists(SCORES, min_size=12, max_size=12),
    human=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=12, max_size=12),
)
def test_pairs_that_human_scores_would_order_have_their_figures(metric, human):
    human = np.array(human)
    ((first, second),) = every_pair()
    by_score = answers_of(metric, human=human)
    by_pair = answers_of(metric, JudgedPairs(first, second, human[first] - human[second]))
    assert figures(by_pair) == figures(by_score)


@settings(max_examples=limit_cases(400), deadline=None)
@given(judged(), st.integers(0, 99))
def test_order_of_rows_and_which_answer_of_a_pair_is_the_first_do_not_matter(answers, seed):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(answers))
    place = np.argsort(rows)
    order = rng.permutation(len(answers.pairs))
    pairs = answers.pairs
    turned = rng.random(len(pairs)) < 0.5
    first, second = place[pairs.first], place[pairs.second]
    moved = JudgedPairs(
        np.where(turned, second, first)[order],
        np.where(turned, first, second)[order],
        np.where(turned, -pairs.leads, pairs.leads)[order],
    )
    other = replace(
        answers,
        metrics={"one": answers.metrics["one"][rows]},
        systems=answers.systems[rows],
        questions=answers.questions[rows],
        pairs=moved,
    )
    assert figures(other) == figures(answers)
    assert intervals(other, replicates=20) == intervals(answers, replicates=20)


@settings(max_examples=limit_cases(400), deadline=None)
@given(judged())
def test_a_metric_and_its_opposite_share_the_decided_pairs(answers):
    opposite = replace(answers, metrics={"one": -answers.metrics["one"]})
    one, other = pair_acc(answers, "one"), pair_acc(opposite, "one")
    assert (one.figure.value is None) == (other.figure.value is None)
    if one.figure.value is not None:
        assert 0 <= one.figure.value <= 1
        tied = one.metric_ties / one.figure.n
        assert one.figure.value + other.figure.value + tied == pytest.approx(1)
    # As many prefer the other answer: what people say of a pair is turned, and the metric with it.
    turned = replace(opposite, pairs=replace(answers.pairs, leads=-answers.pairs.leads))
    assert figures(turned) == figures(answers)


@settings(max_examples=limit_cases(300), deadline=None)
@given(judged())
def test_a_tolerance_for_ties_never_makes_the_accuracy_worse(answers):
    plain, calibrated = acc_eq(answers, "one"), acc_eq_cal(answers, "one")
    if plain.value is not None:
        assert plain.value - 1e-12 <= calibrated.figure.value <= 1


def test_a_pair_goes_with_either_of_its_answers():
    answers = answers_of(
        np.arange(12.0), JudgedPairs(np.array([0, 1]), np.array([1, 2]), np.array([1.0, -1.0]))
    )
    kept = select_answers(answers, np.arange(12) != 0)
    assert (kept.pairs.first.tolist(), kept.pairs.second.tolist()) == ([0], [1])
    assert len(rows_of(replace(answers, human=np.where(np.arange(12) == 1, np.nan, 0.5))).pairs) == 0
    without = replace(answers, metrics={"one": np.where(np.arange(12) == 2, np.nan, np.arange(12.0))})
    assert len(rows_of(without).of("one")[0].pairs) == 1


def test_where_no_pair_is_decided_figures_say_so():
    none = np.zeros(0, np.int64)
    assert pair_acc(answers_of(np.arange(12.0), JudgedPairs(none, none, np.zeros(0))), "one").figure.reason
    tied = answers_of(np.arange(12.0), JudgedPairs(np.array([0, 3]), np.array([1, 4]), np.zeros(2)))
    assert (
        pair_acc(tied, "one").figure.reason
        == "not defined: people rate all answers to the same question equal"
    )
    assert acc_eq(tied, "one").value == 0
    assert acc_eq_cal(tied, "one").figure.value == 1


@settings(max_examples=1, deadline=None)
@given(judged())
def test_a_report_has_all_figures_of_pairs_and_no_floor_of_questions(answers):
    report = evaluate(canonical(answers)[0], Plan(replicates=10, draws=19, scale=(0, 1)))
    assert report["metrics"]["one"]["pair_acc"]["value"] == pair_acc(answers, "one").figure.value
    assert "question" not in report["floors"]
