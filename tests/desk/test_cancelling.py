"""Long work is cancelled from the page that shows it, by those who may start it."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import QuerySource
from core.jobs import runner, services
from core.jobs.models import Job, JobState
from judgments.services import reports
from tests.annotation.importing.test_pages import FORM
from tests.judgments.desk_world import as_, judge, make_place, people

pytestmark = pytest.mark.django_db
IMPORTS = [("annotation", "annotation.import"), ("judgments", "judgments.import")]


@pytest.fixture
def place():
    made = make_place()
    people(made)
    return made


def make_import(place, kind):
    return Job.objects.create(
        kind=kind, payload={"project": place.project.pk, "name": "log.tsv", "sha256": "0"}
    )


def at(room, name, place, job):
    return reverse(f"{room}:{name}", args=[place.project.slug, job.pk])


@pytest.mark.parametrize(("room", "kind"), IMPORTS)
def test_a_manager_cancels_an_import_that_waits_and_nobody_below(place, room, kind):
    job = make_import(place, kind)
    for who in ("viewer", "stranger"):
        assert as_(who).post(at(room, "import_cancel", place, job)).status_code == 404
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
    shown = as_("manager").get(at(room, "import_job", place, job)).content.decode()
    assert at(room, "import_cancel", place, job) in shown
    answer = as_("manager").post(at(room, "import_cancel", place, job), follow=True)
    assert "The import is cancelled. Nothing of the file is stored." in answer.content.decode()
    assert "Cancel the import" not in answer.content.decode()
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    over = make_import(place, kind)
    services.finish(job=services.claim(job_id=over.pk))
    answer = as_("manager").post(at(room, "import_cancel", place, over), follow=True)
    assert "The import ended before it could be cancelled." in answer.content.decode()
    over.refresh_from_db()
    assert over.state == JobState.DONE


def test_an_import_that_runs_stops_and_stores_nothing(place, monkeypatch):
    before = QuerySource.objects.count()
    client = as_("manager")
    rows = "".join(f"{number},what is {number},3\n" for number in range(50))
    file = SimpleUploadedFile("log.csv", f"id,query,count\n{rows}".encode())
    sent = client.post(reverse("annotation:import_new", args=[place.project.slug]), {"file": file})
    form = {**FORM, "column_key": "id", "column_type": ""}
    started = client.post(sent.headers["Location"], {**form, "start": "1"})
    assert started.status_code == 302
    job = Job.objects.get(kind="annotation.import")
    real = runner.JobContext.commit

    def cancelled_before(context, effect):
        client.post(at("annotation", "import_cancel", place, job))
        return real(context, effect)

    monkeypatch.setattr(runner.JobContext, "commit", cancelled_before)
    runner.run(job_id=job.pk)
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    assert QuerySource.objects.count() == before


def test_the_report_on_agreement_is_cancelled_and_can_be_asked_for_again(place):
    judge(place, [("q/a", "A1", 4), ("q/a", "A2", 5)])
    page = reverse("judgments:agreement", args=[place.project.slug, place.stage.slug])
    answer = as_("manager").post(f"{page}cancel/", follow=True)
    assert "No report is being worked out at the moment." in answer.content.decode()
    job = reports.ask(stage=place.stage)
    assert "Cancel the report" in as_("manager").get(page).content.decode()
    assert "Cancel the report" not in as_("viewer").get(page).content.decode()
    as_("manager").post(f"{page}cancel/")
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    assert "Cancel the report" not in as_("manager").get(page).content.decode()
    as_("manager").post(f"{page}calculate/")
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
