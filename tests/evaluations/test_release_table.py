"""A release as a table of answers: from its folder, or from where the installation keeps it."""

import io
import json
import math
import shutil
from functools import cache
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from evaluations.errors import EvaluationError
from evaluations.release_table import open_release
from evaluations.table_sources import opened
from tests.cases import rows_of_module
from tests.releases.world import make_world

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def shelf(tmp_path, settings) -> Path:
    """Where releases are kept in a test."""
    settings.RELEASES_STORAGE = str(tmp_path / "shelf")
    return tmp_path / "shelf"


def build(folder, formats="jsonl", **world):
    """The folder of a release, with everything in it that is hostile."""
    make_world(**{"hostile": True, **world})
    call_command(
        "release", "build", "capitals", "--formats", formats, "--out", str(folder),
        "--accept-findings", "simulated people", stdout=io.StringIO(),
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def built(django_db_setup, django_db_blocker, tmp_path_factory):
    """Such a folder, which is built once; its rows are rolled back."""

    @cache
    def folder_of(formats, **world):
        place = tmp_path_factory.mktemp("built")
        with override_settings(RELEASES_STORAGE=str(place / "shelf")), rows_of_module(django_db_blocker):
            return build(place / "out", formats, **world)

    return folder_of


@pytest.fixture
def folder(built, tmp_path):
    """A copy of such a folder, in one format or several."""

    def copy(formats="jsonl", name="out", **world):
        return Path(shutil.copytree(built(formats, **world), tmp_path / name))

    return copy


def only(folder, format):
    """A copy of a release with the files of one format."""
    copy = folder.parent / f"only-{format}"
    shutil.copytree(folder, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["files"] = [file for file in manifest["files"] if file["format"] in ("", format)]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    return copy


def refused(table):
    """Why it cannot be opened."""
    with pytest.raises(EvaluationError) as refusal, table:
        pass
    return str(refusal.value)


def test_answers_have_their_references_scores_opinions_and_ratings(folder):
    with open_release(folder("jsonl,csv", hostile=False)) as table:
        rows = {(row.question_id, row.system): row for row in table.rows()}
        assert table.title == "capitals 1.0.0"
        assert table.scale == (1, 5)
        before, after = table.alpha
        assert before is not None
        assert after is not None
    row = rows["q5", next(system for query, system in rows if query == "q5")]
    assert row.question == "is bern the capital of switzerland"
    assert row.references == ["Yes, in fact.", "Yes", "Yes, de facto", "There is none", "Bern is"]
    assert len(row.labels) == 5
    assert "Yes" in row.labels
    scored = [row for row in rows.values() if not math.isnan(row.human)]
    assert scored
    for row in scored:
        assert row.human == pytest.approx(sum(score for _, score in row.ratings) / len(row.ratings))


def test_all_formats_give_the_same_rows(folder):
    whole = folder("jsonl,csv,parquet", simulated=True)
    found = {}
    for format in ("jsonl", "csv", "parquet"):
        with open_release(only(whole, format)) as table:
            found[format] = [repr(row) for row in table.rows()]
    assert any("simulated=True" in row for row in found["jsonl"])
    assert len(found["jsonl"]) > 5
    assert found["csv"] == found["jsonl"]
    assert found["parquet"] == found["jsonl"]


def test_another_human_score_of_the_release(folder):
    place = folder()
    with open_release(place, columns={"scores": "median"}) as table:
        assert all(math.isnan(row.human) or row.human * 2 == int(row.human * 2) for row in table.rows())
    assert "scores=NAME, of mean, median, trimmed, adjusted" in refused(
        open_release(place, columns={"scores": "best"})
    )


def test_a_newer_stage_without_scores_is_not_taken(folder):
    place = folder()
    scores = place / "jsonl/scores-train.jsonl"
    lines = [json.loads(line) for line in scores.read_text("utf-8").splitlines()]
    lines += [
        {**row, "stage": "begun", "mean": None, "kept": []} for row in lines if row["stage"] == "judging"
    ]
    scores.write_text("".join(f"{json.dumps(row)}\n" for row in lines), "utf-8")
    manifest = json.loads((place / "manifest.json").read_text())
    manifest["stages"].append({"stage": "begun", "title": "Begun"})
    (place / "manifest.json").write_text(json.dumps(manifest))
    with open_release(place) as table:
        assert table.stage == "judging"


def test_what_a_release_does_not_have_is_refused(folder, tmp_path):
    place = folder()
    assert "has no scores of a stage 'other'; there are" in refused(open_release(place, stage="other"))
    with pytest.raises(CommandError, match="a release has no scores of other tools"):
        call_command("evaluate", str(place), external=("comet",), stdout=io.StringIO())
    shutil.rmtree(place / "jsonl")
    assert "get its files again" in refused(open_release(place))
    assert "it has no manifest.json. Give the folder of a release" in refused(opened(str(tmp_path)))


def test_a_release_of_the_installation_is_evaluated_by_its_name(tmp_path, monkeypatch):
    build(tmp_path / "out")
    for name in ("capitals", "capitals/1.0.0", "capitals@1.0.0"):
        with opened(name, scored=True) as table:
            assert table.title == "capitals 1.0.0"
    assert "capitals has no release '9.0.0'; there are 1.0.0" in refused(opened("capitals/9.0.0"))
    assert "There is no file or folder towns, and no project 'towns'" in refused(opened("towns"))
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    call_command(
        "evaluate", "capitals/1.0.0", metrics=("rouge-1",), replicates=10, draws=49, processes=1, stdout=out
    )
    report = json.loads((tmp_path / "capitals-1.0.0-evaluation" / "report.json").read_text())
    assert report["n"]["ratings"] > 10
    assert report["alpha"]["before"] is not None
    assert not any("scale" in warning for warning in report["warnings"])
    assert "capitals 1.0.0" in out.getvalue()


def test_scores_of_a_release(folder):
    out = io.StringIO()
    call_command("score", str(folder()), metrics=("rouge-1",), stdout=out, stderr=io.StringIO())
    assert out.getvalue().splitlines()[0] == "row,id,question_id,system,rouge-1"


def filtered(path: Path, **options) -> str:
    out = io.StringIO()
    call_command("filter", str(path), replicates=0, recipe="none", stdout=out, **options)
    return out.getvalue()


def test_the_filter_reads_a_releases_own_ratings_without_being_told_the_columns(folder):
    there = folder("jsonl,csv", hostile=False)
    for name in ("csv/ratings-train.csv", "jsonl/ratings-train.jsonl"):
        assert "50 ratings of 10 items by 5 workers" in filtered(there / name)


def test_the_filter_asks_which_stage_of_a_release_is_meant(folder):
    path = folder("jsonl,csv", hostile=False) / "csv" / "ratings-train.csv"
    head, *rows = path.read_text().splitlines()
    again = [row.replace('"judging"', '"second"') for row in rows[:20]]
    both = path.with_name("both.csv")
    both.write_text("\n".join([head, *rows, *again]) + "\n")
    with pytest.raises(CommandError, match=r"ratings of 2 stages, .*: judging, second\. Say which: --stage"):
        filtered(both)
    report = path.with_name("report.json")
    assert "20 ratings of" in filtered(both, stage="second", report=report)
    assert json.loads(report.read_text())["counts"] == {
        "rows_read": len(rows) + 20, "used": 20, "merged": 0, "repeats": 0, "refused": len(rows),
    }  # fmt: skip
    with pytest.raises(CommandError, match="has no stage 'third'; there are: judging, second"):
        filtered(both, stage="third")


def test_a_table_of_a_release_stands_for_the_release(folder):
    there = folder("jsonl,csv", hostile=False)
    with opened(str(there), scored=True) as release:
        expected = [(row.id, row.human) for row in release.rows()]
    for name in ("csv/candidates-train.csv", "jsonl/scores-train.jsonl"):
        with opened(str(there / name), scored=True) as table:
            found = [(row.id, row.human) for row in table.rows()]
            assert [each[0] for each in found] == [each[0] for each in expected]
            assert any("all of the release is read" in note for note in table.notes)


def test_a_file_beside_a_manifest_that_does_not_list_it_is_a_file(folder, tmp_path):
    there = folder("jsonl,csv", hostile=False)
    path = there / "answers.csv"
    path.write_text("question,answer,reference1,scores\nwho,he,him,4\n")
    with opened(str(path), scored=True) as table:
        assert [row.answer for row in table.rows()] == ["he"]
