"""Imported human scores that a file calls simulated: marked in the row, the release, its reports."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command

from core.projects.models import Project
from judgments.models import ImportedScore
from releases.models import Release
from releases.selectors import content_of
from releases.storage import fetched_folder
from tests.cases import apart
from tests.evaluations.reports import evaluate

pytestmark = pytest.mark.django_db
HEAD = "question,system,answer,reference,score,simulated\n"
ROWS = [
    "who built it,A,the romans,the romans,5,true",
    "who built it,B,nobody knows,the romans,1,false",
    "how tall,A,ten metres,about ten metres,4,1",
    "how tall,B,no idea,about ten metres,2,",
]


@pytest.fixture
def table(tmp_path):
    def write(*rows, head=HEAD):
        path = tmp_path / "scores.csv"
        path.write_text(head + "\n".join(rows or ROWS) + "\n")
        return path

    return write


def run(path, *options, release=False):
    out = io.StringIO()
    call_command("import-scores", str(path), *options, stdout=out, no_release=not release)
    return out.getvalue()


def test_every_row_figure_and_page_of_its_release_keeps_the_mark(table, tmp_path, admin_client):
    said = run(table(), "--project", "elsewhere", "--formats", "jsonl", release=True)
    assert "2 of the scores are simulated, says the file" in " ".join(said.split())
    marks = ImportedScore.objects.order_by("candidate__line").values_list("simulated", flat=True)
    assert list(marks) == [True, False, True, False]

    release = Release.objects.get()
    assert release.simulated
    assert release.manifest["simulated_rows"] == {"scores": {"simulated": 2, "of": 4}}
    content = content_of(release.project, ())
    assert (content.imported, content.imported_simulated) == (4, 2)
    for address in ("/desk/projects/elsewhere/releases/1.0.0/", "/desk/projects/elsewhere/releases/new/"):
        assert "simulated" in admin_client.get(address).content.decode()

    with fetched_folder(release) as folder:
        rows = [
            json.loads(line)
            for path in sorted((folder / "jsonl").glob("scores-*.jsonl"))
            for line in path.read_text().splitlines()
        ]
        assert sorted((row["system"], row["mean"], row["simulated"]) for row in rows) == [
            ("A", 4.0, True), ("A", 5.0, True), ("B", 1.0, False), ("B", 2.0, False),
        ]  # fmt: skip
        card = (folder / "README.md").read_text()
        assert "> **SIMULATED DATA.** Programs and not people gave 2 of the 4 imported human scores." in card
        assert '- "simulated"' in card.split("---")[1]
        made, terminal = evaluate(folder)
    report = json.loads((made / "report.json").read_text())
    assert report["simulated"]["rows"] == {"scores": {"simulated": 2, "of": 4}}
    assert "2 of 4 human scores" in " ".join(terminal.split())
    with (made / "scores.csv").open(newline="") as file:
        assert sorted((row["system"], row["simulated"]) for row in csv.DictReader(file)) == [
            ("A", "true"), ("A", "true"), ("B", "false"), ("B", "false"),
        ]  # fmt: skip


def test_scores_that_people_gave_are_marked_nowhere(table):
    said = run(table(*(row.rsplit(",", 1)[0] + ",no" for row in ROWS)), release=True)
    assert "simulated" not in said.replace("simulated from simulated", "")
    release = Release.objects.get()
    assert not release.simulated
    assert release.manifest["simulated_rows"] == {}
    assert not ImportedScore.objects.filter(simulated=True).exists()


def test_another_column_can_be_named_or_none(table):
    path = table(head=HEAD.replace("simulated", "by_program"))
    run(path, "--project", "one", "--column", "simulated=by_program")
    run(path, "--project", "two")
    counts = {
        slug: ImportedScore.objects.filter(candidate__system__project__slug=slug, simulated=True).count()
        for slug in ("one", "two")
    }
    assert counts == {"one": 2, "two": 0}


def test_a_mark_that_is_unclear_refuses_the_file(table, subtests):
    for row, words in [
        (
            "how old,A,an hour,a day,2,perhaps",
            "“\u2068perhaps\u2069” is neither true nor false.",
        ),
        (
            "who built it,A,the romans,the emperor,5,false",
            "The same answer of “\u2068A\u2069” is not simulated here and simulated in line 2.",
        ),
    ]:
        with apart(subtests, row=row, words=words):
            with pytest.raises(CommandError) as error:
                run(table(*ROWS, row))
            assert f"line 6, simulated: {words}" in str(error.value)
            assert not Project.objects.exists()
