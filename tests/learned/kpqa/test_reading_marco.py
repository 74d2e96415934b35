import json

import pytest

from distillery_learned.training import kpqa_examples
from distillery_learned.training.kpqa_examples import DropCounts
from distillery_learned.training.kpqa_files import examples_of, form_of
from metrics.errors import MetricError
from tests.learned.kpqa.published import COLUMNS, MARCO_ROWS, marco_columns, marco_lines, passages, written


@pytest.fixture
def path(tmp_path):
    return tmp_path / "marco"


def read(path, given):
    dropped = DropCounts()
    return list(examples_of(written(path, given), dropped)), dropped


def phrases(example):
    return [example.answer[begin:end] for begin, end in example.spans]


def row(**changed):
    return {
        "answers": ["blue"],
        "passages": passages("It is red. The sky is blue."),
        "query": "which colour",
        "query_id": 1,
        "query_type": "ENTITY",
        **changed,
    }


def test_columns_and_lines_give_the_same(path):
    columns, dropped = read(path, marco_columns())
    assert form_of(path) == "marco columns"
    lines, _ = read(path, marco_lines())
    assert form_of(path) == "marco lines"
    assert columns == lines
    assert [example.answer for example in columns] == [
        "In most towns it costs about $300.",
        "The firm sits in New York City.",
    ]
    assert dropped.reasons == {kpqa_examples.NO_ANSWER: 1}
    assert dropped.noted == {kpqa_examples.OTHER_CASE: 2}


def test_the_dot_of_an_answer_is_no_part_of_its_key_phrase(path):
    found, _ = read(path, marco_columns())
    assert [phrases(example) for example in found] == [["it costs about $300"], ["New York City"]]


@pytest.mark.parametrize("order", [COLUMNS[::-1], ("query_id", "passages", "query", "answers", "query_type")])
def test_the_order_of_columns_does_not_matter(path, order):
    assert read(path, marco_columns(order=order)) == read(path, marco_columns())


def test_rows_of_parallel_lists_are_read_too(path):
    texts = ["It is red.", "The sky is blue."]
    given = row(passages={"is_selected": [0, 1], "passage_text": texts, "url": ["", ""]})
    (found,), _ = read(path, json.dumps(given))
    assert (found.answer, phrases(found)) == ("The sky is blue.", ["blue"])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"answers": []}, kpqa_examples.NO_ANSWER),
        ({"answers": None}, kpqa_examples.NO_ANSWER),
        ({"answers": [""]}, kpqa_examples.NO_ANSWER),
        ({"answers": ["No Answer Present."]}, kpqa_examples.NO_ANSWER),
        ({"answers": ["Yes"]}, kpqa_examples.YES_OR_NO),
        ({"answers": ["green"]}, kpqa_examples.NOT_FOUND),
        ({"answers": ["lu"]}, kpqa_examples.NOT_FOUND),
        ({"passages": passages("The sky is blue.", chosen=-1)}, kpqa_examples.NOTHING_SELECTED),
        ({"passages": passages("The sky is blue.", "It is red.", chosen=1)}, kpqa_examples.NOT_FOUND),
        ({"query": " "}, kpqa_examples.EMPTY_QUESTION),
    ],
)
def test_what_is_dropped_and_why(path, changed, reason):
    found, dropped = read(path, json.dumps(row(**changed)))
    assert not found
    assert dropped.reasons == {reason: 1}


def test_the_first_answer_that_is_a_span_counts_at_its_first_place(path):
    texts = "Blue is nice. It is blue, very blue. Red too."
    (found,), dropped = read(
        path, json.dumps(row(answers=["green", "blue", "red"], passages=passages(texts)))
    )
    assert found.answer == "It is blue, very blue."
    assert found.spans == ((6, 10),)
    assert not dropped.noted


def test_rows_in_another_order_are_an_error_that_names_them(path):
    given = marco_columns()
    given["answers"] = dict(reversed(given["answers"].items()))
    with pytest.raises(MetricError, match=r"query has row 0, passages has row 0, answers has row 34"):
        read(path, given)


def test_a_column_that_is_short_or_missing_is_an_error(path):
    given = marco_columns()
    del given["query"]["34"]
    with pytest.raises(MetricError, match="query has no row, passages has row 34, answers has row 34"):
        read(path, given)
    del given["answers"]
    with pytest.raises(MetricError, match="answers has no row"):
        read(path, given)


def test_what_is_wrong_in_the_middle_is_named_with_its_row(path):
    given = marco_columns()
    given["passages"]["34"][0]["passage_text"] = None
    with pytest.raises(MetricError, match=r"row 34 of passages: \[0\] has no passage_text"):
        read(path, given)
    given["passages"]["34"] = 7
    with pytest.raises(MetricError, match=r"row 34 of passages is a number where a list is needed"):
        read(path, given)
    lines = marco_lines(MARCO_ROWS[:1]) + json.dumps(row(answers="blue"))
    with pytest.raises(MetricError, match=r"line 2: answers is text where a list is needed"):
        read(path, lines)


def test_columns_that_end_too_early_are_an_error(path):
    whole = json.dumps(marco_columns())
    with pytest.raises(MetricError, match="no whole JSON file: it ends too early"):
        read(path, whole[: len(whole) * 3 // 4])
