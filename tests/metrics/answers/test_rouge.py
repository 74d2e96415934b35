import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocoevalcap.rouge.rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import DefaultTokenizer

from metrics import MetricError, metric, tokens
from metrics.profiles import Profile
from metrics.tokens import Tokeniser
from tests.metrics.answers.drawn import cases, scored, split_on_spaces, texts
from tests.scale import limit_cases

NAMES = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}
sentences = st.lists(
    st.sampled_from(["Cats", "running", "ran", "the", "The", "flies,", "(42)", "organization", "42", "é"]),
    max_size=10,
).map(" ".join)


@pytest.mark.parametrize("stemmer", [False, True])
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=limit_cases(30), deadline=None)
@given(drawn=cases(references=sentences, candidates=sentences))
def test_it_is_the_rouge_of_rouge_score(drawn, name, stemmer):
    theirs = RougeScorer([NAMES[name]], use_stemmer=stemmer)
    tokeniser = Tokeniser(f"rouge-score-{stemmer}", DefaultTokenizer(stemmer).tokenize)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tokens.TOKENISERS, tokeniser.name, tokeniser)
        found = scored(metric(name, Profile("test", "", (), tokeniser.name)), drawn)

    wanted = [
        theirs.score_multi(references, candidate)[NAMES[name]].fmeasure for candidate, references in drawn
    ]
    assert found == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=limit_cases(60), deadline=None)
@given(drawn=cases(most=3))
def test_with_beta_and_references_separate_it_is_the_rouge_l_of_coco_caption(drawn):
    ours = metric("rouge-l", split_on_spaces(rouge={"beta": 1.2, "refs": "separate"}))

    found = scored(ours, drawn)

    wanted = [
        Rouge().calc_score([candidate], references) if candidate else 0.0 for candidate, references in drawn
    ]
    assert found == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=limit_cases(60), deadline=None)
@given(drawn=cases(references=texts))
def test_more_references_never_lower_it(drawn):
    for name in NAMES:
        rouge = metric(name, split_on_spaces())
        whole = scored(rouge, drawn)
        first = scored(rouge, [(candidate, references[:1]) for candidate, references in drawn])
        assert (whole >= first).all()
        assert ((whole >= 0) & (whole <= 1)).all()


def test_words_that_share_a_stem_match_under_the_names_with_stem():
    candidates, references = ["They were running"], [["they run"]]

    assert metric("rouge-1").score(candidates, references)[0] == pytest.approx(2 / 5)
    assert metric("rouge-1-stem").score(candidates, references)[0] == pytest.approx(4 / 5)
    assert metric("rouge-l-stem").score(candidates, references)[0] == pytest.approx(4 / 5)
    assert metric("rouge-2-stem").score(candidates, references)[0] == 0


def test_the_order_counts_for_rouge_l_only_by_characters_in_chinese_and_for_any_number_of_tokens(monkeypatch):
    candidates, references = ["c b a"], [["a b c"]]
    assert metric("rouge-1").score(candidates, references)[0] == 1
    assert metric("rouge-l").score(candidates, references)[0] == pytest.approx(1 / 3)
    characters = metric("rouge-l", Profile("test", "", (), "char"))
    assert characters.score(["猫 在垫子上"], [["猫坐在垫子上面"]])[0] == pytest.approx(2 * 5 / 12)
    monkeypatch.setattr("metrics.answers.overlap.MOST", 3)
    assert metric("rouge-l").score(["a b c d"], [["a c d e f"]])[0] == pytest.approx(2 * 3 / 9)


@pytest.mark.parametrize("refs", ["best", "separate"])
@pytest.mark.parametrize("name", NAMES)
def test_an_empty_answer_has_0_and_without_a_reference_there_is_no_value(name, refs):
    rouge = metric(name, split_on_spaces(rouge={"refs": refs}))

    found = rouge.score(["", "", "a b", "a b"], [["a b"], [""], [], ["", ""]])

    assert found[[0, 1, 3]].tolist() == [0, 0, 0]
    assert np.isnan(found[2])
    assert np.isnan(rouge.score(["a"], [[]])).all()


def test_an_unknown_rule_and_an_unknown_stemmer_are_refused_in_words():
    with pytest.raises(MetricError, match="best or separate, not as 'mean'"):
        metric("rouge-l", split_on_spaces(rouge={"refs": "mean"}))
    with pytest.raises(MetricError, match="no stemmer 'klingon'"):
        metric("rouge-1-stem", split_on_spaces(rouge={"stem": "klingon"})).score(["a"], [["a"]])


def test_the_signature_says_all_that_bears_on_the_value():
    assert metric("ROUGE-L").signature == "metric:rouge-l|v:1|tok:default.2|stem:no|beta:1|refs:best"
    assert (
        metric("rouge-1-stem", split_on_spaces(rouge={"beta": 1.2})).signature
        == "metric:rouge-1-stem|v:1|tok:whitespace.2|stem:english|beta:1.2|refs:best"
    )
