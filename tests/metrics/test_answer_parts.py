"""Scores of answers from the labels of their parts: support, attribution, nuggets, rubrics."""

import pytest

from metrics.item_means import majority, mean_by_system
from metrics.nuggets import Nugget, nugget_scores, rubric_score
from metrics.support import AttributedSentence, CitedSentence, ais_attribution, alce_support, trec_support

NONE, PARTIAL, FULL = range(3)


def test_trecs_support_counts_each_citation_and_of_each_sentence_the_best():
    answer = [CitedSentence([FULL, NONE]), CitedSentence([]), CitedSentence([PARTIAL])]
    scores = trec_support(answer)
    assert (scores.precision, scores.recall, scores.n_citations) == (0.5, 0.5, 3)
    assert trec_support([CitedSentence([])]).precision == 0


def test_alce_asks_first_whether_all_citations_together_support_a_sentence():
    answer = [
        CitedSentence([FULL, PARTIAL, NONE], is_supported=True),
        CitedSentence([FULL], is_supported=False),
        CitedSentence([], is_supported=True),
    ]
    scores = alce_support(answer)
    assert (scores.precision, scores.recall) == (0.5, pytest.approx(1 / 3))


def test_what_cannot_be_understood_is_counted_apart():
    answer = [
        AttributedSentence(True, True),
        AttributedSentence(True, False),
        AttributedSentence(False, False),
    ]
    scores = ais_attribution(answer)
    assert (scores.attributable, scores.not_interpretable) == (0.5, pytest.approx(1 / 3))
    assert ais_attribution(answer[2:]).attributable is None


def test_nuggets_are_weighted_by_their_importance_and_strict_ones_take_no_part():
    scores = nugget_scores([Nugget(True, 2), Nugget(True, 1), Nugget(False, 0), Nugget(False, 2)])
    assert (scores.all, scores.all_strict) == (0.625, 0.5)
    assert (scores.vital, scores.vital_strict) == (0.75, 0.5)
    assert (scores.weighted, scores.weighted_strict) == (pytest.approx(2 / 3), 0.5)
    assert nugget_scores([Nugget(False, 2)]).vital_strict is None


def test_a_rubric_may_be_negative_and_only_its_mean_is_cut():
    scores = {
        ("q1", "a"): rubric_score([(5, True), (3, False), (-4, True)]),
        ("q2", "a"): rubric_score([(2, False), (-2, True)]),
    }
    assert list(scores.values()) == [0.125, -1]
    assert mean_by_system(scores, replicates=50, seed=0, within=(0, 1))["a"].value == 0
    assert rubric_score([(-1, False)]) is None


def test_means_are_over_answers_and_items_are_drawn_for_their_intervals():
    values = {(f"q{item}", "a"): item % 2 for item in range(40)} | {("q1", "b"): None}
    means = mean_by_system(values, replicates=500, seed=1)
    assert means["a"].value == 0.5
    assert (means["a"].low, means["a"].high) == pytest.approx((0.35, 0.65), abs=0.05)
    assert (means["b"].value, means["b"].reason) == (None, "no answers")
    assert mean_by_system({("q", "a"): 1.0}, replicates=9, seed=0)["a"].reason == "one item"
    assert mean_by_system(values, replicates=500, seed=1) == means


def test_of_labels_that_equally_many_gave_the_lower_counts():
    assert [majority([2, 0, 2]), majority([2, 0]), majority([1, 2, 2, 1])] == [2, 0, 1]
