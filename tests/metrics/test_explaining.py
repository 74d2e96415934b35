"""Why an answer has its score."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import MetricError, metric
from metrics.explanation import explain, explainable, weights
from metrics.tokens import placed, tokeniser_named
from tests.metrics.answers.drawn import cases, split_on_spaces
from tests.scale import limit_cases

REFERENCES = ["The bridge was opened in 1932.", "It opened in March 1932.", "A bridge for trains."]


def marked(text):
    return [(piece.text, piece.order) for piece in text.pieces if piece.order]


def test_bleu_shows_what_matched_and_counts_it():
    found = explain("bleu-2", "default", "Opened in 1932, the bridge", REFERENCES[:1])

    assert [(count.what, count.hits, count.total) for count in found.match.counts] == [
        ("1-grams", 5, 6),
        ("2-grams", 3, 5),
    ]
    assert found.match.counts[1].matched == ("opened in", "in 1932", "the bridge")
    assert marked(found.candidate) == [("Opened in 1932", 2), ("the bridge", 2)]
    assert marked(found.reference) == [("The bridge", 2), ("opened in 1932", 2)]
    figures = dict(found.match.figures)
    assert figures["Tokens of the answer"] == 6
    assert figures["Tokens of the reference closest in length"] == 7
    assert figures["Brevity penalty"] == pytest.approx(0.8465, abs=1e-4)


def test_a_match_is_marked_by_its_shortest_part_and_no_more_often_than_it_counts():
    found = explain("bleu-2", "default", "trains cross a bridge in March", ["a bridge for trains"])
    assert marked(found.candidate) == [("trains", 1), ("a bridge", 2)]
    found = explain("bleu-1", "default", "the the the", ["the bridge"])
    assert marked(found.candidate) == [("the", 1)]
    assert found.match.counts[0].matched == ("the",)
    found = explain("rouge-1-stem", "default", "Bridges for a train", ["A bridge for trains."])
    assert marked(found.candidate) == [("Bridges for a train", 1)]


def test_rouge_l_shows_the_common_subsequence_in_both_texts():
    found = explain("rouge-l", "default", "In March 1932 it was opened", REFERENCES)
    assert found.best == 1
    assert marked(found.candidate) == [("In March 1932", 1)]
    assert marked(found.reference) == [("in March 1932", 1)]
    assert [(count.hits, count.total) for count in found.match.counts] == [(3, 6), (3, 6)]
    assert found.score == pytest.approx(0.5)


def test_phrasing_aware_metrics_say_what_each_reference_adds():
    found = explain("pa-bleu-4", "default", "It was opened in 1932", REFERENCES)
    assert sum(against.part for against in found.references) == pytest.approx(found.score)
    assert sum(against.share for against in found.references) == pytest.approx(1)
    assert [against.importance for against in found.references] == sorted(
        (against.importance for against in found.references), reverse=True
    )
    assert found.references[-1].place == 2
    assert found.says[0] == (
        "The score is the mean of the answer's likeness to each of 3 references, weighted by importance."
    )


def test_references_like_nothing_or_none_and_it_says_so():
    found = weights("bleu-4", "distillery-2016", REFERENCES)
    assert [against.value for against in found] == [None, None, None]
    assert found[0].importance >= 1
    found = explain("pa-bleu-4", "distillery-2016", "one two", ["one two", "three"])
    assert [against.share for against in found.references] == [0.5, 0.5]
    assert found.says[0] == "No reference is like any other, or like itself, so all of them count alike."
    found = explain("bleu-4", "default", "one", [])
    assert found.score is None
    assert found.says == ("There is no reference to compare with.",)


def test_metrics_that_need_more_than_two_texts_are_refused_in_words():
    with pytest.raises(MetricError, match="is not a comparison of two texts alone"):
        explain("adapted-bleu-4", "default", "one", ["one"])
    assert explainable(["bleu-4", "adapted-rouge-l", "pa-rouge-l", "no such"], "default") == [
        "bleu-4",
        "pa-rouge-l",
    ]


NAMES = ("bleu-1", "bleu-4", "rouge-1", "rouge-2", "rouge-l", "rouge-l-stem", "pa-bleu-4", "pa-rouge-l")


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=limit_cases(25), deadline=None)
@given(
    drawn=cases(), smoothing=st.sampled_from(["none", "exp", "kpqa"]), refs=st.sampled_from(["clip", "max"])
)
def test_the_counts_that_are_shown_make_the_score(name, drawn, smoothing, refs):
    profile = split_on_spaces(bleu={"smoothing": smoothing, "refs": refs})
    for candidate, references in drawn:
        found = explain(name, profile, candidate, references)
        score = metric(name, profile).score([candidate], [references])[0]
        assert found.score == score
        shown = found.match.figures[-1][1]
        if name.startswith("pa-"):
            share = next(one for one in found.references if one.place == found.best)
            assert shown == pytest.approx(share.value, abs=1e-12)
        else:
            assert shown == pytest.approx(score, abs=1e-12)
        assert "".join(piece.text for piece in found.candidate.pieces) == candidate


def test_tokens_are_found_where_they_stand_however_they_are_written():
    text = "Don\u2019t use 135cm, e.g. \u201cTHIS\u201d (or that)."
    tokens = [
        "don", "'", "t", "use", "135", "cm,", "eg", "``", "this", "''", "-lrb-", "or", "that", "-rrb-", ".",
    ]  # fmt: skip
    found = [text[span[0] : span[1]] for span in placed(text, tokens)]
    assert found == [
        "Don", "\u2019", "t", "use", "135", "cm,", "e.g", "\u201c", "THIS", "\u201d",
        "(", "or", "that", ")", ".",
    ]  # fmt: skip
    # One that is not in the text has no place, and the next one has.
    assert placed("about 3 km", ["about", "three", "km", "3", "km"]) == [(0, 5), None, None, (6, 7), (8, 10)]


@pytest.mark.long
@pytest.mark.parametrize("name", ["default", "char", "whitespace", "distillery-fit", "distillery-marks"])
@given(text=st.text(max_size=40))
def test_every_token_of_any_text_is_found_in_order(name, text):
    spans = placed(text, tokeniser_named(name).split(text))
    found = [span for span in spans if span]
    assert found == sorted(found)
    assert all(0 <= begin < end <= len(text) for begin, end in found)
    if name in ("char", "whitespace") and text.isascii():
        assert None not in spans
