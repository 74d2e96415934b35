import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocoevalcap.cider.cider import Cider

from metrics import Answers, metric
from metrics.answers.cider import ONE_QUESTION
from metrics.scoring import score, score_chunks
from tests.metrics.answers.drawn import cases, scored, split_on_spaces
from tests.scale import limit_cases

PLAIN = metric("cider", split_on_spaces())
ALONE = metric("cider", split_on_spaces(cider={"refs": "max"}))


def coco(drawn):
    references = {place: given for place, (_, given) in enumerate(drawn)}
    candidates = {place: [candidate] for place, (candidate, _) in enumerate(drawn)}
    return Cider().compute_score(references, candidates)[1]


@settings(max_examples=limit_cases(150), deadline=None)
@given(drawn=cases())
def test_it_is_the_cider_of_coco_caption(drawn):
    values, theirs = scored(PLAIN, drawn), coco(drawn)
    if np.isnan(values).all():  # no word tells one question from another
        assert theirs.tolist() == [0] * len(drawn)
    else:
        assert values == pytest.approx(theirs, abs=1e-11)


def test_an_answer_that_is_its_reference_has_ten_and_one_that_shares_nothing_has_zero():
    drawn = [("a b c d e", ["a b c d e"]), ("x y z u v", ["k l m n o"])]
    assert scored(PLAIN, drawn).tolist() == [10, 0]


@pytest.mark.parametrize("answers", [["a b c d"], ["a b c d", "x", "a"]])
def test_with_the_references_of_one_question_no_value_is_given_since_log_1_is_all_weight_there_is(answers):
    drawn = [(answer, ["a b c d", "a b"]) for answer in answers]
    found = score(Answers(answers, [references for _, references in drawn]), [PLAIN])
    assert np.isnan(found.values["cider"]).all()
    assert found.undefined["cider"] == {ONE_QUESTION: len(answers)}
    assert coco(drawn).tolist() == [0] * len(answers)


def test_what_all_references_say_weighs_nothing():
    drawn = [("it is", ["it is red"]), ("it is", ["it is blue"])]
    assert scored(PLAIN, drawn).tolist() == [0, 0]


def test_empty_texts_have_zero_and_an_answer_without_references_has_no_value():
    drawn = [("", ["a b"]), ("a b", [""]), ("c", ["c d"]), ("a", [])]
    found = scored(PLAIN, drawn)
    assert found[:2].tolist() == [0, 0]
    assert np.isnan(found).tolist() == [False, False, False, True]


def test_each_reference_alone_is_weighed_by_references_at_its_place():
    drawn = [("a b c", ["a b", "a b c"]), ("d e", ["d e f", "k"]), ("x y", ["x z", "l m"])]
    firsts = coco([(candidate, given[:1]) for candidate, given in drawn])
    seconds = coco([(candidate, given[1:]) for candidate, given in drawn])
    assert scored(ALONE, drawn) == pytest.approx(np.maximum(firsts, seconds), abs=1e-11)


@settings(max_examples=limit_cases(50), deadline=None)
@given(drawn=cases(), size=st.integers(1, 3))
def test_chunks_change_no_value(drawn, size):
    candidates, references = zip(*drawn, strict=True)

    def chunks():
        for at in range(0, len(drawn), size):
            yield Answers(candidates[at : at + size], references[at : at + size])

    found = [part["cider"] for part in score_chunks(chunks, [PLAIN]).values()]
    np.testing.assert_array_equal(np.concatenate(found), scored(PLAIN, drawn))


def test_the_order_of_answers_changes_no_value():
    drawn = [("a b c a", ["a c b", "b c"]), ("c b", ["a b"]), ("d a", ["d a c b"]), ("b b", ["c b b a"])]
    assert scored(PLAIN, drawn[::-1]).tolist() == scored(PLAIN, drawn).tolist()[::-1]
