"""All tables of a release are read in one state of the database, and nobody waits for that."""

import json

import pytest
from django.db import connection

from annotation.models import Answer
from core.progress import silent
from judgments.models import AgreementReport
from judgments.services import reports
from releases import build
from releases.options import Options
from releases.scope import ALIAS, snapshot
from tests.releases.world import make_answer, make_world


@pytest.mark.django_db(transaction=True)
def test_what_is_written_meanwhile_is_not_seen_and_does_not_wait(tmp_path):
    world = make_world(filtered=False)
    with snapshot() as using:
        assert using == ALIAS
        before = Answer.objects.using(using).count()
        make_answer(world, "q4", "AE1", "written meanwhile", state="undecided")
        assert Answer.objects.using(using).count() == before
        assert Answer.objects.count() == before + 1
    with snapshot() as using:
        assert Answer.objects.using(using).count() == before + 1
    options = Options(formats=("jsonl",), include=("undecided",))
    release = build.plan_release(project=world.project, options=options)

    def progress(done: int, total: int, note: str) -> None:
        type(world.project).objects.filter(pk=world.project.pk).update(title=note)

    done = build.build(release, folder=tmp_path / "a", progress=progress)
    assert done.manifest["tables"][4]["rows"] == {"train": 50}
    assert done.manifest["parameters"]["brought_in"] == {"undecided": 1}
    world.project.refresh_from_db()
    assert world.project.title == "Checksums", "progress is written while a release reads"


@pytest.mark.django_db
def test_inside_of_a_transaction_it_is_that_one():
    assert connection.in_atomic_block
    with snapshot() as using:
        assert using == "default"


@pytest.mark.django_db(transaction=True)
def test_the_report_of_filters_in_force_is_made_while_a_release_reads(tmp_path):
    world = make_world()
    assert not AgreementReport.objects.exists()
    release = build.plan_release(project=world.project, options=Options(formats=("jsonl",)))
    build.build(release, folder=tmp_path / "made")
    reports.keep(reports.make(world.stages["judging"], silent))
    build.build(release, folder=tmp_path / "stored")
    made, stored = (tmp_path / name / "reports/agreement-judging.json" for name in ("made", "stored"))
    said = json.loads(made.read_text())
    assert (said["stage"], said["recipe"]) == ("judging", "adem-2017")
    assert made.read_bytes() == stored.read_bytes()
