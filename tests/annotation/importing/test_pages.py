"""Imports on the desk: upload, preview, job, report; who may and who may not."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import Query, QuerySource
from annotation.services import staging
from jobs import runner
from jobs.models import Job
from tests.desk.conftest import HOSTILE, as_, manager, owner, people, project  # noqa: F401  # fixtures

pytestmark = pytest.mark.django_db
LOG = b"query,count,market\nwho is he,3,en\nwhat is it,2,en\nwww.example.com,1,en\n"
FORM = {
    "format": "auto", "encoding": "", "shortest": 2, "longest": 300, "by": "all", "size": "", "seed": 1,
    "strata": "count", "start_at": "screening", "once": "0b6c7c44-6a3e-4b3f-9a2e-0a7a8f7f0001",
    "column_text": "query", "column_count": "count",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _data_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path


def upload(client, content=LOG, name="log.csv"):
    return client.post("/desk/projects/reading/imports/new/", {"file": SimpleUploadedFile(name, content)})


def text(answer):
    return answer.content.decode()


def test_upload_look_start_and_report(manager, project):  # noqa: F811
    sent = upload(manager)
    assert sent.status_code == 302
    page = manager.get(sent.headers["Location"])
    assert "CSV, comma-separated, with a header" in text(page)
    assert "who is he" in text(page)
    assert re.search(
        r'<select name="column_text"[^>]*>.*?<option value="query" selected>', text(page), re.DOTALL
    )
    started = manager.post(sent.headers["Location"], {**FORM, "start": "1"})
    job = Job.objects.get()
    assert started.headers["Location"] == f"/desk/projects/reading/imports/running/{job.pk}/"
    live = f"{started.headers['Location']}live/"
    assert "Waiting for a worker" in text(manager.get(started.headers["Location"]))
    assert "data-done" not in text(manager.get(live))
    runner.run(job_id=job.pk)
    assert "The import is done." in text(manager.get(live))
    done = manager.get(started.headers["Location"])
    source = QuerySource.objects.get()
    assert done.headers["Location"] == reverse("annotation:source", args=["reading", source.pk])
    report = text(manager.get(done.headers["Location"]))
    assert "address of a page (navigational)" in report
    assert "www.example.com" in report
    assert sorted(Query.objects.values_list("text", "count")) == [("what is it", 2), ("who is he", 3)]
    assert (source.created_by.username, source.options["columns"]["type"]) == ("manager", "")
    assert list((staging.settings.DATA_DIR / "imports" / str(project.pk)).iterdir()) == []


def test_looking_again_uses_other_columns_and_starts_nothing(manager, project):  # noqa: F811
    place = upload(manager).headers["Location"]
    page = manager.post(place, {**FORM, "column_text": "market", "column_count": "", "look": "1"})
    assert page.status_code == 200
    assert '<th scope="row" dir="auto">en</th>' in text(page)
    assert Job.objects.count() == 0


def test_a_form_sent_twice_imports_once(manager, project):  # noqa: F811
    place = upload(manager).headers["Location"]
    manager.post(place, {**FORM, "start": "1"})
    manager.post(place, {**FORM, "start": "1"})
    assert Job.objects.count() == 1


def test_options_that_make_no_sense_are_said_on_the_page(manager, project):  # noqa: F811
    place = upload(manager).headers["Location"]
    page = manager.post(place, {**FORM, "by": "uniform", "start": "1"})
    assert page.status_code == 422
    assert "A sample has 1 to 1,000,000 queries, not 0." in text(page)
    assert Job.objects.count() == 0


def test_a_stratified_sample_by_quotas(manager, project):  # noqa: F811
    place = upload(manager).headers["Location"]
    manager.post(place, {**FORM, "by": "strata", "quota_head": 1, "quota_torso": 1, "start": "1"})
    runner.run(job_id=Job.objects.get().pk)
    assert sorted(Query.objects.values_list("stratum", flat=True)) == ["head", "torso"]


def test_a_file_that_is_refused_says_why_and_leaves_nothing(manager, project):  # noqa: F811
    place = upload(manager, b"query\nfine\nCaf\xe9\n").headers["Location"]
    assert "Line 3: Byte 4 (0xE9) is not UTF-8" in text(manager.get(place))
    started = manager.post(place, {**FORM, "column_count": "", "strict": "on", "start": "1"})
    runner.run(job_id=Job.objects.get().pk)
    page = text(manager.get(started.headers["Location"]))
    assert "The import did not happen" in page
    assert "log.csv, line 3: Byte 4 (0xE9) is not UTF-8" in page
    assert (Job.objects.get().state, QuerySource.objects.count()) == ("failed", 0)
    assert manager.get(place).status_code == 200


def test_a_file_without_queries_can_be_mapped_after_all(manager, project):  # noqa: F811
    place = upload(manager, b"Suche,Zahl\nwer ist er,2\n").headers["Location"]
    page = manager.get(place)
    assert "no column holds the query" in text(page)
    page = manager.post(place, {**FORM, "column_text": "Suche", "column_count": "Zahl", "start": "1"})
    runner.run(job_id=Job.objects.get().pk)
    assert Query.objects.get().text == "wer ist er"


def test_an_empty_upload_and_none_are_refused(manager, project):  # noqa: F811
    assert upload(manager, b"").status_code == 422
    answer = manager.post("/desk/projects/reading/imports/new/", {})
    assert (answer.status_code, "This field is required" in text(answer)) == (422, True)


def test_an_upload_beyond_the_limit_is_refused(manager, project, monkeypatch):  # noqa: F811
    monkeypatch.setattr(staging, "MOST_BYTES", 10)
    answer = upload(manager)
    assert (answer.status_code, "import-queries" in text(answer)) == (422, True)
    assert list((staging.settings.DATA_DIR / "imports" / str(project.pk)).iterdir()) == []


@pytest.fixture
def places(manager, project):  # noqa: F811
    """Every address, with an upload, a job and a source behind it."""
    preview = upload(manager).headers["Location"]
    running = manager.post(preview, {**FORM, "start": "1"}).headers["Location"]
    runner.run(job_id=Job.objects.get().pk)
    source = manager.get(running).headers["Location"]
    upload_page, preview = "/desk/projects/reading/imports/new/", upload(manager).headers["Location"]
    return [upload_page, preview, running, source, f"{running}live/"]


@pytest.mark.parametrize("who", ["stranger", "worker"])
def test_to_strangers_there_are_no_such_pages(as_, places, who):  # noqa: F811
    assert [as_(who).get(place).status_code for place in places] == [404] * 5
    assert upload(as_(who)).status_code == 404


def test_without_an_account_one_is_asked_to_sign_in(as_, places):  # noqa: F811
    assert [as_("anonymous").get(place).status_code for place in places] == [302] * 5


def test_viewers_see_the_report_without_examples_and_import_nothing(as_, places):  # noqa: F811
    viewer = as_("viewer")
    assert [viewer.get(place).status_code for place in places] == [404, 404, 404, 200, 404]
    assert "www.example.com" not in text(viewer.get(places[3]))
    assert upload(viewer).status_code == 404
    assert viewer.post(places[1], {**FORM, "start": "1"}).status_code == 404


def test_what_belongs_to_another_project_is_not_found(as_, places, people):  # noqa: F811
    from projects.services import create_project

    create_project(slug="other", title="Other", owner=people["owner"])
    elsewhere = [place.replace("/reading/", "/other/") for place in places]
    assert [as_("owner").get(place).status_code for place in elsewhere] == [200, 404, 404, 404, 404]


@pytest.mark.parametrize("sha", ["0" * 64, "..", "%2e%2e%2fsecrets", "A" * 64])
def test_only_uploads_can_be_looked_at(manager, project, sha):  # noqa: F811
    assert manager.get(f"/desk/projects/reading/imports/{sha}/preview/").status_code == 404


def test_hostile_words_are_shown_as_words(manager, project):  # noqa: F811
    cell = '"' + HOSTILE.replace('"', '""') + '"'
    content = f"query,{cell}\n{cell},{cell}\nwww.a.com {HOSTILE[:20]},x\n".encode()
    sent = upload(manager, content, name=f"{HOSTILE[:30].replace('/', '')}.csv")
    place = sent.headers["Location"]
    manager.post(place, {**FORM, "column_count": "", "start": "1"})
    job = Job.objects.get()
    pages = [manager.get(place), manager.get(f"/desk/projects/reading/imports/running/{job.pk}/")]
    runner.run(job_id=job.pk)
    pages.append(manager.get(reverse("annotation:source", args=["reading", QuerySource.objects.get().pk])))
    pages.append(manager.get("/desk/projects/reading/imports/new/"))
    for page in pages:
        assert page.status_code == 200
        assert "<script>alert" not in text(page)
        assert "style=" not in text(page)


def test_chinese_and_arabic_previews(manager, project):  # noqa: F811
    place = upload(manager, "query\n中国最长的河流是什么\nما هي عاصمة مصر؟\n".encode()).headers["Location"]
    page = text(manager.get(place))
    assert 'dir="auto">中国最长的河流是什么</th>' in page
    assert 'dir="auto">ما هي عاصمة مصر؟</th>' in page
