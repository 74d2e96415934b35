"""The file of many queries: made by a job, byte for byte what few queries are sent as."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import os
import time
from datetime import timedelta

import pytest
from django.db.models import F
from django.urls import reverse

from annotation.selectors import query_progress
from annotation.services import query_files
from core.jobs import runner
from core.jobs.models import Job
from core.projects.services import create_project
from distillery.tasks import prune_old_rows
from tests.annotation.queries_world import make_answer, make_queries, make_query, make_source, make_vote
from tests.cases import apart
from tests.desk.conftest import as_, endpoint, manager, people, project, stage  # noqa: F401

pytestmark = pytest.mark.django_db
TABLE = "/desk/projects/reading/queries/"
FILE = "/desk/projects/reading/queries.csv"


@pytest.fixture
def source(project):
    return make_source(project)


@pytest.fixture
def viewer(as_):
    return as_("viewer")


@pytest.fixture
def many(monkeypatch, settings, tmp_path, source, stage, viewer):
    """Five queries, which are many."""
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(query_files, "_ROWS", 2)
    monkeypatch.setattr(query_progress, "_AT_ONCE", 2)
    make_queries(source, waiting=2)
    for text in ('say "hi",\nthere', "=HYPERLINK(1)", "क\u0301 \U0001f600"):
        query = make_query(source, text, status="curated", count=len(text))
        make_vote(stage, query)
    make_answer(stage, query)
    whole = {asked: b"".join(viewer.get(FILE + asked)) for asked in ("", ASKED)}
    monkeypatch.setattr(query_files, "AT_ONCE", 2)
    return whole


ASKED = "?status=curated&order=count"


def page(job, name="queries_file_job"):
    return reverse(f"annotation:{name}", args=["reading", job.pk])


def asked(viewer, address=FILE):
    answer = viewer.get(address)
    job = Job.objects.filter(kind=query_files.MAKE).latest("pk")
    assert (answer.status_code, answer.headers["Location"]) == (302, page(job))
    return job


def run(job):
    runner.run(job_id=job.pk)
    job.refresh_from_db()
    return job


def test_a_job_makes_the_file_byte_for_byte(viewer, many, subtests):
    for what in ["", ASKED]:
        with apart(subtests, what=what):
            job = run(asked(viewer, FILE + what))
            count = 3 if what else 5
            assert job.state == "done"
            assert (job.result["queries"], job.result["bytes"]) == (count, len(many[what]))
            assert (job.progress_done, job.progress_total) == (count, count)
            answer = viewer.get(page(job, "queries_file"))
            assert b"".join(answer) == many[what]
            assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
            assert answer.headers["Content-Disposition"] == 'attachment; filename="reading-queries.csv"'
            assert answer.headers["Content-Length"] == str(len(many[what]))
            assert f"The file is ready: {count} queries" in viewer.get(page(job)).content.decode()


def test_asked_twice_it_is_made_once_and_later_as_it_is_then(viewer, many, source):
    first = asked(viewer)
    assert asked(viewer, f"{FILE}?page=2&status=") == first
    assert asked(viewer, FILE + ASKED) != first
    run(first)
    make_query(source, "one more")
    assert run(asked(viewer)).result["queries"] == 6
    assert run(first).result["queries"] == 5


def test_few_of_many_queries_are_sent_at_once_and_the_table_says_so(viewer, many):
    answer = viewer.get(f"{FILE}?q=hi")
    assert answer.streaming and b'say ""hi""' in b"".join(answer)
    assert not Job.objects.filter(kind=query_files.MAKE).exists()
    text = viewer.get(f"{TABLE}{ASKED}").content.decode()
    assert "Make a CSV file" in text and "Download as CSV" not in text
    text = viewer.get(f"{TABLE}?q=hi").content.decode()
    assert "Download as CSV" in text and "Make a CSV file" not in text


def test_a_file_that_is_being_made_can_be_cancelled_and_made_again(viewer, many):
    job = asked(viewer, FILE + ASKED)
    assert "Starting" in viewer.get(page(job, "queries_file_live")).content.decode()
    viewer.post(page(job, "queries_file_cancel"))
    assert run(job).state == "cancelled"
    assert viewer.get(page(job, "queries_file")).status_code == 404
    text = viewer.get(page(job)).content.decode()
    assert "The file was not made" in text and f"{FILE}{ASKED}".replace("&", "&amp;") in text
    assert asked(viewer, FILE + ASKED) != job


def folder(data, job):
    return data / "exports" / str(job.payload["project"])


def test_what_died_half_way_leaves_no_file(viewer, many, monkeypatch, tmp_path):
    def dies(*_given):
        yield "id\n"
        raise OSError("no space left")

    job = asked(viewer)
    with monkeypatch.context() as broken:
        broken.setattr(query_files, "lines_of", dies)
        assert run(job).state == "queued"
    assert not list(folder(tmp_path, job).iterdir())
    assert viewer.get(page(job, "queries_file")).status_code == 404
    Job.objects.update(run_after=F("created_at"))
    assert run(job).state == "done"
    assert b"".join(viewer.get(page(job, "queries_file"))) == many[""]


def test_files_are_kept_for_a_day(viewer, many, tmp_path):
    job, other = run(asked(viewer)), asked(viewer, FILE + ASKED)
    old = time.time() - query_files.KEPT.total_seconds() - 60
    os.utime(folder(tmp_path, job) / f"{job.pk}.csv", (old, old))
    run(other)
    assert [path.name for path in folder(tmp_path, job).iterdir()] == [f"{other.pk}.csv"]
    assert viewer.get(page(job, "queries_file")).status_code == 404
    Job.objects.filter(pk=job.pk).update(finished_at=F("finished_at") - query_files.KEPT - timedelta(hours=1))
    assert "The file was deleted after a day" in viewer.get(page(job)).content.decode()


def test_a_file_of_yesterday_is_not_given_and_goes_with_the_next_hour(viewer, many, tmp_path):
    job = run(asked(viewer))
    Job.objects.filter(pk=job.pk).update(finished_at=F("finished_at") - query_files.KEPT - timedelta(hours=1))
    assert viewer.get(page(job, "queries_file")).status_code == 404
    old = time.time() - query_files.KEPT.total_seconds() - 60
    os.utime(folder(tmp_path, job) / f"{job.pk}.csv", (old, old))
    prune_old_rows()
    assert not list(folder(tmp_path, job).iterdir())


def test_files_of_other_projects_are_not_found(viewer, manager, people, many):
    job = run(asked(viewer))
    other = create_project(slug="other", title="Other", owner=people["manager"])
    Job.objects.filter(pk=job.pk).update(payload={**job.payload, "project": other.pk})
    for name in ("queries_file_job", "queries_file_live", "queries_file"):
        assert manager.get(page(job, name)).status_code == 404
