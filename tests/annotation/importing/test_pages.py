"""Imports on the desk: upload, preview, job, report; who may and who may not."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import html
import random
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import Query, QuerySource
from annotation.services import staged_files
from core.jobs import runner
from core.jobs.models import Job
from tests.desk.conftest import HOSTILE, as_, manager, owner, people, project  # noqa: F401
from tests.workbooks import write_workbook

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


def test_upload_look_start_and_report(manager, project):
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
    assert "Starting" in text(manager.get(started.headers["Location"]))
    assert "data-done" not in text(manager.get(live))
    runner.run(job_id=job.pk)
    assert "The import is done." in text(manager.get(live))
    done = manager.get(started.headers["Location"])
    source = QuerySource.objects.get()
    assert done.headers["Location"] == reverse("annotation:source", args=["reading", source.pk])
    report = text(manager.get(done.headers["Location"]))
    assert "address of a page (navigational)" in report
    assert "www.example.com" in report
    assert "Read as: count from count; text from query; utf-8; separated by commas" in report
    assert sorted(Query.objects.values_list("text", "count")) == [("what is it", 2), ("who is he", 3)]
    link = f"/desk/projects/reading/queries/?source={source.pk}"
    assert f'href="{link}"' in report
    assert "who is he" in text(manager.get(link))
    assert (source.created_by.username, source.options["columns"]["type"]) == ("manager", "")
    assert list((staged_files.settings.DATA_DIR / "imports" / str(project.pk)).iterdir()) == []


def test_the_first_look_takes_all_queries_and_another_uses_other_columns_and_starts_nothing(manager, project):
    place = upload(manager).headers["Location"]
    first = manager.get(place)
    form = first.context["form"]
    assert (form["by"].value(), form["size"].value()) == ("all", None)
    group = re.search(r'<fieldset class="[^"]*only-stratified">(.*?)</fieldset>', text(first), re.DOTALL)
    assert group and 'name="quota_head"' in group[1]
    page = manager.post(place, {**FORM, "column_text": "market", "column_count": "", "look": "1"})
    assert page.status_code == 200
    assert '<th scope="row" dir="auto">en</th>' in text(page)
    page = manager.post(place, {**FORM, "by": "uniform", "start": "1"})
    assert page.status_code == 422
    assert "A sample has 1 to 1,000,000 queries, not 0." in text(page)
    assert Job.objects.count() == 0
    sent = {**FORM, "by": "strata", "quota_head": 1, "quota_torso": 1, "start": "1"}
    for _ in range(2):
        manager.post(place, sent)
    runner.run(job_id=Job.objects.get().pk)
    assert sorted(Query.objects.values_list("stratum", flat=True)) == ["head", "torso"]


def test_a_file_that_is_refused_says_why_and_leaves_nothing(manager, project):
    place = upload(manager, b"query\nfine\nCaf\xe9\n").headers["Location"]
    utf_8 = {**FORM, "column_count": "", "encoding": "utf-8"}
    assert "Line 3: <bdi>Byte 4 (0xE9) is not UTF-8" in text(manager.post(place, {**utf_8, "look": "1"}))
    started = manager.post(place, {**utf_8, "strict": "on", "start": "1"})
    runner.run(job_id=Job.objects.get().pk)
    page = text(manager.get(started.headers["Location"]))
    assert "The import failed" in page
    assert "log.csv, line 3: Byte 4 (0xE9) is not UTF-8" in page
    assert (Job.objects.get().state, QuerySource.objects.count()) == ("failed", 0)
    assert manager.get(place).status_code == 200


def test_a_guessed_encoding_is_shown_and_another_one_can_be_chosen(manager, project):
    place = upload(manager, "query\nCafé in Zürich\nOù est-il\n".encode("cp1252")).headers["Location"]
    page = text(manager.get(place))
    assert "Café in Zürich" in page
    assert "Windows-1252 (Western Europe), a guess" in page
    assert re.search(
        r'<select name="encoding"[^>]*>\s*<option value="" selected>find out from the file', page
    )
    other = text(manager.post(place, {**FORM, "column_count": "", "encoding": "cp1251", "look": "1"}))
    assert "Cafй in Zьrich" in other


def test_a_column_that_refuses_every_line_is_named_with_what_to_do(manager, project):
    rows = "".join(f"question {number},Treatment\n" for number in range(30))
    place = upload(manager, f"query,Answer Type\n{rows}".encode()).headers["Location"]
    page = " ".join(html.unescape(text(manager.get(place))).split())
    assert "30</strong> of the 30 lines would be refused; 20 of them are listed" in page
    assert "The column “\u2068Answer Type\u2069”, found by its name, is read as the type" in page
    assert "choose “not in the file” for it" in page
    sent = {**FORM, "column_count": "", "column_type": "Answer Type", "start": "1"}
    started = manager.post(place, sent)
    runner.run(job_id=Job.objects.get().pk)
    report = html.unescape(text(manager.get(started.headers["Location"], follow=True)))
    assert "refuses 30 lines. It takes one of PERSON" in report
    place = upload(manager, f"query,Answer Type\n{rows}".encode()).headers["Location"]
    manager.post(place, {**sent, "column_type": "", "once": "0b6c7c44-6a3e-4b3f-9a2e-0a7a8f7f0002"})
    runner.run(job_id=Job.objects.latest("pk").pk)
    assert Query.objects.count() == 30


def test_noise_is_refused_in_a_sentence_and_nothing_can_be_imported(manager, project):
    noise = random.Random(3).randbytes(20_000)
    for content in (noise, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + noise):
        page = text(manager.get(upload(manager, content, name="picture.png").headers["Location"]))
        assert "picture.png is no text but binary data" in page
        assert '<button name="start" value="1" disabled>' in page
        assert page.count('role="alert"') == 1


def test_a_workbook_is_imported_from_the_sheet_that_is_chosen(manager, project, tmp_path):
    sheets = {"Queries": [["query", "count"], ["who is he", 3]], "More": [["query"], ["wo ist sie"]]}
    content = write_workbook(tmp_path / "log.xlsx", sheets).read_bytes()
    place = upload(manager, content, name="log.xlsx").headers["Location"]
    page = html.unescape(text(manager.get(place)))
    assert "a workbook, sheet 'Queries', with a header" in page
    sent = {**FORM, "column_count": "", "sheet": "More"}
    assert "wo ist sie" in text(manager.post(place, {**sent, "look": "1"}))
    manager.post(place, {**sent, "start": "1"})
    runner.run(job_id=Job.objects.get().pk)
    query = Query.objects.get()
    assert (query.text, query.line, query.source.format) == ("wo ist sie", 2, "xlsx")


def test_another_sheet_and_a_row_of_names_have_their_columns_in_one_round(manager, project, tmp_path):
    def chosen(page, name="text"):
        found = re.search(rf'<select name="column_{name}".*?</select>', text(page), re.DOTALL)
        return re.search(r'<option value="([^"]*)" selected', found[0])[1] if found else None

    def sent(page, **more):
        return {
            **FORM,
            **{name: page.context["form"][name].value() or "" for name in ("offered", "header_row")},
            "column_count": "",
            "column_text": chosen(page) or "",
            **more,
        }

    bare = [["7", "who is he"]]
    titled = {1: ["Questions of the lab"], 3: ["number", "Frage", "question"], 4: ["1", "a", "wo ist sie"]}
    content = write_workbook(tmp_path / "log.xlsx", {"Bare": bare, "Titled": titled}).read_bytes()
    place = upload(manager, content, name="log.xlsx").headers["Location"]
    first = manager.get(place)
    assert chosen(first) == "2"
    page = manager.post(place, sent(first, sheet="Titled", header_row="3", look="1"))
    assert (page.status_code, chosen(page)) == (200, "question")
    assert [each.text for each in page.context["found"].records] == ["wo ist sie"]
    unseen = manager.post(place, sent(first, sheet="Titled", header_row="3", start="1"))
    assert "The columns have changed. Check them, then import." in text(unseen)
    assert not Job.objects.exists()
    manager.post(place, sent(page, sheet="Titled", header_row="3", start="1"))
    runner.run(job_id=Job.objects.get().pk)
    query = Query.objects.get()
    assert (query.text, query.line, query.source.report["read_as"]["header_row"]) == ("wo ist sie", 4, 3)
    content = write_workbook(tmp_path / "titled.xlsx", {"Titled": titled, "Bare": bare}).read_bytes()
    place = upload(manager, content, name="titled.xlsx").headers["Location"]
    assert 'name="sheet"' in text(manager.get(place)), "also where its first sheet cannot be read"


def test_a_file_without_queries_can_be_mapped_after_all(manager, project):
    place = upload(manager, b"Suche,Zahl\nwer ist er,2\n").headers["Location"]
    page = manager.get(place)
    assert "no column holds the query" in text(page)
    page = manager.post(place, {**FORM, "column_text": "Suche", "column_count": "Zahl", "start": "1"})
    runner.run(job_id=Job.objects.get().pk)
    assert Query.objects.get().text == "wer ist er"


def test_an_empty_upload_none_and_one_beyond_the_limit_are_refused(manager, project, monkeypatch):
    assert upload(manager, b"").status_code == 422
    answer = manager.post("/desk/projects/reading/imports/new/", {})
    assert (answer.status_code, "This field is required" in text(answer)) == (422, True)
    monkeypatch.setattr(staged_files, "MOST_BYTES", 10)
    answer = upload(manager)
    assert (answer.status_code, "import-queries" in text(answer)) == (422, True)
    assert list((staged_files.settings.DATA_DIR / "imports" / str(project.pk)).iterdir()) == []


def test_viewers_see_the_report_without_examples_and_only_uploads_can_be_looked_at(as_, manager, project):
    place = upload(manager).headers["Location"]
    running = manager.post(place, {**FORM, "start": "1"}).headers["Location"]
    runner.run(job_id=Job.objects.get().pk)
    report = as_("viewer").get(manager.get(running).headers["Location"])
    assert (report.status_code, "www.example.com" in text(report)) == (200, False)
    assert upload(as_("viewer")).status_code == 404
    for sha in ("0" * 64, "..", "%2e%2e%2fsecrets", "A" * 64):
        assert manager.get(f"/desk/projects/reading/imports/{sha}/preview/").status_code == 404


def test_hostile_words_are_shown_as_words(manager, project):
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
