"""`manage.py score`: what it writes, where, and what it says about files that are not as they should be."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

ROOT = Path(__file__).resolve().parents[2]
TABLE = (
    "question,answer,reference1,reference2,system\n"
    "who built it,the romans,the romans,roman soldiers,B\n"
    "how tall is it,ten metres,about ten metres,,A\n"
    "who built it,nobody knows,the romans,roman soldiers,A\n"
    "how tall is it,,about ten metres,,B\n"
)


@pytest.fixture
def table(tmp_path):
    def write(content=TABLE, name="answers.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def scored(path, **options):
    """What goes to standard output and to standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command("score", str(path), stdout=out, stderr=err, **{"metrics": ("rouge-1", "bleu-1"), **options})
    return out.getvalue(), err.getvalue()


def plain(text):
    """Without the blanks between columns."""
    return " ".join(text.split())


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def refused(path, **options):
    target = path.parent / "scores.csv"
    with pytest.raises(CommandError) as refusal:
        scored(path, **{"out": target, **options})
    assert not target.exists()
    return str(refusal.value).replace(f"{path.parent}/", "")


def test_scores_go_to_standard_output_and_their_means_beside_it(table):
    out, err = scored(table())
    rows = rows_of(out)
    assert list(rows[0]) == ["row", "line", "system", "rouge-1", "bleu-1"]
    assert [(row["row"], row["line"], row["system"]) for row in rows] == [
        ("1", "2", "B"), ("2", "3", "A"), ("3", "4", "A"), ("4", "5", "B")
    ]  # fmt: skip
    assert [float(row["rouge-1"]) for row in rows] == pytest.approx([1, 0.8, 0, 0])
    assert "answers.csv: 4 answers; profile default, tokeniser default." in err
    assert "rouge-1 0.4500" in plain(err)
    assert "metric:rouge-1|v:" in err


def test_scores_have_full_precision(table):
    out, _ = scored(table("question,answer,reference1\nq,a b c,a d e f\n"), metrics=("rouge-1",))
    assert float(rows_of(out)[0]["rouge-1"]) == 2 * (1 / 3) * (1 / 4) / (1 / 3 + 1 / 4)


def test_a_file_of_scores_and_jsonl_by_the_end_of_its_name_or_as_asked(table):
    path = table()
    target = path.parent / "scores.csv"
    out, err = scored(path, out=target)
    assert len(rows_of(target.read_text())) == 4
    assert "rouge-1 0.4500" in plain(out)
    assert f"Written: {target}" in out
    assert err == ""
    target = path.parent / "scores.jsonl"
    scored(path, out=target)
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert (lines[0]["row"], lines[0]["rouge-1"]) == (1, 1.0)
    out, _ = scored(path, format="jsonl")
    assert [json.loads(line) for line in out.splitlines()] == lines


def test_means_corpus_scores_signatures_and_what_was_read_as_json(table):
    path = table(TABLE.replace("system\n", "model\n"))
    target = path.parent / "means.json"
    _, shown = scored(path, json=target)
    said = json.loads(target.read_text())
    assert said["n"] == 4
    assert said["metrics"]["rouge-1"]["mean"] == pytest.approx(0.45)
    assert said["metrics"]["rouge-1"]["corpus"] is None
    bleu = said["metrics"]["bleu-1"]
    assert 0 < bleu["corpus"] < 1
    assert sorted(bleu["corpus_by_system"]) == ["A", "B"]
    assert bleu["signature"].startswith("metric:bleu-1|v:")
    assert "Read as: question from question; answer from answer; system from model;" in plain(shown)
    assert said["read_as"]["columns"]["references"] == ["reference1", "reference2"]
    assert said["read_as"]["rows"] == {"read": 4, "used": 4, "merged": 0, "repeats": 0, "refused": 0}


def test_ids_are_written_beside_the_scores(table):
    text = "qid,id,question,answer,reference1\n7,=1+1,q,a,r\n"
    out, _ = scored(table(text))
    assert rows_of(out)[0]["id"] == "'=1+1"
    assert rows_of(out)[0]["question_id"] == "7"


def test_what_is_not_defined_is_an_empty_cell_and_counted(table):
    path = table("question,answer,reference1\nq,a,r\nq,a,\n")
    out, err = scored(path, metrics=("rouge-1",))
    assert rows_of(out)[1]["rouge-1"] == ""
    assert "rouge-1 is not defined for 1: there is no reference." in err


def test_another_tokeniser_than_the_profiles_also_for_metrics_that_have_their_own(table):
    path = table("question,answer,reference1\nq,北京,北京市\n")
    _, err = scored(path, tokeniser="char", metrics=("rouge-1",))
    assert "tokeniser char" in err
    assert "tok:char.3" in err
    _, err = scored(table(), tokeniser="whitespace", profile="kpqa-2021", metrics=("bleu-1", "rouge-l"))
    assert err.count("tok:whitespace.2") == 2


def test_the_result_is_the_same_for_any_number_of_processes(table):
    rows = "".join(f"q{n},the answer is {n},it is {n // 3} and {n}\n" for n in range(9000))
    path = table("question,answer,reference1\n" + rows)
    one, two = path.parent / "one.csv", path.parent / "two.csv"
    scored(path, out=one, processes=1)
    scored(path, out=two, processes=2)
    assert one.read_bytes() == two.read_bytes()
    assert len(one.read_text().splitlines()) == 9001


def test_a_wrong_row_far_below_leaves_nothing_behind(table):
    rows = "".join(f"q{n},answer {n},reference {n}\n" for n in range(9000))
    path = table("question,answer,reference1\n" + rows + "q,a,r,too,many\n")
    assert refused(path).startswith("answers.csv, line 9002: the row has 5 cells, the head has 3.")
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("score", str(table(TABLE + "q,a,r,s,t,u\n")), metrics=("rouge-1",), stdout=out)
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metrics": ("blue-4",)}, "There is no metric 'blue-4'"),
        ({"profile": "kpqa"}, "There is no profile 'kpqa'"),
        ({"tokeniser": "words"}, "There is no tokeniser 'words'"),
        ({"column": ["answer"]}, "--column 'answer' is not of the form FIELD=COLUMN"),
        ({"column": ["answer=a", "answer=b"]}, "--column names answer twice"),
    ],
)
def test_options_that_cannot_be_are_refused(table, options, said):
    assert said in refused(table(), **options)


def test_the_scores_never_overwrite_the_answers_and_need_a_folder(table):
    path = table()
    with pytest.raises(CommandError, match="would overwrite the file of answers"):
        scored(path, out=path)
    assert path.read_text() == TABLE
    assert "there is no folder" in refused(table(), out=table().parent / "none" / "scores.csv")


def run(*arguments, env=None):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
    )


@pytest.mark.long
def test_it_needs_no_database(table):
    nowhere = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing"}
    done = run("score", str(table()), "--metrics", "rouge-1", env=nowhere)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("row,line,system,rouge-1\n1,2,B,1.0\n")
    done = run("score", "capitals/1.0.0", "--metrics", "rouge-1", env=nowhere)
    assert done.returncode == 1
    assert "no database in which to look for a release" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_file_ends_with_a_sentence_and_status_1(table):
    done = run("score", str(table("question,reference1\nq,r\n")), "--metrics", "rouge-1")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "no column holds the answers" in done.stderr
    assert "Traceback" not in done.stderr


@contextmanager
def scoring_many(table):
    """The command while it scores 30,000 answers, its first line read."""
    rows = "".join(f"q{n},answer {n},reference {n}\n" for n in range(30_000))
    path = table("question,answer,reference1\n" + rows)
    with subprocess.Popen(
        [sys.executable, "manage.py", "score", str(path), "--metrics", "rouge-1", "--processes", "1"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == b"row,line,rouge-1\n"
        yield process


@pytest.mark.long
def test_a_reader_may_stop_and_ctrl_c_ends_it_with_a_sentence(table):
    with scoring_many(table) as process:
        process.stdout.close()
        said = process.stderr.read().decode()
        assert process.wait() == 0
    assert "Traceback" not in said
    assert "30,000 answers" in said
    with scoring_many(table) as process:
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
        assert process.wait() == 130
    assert "Stopped before it was done." in said
    assert "Traceback" not in said


def test_a_metric_whose_program_is_not_installed_is_refused_before_anything_is_read(table, monkeypatch):
    monkeypatch.setenv("PATH", "")
    said = refused(table(), metrics=("meteor-1.5",))
    assert said == (
        "meteor-1.5 cannot be scored here: Java is not installed. Install it, or leave the metric out."
    )


def test_a_profile_is_scored_without_the_metric_whose_program_is_not_installed(table, monkeypatch):
    monkeypatch.setenv("PATH", "")
    out, err = scored(table(), metrics=(), profile="kpqa-2021", processes=1)
    assert list(rows_of(out)[0])[3:] == ["bleu-1", "bleu-4", "rouge-l", "cider"]
    assert "meteor-1.5 of the profile kpqa-2021 is left out" in plain(err)
