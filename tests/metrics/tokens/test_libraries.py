"""The tokenisers `rouge-score` and `13a`: tokens and values of the libraries that papers quote."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenize import tokenize
from sacrebleu import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from metrics import metric
from metrics.profiles import profile
from metrics.scoring import score
from metrics.texts import Answers
from metrics.tokens import MTEVAL, ROUGE_SCORE
from tests.scale import limit_cases

#: Answers and references whose punctuation moved ROUGE from .889 to .615.
TEXTS = [
    ("Paris, the capital of France!", "Paris (capital of France)"),
    ("The state_of_the_art model: BERT-base.", "the state of the art model is BERT base"),
    ("It costs $3.50.", "It costs 3.50 dollars"),
    ("It's John's.", "it is John s"),
    ("1,000.5-2,000 &quot;kg&quot; & caf\u00e9s <b>", "1,000.5 - 2000 kg (caf\u00e9s)"),
    ("\u5317\u4eac 2008\nend-\nless", "Beijing 2008 endless"),
]
ANSWERS = Answers([answer for answer, _ in TEXTS], [[reference] for _, reference in TEXTS])


@settings(max_examples=limit_cases(150), deadline=None)
@given(
    text=st.text(st.sampled_from("aB9 .,-!?'_$(){}[]&;<>\n\u00e9\u5317\""))
    | st.sampled_from([text for pair in TEXTS for text in pair])
)
def test_tokens_are_those_of_the_library(text):
    assert MTEVAL.split(text) == Tokenizer13a()(text).split()
    assert ROUGE_SCORE.split(text) == tokenize(text, None)


@pytest.mark.parametrize(
    ("name", "theirs"), [("rouge-1", "rouge1"), ("rouge-2", "rouge2"), ("rouge-l", "rougeL")]
)
def test_rouge_has_the_values_of_rouge_score(name, theirs):
    measured = metric(name, replace(profile("default"), tokeniser="rouge-score"))
    assert "|tok:rouge-score" in measured.signature
    scorer = RougeScorer([theirs])
    wanted = [scorer.score(reference, answer)[theirs].fmeasure for answer, reference in TEXTS]
    assert score(ANSWERS, [measured]).values[name] == pytest.approx(wanted, abs=1e-12)
    if name == "rouge-1":
        assert wanted[0] == pytest.approx(0.889, abs=5e-4)


def test_bleu_has_the_values_of_sacrebleu():
    measured = metric("bleu-4", replace(profile("default"), tokeniser="13a"))
    assert "|tok:13a" in measured.signature
    theirs, found = BLEU(effective_order=True), score(ANSWERS, [measured])
    wanted = [theirs.sentence_score(answer, [reference]).score / 100 for answer, reference in TEXTS]
    assert found.values["bleu-4"] == pytest.approx(wanted, abs=1e-12)
    whole = theirs.corpus_score([answer for answer, _ in TEXTS], [[reference for _, reference in TEXTS]])
    assert found.corpus["bleu-4"] == pytest.approx(whole.score / 100, abs=1e-12)
