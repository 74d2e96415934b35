"""BLEU-1-KPQA and ROUGE-L-KPQA with given weights."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distillery_learned.metrics.kpqa import Pairs, bleu1_kpqa, bleu1_of, rouge_l_kpqa, rouge_l_of
from metrics import MetricError
from tests.metrics.goldens import golden
from tests.scale import limit_cases

FILE = golden("kpqa_formulas")
CASES = pytest.mark.parametrize("case", FILE["cases"], ids=[case["name"] for case in FILE["cases"]])


def pair(case):
    return case["candidate"].split(), case["reference"].split(), case["w_candidate"], case["w_reference"]


def closely(value):
    return pytest.approx(value, abs=FILE["tolerance"])


@CASES
def test_the_authors_code_gives_the_same(case):
    assert bleu1_kpqa(*pair(case), "repo") == closely(case["repo"]["bleu1_kpqa"])
    assert tuple(rouge_l_kpqa(*pair(case), "repo")) == closely(case["repo"]["rougeL_kpqa_PRF"])


@CASES
def test_the_papers_equations_give_the_same(case):
    paper = case["paper"]
    assert bleu1_kpqa(*pair(case), "literal") == closely(paper["bleu1_kpqa_eq1_literal"])
    assert bleu1_kpqa(*pair(case), "paper") == closely(paper["bleu1_kpqa_indicator"])
    assert tuple(rouge_l_kpqa(*pair(case), "paper")) == closely(paper["rougeL_kpqa_PRF_beta1"])
    assert tuple(rouge_l_kpqa(*pair(case), "paper", beta=1.2)) == closely(paper["rougeL_kpqa_PRF_beta1_2"])


def test_the_heaviest_subsequence_keeps_the_word_that_counts():
    case = FILE["cases"][0]
    p, r, _ = rouge_l_kpqa(*pair(case))
    assert p == closely(0.8 / 1.74)
    assert r == closely(0.8 / 1.77)


def test_a_word_matches_no_more_often_than_the_reference_has_it():
    assert bleu1_kpqa(["in", "in", "1923"], ["in", "1923"], [0.2, 0.4, 1.0], [0.1, 1.0]) == closely(1.3 / 1.6)


weights = st.floats(0, 1).map(lambda value: round(value, 3))
weighted_texts = st.lists(st.tuples(st.sampled_from("abc"), weights), max_size=7)


def words(text):
    return [word for word, _ in text], [weight for _, weight in text]


def brute(first, second):
    """The greatest weight, by the first text's weights, of any common subsequence."""
    plain = [word for word, _ in second]
    best = 0.0
    for size in range(len(first) + 1):
        for chosen in combinations(first, size):
            rest = iter(plain)
            if all(word in rest for word, _ in chosen):
                best = max(best, sum(weight for _, weight in chosen))
    return best


@settings(max_examples=limit_cases(60), deadline=None)
@given(first=weighted_texts, second=weighted_texts)
def test_no_common_subsequence_is_heavier(first, second):
    p, r, _ = rouge_l_kpqa(words(first)[0], words(second)[0], words(first)[1], words(second)[1])
    whole = [sum(weight for _, weight in text) for text in (first, second)]
    assert p * whole[0] == pytest.approx(brute(first, second))
    assert r * whole[1] == pytest.approx(brute(second, first))
    assert 0 <= p <= 1 + 1e-12
    assert 0 <= r <= 1 + 1e-12


@pytest.mark.parametrize("variant", ["weighted", "paper", "repo"])
@settings(max_examples=limit_cases(30), deadline=None)
@given(drawn=st.lists(st.tuples(weighted_texts, weighted_texts), min_size=1, max_size=5))
def test_many_pairs_at_a_time_give_what_each_gives(drawn, variant):
    firsts, seconds = [words(first) for first, _ in drawn], [words(second) for _, second in drawn]
    pairs = Pairs.of(
        [text for text, _ in firsts],
        [text for text, _ in seconds],
        [weight for _, weight in firsts],
        [weight for _, weight in seconds],
    )
    alone = [rouge_l_kpqa(c, r, w, v, variant) for (c, w), (r, v) in zip(firsts, seconds, strict=True)]
    assert np.column_stack(rouge_l_of(pairs, variant)) == pytest.approx(np.array(alone), abs=1e-12)
    other = "paper" if variant == "weighted" else variant
    if other in ("paper", "repo"):
        one = [bleu1_kpqa(c, r, w, v, other) for (c, w), (r, v) in zip(firsts, seconds, strict=True)]
        assert bleu1_of(pairs, other) == pytest.approx(np.array(one), abs=1e-12)


def test_texts_without_tokens_or_weight_have_nothing():
    assert tuple(rouge_l_kpqa([], ["a"], [], [1.0])) == (0, 0, 0)
    assert tuple(rouge_l_kpqa(["a"], ["a"], [0.0], [0.0])) == (0, 0, 0)
    assert bleu1_kpqa([], ["a"], [], [1.0]) == 0
    assert bleu1_kpqa(["a"], [], [1.0], []) == 0


def test_every_token_needs_a_weight_and_variants_have_names():
    with pytest.raises(MetricError, match="A text of 2 tokens has 1 weights"):
        bleu1_kpqa(["a", "b"], ["a"], [1.0], [1.0])
    with pytest.raises(MetricError, match="has no variant 'best'; it has paper, literal, repo"):
        bleu1_kpqa(["a"], ["a"], [1.0], [1.0], "best")
    with pytest.raises(MetricError, match="has no variant 'best'; it has weighted, paper, repo"):
        rouge_l_kpqa(["a"], ["a"], [1.0], [1.0], "best")
