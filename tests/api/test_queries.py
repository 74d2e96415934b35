"""Queries, corpora and answers by the API: a file on its way in, decisions, lists, lines."""

import json

import pytest
from django.contrib.auth.models import User

from annotation.models import Answer, Query
from annotation.services.query_answers import compute_flags
from core.jobs import runner
from core.projects.models import Event
from core.projects.selectors import pseudonym
from core.projects.services import create_project
from tests.annotation import distilling
from tests.api.conftest import is_problem, program_of

LOG = b"query,id,count\nboiling point of water,q1,5\ncapital of italy,q2,3\n,q3,1\n"
PASSAGES = b"id,text\np1,Water boils at 100 degrees at sea level.\np2,Rome is the capital of Italy.\n"


def upload(program, name, content, *, status=200):
    answer = program.ask("PUT", f"/projects/tea/uploads?name={name}", content)
    assert answer.status_code == status, answer.content
    return answer.json().get("sha256", "")


@pytest.fixture
def imported(program):
    """Two queries of a log, imported by a job."""
    given = {"upload": upload(program, "log.csv", LOG), "start_at": "curation"}
    job = program.post("/projects/tea/query-imports", given)
    assert job.status_code == 202, job.content
    runner.run(job_id=job.json()["job"])
    return program


def test_a_log_is_imported_by_a_job_and_its_queries_come_in_pages_and_as_lines(imported, project):
    viewer = program_of(User.objects.get(username="viewer"))
    (mine,), (theirs,) = (
        each.get("/projects/tea/query-imports").json()["items"] for each in (imported, viewer)
    )
    assert mine["report"]["stored"] == 2
    assert imported.get(f"/projects/tea/query-imports/{mine['id']}").json() == mine
    # Texts of a refused line are for managers.
    assert "refusals" in mine["report"] and "refusals" not in theirs["report"]
    assert mine["report"]["refused"] == theirs["report"]["refused"]
    first = imported.get("/projects/tea/queries?limit=1").json()
    second = imported.get(f"/projects/tea/queries?limit=1&cursor={first['next']}").json()
    assert [row["key"] for row in (*first["items"], *second["items"])] == ["q1", "q2"]
    assert second["next"] is None
    rows = imported.lines("/projects/tea/queries")
    assert rows == [*first["items"], *second["items"]]
    assert [row["key"] for row in imported.lines("/projects/tea/queries?q=italy")] == ["q2"]


def test_a_refused_file_names_the_reason_and_stores_nothing(program):
    is_problem(program.ask("PUT", "/projects/tea/uploads?name=a.csv", b""), 422, "import_refused")
    unknown = {"upload": "0" * 64}
    is_problem(program.post("/projects/tea/query-imports", unknown), 404, "not_found")
    given = {"upload": upload(program, "log.csv", LOG), "design": {"by": "uniform", "size": 0}}
    problem = is_problem(program.post("/projects/tea/query-imports", given), 422, "import_refused")
    assert "A sample has 1 to" in problem["detail"]
    assert Query.objects.count() == 0


def test_queries_are_decided_about_by_hand(imported):
    first, second = (row["id"] for row in imported.get("/projects/tea/queries").json()["items"])
    sent = {"ids": [first, second, 10**9], "decision": "exclude", "reason": "Off topic."}
    assert imported.post("/projects/tea/queries/decisions", sent).json() == {"done": 2, "refused": []}
    again = imported.post("/projects/tea/queries/decisions", sent).json()
    assert (again["done"], len(again["refused"])) == (0, 2)
    back = {**sent, "decision": "take_back"}
    assert imported.post("/projects/tea/queries/decisions", back).json()["done"] == 2
    out = {"ids": [first], "decision": "withdraw", "reason": "A copy."}
    assert imported.post("/projects/tea/queries/decisions", out).json()["done"] == 1
    found = imported.get(f"/projects/tea/queries/{first}").json()
    assert (found["status"], found["steps"][-1]["actor"]) == ("withdrawn", "olga")
    again = imported.post("/projects/tea/queries/decisions", out).json()["refused"]
    assert [row["why"] for row in again] == ["This query is taken out already."]
    assert (
        imported.post("/projects/tea/queries/decisions", out | {"decision": "put_back"}).json()["done"] == 1
    )
    assert imported.get(f"/projects/tea/queries/{first}").json()["status"] == "accepted"
    assert Event.objects.filter(action="query.withdrawn", via="api").count() == 1


def test_a_corpus_is_made_indexed_and_searched(program):
    given = {"upload": upload(program, "facts.csv", PASSAGES), "slug": "facts", "title": "Facts"}
    made = program.post("/projects/tea/corpora", given)
    assert made.status_code == 202, made.content
    runner.run(job_id=made.json()["job"])
    runner.run(job_id=program.post("/projects/tea/corpora/facts/index").json()["job"])
    corpus = program.get("/projects/tea/corpora/facts").json()
    assert (corpus["passages"], corpus["index"]["state"]) == (2, "ready")
    found = program.post("/projects/tea/search", {"questions": ["capital of Italy"]}).json()
    assert found["results"][0]["id"] == "p2"
    problem = is_problem(
        program.post("/projects/tea/search", {"questions": ["capital"], "corpora": ["none"]}), 422, "invalid"
    )
    assert "corpora" in problem["errors"]


def test_answers_are_listed_with_pseudonyms_and_decided(owner):
    project = create_project(slug="reading", title="Reading", owner=owner, budget_cents=100_000)
    stage = distilling.make_stage(project)
    query = distilling.make_query(project)
    for worker in ("AROSA", "ABERT"):
        distilling.write(stage, query, f"It takes nine years, says {worker}.", worker=worker)
    compute_flags(stage, [query.pk])
    program, place = program_of(owner), f"/projects/reading/stages/{stage.slug}/answers"
    found = program.get(place).json()["items"]
    assert {row["worker"] for row in found} == {pseudonym(project, name) for name in ("AROSA", "ABERT")}
    assert "AROSA" not in json.dumps([{**row, "text": ""} for row in found])
    assert program.lines(f"{place}") == found
    sent = {"ids": [found[0]["id"], 10**9], "action": "exclude"}
    is_problem(program.post(f"{place}/decisions", sent), 422, "invalid")
    outcome = program.post(f"{place}/decisions", sent | {"reason": "Copied."}).json()
    assert outcome["done"] == [found[0]["id"]] and outcome["refused"][0]["id"] == 10**9
    assert Answer.objects.get(pk=found[0]["id"]).state == "excluded"
    assert [row["state"] for row in program.get(f"{place}?state=excluded").json()["items"]] == ["excluded"]
