"""`score` and `evaluate` with a model, without a database."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.evaluations.answer_tables import as_csv, invented
from tests.evaluations.test_score_command import run
from tests.learned import tiny

TABLE = (
    "question,answer,reference1,system\n"
    "how much does the ticket cost,it costs 25 euros,25 euros,A\n"
    "how much does the ticket cost,it weighs 30 grams,25 euros,B\n"
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: Any) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny.kpqa(folder / "tiny")
    return folder


@pytest.fixture
def table(tmp_path: Path, settings: Any, shelf: Path) -> Path:
    settings.METRIC_MODELS, settings.DATA_DIR, settings.BERTSCORE_ENCODER = shelf, tmp_path / "data", ""
    path = tmp_path / "answers.csv"
    path.write_text(TABLE)
    return path


def scored(path: Path, **options: Any) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("score", str(path), stdout=out, stderr=err, **options)
    return out.getvalue(), " ".join(err.getvalue().split())


@pytest.mark.long
def test_answers_are_scored_with_a_model(table, shelf, tmp_path):
    out, err = scored(table, metrics=("bleu-1-kpqa",), model=["tiny"], json=tmp_path / "said.json")
    assert [0 <= float(row["bleu-1-kpqa"]) <= 1 for row in csv.DictReader(io.StringIO(out))] == [True, True]
    digest = json.loads((shelf / "tiny" / "card.json").read_text())["digest"]
    assert f"kpqa-{digest[:12]}" in err
    said = json.loads((tmp_path / "said.json").read_text())
    assert [(each["kind"], each["name"], each["digest"]) for each in said["models"]] == [
        ("kpqa", "tiny", digest)
    ]


def test_the_only_model_is_used_and_said(table):
    _, err = scored(table, metrics=("bleu-1-kpqa",))
    assert "KPQA metrics use the model tiny (kpqa-" in err


def test_without_a_model_the_remedy_is_said(table, settings, tmp_path):
    settings.METRIC_MODELS = tmp_path / "none"
    with pytest.raises(CommandError) as refusal:
        scored(table, metrics=("bleu-1-kpqa",))
    assert "--model" in str(refusal.value)
    assert str(refusal.value).endswith("Or leave the metric out.")


@pytest.mark.long
def test_a_metric_of_a_profile_is_left_out_with_a_note(table, settings, tmp_path):
    settings.METRIC_MODELS = tmp_path / "none"
    _, err = scored(table, profile="kpqa-2021")
    assert "bleu-1-kpqa-repo of the profile kpqa-2021 is left out" in err


def test_without_an_encoder_the_remedy_is_said(table):
    with pytest.raises(CommandError, match="--encoder"):
        scored(table, metrics=("bertscore",))


def test_bertscore_with_an_encoder_of_a_folder(table, tmp_path):
    encoder = tiny.bert(tmp_path / "encoder")
    out, err = scored(table, metrics=("bertscore",), encoder=str(encoder), layer=1, idf=True)
    assert len(list(csv.DictReader(io.StringIO(out)))) == 2
    assert "encoder:encoder-" in err
    assert "layer:1" in err


@pytest.mark.long
def test_a_report_names_the_model(table, tmp_path):
    table.write_text(as_csv(invented(6)))
    call_command(
        "evaluate", str(table), metrics=("bleu-1", "rouge-l-kpqa"), model=["tiny"],
        report=tmp_path / "report", replicates=20, draws=99, stdout=io.StringIO(),
    )  # fmt: skip
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert [each["name"] for each in report["models"]] == ["tiny"]
    assert report["models"][0]["signature"] in report["metrics"]["rouge-l-kpqa"]["signature"]
    assert "tiny (kpqa-" in (tmp_path / "report" / "report.html").read_text()


def test_what_is_wrong_writes_nothing(table, tmp_path):
    with pytest.raises(CommandError, match="no such model in"):
        scored(table, metrics=("bleu-1-kpqa",), model=["nobody"], out=tmp_path / "scores.csv")
    assert not (tmp_path / "scores.csv").exists()


@pytest.mark.long
def test_it_needs_no_database(table, shelf, tmp_path):
    nowhere = {
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing",
        "METRIC_MODELS": str(shelf),
        "DATA_DIR": str(tmp_path / "data"),
    }
    done = run("score", str(table), "--metrics", "bleu-1-kpqa", "--model", "tiny", env=nowhere)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("row,line,system,bleu-1-kpqa\n1,2,A,")
    done = run("score", str(table), "--metrics", "bleu-1-kpqa", "--model", str(tmp_path), env=nowhere)
    assert done.returncode == 1
    assert "is no model" in done.stderr
    assert "Traceback" not in done.stderr
