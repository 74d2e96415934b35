"""Measures and paired tests, against numbers worked out by hand and against other libraries."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from retrieval.errors import EvaluationError
from retrieval.evaluation.measures import DEFAULT, Qrels, parse_measures, values
from retrieval.evaluation.report import paired
from tests.scale import limit_cases

QRELS = Qrels({"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"x": 1}, "q3": {"y": 0}})


def measured(names, rankings, queries=("q1", "q2", "q3")):
    found = values(parse_measures(names), QRELS, rankings, queries)
    return {name: column.round(6).tolist() for name, column in found.items()}


def ranking(*passages):
    return [(passage, -float(rank)) for rank, passage in enumerate(passages)]


def test_values_of_the_usual_measures():
    ideal = 2 + 1 / math.log2(3)
    found = measured(DEFAULT, {"q1": ranking("c", "b", "a"), "q2": ranking("a", "x")})
    assert found == {
        "nDCG@10": [round((1 / math.log2(3) + 2 / 2) / ideal, 6), round(1 / math.log2(3), 6), 0],
        "MRR@10": [0.5, 0.5, 0],
        "R@100": [1, 1, 0],
    }
    found = measured("R@2, MRR@2, nDCG@2", {"q1": ranking("c", "x", "a", "b")}, ["q1"])
    assert found == {"R@2": [0], "MRR@2": [0], "nDCG@2": [0]}
    tied = {"q1": [("c", 1.0), ("a", 1.0)]}
    assert measured("MRR@10,P@1,nDCG@1,Success@1", tied, ["q1"]) == {
        "MRR@10": [0.5],
        "P@1": [0],
        "nDCG@1": [0],
        "Success@1": [0],
    }
    assert measured("nDCG@10,AP", {}) == {"nDCG@10": [0, 0, 0], "AP": [0, 0, 0]}


def test_names_of_measures_are_read_in_any_case_and_unknown_ones_refused_in_words():
    names = [each.name for each in parse_measures("ndcg@5; R(rel=2)@100 mrr@10, nDCG@5")]
    assert names == ["ndcg@5", "R(rel=2)@100", "mrr@10", "nDCG@5"]
    for name in ("precise@3", "P", "nDCG@x", "nDCG@0", "1+1", "R@100(rel=2)", "RBP"):
        with pytest.raises(EvaluationError, match=r"There is no measure|needs a part of ir-measures"):
            parse_measures(name)
    with pytest.raises(EvaluationError, match="at least one measure"):
        parse_measures(" , ")


def one(system, baseline, units=None, **options):
    system, baseline = np.array(system, float), np.array(baseline, float)
    [test] = paired([system], baseline, units or list(map(str, range(len(system)))), **options)
    return test


@settings(deadline=None, max_examples=limit_cases(50))
@given(arrays(float, st.tuples(st.integers(3, 12), st.just(2)), elements=st.integers(0, 8)))
def test_the_t_test_is_that_of_scipy(values):
    test = one(values[:, 0], values[:, 1])
    difference = values[:, 0] - values[:, 1]
    if difference.std() > 0:
        expected = stats.ttest_rel(values[:, 0], values[:, 1])
        assert test.t == pytest.approx(expected.statistic)
        assert test.t_p == pytest.approx(expected.pvalue)
        assert test.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))


@settings(deadline=None, max_examples=limit_cases(50))
@given(arrays(float, st.tuples(st.integers(1, 9), st.just(2)), elements=st.integers(0, 8)))
def test_few_queries_are_swapped_in_every_way(values):
    test = one(values[:, 0], values[:, 1])
    difference = values[:, 0] - values[:, 1]
    sums = [abs(np.dot(signs, difference)) for signs in product((1, -1), repeat=len(difference))]
    assert test.randomisation_p == pytest.approx(np.mean(np.array(sums) >= abs(difference.sum()) - 1e-9))
    assert test.draws == 2 ** len(difference)


@pytest.mark.long
def test_many_queries_are_swapped_at_random_with_a_seed():
    rng = np.random.default_rng(1)
    system, baseline = rng.random(60) + 0.1, rng.random(60)
    expected = stats.permutation_test(
        (system, baseline),
        lambda a, b: a.mean() - b.mean(),
        permutation_type="samples",
        n_resamples=9999,
        rng=1,
    )
    found = [one(system, baseline, seed=seed).randomisation_p for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]
    assert found[0] == pytest.approx(expected.pvalue, abs=0.02)


def test_turns_of_a_conversation_are_swapped_together_and_p_is_never_zero():
    system, baseline = [1.0, 1, 1, 1, 1, 1], [0.0] * 6
    assert one(system, baseline).randomisation_p == 2 / 2**6
    together = one(system, baseline, units=["a", "a", "a", "b", "b", "b"])
    assert (together.randomisation_p, together.units) == (2 / 2**2, 2)
    test = one(np.ones(50) + np.arange(50) / 100, np.zeros(50), draws=99)
    assert test.randomisation_p == 1 / 100


def test_systems_without_a_difference_that_varies_have_no_t():
    test = one([0.5, 1, 0], [0.5, 1, 0])
    assert (test.difference, test.t_p, test.randomisation_p, test.equal) == (0, None, 1, 3)
    assert test.reason == "both have the same value on every query"
    test = one([1, 1, 1], [0, 0, 0])
    assert (test.t, test.interval, test.better) == (None, (1, 1), 3)
    assert "same on every query" in test.reason
    test = one([1], [0])
    assert (test.t_p, test.randomisation_p, test.interval) == (None, 1, None)
    assert test.reason == "there is one query only"


def test_several_systems_are_corrected_together():
    rng = np.random.default_rng(3)
    baseline = rng.random(30)
    systems = [baseline + rng.normal(shift, 0.2, 30) for shift in (0.2, 0.05)]
    first, second = paired(systems, baseline, list(map(str, range(30))))
    assert first.t_p < second.t_p
    assert first.t_p_holm == pytest.approx(2 * first.t_p)
    assert second.t_p_holm == pytest.approx(second.t_p)
    assert first.randomisation_p_holm == pytest.approx(2 * first.randomisation_p)
