import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from metrics import Answers, MetricError, metric
from metrics.scoring import score
from tests.metrics.answers.drawn import cases, scored, split_on_spaces
from tests.scale import limit_cases

SMOOTHINGS = [
    ("none", None),
    ("floor", None),
    ("floor", 0.01),
    ("add-k", None),
    ("add-k", 2.0),
    ("exp", None),
]


@pytest.mark.parametrize("effective", [True, False])
@pytest.mark.parametrize(("smoothing", "value"), SMOOTHINGS)
@settings(max_examples=limit_cases(40), deadline=None)
@given(drawn=cases(), n=st.integers(1, 4))
def test_it_is_the_bleu_of_sacrebleu(drawn, n, smoothing, value, effective):
    theirs = BLEU(
        max_ngram_order=n,
        tokenize="none",
        smooth_method=smoothing,
        smooth_value=value,
        effective_order=effective,
    )
    ours = split_on_spaces(bleu={"smoothing": smoothing, "value": value, "effective": effective})

    found = scored(metric(f"bleu-{n}", ours), drawn)

    wanted = [theirs.sentence_score(candidate, references).score / 100 for candidate, references in drawn]
    assert found == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=limit_cases(60), deadline=None)
@given(drawn=cases(), smoothing=st.sampled_from(["none", "floor", "add-k", "exp"]), effective=st.booleans())
def test_the_score_of_a_corpus_is_that_of_sacrebleu(drawn, smoothing, effective):
    """Two identical answers of two words have 1, as each of them has, and not 0 for want of four words."""
    theirs = BLEU(tokenize="none", smooth_method=smoothing, effective_order=effective)
    most = max(len(references) for _, references in drawn)
    columns = [[refs[k] if k < len(refs) else None for _, refs in drawn] for k in range(most)]
    measured = metric("bleu-4", split_on_spaces(bleu={"smoothing": smoothing, "effective": effective}))
    answers = Answers([candidate for candidate, _ in drawn], [references for _, references in drawn])

    found = score(answers, [measured]).corpus["bleu-4"]

    wanted = theirs.corpus_score([candidate for candidate, _ in drawn], columns).score / 100
    assert found == pytest.approx(wanted, abs=1e-12)


def test_references_count_by_length_by_their_highest_count_or_each_alone():
    bleu = metric("bleu-1", split_on_spaces())

    assert bleu.score(["a b c"], [["a b c d", "a b"]])[0] == 1.0  # of two as close in length the shorter
    assert bleu.score(["a b c"], [["a b c d", "a b c d e"]])[0] == pytest.approx(math.exp(1 - 4 / 3))
    the = ["the cat is on the mat", "there is a cat on the mat"]
    assert bleu.score(["the the the the the the the"], [the])[0] == pytest.approx(2 / 7)
    candidates, references = ["a b"], [["a x", "b y", "a b c d"]]
    assert bleu.score(candidates, references)[0] == 1.0
    alone = metric("bleu-1", split_on_spaces(bleu={"refs": "max"}))
    assert alone.score(candidates, references)[0] == pytest.approx(0.5)


def test_kpqa_adds_tiny_numbers_and_keeps_all_their_digits():
    bleu = metric("bleu-4", split_on_spaces(bleu={"smoothing": "kpqa"}))

    found = bleu.score(["a b c d e"], [["a b x d y"]])

    tiny, small = 1e-15, 1e-9
    product = (3 + tiny) / (5 + small) * (1 + tiny) / (4 + small) * tiny / (3 + small) * tiny / (2 + small)
    assert found[0] == pytest.approx(product**0.25, rel=1e-12)
    assert 0 < found[0] < 1e-7


@pytest.mark.parametrize("smoothing", ["none", "floor", "add-k", "exp", "kpqa"])
def test_an_empty_answer_has_0_and_without_a_reference_there_is_no_value(smoothing):
    bleu = metric("bleu-4", split_on_spaces(bleu={"smoothing": smoothing}))

    found = bleu.score(["", "", "a b", "a b"], [["a b"], [""], [], [""]])

    assert found[:2].tolist() == [0, 0]
    assert np.isnan(found[2])
    assert found[3] == pytest.approx(0, abs=1e-7)


def test_an_unknown_smoothing_is_named_with_those_that_there_are():
    with pytest.raises(MetricError, match="no smoothing 'laplace'; it has none, floor, add-k, exp, kpqa"):
        metric("bleu-4", split_on_spaces(bleu={"smoothing": "laplace"}))


def test_the_signature_says_all_that_bears_on_the_value():
    assert metric("bleu").signature == "metric:bleu-4|v:1|tok:default.2|n:4|smooth:exp|eff:yes|refs:clip"
    ours = split_on_spaces(bleu={"smoothing": "floor", "effective": False, "refs": "max"})
    assert (
        metric("bleu-2", ours).signature
        == "metric:bleu-2|v:1|tok:whitespace.2|n:2|smooth:floor[0.1]|eff:no|refs:max"
    )
