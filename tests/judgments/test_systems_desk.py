"""The pages of a project's systems: who sees them, what they show, what they do, and uploads."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from core.jobs.models import Job
from core.jobs.runner import run
from core.projects.models import Event
from core.projects.services import create_project
from crowd.models import Worker
from judgments.models import Candidate, CandidateSource, FilterRun, Judgment, Score, System
from judgments.selectors.candidates import AnswerScore, load_answer_scores
from tests.annotation.world import make_stage
from tests.desk.conftest import HOSTILE, as_, endpoint, manager, people, project, stage  # noqa: F401
from tests.judgments.candidates_world import judge, make_candidate, make_query, make_system
from tests.saving import messages_of
from tests.workbooks import write_workbook

pytestmark = pytest.mark.django_db
HOME = "/desk/projects/reading/systems/"


@pytest.fixture(autouse=True)
def data_dir(settings, tmp_path):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def system(project):
    return make_system(project)


@pytest.fixture
def oak(project):
    return make_query(project, "How old is oak", "It is old.", key="q1")


def at(name, *numbers):
    return reverse(f"judgments:{name}", args=["reading", *numbers])


def texts(answer):
    return [candidate.text for candidate, _ in answer.context["rows"]]


def score(candidate, mean, state="in force"):
    stage = candidate.judgments.first().stage
    run, _ = FilterRun.objects.get_or_create(
        stage=stage, state=state,
        defaults={"recipe": "none", "parameters": {}, "last_judgment": 0, "created_at": candidate.created_at},
    )  # fmt: skip
    Score.objects.create(run=run, candidate=candidate, n_raw=1, n_kept=1, mean=mean)


# Who may what


def test_every_page_is_for_members_and_every_change_for_managers(as_, system, oak):
    candidate = make_candidate(system, oak)
    source = CandidateSource.objects.create(
        project=system.project, name="a.csv", format="csv", sha256="0" * 64, created_at=system.created_at
    )
    pages = [
        HOME, at("system", system.pk), at("system_csv", system.pk), at("candidate", candidate.pk),
        at("source", source.pk),
    ]  # fmt: skip
    changes = [
        at("human"), at("refresh_exact"), at("keep_copies", system.pk), at("take_out", candidate.pk),
        at("put_back", candidate.pk),
    ]  # fmt: skip
    for name, sees, does in (("stranger", 404, 404), ("viewer", 200, 404), ("manager", 200, 302)):
        client = as_(name)
        assert {client.get(page).status_code for page in pages} == {sees}
        assert {client.post(page, {"reason": "Why."}).status_code for page in changes} == {does}
        assert client.get(at("import_new")).status_code == (200 if name == "manager" else 404)
    assert as_("manager").get(changes[0]).status_code == 405


def test_other_projects_systems_are_not_found(manager, project):
    other = create_project(slug="other", title="Other")
    system = make_system(other)
    candidate = make_candidate(system, make_query(other))
    for name, number in (("system", system.pk), ("system_csv", system.pk), ("candidate", candidate.pk)):
        assert manager.get(at(name, number)).status_code == 404
    assert manager.post(at("take_out", candidate.pk), {"reason": "x"}).status_code == 404


def test_a_viewer_sees_no_forms(as_, system, oak):
    candidate = make_candidate(system, oak, "It is old.", aside="exact")
    for page in (HOME, at("system", system.pk), at("candidate", candidate.pk)):
        main = as_("viewer").get(page).content.decode().split("<main")[1]
        # A viewer, too, keeps views of lists.
        assert main.count("csrfmiddlewaretoken") == main.count('id="saved-views"')


def test_an_answers_page_has_each_stages_figures_with_the_comments(manager, project, system, oak):
    candidate = make_candidate(system, oak, "It is old.")
    first, second = make_stage("screening", project), make_stage("screening", project)
    for mark in (5, 5):
        judge(candidate, mark, first)
    score(candidate, 5.0)
    run = FilterRun.objects.create(
        stage=second,
        state="in force",
        recipe="none",
        parameters={},
        last_judgment=0,
        created_at=candidate.created_at,
    )
    Score.objects.create(run=run, candidate=candidate, n_raw=3, n_kept=2, mean=3.5)
    for mark in (4, 3, 1):
        judge(candidate, mark, second)
    Judgment.objects.filter(score=1).update(comment="Not what was asked.")
    assert load_answer_scores([candidate.pk]) == {candidate.pk: AnswerScore(3, 3.5, False, 2)}
    place = at("candidate", candidate.pk)
    page = " ".join(manager.get(place).content.decode().split())
    assert "Not what was asked." in page
    assert "All 3 judgments</dt> <dd>mean 2.67" in page
    assert "The 2 that the filters keep</dt> <dd>mean 3.50" in page
    assert manager.get(place).context["by_stage"].scores == [(1, 1), (2, 0), (3, 1), (4, 1), (5, 0)]
    page = " ".join(manager.get(f"{place}?stage={first.slug}").content.decode().split())
    assert "Not what was asked." not in page
    assert "All 2 judgments</dt> <dd>mean 5.00" in page
    assert "The 1 that the filters keep</dt> <dd>mean 5.00" in page


# The table


def test_the_table_counts_answers_by_what_became_of_them(manager, project):
    assert "No answers yet" in manager.get(HOME).content.decode()
    system = make_system(project)
    for number, aside in enumerate(["", "", "exact", "empty", "withdrawn"]):
        make_candidate(system, make_query(project, f"query {number}"), f"A{number}", aside=aside)
    first = Candidate.objects.order_by("pk").first()
    judge(first)
    score(first, 3.5)
    make_system(project, "human", kind="human")
    page = manager.get(HOME)
    counts, people = sorted(page.context["rows"], key=lambda each: each.system.name == "human")
    assert (counts.answers, counts.to_judge, counts.exact, counts.judged, counts.mean) == (5, 2, 1, 1, 3.5)
    assert people.system.name == "human"
    assert "3.50" in page.content.decode() and ">people<" in page.content.decode()


@pytest.mark.long
def test_pages_ask_as_many_questions_for_much_as_for_little(manager, project):
    def fill(count):
        for _ in range(count):
            system = make_system(project, f"system {System.objects.count()}")
            candidate = make_candidate(system, make_query(project, f"query {System.objects.count()}"))
            judge(candidate)
            last = candidate
        return last.system

    first = fill(2)
    with CaptureQueriesContext(connection) as few:
        manager.get(HOME)
        manager.get(at("system", first.pk))
    fill(10)
    for number in range(20):
        judge(make_candidate(first, make_query(project, f"another {number}")))
    with CaptureQueriesContext(connection) as many:
        manager.get(HOME)
        manager.get(at("system", first.pk))
    assert len(many) == len(few) <= 27


# One system


def test_the_address_filters_and_sorts_answers(manager, project, system, oak, subtests):
    make_candidate(system, oak, "Very old.")
    rome = make_candidate(system, make_query(project, "capital of italy"), "Rome.")
    make_candidate(system, make_query(project, "a"), "", aside="empty")
    make_candidate(system, make_query(project, "b"), "Gone.", aside="withdrawn")
    make_candidate(system, make_query(project, "c", status="withdrawn"), "Late.")
    judge(rome)
    score(rome, 4.0)
    for asked, expected in (
        ("", ["Very old.", "Rome.", "", "Gone.", "Late."]),
        ("?state=judge", ["Very old.", "Rome."]),
        ("?state=judged", ["Rome."]),
        ("?state=unjudged", ["Very old."]),
        ("?state=empty", [""]),
        ("?state=withdrawn", ["Gone."]),
        ("?state=out", ["Late."]),
        ("?q=ROME", ["Rome."]),
        ("?q=how+old", ["Very old."]),
        ("?q=q1", ["Very old."]),
        ("?order=judged", ["Rome.", "Very old.", "", "Gone.", "Late."]),
        ("?order=best", ["Rome.", "Very old.", "", "Gone.", "Late."]),
        ("?order=text", ["", "Gone.", "Late.", "Rome.", "Very old."]),
        ("?state=nonsense&order=x&page=x&q=%00", ["Very old.", "Rome.", "", "Gone.", "Late."]),
        ("?q=nothing", []),
    ):
        with subtests.test(asked=asked):
            assert texts(manager.get(at("system", system.pk) + asked)) == expected


def test_answers_are_paged(manager, project, system):
    for number in range(30):
        make_candidate(system, make_query(project, f"query {number}"), f"A{number}")
    page = manager.get(at("system", system.pk) + "?state=judge&page=2")
    assert len(texts(page)) == 5
    assert "Page 2 of 2" in page.content.decode() and "?state=judge&amp;page=1" in page.content.decode()


def test_all_copies_are_put_back_with_a_reason(manager, system, oak):
    make_candidate(system, oak, "It is old.", aside="exact")
    assert messages_of(manager.post(at("keep_copies", system.pk), {"reason": ""}, follow=True))[0].startswith(
        "Why:"
    )
    answer = manager.post(at("keep_copies", system.pk), {"reason": "We want them."}, follow=True)
    assert messages_of(answer) == ["1 answer put back: people judge them."]
    assert Candidate.objects.get().kept


# The download


def rows_of(answer):
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode(), newline="")))


def test_the_download_has_the_filtered_answers_with_what_people_said(manager, project, system, oak):
    candidate = make_candidate(system, oak, 'say "hi",\nthere', opinion="Yes")
    make_candidate(
        system, make_query(project, "b"), "Gone.", aside="withdrawn", aside_reason="Names a child."
    )
    judge(candidate)
    score(candidate, 2.5)
    for is_simulated in (False, True):
        Worker.objects.update(simulated=is_simulated)
        (row,) = rows_of(manager.get(at("system_csv", system.pk) + "?state=judge"))
        assert row["answer"] == 'say "hi",\nthere'
        assert (row["query_id"], row["system"], row["judgments"], row["mean"]) == (
            "q1",
            "copynet",
            "1",
            "2.5",
        )
        assert row["simulated"] == str(is_simulated).lower()


def test_no_cell_of_the_download_is_a_formula(manager, project):
    for at_row, first in enumerate(("=", "+", "-", "@", "\t", "\r")):
        text = f"{first}HYPERLINK({at_row})"
        system = make_system(project, text)
        query = make_query(project, text, key=text)
        make_candidate(system, query, text, aside="withdrawn", aside_reason=text)
        (row,) = rows_of(manager.get(at("system_csv", system.pk)))
        names = ("query_id", "query", "system", "answer", "reason")
        assert {row[name] for name in names} == {f"'{text}"}, first


# One answer


def test_an_answer_is_shown_with_its_references_and_taken_out_and_put_back(manager, people, system, oak):
    candidate = make_candidate(
        system, oak, "Very old.", opinion="Depends", entities=[{"start": 5, "end": 8, "text": "old"}]
    )
    page = manager.get(at("candidate", candidate.pk)).content.decode()
    for words in ("Very old.", "It is old.", "depends", "How old is oak", "<bdi>old</bdi>"):
        assert words in page, words
    answer = manager.post(at("take_out", candidate.pk), {"reason": "Names a child."}, follow=True)
    assert messages_of(answer)[0].startswith("Taken out.")
    assert "Names a child." in answer.content.decode()
    answer = manager.post(at("put_back", candidate.pk), {"reason": "It does not."}, follow=True)
    assert messages_of(answer) == ["Put back: people judge it."]
    assert list(
        Event.objects.filter(action__startswith="candidate.")
        .order_by("pk")
        .values_list("actor__username", "action")
    ) == [("manager", "candidate.withdrawn"), ("manager", "candidate.put_back")]
    assert messages_of(manager.post(at("put_back", candidate.pk), {"reason": "x"}, follow=True)) == [
        "This answer is judged already."
    ]


def test_hostile_words_are_shown_as_words(manager, project):
    long = HOSTILE + "x" * 10_000
    query = make_query(project, long, HOSTILE, key=HOSTILE)
    system = make_system(project, HOSTILE)
    candidate = make_candidate(
        system, query, long, aside="withdrawn", aside_reason=HOSTILE,
        entities=[{"start": 0, "end": 1, "text": HOSTILE}],
    )  # fmt: skip
    source = CandidateSource.objects.create(
        project=project, name=HOSTILE, format="csv", sha256="0" * 64, created_at=system.created_at,
        report={
            "file": HOSTILE, "format_words": HOSTILE, "unit": HOSTILE, "records": 1, "refused": 1,
            "rules": {"new": {"words": "new", "count": 1, "examples": [{"line": 1, "text": HOSTILE}]}},
            "refusals": [{"line": 1, "field": HOSTILE, "reason": HOSTILE, "remedy": HOSTILE}],
            "systems": {HOSTILE: {"new": 1}},
        },
    )  # fmt: skip
    Candidate.objects.update(source=source)
    for place in (
        HOME, at("system", system.pk), at("system", system.pk) + "?q=%3Cscript%3Ealert",
        at("candidate", candidate.pk), at("source", source.pk),
    ):  # fmt: skip
        page = manager.get(place).content.decode()
        assert "<script>alert" not in page, place
        assert "style=" not in page and "onclick" not in page, place


# Buttons


def test_buttons_of_the_page_say_what_they_did(manager, system, oak):
    make_candidate(system, oak, "It is old.")
    assert messages_of(manager.post(at("refresh_exact"), follow=True)) == [
        "1 answer set aside: the same as a reference."
    ]
    assert messages_of(manager.post(at("refresh_exact"), follow=True))[0].startswith("No answer")
    assert messages_of(manager.post(at("human"), follow=True))[0].startswith("Nothing has changed")


# Uploads


def upload(client, content, name="answers.csv"):
    file = SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)
    return client.post(at("import_new"), {"file": file})


def fields_of(page):
    """The form of a preview as a browser sends it back."""
    form = page.context["form"]
    values = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in values.items() if value not in (None, False)}


CSV = "frage,antwort\nHow old is oak,Very old.\nwho is Rex,A dog.\n"


def test_a_file_is_uploaded_looked_at_mapped_and_imported_by_a_job(manager, oak, people):
    place = upload(manager, CSV).headers["Location"]
    page = manager.get(place)
    assert "Nothing holds the answer" in page.content.decode()
    given = {**fields_of(page), "column_query": "frage", "column_text": "antwort", "system": "copynet"}
    looked = manager.post(place, {**given, "look": "1"})
    assert [row.text for row in looked.context["found"].rows] == ["Very old.", "A dog."]
    assert not Job.objects.exists()
    started = manager.post(place, {**given, "start": "1"})
    assert manager.post(place, {**given, "start": "1"}).headers["Location"] == started.headers["Location"]
    job = Job.objects.get()
    assert "Starting" in manager.get(started.headers["Location"]).content.decode()
    run(job_id=job.pk)
    source = CandidateSource.objects.get()
    report = manager.get(started.headers["Location"], follow=True)
    assert report.redirect_chain[-1][0] == at("source", source.pk)
    assert "neither as id nor as text" in report.content.decode()
    assert list(Candidate.objects.values_list("system__name", "text", "line")) == [
        ("copynet", "Very old.", 2)
    ]
    assert source.created_by == people["manager"]
    assert manager.get(place).status_code == 404


def test_the_page_offers_the_sheets_and_a_row_of_names(manager, oak, tmp_path):
    rows = {1: ["May"], 3: ["query_id", "system", "answer"], 4: ["q1", "one", "Very old."]}
    path = write_workbook(tmp_path / "a.xlsx", {"About": [["note"]], "May": rows})
    place = upload(manager, path.read_bytes(), name="a.xlsx").headers["Location"]
    given = {**fields_of(manager.get(place)), "sheet": "May", "header_row": "3"}
    page = manager.post(place, {**given, "look": "1"})
    assert [row.text for row in page.context["found"].rows] == ["Very old."]
    manager.post(place, {**fields_of(page), "start": "1"})
    run(job_id=Job.objects.get().pk)
    assert Candidate.objects.get().text == "Very old."


def test_columns_with_a_system_each_are_named_on_the_page(manager, oak):
    place = upload(manager, "query_id,BM25,GPT\nq1,Old.,Very old.\n").headers["Location"]
    page = manager.get(place)
    assert "or which of them have the answers of a system each" in page.content.decode()
    manager.post(place, {**fields_of(page), "systems_from": "BM25, GPT", "start": "1"})
    run(job_id=Job.objects.get().pk)
    assert set(Candidate.objects.values_list("system__name", "text")) == {
        ("BM25", "Old."),
        ("GPT", "Very old."),
    }
    report = manager.get(at("source", CandidateSource.objects.get().pk)).content.decode()
    assert "Rows of the file: 1, each with an answer of 2 systems." in report


def test_a_file_with_nothing_new_reports_so(manager, system, oak):
    make_candidate(system, oak, "Old.")
    place = upload(manager, "query_id,system,answer\nq1,copynet,Old.\n").headers["Location"]
    started = manager.post(place, {**fields_of(manager.get(place)), "start": "1"})
    run(job_id=Job.objects.get().pk)
    page = manager.get(started.headers["Location"])
    assert "nothing new" in page.content.decode()
    assert "Read as: system from system; query_id from query_id; text from answer" in page.content.decode()
    assert not CandidateSource.objects.exists()


def test_a_refused_file_says_why_and_offers_other_options(manager, oak):
    place = upload(manager, "query_id,system,answer\nq1,one,Old.\nq7,one,Old.\n").headers["Location"]
    given = {**fields_of(manager.get(place)), "strict": "on", "start": "1"}
    started = manager.post(place, given)
    run(job_id=Job.objects.get().pk)
    page = manager.get(started.headers["Location"]).content.decode()
    assert "line 3, query_id" in page and place in page
    assert not Candidate.objects.exists()


def test_uploads_that_are_empty_or_of_another_project_are_refused_and_their_jobs_not_found(manager, project):
    answer = upload(manager, b"")
    assert answer.status_code == 422
    assert manager.get(at("import_preview", "0" * 64)).status_code == 404
    assert manager.get(at("import_preview", "x")).status_code == 404
    other = Job.objects.create(kind="judgments.import", payload={"project": project.pk + 1})
    assert manager.get(at("import_job", other.pk)).status_code == 404
    assert manager.get(at("import_live", other.pk)).status_code == 404


def test_a_table_without_a_header_is_mapped_by_numbers(manager, oak):
    place = upload(manager, "q1,Very old.\n").headers["Location"]
    given = {**fields_of(manager.get(place)), "no_header": "on", "system": "one"}
    looked = manager.post(place, {**given, "look": "1"})
    assert list(dict(looked.context["form"].fields["column_text"].choices)) == ["", "1", "2"]
    given |= {"offered": looked.context["form"]["offered"].value()}
    given |= {"column_query_id": "1", "column_text": "2"}
    assert [row.text for row in manager.post(place, given).context["found"].rows] == ["Very old."]
