"""What programs did in place of people is marked in every file and row that leaves."""

import csv
import io
import json
from functools import cache
from pathlib import Path
from shutil import copytree

import pytest
from django.core.management import call_command
from django.test import override_settings

from evaluations.external_scores import candidates_of, read
from evaluations.leaderboard import board_as_json, board_of, table
from evaluations.release_table import open_release
from evaluations.report.model import Report
from releases.models import Release
from tests.cases import rows_of_module
from tests.evaluations.reports import evaluate
from tests.releases.world import make_world

pytestmark = pytest.mark.django_db
WHAT = "SIMULATED DATA: programs took part in place of people: 18 of 18 answers, 50 of 50 ratings"


def build(folder, *, simulated):
    """A folder of a release, of simulated workers or of people."""
    make_world(simulated=simulated)
    call_command(
        "release", "build", "capitals", "--formats", "jsonl", "--out", str(folder),
        "--accept-findings", "a test", stdout=io.StringIO(),
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def released(django_db_setup, django_db_blocker, tmp_path_factory):
    """The folder of a release, which is built once; its rows are rolled back."""

    @cache
    def folder_of(*, simulated):
        place = tmp_path_factory.mktemp("released")
        with (
            override_settings(RELEASES_STORAGE=str(place / "shelf")),
            rows_of_module(django_db_blocker),
        ):
            return build(place / "release", simulated=simulated)

    return folder_of


def test_every_row_says_whether_a_program_made_it_and_manifest_and_agreement_count_them(released):
    folder = released(simulated=True)
    for name in ("answers", "ratings", "scores"):
        lines = (folder / f"jsonl/{name}-train.jsonl").read_text(encoding="utf-8").splitlines()
        assert {json.loads(line)["simulated"] for line in lines} == {True}
    references = (folder / "jsonl/references-train.jsonl").read_text(encoding="utf-8").splitlines()
    written = [each for line in references for each in json.loads(line)["answers"]]
    assert {each["simulated"] for each in written if each["worker"]} == {True}
    assert {each["simulated"] for each in written if not each["worker"]} == {False}
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["simulated_rows"]["ratings"] == {"simulated": 50, "of": 50}
    report = json.loads((folder / "reports/agreement-judging.json").read_text())
    assert report["simulated"] == {"ratings": 50, "of": 50}
    with open_release(folder) as found:  # as from the other formats: test_release_table
        assert found.notes[0].startswith(WHAT)
        assert {row.simulated for row in found.rows() if row.human == row.human} == {True}


def test_the_report_of_simulated_work_says_so_in_all_its_files(released):
    report, terminal = evaluate(released(simulated=True), metric="rouge-l")
    found = json.loads((report / "report.json").read_text())
    assert found["simulated"]["rows"]["ratings"] == {"simulated": 50, "of": 50}
    assert found["simulated"]["what"].startswith(WHAT)
    assert found["warnings"][0] == found["simulated"]["what"]
    assert " ".join(terminal.split()).count(WHAT) == 1
    page = (report / "report.html").read_text()
    assert "(simulated data)" in page.split("<title>")[1].split("</title>")[0]
    assert WHAT in page
    tex = (report / "table.tex").read_text()
    assert tex.startswith(f"% {WHAT}")
    assert r"\textbf{SIMULATED DATA" in tex
    rows = list(csv.DictReader((report / "scores.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["simulated"] for row in rows if row["human"]} == {"true"}


def test_our_own_reader_takes_the_scores_of_simulated_work(tmp_path, settings):
    settings.RELEASES_STORAGE = str(tmp_path / "shelf")
    report, _ = evaluate(build(tmp_path / "release", simulated=True), metric="rouge-l")
    there = candidates_of(Release.objects.select_related("project").get())
    values = read(report / "scores.csv", name="scores.csv", candidates=there, column="rouge-l")
    assert set(values) == there.ids


def test_what_people_did_bears_no_mark(released):
    folder = released(simulated=False)
    assert json.loads((folder / "reports/agreement-judging.json").read_text())["simulated"] is None
    report, terminal = evaluate(folder, metric="rouge-l")
    assert json.loads((report / "report.json").read_text())["simulated"] is None
    assert "simulated" not in (report / "scores.csv").read_text().splitlines()[0]
    for name in ("table.tex", "report.html"):
        assert "SIMULATED" not in (report / name).read_text()
    assert "SIMULATED" not in terminal


def test_a_release_from_before_rows_were_counted_is_marked_all_the_same(released, tmp_path):
    folder = Path(copytree(released(simulated=True), tmp_path / "release"))
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["simulated_rows"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with open_release(folder) as found:
        assert found.notes[0].startswith("SIMULATED DATA: programs took part in place of people. ")


def test_the_leaderboard_says_it_for_programs_too():
    board = board_of(Report())
    assert board_as_json(board, simulated=True)["simulated"] is True
    assert "simulated" in table(board, simulated=True)[0]
