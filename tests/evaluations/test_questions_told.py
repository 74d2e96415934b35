"""Which answers are to the same question, and whose they are, where the table does not say it."""

import random

import pytest

from evaluations.answer_table import gather
from evaluations.file_table import open_table

HEADER = "question,answer,reference1,scores\n"


@pytest.fixture
def gathered(tmp_path):
    def read(text, **options):
        path = tmp_path / "answers.csv"
        path.write_text(text)
        return gather(open_table(path, scored=True, **options))

    return read


def named(found):
    """Question and system of every row, by their names."""
    return [
        (found.question_names[question], found.system_names[system])
        for question, system in zip(found.questions.tolist(), found.systems.tolist(), strict=True)
    ]


def test_systems_are_inferred_where_every_question_occurs_equally_often(
    gathered,
):
    found = gathered(HEADER + "p,a,r,1\nq,b,s,2\np,c,r,3\nq,d,s,4\n")
    assert found.inferred
    assert named(found) == [("p", "system 1"), ("q", "system 1"), ("p", "system 2"), ("q", "system 2")]
    found = gathered(HEADER + "p,a,r,1\np,c,r,3\nq,b,s,2\nq,d,s,4\n")
    assert [system for _, system in named(found)] == ["system 1", "system 2", "system 1", "system 2"]
    found = gathered(HEADER + "".join(f"p,a,r,{n % 5}\nq,a,s,{n % 3}\n" for n in range(12)))
    assert found.system_names == sorted(found.system_names)
    assert found.system_names[9:11] == ["system 10", "system 11"]


def test_else_all_answers_are_of_one_system(gathered):
    for rows in ("p,a,r,1\nq,b,s,2\np,c,r,3\n", "p,a,r,1\nq,b,s,2\n", "p,a,r,1\n"):
        found = gathered(HEADER + rows)
        assert not found.inferred
        assert found.system_names == ["all answers"]
        assert any("--column system=NAME" in note for note in found.notes)


def test_a_column_of_systems_is_used(gathered):
    for name in ("system", "Model", "method", "model_name"):
        found = gathered(f"question,answer,reference1,scores,{name}\np,a,r,1,B\nq,b,s,2,A\np,c,r,3,A\n")
        assert not found.inferred
        assert named(found) == [("p", "B"), ("q", "A"), ("p", "A")]
        assert found.system_names == ["A", "B"]


def test_white_space_makes_no_other_question_and_very_long_ones_are_named_shortly_and_apart(gathered):
    found = gathered(HEADER + "who is it,a,r,1\n who  is it ,b,r,2\n")
    assert len(found.question_names) == 1
    long = "why " * 100
    found = gathered(HEADER + f"{long}one,a,r,1\n{long}two,b,r,2\n")
    assert len(found.question_names) == 2
    assert max(map(len, found.question_names)) <= 80


def test_one_text_with_different_references_stands_for_several_questions(gathered):
    found = gathered(HEADER + "is he alone,a,yes,1\nis he alone,b,no,2\nis he alone,c,yes,3\n"
                     "is he alone,d,no,4\n"
                     "is it day,a,r,1\nis it day,b,r,2\n")  # fmt: skip
    assert len(found.question_names) == 3
    assert [system for _, system in named(found)] == [
        "system 1", "system 1", "system 2", "system 2", "system 1", "system 2"
    ]  # fmt: skip
    assert any("--column question_id=NAME" in note for note in found.notes)


def test_one_text_is_one_question_where_each_system_answers_it_once(gathered):
    found = gathered(
        "question,answer,reference1,scores,system\np,a,r,1,A\np,b,other,2,B\nq,c,s,3,A\nq,d,s,4,B\n"
    )
    assert found.question_names == ["p", "q"]
    found = gathered(HEADER + "p,a,r,1\nq,b,s,2\np,c,other,3\nq,d,another,4\n")
    assert found.question_names == ["p", "q"]
    assert found.inferred


def test_ids_tell_questions_apart_unless_each_row_has_its_own(gathered):
    for name in ("question_id", "query_id", "qid", "id"):
        found = gathered(
            f"{name},question,answer,reference1,scores\n7,p,a,r,1\n8,p,b,r,2\n7,p,c,r,3\n8,p,d,r,4\n"
        )
        assert found.question_names == ["7", "8"]
        assert found.system_names == ["system 1", "system 2"]
    found = gathered("id,question,answer,reference1,scores\n1,p,a,r,1\n2,q,b,s,2\n3,p,c,r,3\n4,q,d,s,4\n")
    assert found.question_names == ["p", "q"]


def test_without_questions_the_same_references_are_the_same_question(gathered):
    found = gathered("answer,reference1,scores\na,r,1\nb,s,2\nc,r,3\nd,s,4\n")
    assert len(found.question_names) == 2
    assert found.inferred
    assert any("no column for the question" in note for note in found.notes)


def test_the_scale_is_given_or_taken_from_the_data_and_said(gathered):
    found = gathered(HEADER + "p,a,r,0.25\nq,b,s,1\n")
    assert found.scale == (0.25, 1)
    assert any("taken from the data: 0.25 to 1" in note for note in found.notes)
    found = gathered("question,answer,reference1,score1,score2\np,a,r,1,5\nq,b,s,2,3\n")
    assert found.scale == (1, 5)
    assert found.human.tolist() == [3, 2.5]
    assert found.raters.scores.tolist() == [1, 5, 2, 3]
    assert found.raters.answers.tolist() == [0, 0, 1, 1]
    found = gathered(HEADER + "p,a,r,2\nq,b,s,3\n", scale=(1, 5))
    assert found.scale == (1, 5)
    assert not any("scale" in note for note in found.notes)


def test_a_question_has_the_type_of_most_of_its_rows(gathered):
    found = gathered(
        "question,answer,reference1,scores,type\np,a,r,1,B\nq,b,s,2,A\np,c,r,3,A\np,d,r,3,A\nr,e,t,1,\n"
    )
    assert found.types == ["A", "A", ""]
    assert any("different types" in note for note in found.notes)


def test_rows_in_another_order_have_the_same_names(gathered):
    rows = [f"q{n % 7},a{n},r{n % 7},{n % 5},s{n % 3}\n" for n in range(42)]
    header = "question,answer,reference1,scores,system\n"
    before = gathered(header + "".join(rows))
    random.Random(5).shuffle(rows)
    after = gathered(header + "".join(rows))
    assert (before.question_names, before.system_names) == (after.question_names, after.system_names)
    assert sorted(zip(named(before), before.human.tolist(), strict=True)) == sorted(
        zip(named(after), after.human.tolist(), strict=True)
    )
