import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from metrics import Answers, metric
from metrics.profiles import Profile
from metrics.scoring import score
from tests.metrics.answers.drawn import cases, scored, split_on_spaces, texts
from tests.scale import limit_cases

sentences = st.text(alphabet="aab (),.T't猫é\u00a0\t", max_size=30)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(("name", "words"), [("chrf", 0), ("chrf++", 2)])
@settings(max_examples=limit_cases(60), deadline=None)
@given(drawn=cases(references=sentences, candidates=sentences) | cases(references=texts))
def test_it_is_the_chrf_of_sacrebleu(drawn, name, words, lower):
    theirs = CHRF(word_order=words, lowercase=lower)

    found = scored(metric(name, split_on_spaces(chrf={"lower": lower})), drawn)

    wanted = [theirs.sentence_score(candidate, references).score / 100 for candidate, references in drawn]
    assert found == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=limit_cases(60), deadline=None)
@given(drawn=cases(references=sentences, candidates=sentences))
def test_the_score_of_a_corpus_is_that_of_sacrebleu(drawn):
    most = max(len(references) for _, references in drawn)
    columns = [[refs[k] if k < len(refs) else None for _, refs in drawn] for k in range(most)]
    answers = Answers([candidate for candidate, _ in drawn], [references for _, references in drawn])

    found = score(answers, [metric("chrf")]).corpus["chrf"]

    wanted = CHRF().corpus_score([candidate for candidate, _ in drawn], columns).score / 100
    assert found == pytest.approx(wanted, abs=1e-12)


def test_texts_shorter_than_an_order_are_judged_by_the_lower_ones():
    assert metric("chrf").score(["猫"], [["猫"]])[0] == 1
    assert metric("chrf").score(["ab c"], [["a bc"]])[0] == 1


def test_an_empty_answer_has_0_and_without_a_reference_there_is_no_value():
    for name in ("chrf", "chrf++"):
        found = metric(name).score(["", "", "a b", "a b"], [["a b"], [""], [], ["", ""]])

        assert found[[0, 1, 3]].tolist() == [0, 0, 0]
        assert np.isnan(found[2])


def test_the_signature_says_all_that_bears_on_the_value():
    assert (
        metric("chrf").signature == "metric:chrf|v:2|nc:6|nw:0|beta:2|case:mixed|space:no|eff:yes|refs:best"
    )
    ours = Profile("test", "", (), settings={"chrf": {"lower": True, "beta": 1}})
    assert (
        metric("chrf++", ours).signature
        == "metric:chrf++|v:2|nc:6|nw:2|beta:1|case:lower|space:no|eff:yes|refs:best"
    )
