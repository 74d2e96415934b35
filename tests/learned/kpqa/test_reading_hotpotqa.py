import copy

import pytest

from distillery_learned.training import kpqa_examples
from distillery_learned.training.kpqa_examples import DropCounts
from distillery_learned.training.kpqa_files import examples_of, form_of
from metrics.errors import MetricError
from tests.learned.kpqa.published import HOTPOTQA, written


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hotpot.json"


@pytest.fixture
def row():
    return copy.deepcopy(HOTPOTQA[0])


def read(path, given):
    dropped = DropCounts()
    return list(examples_of(written(path, given), dropped)), dropped


def phrases(example):
    return [example.answer[begin:end] for begin, end in example.spans]


def test_supporting_sentences_are_joined_in_the_order_of_the_context(path):
    (found,), dropped = read(path, HOTPOTQA)
    assert form_of(path) == "hotpotqa list"
    assert found.source == "hotpotqa"
    assert found.answer == (
        "Arthur's Magazine (1844-1846) was an American literary periodical. "
        "First for Women is a woman's magazine."
    )
    assert phrases(found) == ["Arthur's Magazine"]
    assert dropped.reasons == {kpqa_examples.YES_OR_NO: 1}


def test_the_answer_is_marked_wherever_it_stands(path, row):
    row["answer"] = "Magazine"
    row["supporting_facts"] += [["Arthur's Magazine", 1]]
    row["context"][1][1][1] = " Arthur's Magazine was no Magazineta."
    (found,), _ = read(path, [row])
    assert phrases(found) == ["Magazine", "Magazine"]


def test_the_rows_of_parallel_lists_are_read_too(path):
    rows = [
        {
            **row,
            "supporting_facts": {
                "title": [title for title, _ in row["supporting_facts"]],
                "sent_id": [number for _, number in row["supporting_facts"]],
            },
            "context": {
                "title": [title for title, _ in row["context"]],
                "sentences": [sentences for _, sentences in row["context"]],
            },
        }
        for row in HOTPOTQA
    ]
    assert read(path, rows)[0] == read(path, HOTPOTQA)[0]


def test_another_letter_case_is_found_and_noted(path, row):
    row["answer"] = "arthur's  magazine"
    (found,), dropped = read(path, [row])
    assert phrases(found) == ["Arthur's Magazine"]
    assert dropped.noted == {kpqa_examples.OTHER_CASE: 1}


def test_facts_that_are_not_there_are_left_out_and_noted(path, row):
    row["supporting_facts"] += [["Arthur's Magazine", 902], ["Nobody", 0]]
    (found,), dropped = read(path, [row])
    assert phrases(found) == ["Arthur's Magazine"]
    assert dropped.noted == {kpqa_examples.LOST_FACT: 1}


def test_what_is_dropped_and_why(path, row):
    for changed, reason in (
        ({"answer": "1989"}, kpqa_examples.NOT_FOUND),
        ({"answer": "No"}, kpqa_examples.YES_OR_NO),
        ({"answer": ""}, kpqa_examples.NO_ANSWER),
        ({"answer": None}, kpqa_examples.NO_ANSWER),
        ({"question": ""}, kpqa_examples.EMPTY_QUESTION),
        ({"supporting_facts": []}, kpqa_examples.NO_FACTS),
        ({"supporting_facts": [["Nobody", 0]]}, kpqa_examples.NO_FACTS),
    ):
        found, dropped = read(path, [{**row, **changed}])
        assert (found, dropped.reasons) == ([], {reason: 1})


def test_questions_about_the_same_pages_are_one_group(path, row):
    turned = {**row, "supporting_facts": row["supporting_facts"][::-1], "question": "Which?"}
    (one, other), _ = read(path, [row, turned])
    assert one.group == other.group


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"supporting_facts": [["First for Women"]]},
            r"supporting_facts\[0\] has 1 entries where title and sent_id",
        ),
        (
            {"supporting_facts": [["First for Women", "0"]]},
            r"supporting_facts\[0\]\[1\] is text where a whole",
        ),
        ({"context": [["A", "B"]]}, r"context\[0\]\[1\] is text where a list is needed"),
        ({"context": {"title": ["A"], "sentences": []}}, "context has 1 entries of title and 0 of sentences"),
        ({"question": None}, "has no question"),
    ],
)
def test_what_is_wrong_in_the_middle_is_named_with_its_place(path, row, changed, message):
    with pytest.raises(MetricError, match=message) as caught:
        read(path, [row, {**row, **changed}])
    assert f"{path}, entry 1" in str(caught.value)
