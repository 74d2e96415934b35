"""What a file of a one-file study is read as: every shape that people bring, and what is said of it."""

import csv
import json
from pathlib import Path

import pytest

from core.files.refusals import FileRefusedError
from distillery.studies.tables import Choices, StudyTable, read_study_table
from tests.workbooks import write_workbook

ANSWERS = Path("examples/answers.csv")


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def columns_of(table: StudyTable) -> dict[str, list[str]]:
    return table.read_as["columns"]


def answers_of(table: StudyTable) -> list[tuple[str, str, str]]:
    return [(each.question.text, each.system, each.text) for each in table.answers]


def test_the_example_with_all_its_columns():
    table = read_study_table(ANSWERS)
    assert (len(table.questions), len(table.answers), table.systems) == (25, 50, ["sample-a", "sample-b"])
    assert columns_of(table)["references"] == ["reference1", "reference2"]
    assert table.read_as["left_out"] == [f"rating{number}" for number in range(1, 6)]
    rows = {"read": 50, "used": 50, "merged": 0, "repeats": 0, "refused": 0}
    assert table.read_as["rows"] == rows
    assert table.roles == {"question", "answer", "references"}


def test_shapes_that_mean_the_same(tmp_path, subtests):
    long = [["question", "system", "answer"], ["Why?", "a", "So."], ["Why?", "b", "For that."]]
    wanted = [("Why?", "a", "So."), ("Why?", "b", "For that.")]
    objects = [dict(zip(long[0], row, strict=True)) for row in long[1:]]
    renamed = [{"user_input": "Why?", "model": name, "response": text} for _, name, text in long[1:]]
    titled = [["Answers of my thesis"], [], *long]
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, text in (("a", "So."), ("b", "For that.")):
        write(folder / f"{name}.csv", f"question,answer\nWhy?,{text}\n")
    files = {
        "long": write(tmp_path / "long.csv", "\n".join(map(",".join, long))),
        "semicolons": write(tmp_path / "semicolons.csv", "\n".join(map(";".join, long))),
        "lines of JSON": write(tmp_path / "lines.jsonl", "\n".join(map(json.dumps, objects))),
        "a list in JSON": write(tmp_path / "list.json", json.dumps(objects)),
        "names of another tool": write(tmp_path / "tool.jsonl", "\n".join(map(json.dumps, renamed))),
        "a title above": write(tmp_path / "titled.csv", "\n".join(map(",".join, titled))),
        "a column for each system": write(
            tmp_path / "wide.csv", "Question,a,b,rating,note\nWhy?,So.,For that.,3,\n"
        ),
        "a workbook": write_workbook(tmp_path / "book.xlsx", {"Notes": [["Read me"]], "Data": titled}),
        "a folder": folder,
    }
    for name, path in files.items():
        with subtests.test(name):
            table = read_study_table(path)
            assert answers_of(table) == wanted
            assert sum(table.read_as["rows"].values()) == 2 * table.read_as["rows"]["read"]
    assert read_study_table(files["a title above"]).read_as["header_row"] == 3
    book = read_study_table(files["a workbook"]).read_as
    assert (book["sheet"], book["header_row"]) == ("Data", 3)
    wide = read_study_table(files["a column for each system"])
    assert columns_of(wide)["answer"] == ["a", "b"]
    assert wide.read_as["left_out"] == ["rating", "note"]
    assert "'a', 'b' are read as the answers of a system each" in wide.notes[0]


def test_passages_references_and_turns(tmp_path):
    contexts = ["One.", {"text": "Two.", "title": "Page"}]
    row = {"question": "And then?", "history": ["What happened?"], "retrieved_contexts": contexts}
    row |= {"reference": "It ended.", "answer": "Nothing."}
    other = row | {"answer": "All ended.", "system": "b", "retrieved_contexts": ["Three."]}
    other |= {"reference": "Over."}
    path = write(tmp_path / "rows.jsonl", "\n".join(map(json.dumps, [row | {"system": "a"}, other])))
    table = read_study_table(path)
    [question] = table.questions.values()
    assert question.turns == ["What happened?"]
    assert [each.text for each in question.passages] == ["One.", "Two.", "Three."]
    assert question.passages[1].title == "Page"
    assert question.references == ["It ended.", "Over."]
    assert table.roles == {"question", "answer", "passages", "references", "turns"}


def test_systems_that_no_column_names(tmp_path):
    one = write(tmp_path / "my-model.csv", "question,answer\nWhy?,So.\nHow?,Thus.\n")
    table = read_study_table(one)
    assert table.systems == ["my-model"]
    assert "called 'my-model' after the file" in table.notes[0]
    assert read_study_table(one, Choices(system="gpt")).systems == ["gpt"]
    several = write(tmp_path / "several.csv", "question,answer\nWhy?,So.\nWhy?,For that.\nHow?,Thus.\n")
    table = read_study_table(several)
    assert answers_of(table)[:2] == [("Why?", "system 1", "So."), ("Why?", "system 2", "For that.")]
    assert "up to 2 different answers" in table.notes[0]


def test_a_list_of_questions_without_a_head(tmp_path):
    lines = "What, then, is potlatch?\nWhat is drift?\nWhat, then, is potlatch?\n"
    table = read_study_table(write(tmp_path / "list.txt", lines))
    texts = [question.text for question in table.questions.values()]
    assert texts == ["What, then, is potlatch?", "What is drift?"]
    assert table.read_as["rows"] == {"read": 3, "used": 2, "merged": 0, "repeats": 1, "refused": 0}


def test_rows_that_are_left_out_are_named(tmp_path):
    path = write(
        tmp_path / "rows.csv",
        "question,system,answer,passage\n"
        "Why?,a,So.,P\n"
        ",a,Lost,P\n"
        "Why?,a,Otherwise,Q\n"
        "Why?,a,So.,P\n"
        "Why?,a,So.,R\n"
        "Why?,b,,P\n",
    )
    table = read_study_table(path)
    assert [str(each) for each in table.refused] == [
        "rows.csv, line 3, question: The row has no question. Fill the cell, or take the row out.",
        "rows.csv, line 4, answer: a has another answer to this question in line 2. "
        "Give a second answer to a system of another name.",
    ]
    assert table.read_as["rows"] == {"read": 6, "used": 2, "merged": 1, "repeats": 1, "refused": 2}
    [question] = table.questions.values()
    assert [each.text for each in question.passages] == ["P", "R"], "a refused row brings nothing"
    assert answers_of(table)[1] == ("Why?", "b", "")


def test_what_cannot_be_read_is_refused_with_a_remedy(tmp_path, subtests):
    for name, path, choices, words in (
        ("no question", write(tmp_path / "a.csv", "x,y\n1,2\n"), None, "--column question=COLUMN"),
        ("no such column", ANSWERS, Choices({"question": "Q"}), "There is no column 'Q'"),
        ("no such role", ANSWERS, Choices({"querry": "question"}), "There is no 'querry' to choose"),
        ("no rows", write(tmp_path / "b.csv", "question,answer\n"), None, "has no row that can be read"),
        ("no file", tmp_path / "none.csv", None, "none.csv cannot be read: No such file"),
        ("an empty file", write(tmp_path / "c.csv", ""), None, "c.csv is empty"),
        ("no such system", ANSWERS, Choices(systems_from=("BM25",)), "There is no column 'BM25'"),
        ("no workbook", ANSWERS, Choices(sheet="Data"), "is no workbook"),
    ):
        with subtests.test(name), pytest.raises(FileRefusedError, match=words.replace("(", r"\(")):
            read_study_table(path, choices)


def test_columns_can_be_chosen(tmp_path):
    path = write(tmp_path / "odd.csv", "frage,antwort,quelle,kontext\nWarum?,Darum.,a,Text\n")
    chosen = {"question": "frage", "answer": "antwort", "system": "quelle", "passages": "kontext"}
    table = read_study_table(path, Choices(chosen))
    assert answers_of(table) == [("Warum?", "a", "Darum.")]
    assert table.roles == {"question", "answer", "passages"}
    wide = Choices({"question": "frage"}, systems_from=("antwort", "kontext"))
    assert read_study_table(path, wide).systems == ["antwort", "kontext"]


def test_rows_that_mean_something_else_than_others_are_refused(tmp_path, subtests):
    both = '{"question": "Q3?", "answer": "C", "system": "m"}'
    long = "x" * 20_001
    for name, text, refused, answers in (
        ("an id twice.csv", "question_id,question,system,answer\n1,One?,a,A\n1,Two?,b,B\n", 1, 1),
        ("some name no system.jsonl", f'{{"question": "Q1?", "answer": "A"}}\n{both}\n', 1, 1),
        ("no text.jsonl", '{"question": "Q?", "answer": {"text": "A"}, "system": "a"}\n' + both, 1, 1),
        ("too long.csv", f"question,system,answer\nQ?,a,{long}\nR?,a,A\n", 1, 1),
        ("another apostrophe.csv", "question,system,answer\nWhat\u2019s up?,a,A\nWhat's up?,a,B\n", 1, 1),
        (
            "the same in other marks.csv",
            "question,system,answer\nWhat\u2019s up?,a,A\nWhat's up?,b,B\n",
            0,
            2,
        ),
        ("repeated without a system.csv", "question,answer,worker\nQ?,A,w1\nQ?,A,w2\nQ?,B,w1\n", 0, 2),
    ):
        with subtests.test(name):
            table = read_study_table(write(tmp_path / name, text))
            assert (len(table.refused), len(table.answers)) == (refused, answers)
    names = [each.system for each in table.answers]
    assert names == ["system 1", "system 2"]


def test_an_encoding_that_is_a_guess_is_told(tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes("question,answer\nWas heißt Größe?,Länge oder Höhe über alles\n".encode("cp1252"))
    table = read_study_table(path)
    assert any("guess" in note and "--encoding NAME" in note for note in table.notes)


def test_only_tables_of_a_folder_are_read(tmp_path):
    write(tmp_path / "a.csv", "question,answer\nWhy?,So.\n")
    write(tmp_path / "readme.md", "# hello\n")
    write(tmp_path / ".hidden.csv", "x\n1\n")
    table = read_study_table(tmp_path)
    assert (list(table.questions), len(table.answers)) == (["why?"], 1)
    assert table.notes[:2] == [
        "Files that were read: a.csv.",
        "Files of the folder that were not read: readme.md.",
    ]


def test_many_rows_are_read_in_seconds_and_answers_stay_whole(tmp_path):
    path = tmp_path / "many.csv"
    text = "A long answer, with a comma and a line\nbreak. " * 20
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question_id", "question", "system", "answer"])
        for number in range(1_000):
            rows.writerow([f"q{number // 2}", f"Question {number // 2}?", "ab"[number % 2], text])
    table = read_study_table(path)
    assert (len(table.questions), len(table.answers)) == (500, 1_000)
    assert {each.text for each in table.answers} == {text.strip()}
    assert next(iter(table.questions.values())).id == "q0"
