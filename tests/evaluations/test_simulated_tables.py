"""A plain table that marks its simulated rows: every file and row made from it keeps the marks."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command

from tests.evaluations.reports import evaluate

HEAD = "question,answer,reference1,system,scores,simulated\n"
ROWS = [
    "who built it,the romans,the romans,A,5,true",
    "who built it,nobody knows,the romans,B,1,false",
    "how tall,ten metres,about ten metres,A,4,1",
    "how tall,no idea,about ten metres,B,2,",
    "how old,two thousand years,about two thousand years,A,4,False",
    "how old,an hour,about two thousand years,B,1,no",
]
WHAT = "SIMULATED DATA: programs took part in place of people: 2 of 6 rows."


@pytest.fixture
def table(tmp_path):
    def write(rows=ROWS, head=HEAD):
        path = tmp_path / "answers.csv"
        path.write_text(head + "\n".join(rows) + "\n")
        return path

    return write


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_an_evaluation_of_a_plain_table_keeps_its_marks(table):
    folder, terminal = evaluate(table())
    report = json.loads((folder / "report.json").read_text())
    assert report["simulated"]["rows"] == {"rows": {"simulated": 2, "of": 6}}
    assert report["warnings"][0] == report["simulated"]["what"]
    assert report["simulated"]["what"].startswith(WHAT)
    assert " ".join(terminal.split()).count(WHAT) == 1
    assert [row["simulated"] for row in rows_of(folder / "scores.csv")] == [
        "true", "false", "true", "false", "false", "false",
    ]  # fmt: skip
    assert "(simulated data)" in (folder / "report.html").read_text()
    assert "SIMULATED DATA" in (folder / "table.tex").read_text()


def test_scores_that_an_evaluation_wrote_can_be_read_again_with_their_marks(table, tmp_path):
    folder, _ = evaluate(table())
    again = tmp_path / "again.csv"
    rows = [
        f"{row['question']},a,b,{row['system']},{row['human']},{row['simulated']}"
        for row in rows_of(folder / "scores.csv")
    ]
    again.write_text(HEAD + "\n".join(rows) + "\n")
    report = json.loads((evaluate(again)[0] / "report.json").read_text())
    assert report["simulated"]["rows"]["rows"]["simulated"] == 2


def test_a_table_of_people_alone_is_marked_nowhere(table):
    folder, terminal = evaluate(table([row.rsplit(",", 1)[0] + ",false" for row in ROWS]))
    assert json.loads((folder / "report.json").read_text())["simulated"] is None
    assert "simulated" not in rows_of(folder / "scores.csv")[0]
    assert "SIMULATED" not in terminal


def test_what_is_neither_true_nor_false_is_refused_with_its_place(table):
    with pytest.raises(CommandError, match="line 3: column 'simulated': 'perhaps' is neither true nor false"):
        evaluate(table([ROWS[0], ROWS[1].replace("false", "perhaps")]))


def test_another_column_can_be_named_or_none(table):
    path = table(head=HEAD.replace("simulated", "by_program"))
    out = io.StringIO()
    options = {"metrics": ("rouge-1",), "stdout": out, "stderr": io.StringIO()}
    call_command("score", str(path), column=["simulated=by_program"], **options)
    assert [row["simulated"] for row in csv.DictReader(io.StringIO(out.getvalue()))][:3] == [
        "true", "false", "true",
    ]  # fmt: skip


def test_scores_of_a_plain_table_keep_its_marks(table, tmp_path):
    out, means = tmp_path / "scores.csv", tmp_path / "means.json"
    call_command("score", str(table()), metrics=("rouge-1",), out=out, json=means, stdout=io.StringIO())
    assert [row["simulated"] for row in rows_of(out)].count("true") == 2
    said = json.loads(means.read_text())
    assert said["simulated"]["rows"] == {"rows": {"simulated": 2, "of": 6}}
    assert said["notes"][0].startswith(WHAT)


def test_filtered_ratings_keep_their_marks(tmp_path):
    path, kept, report = (tmp_path / name for name in ("ratings.csv", "kept.csv", "report.json"))
    marks = ["true", "false", "false"]
    lines = [f"i{n},w{m},{(n + m) % 5 + 1},{marks[m]}" for n in range(4) for m in range(3)]
    path.write_text("item,worker,score,simulated\n" + "\n".join(lines) + "\n")
    call_command(
        "filter", str(path), "--recipe", "none", "--scale", "1-5", "--replicates", "0", "--kept", str(kept),
        "--report", str(report), stdout=io.StringIO(),
    )  # fmt: skip
    assert [row["simulated"] for row in rows_of(kept)] == marks * 4
    found = json.loads(report.read_text())
    assert found["warnings"][0].startswith("SIMULATED DATA: programs gave 4 of 12 ratings")
