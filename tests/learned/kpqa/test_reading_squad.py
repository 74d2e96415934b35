import pytest

from distillery_learned.training import kpqa_examples
from distillery_learned.training.kpqa_examples import DropCounts, Example
from distillery_learned.training.kpqa_files import examples_of, form_of
from metrics.errors import MetricError
from tests.learned.kpqa.published import NORMANS, SQUAD_1, SQUAD_2, TESLA, asked, at, squad, written


def read(path, given):
    dropped = DropCounts()
    return list(examples_of(written(path, given), dropped)), dropped


def phrases(example: Example):
    return [example.answer[begin:end] for begin, end in example.spans]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data.json"


def test_the_sentence_of_the_answer_is_taken_and_the_answer_marked(path):
    found, dropped = read(path, SQUAD_1)
    assert form_of(path) == "squad"
    assert [example.question for example in found] == [
        "In what country is Normandy located?",
        "Who was the Norse leader?",
        "When was Tesla born?",
    ]
    assert (
        found[1].answer == "Their leader, Rollo, agreed to swear fealty to King Charles III of West Francia."
    )
    assert [phrases(example) for example in found] == [["France"], ["Rollo"], ["10 July 1856"]]
    assert {example.source for example in found} == {"squad"}
    assert found[0].group == found[1].group != found[2].group
    assert dropped == DropCounts()


def test_what_is_impossible_in_version_2_is_dropped(path):
    found, dropped = read(path, SQUAD_2)
    assert len(found) == 1
    assert dropped.reasons == {kpqa_examples.IMPOSSIBLE: 1}


def test_what_has_no_question_or_no_answer_is_dropped(path):
    without = {"id": 7, "question": "Who?"}
    found, dropped = read(
        path,
        squad((TESLA, [asked("Who?"), without, asked(" ", at(TESLA, "86")), asked("Who?", (" ", 4))])),
    )
    assert not found
    assert dropped.reasons == {kpqa_examples.NO_ANSWER: 3, kpqa_examples.EMPTY_QUESTION: 1}


def test_of_several_people_the_most_count_and_then_the_first(path):
    born, new, he = at(TESLA, "1856"), at(TESLA, "10 July 1856"), at(TESLA, "86")
    (most, first), _ = read(
        path, squad((TESLA, [asked("Born?", he, born, new, new), asked("When?", born, new)]))
    )
    assert phrases(most) == ["10 July 1856"]
    assert phrases(first) == ["1856"]


def test_only_the_place_of_the_answer_is_marked(path):
    context = "Rome is in Rome, they say. Rome is big."
    (found,), _ = read(path, squad((context, [asked("Where?", ("Rome", 11))])))
    assert found.answer == "Rome is in Rome, they say."
    assert found.spans == ((11, 15),)


def test_an_answer_over_two_sentences_takes_both(path):
    answer = "in New York. He was 86"
    (found,), _ = read(path, squad((TESLA, [asked("How did he die?", at(TESLA, answer))])))
    assert found.answer == "Mr. Tesla died in New York. He was 86."
    assert phrases(found) == [answer]


def test_white_space_around_an_answer_is_no_part_of_it(path):
    (found,), dropped = read(path, squad((TESLA, [asked("Where?", at(TESLA, " New York"))])))
    assert phrases(found) == ["New York"]
    assert not dropped.noted


@pytest.mark.parametrize("shift", [-3, -1, 1, 10])
def test_an_answer_that_is_near_its_place_is_kept_and_noted(path, shift):
    text, start = at(TESLA, "New York")
    (found,), dropped = read(path, squad((TESLA, [asked("Where?", (text, start + shift))])))
    assert phrases(found) == ["New York"]
    assert dropped.noted == {kpqa_examples.MOVED: 1}


@pytest.mark.parametrize("start", [0, -5, 4000])
def test_an_answer_that_is_far_from_its_place_is_dropped(path, start):
    found, dropped = read(path, squad((TESLA, [asked("Where?", ("New York", start))])))
    assert not found
    assert dropped.reasons == {kpqa_examples.MISFIT: 1}


def test_a_part_of_a_word_is_no_answer_near_its_place(path):
    found, dropped = read(path, squad(("He was unkind to us.", [asked("How?", ("kind", 8))])))
    assert not found
    assert dropped.reasons == {kpqa_examples.MISFIT: 1}


def test_a_half_of_a_character_becomes_the_mark_for_a_lost_one(path):
    given = '{"question": "Who?", "answer": "It was \\ud83d Rollo.", "span": "Rollo"}'
    (found,), _ = read(path, given)
    assert found.answer == "It was \ufffd Rollo."
    found.answer.encode()


@pytest.mark.parametrize(
    ("paragraph", "message"),
    [
        ({"qas": []}, r"data\[0\]: paragraphs\[0\] has no context"),
        ({"context": 5, "qas": []}, r"paragraphs\[0\]\.context is a number where text is needed"),
        ({"context": NORMANS, "qas": {}}, r"qas is an object where a list is needed"),
        ({"context": NORMANS, "qas": [7]}, r"qas\[0\] is a number where an object is needed"),
        ({"context": NORMANS, "qas": [{"id": "1"}]}, r"qas\[0\] has no question"),
        (
            {"context": NORMANS, "qas": [asked("Who?", ("a", "b"))]},  # type: ignore[arg-type]
            r"data\[0\]: paragraphs\[0\]\.qas\[0\]\.answers\[0\]\.answer_start is text where a whole number",
        ),
        ({"context": NORMANS, "qas": [asked("Who?", ("a", True))]}, "answer_start is true or false"),
        ({"context": NORMANS, "qas": [asked("Who?", is_impossible="no")]}, "is_impossible is text"),
    ],
)
def test_what_is_wrong_in_the_middle_is_named_with_its_place(path, paragraph, message):
    with pytest.raises(MetricError, match=message) as caught:
        read(path, {"data": [{"title": "A", "paragraphs": [paragraph]}]})
    assert str(caught.value).startswith(str(path))
    assert "Correct the file, or leave this entry out." in str(caught.value)
