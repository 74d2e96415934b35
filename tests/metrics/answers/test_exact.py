import re
import string
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import metric
from metrics.profiles import Profile
from tests.metrics.answers.drawn import cases, scored
from tests.scale import limit_cases

sentences = st.text(alphabet="aanthe THEx.,'“”é\u2003\t\x00_猫", max_size=20)


def normalised(text):
    plain = "".join(character for character in text.lower() if character not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def f1(candidate, reference):
    own, theirs = normalised(candidate).split(), normalised(reference).split()
    if not own or not theirs:
        return float(own == theirs)
    both = sum((Counter(own) & Counter(theirs)).values())
    return 2 * both / (len(own) + len(theirs))


@settings(max_examples=limit_cases(200), deadline=None)
@given(drawn=cases(references=sentences, candidates=sentences))
def test_they_are_the_metrics_of_squad(drawn):
    exact = [max(float(normalised(c) == normalised(r)) for r in references) for c, references in drawn]
    tokens = [max(f1(c, r) for r in references) for c, references in drawn]

    assert scored(metric("exact"), drawn).tolist() == exact
    assert scored(metric("f1"), drawn) == pytest.approx(tokens, abs=1e-12)


def test_case_marks_and_articles_make_no_difference():
    candidates, references = ["The Golden Gate.", "in 1937"], [["a golden gate"], ["1937", "In 1937!"]]

    assert metric("exact").score(candidates, references).tolist() == [1, 1]
    assert metric("f1").score(["in May 1937"], [["1937"]])[0] == pytest.approx(0.5)


def test_an_empty_answer_is_right_only_where_the_reference_is_empty_too():
    candidates, references = ["", "", "a b", "the", "x"], [["a b"], [""], [], [""], [""]]

    for name in ("exact", "f1"):
        found = metric(name).score(candidates, references)
        assert found[[0, 1, 3, 4]].tolist() == [0, 1, 1, 0]
        assert np.isnan(found[2])


def test_chinese_is_compared_by_character():
    ours = Profile("test", "", (), "char")

    assert metric("f1", ours).score(["猫在垫子上"], [["猫坐在垫子上面"]])[0] == pytest.approx(10 / 12)
    assert metric("exact", ours).score(["猫 在"], [["猫在"]])[0] == 1
    assert metric("f1", ours).signature == "metric:f1|v:2|tok:squad-char.2|refs:best"
