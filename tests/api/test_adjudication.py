"""Adjudication and curation by the API: what waits for a person, decisions, and taking them back."""

import json

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import CuratedSet, Doubt, Query, QueryStep
from annotation.services.steps import move
from core.jobs import runner
from core.projects.models import Event
from core.projects.selectors import pseudonym
from tests.annotation.world import make_candidates, make_query, make_stage, make_work, select, status, vote
from tests.api.conftest import is_problem, program_of

pytestmark = pytest.mark.django_db
PLACE = "/projects/tea/adjudication"


@pytest.fixture
def screening(project):
    return make_stage("screening", project, redundancy=2)


@pytest.fixture
def curation(project):
    return make_stage("curation", project, redundancy=2)


@pytest.fixture
def tied(screening):
    """Two votes, one each way; a third does not count."""
    query = make_query(screening.project, "mercury", context=[{"text": "planets"}])
    vote(screening, query, work=make_work(screening, "AROSA"))
    vote(screening, query, unambiguous=False)
    vote(screening, query, work=make_work(screening, state="rejected"))
    move(query=query, to=Query.Status.TIED, reason="1 of 2: fit to be answered", stage=screening)
    return query


@pytest.fixture
def disputed(curation):
    query = make_query(curation.project, "boiling point", status="accepted")
    make_candidates(query, "It is 100 °C.", "It is 90 °C.", "Water is wet.")
    select(curation, query, "p1", conflicts=[{"a": "p1", "b": "p2", "trusted": "p1"}])
    select(curation, query, "p2", highlights=[{"passage": "p2", "start": 6, "end": 11}])
    move(query=query, to=Query.Status.DISPUTED, reason="Each chose another", stage=curation)
    return query


@pytest.fixture
def doubted(screening):
    """Accepted, and curated since, but a vote does not count any more."""
    query = make_query(screening.project, "capital of italy", status="curated")
    Doubt.objects.create(
        query=query, stage=screening, why="Rejected.", says="1 of 2 votes count", raised_at=timezone.now()
    )
    return query


def decide(program, query, decision, **more):
    return program.post(f"{PLACE}/{query.pk}/decide", {"decision": decision, **more})


def undo(program, query, reason="A slip."):
    return decide(program, query, "undo", reason=reason)


def test_what_waits_is_listed_by_reason_and_as_lines(program, tied, disputed, doubted):
    every = program.get(PLACE).json()["items"]
    assert [(row["key"], row["waiting"]) for row in every] == [
        (tied.key, "tied"),
        (disputed.key, "disputed"),
        (doubted.key, "doubt"),
    ]
    assert (every[0]["why"], every[2]["why"]) == ("1 of 2: fit to be answered", "Rejected.")
    assert program.lines(f"{PLACE}") == every
    assert program.get(f"{PLACE}?waiting=disputed").json()["items"] == [every[1]]
    first = program.get(f"{PLACE}?limit=1").json()
    rest = program.get(f"{PLACE}?cursor={first['next']}").json()
    assert [*first["items"], *rest["items"]] == every
    queues = {row["name"]: row["count"] for row in program.get("/projects/tea/queues").json()["items"]}
    assert (queues["tied"], queues["disputed"], queues["doubt"]) == (1, 1, 1)


def test_a_case_has_all_votes_and_names_no_worker(program, project, tied):
    found = program.get(f"{PLACE}/{tied.pk}").json()
    assert (found["context"], found["can_be_undone"], found["passages"]) == ([{"text": "planets"}], False, [])
    assert [(each["unambiguous"], each["counts"]) for each in found["votes"]] == [
        (True, True), (False, True), (True, False),
    ]  # fmt: skip
    assert found["votes"][0]["worker"] == pseudonym(project, "AROSA")
    assert "AROSA" not in json.dumps(found)


def test_a_tied_query_is_accepted_once_and_the_decision_undone(program, tied):
    problem = is_problem(decide(program, tied, "exclude", reason=" "), 422, "invalid")
    assert list(problem["errors"]) == ["reason"] and status(tied) == "tied"
    sent = {"decision": "accept", "reason": "The metal."}
    first, second = (program.post(f"{PLACE}/{tied.pk}/decide", sent, key="k1") for _ in range(2))
    made = first.json()
    assert made == second.json() and second.headers["Idempotency-Replayed"] == "true"
    assert QueryStep.objects.filter(query=tied, after="accepted").count() == 1
    assert (made["status"], made["waiting"], made["can_be_undone"]) == ("accepted", None, True)
    is_problem(decide(program, tied, "accept"), 409, "query_state")
    back = undo(program, tied).json()
    assert (back["status"], back["waiting"], back["can_be_undone"]) == ("tied", "tied", False)
    is_problem(undo(program, tied), 422, "refused")
    assert [(each.action, each.via) for each in Event.objects.filter(subject=tied.key).order_by("pk")] == [
        ("query.adjudicated", "api"),
        ("query.taken_back", "api"),
    ]
    assert decide(program, tied, "exclude", reason="Two meanings.").json()["why"] == "Two meanings."


def test_a_dispute_is_settled_by_keys_of_passages_and_reopened(program, curation, disputed):
    case = program.get(f"{PLACE}/{disputed.pk}").json()
    assert [(row["key"], row["chosen_by"], row["highlights"]) for row in case["passages"]] == [
        ("p1", [0], []), ("p2", [1], ["90 °C"]), ("p3", [], []),
    ]  # fmt: skip
    assert case["selections"][0]["conflicts"] == [{"a": "p1", "b": "p2", "trusted": "p1"}]
    for passages in ([], ["p9"]):
        problem = is_problem(decide(program, disputed, "curate", passages=passages), 422, "invalid")
        assert list(problem["errors"]) == ["passages"]
    made = decide(program, disputed, "curate", passages=["p3", "p1", "p3"], reason="Measured.").json()
    assert (made["status"], made["curated"], made["can_be_undone"]) == ("curated", ["p1", "p3"], True)
    (line,) = program.lines("/projects/tea/curated.jsonl")
    assert (line["query_key"], line["rule"], line["decided_by"], line["stage"]) == (
        disputed.key, "person", "olga", curation.slug,
    )  # fmt: skip
    assert [each["text"] for each in line["passages"]] == ["It is 100 °C.", "Water is wet."]
    back = undo(program, disputed).json()
    assert (back["status"], back["waiting"], back["curated"]) == ("disputed", "disputed", [])
    assert not CuratedSet.objects.exists()
    assert QueryStep.objects.filter(query=disputed).latest("pk").stage == curation
    assert decide(program, disputed, "unanswerable", reason="All guess.").json()["status"] == "unanswerable"
    bulk = {"ids": [disputed.pk], "decision": "take_back", "reason": "One does not."}
    assert program.post("/projects/tea/queries/decisions", bulk).json() == {"done": 1, "refused": []}
    assert status(disputed) == "disputed"


def test_a_decision_on_which_later_work_was_built_stays(program, project, disputed):
    decide(program, disputed, "curate", passages=["p1"])
    writing = make_stage("distillation", project)
    work = make_work(writing)
    disputed.answers.create(
        stage=writing, assignment=work, worker=work.worker, text="100 °C", created_at=timezone.now()
    )
    problem = is_problem(undo(program, disputed), 422, "refused")
    assert "1 answer" in problem["detail"]
    assert CuratedSet.objects.filter(query=disputed).exists()


def test_what_the_rule_decided_is_not_a_persons_to_take_back(program, curation):
    query = make_query(curation.project, status="accepted")
    move(query=query, to=Query.Status.UNANSWERABLE, reason="2 of 2", stage=curation)
    is_problem(undo(program, query), 422, "refused")
    assert status(query) == "unanswerable"


def test_a_doubt_is_settled(program, doubted):
    (doubt,) = program.get(f"{PLACE}/{doubted.pk}").json()["doubts"]
    assert (doubt["says"], doubt["answers"]) == ("1 of 2 votes count", 0)
    is_problem(decide(program, doubted, "keep"), 422, "invalid")
    is_problem(decide(program, doubted, "keep", doubt=doubt["id"] + 1, reason="Fine."), 409, "query_state")
    is_problem(decide(program, doubted, "accept"), 409, "query_state")
    made = decide(program, doubted, "keep", doubt=doubt["id"], reason="I read it.").json()
    assert (made["doubts"], made["waiting"], made["status"]) == ([], None, "curated")
    is_problem(decide(program, doubted, "ask_again", reason="No."), 409, "query_state")


def test_a_viewer_reads_others_find_nothing_and_in_a_read_only_project_nothing_is_decided(
    program, project, tied, disputed
):
    viewer = program_of(User.objects.get(username="viewer"))
    assert viewer.get(f"{PLACE}/{tied.pk}").status_code == 200
    is_problem(decide(viewer, tied, "accept"), 403, "role_missing")
    for number in (10**18, 10**30):
        is_problem(viewer.get(f"{PLACE}/{number}"), 404, "not_found")
    type(project).objects.filter(pk=project.pk).update(read_only=True)
    for answer in (decide(program, tied, "accept"), decide(program, disputed, "unanswerable", reason="No.")):
        is_problem(answer, 409, "read_only")
    assert (status(tied), status(disputed)) == ("tied", "disputed")


def test_votes_and_choices_of_stages_come_as_lines(program, project, screening, curation, tied, disputed):
    votes = program.lines(f"/projects/tea/stages/{screening.slug}/votes.jsonl")
    assert [(row["query_key"], row["unambiguous"], row["counts"]) for row in votes] == [
        (tied.key, True, True), (tied.key, False, True), (tied.key, True, False),
    ]  # fmt: skip
    choices = program.lines(f"/projects/tea/stages/{curation.slug}/selections.jsonl")
    assert [(row["query_key"], row["passages"], row["stage"]) for row in choices] == [
        (disputed.key, ["p1"], curation.slug), (disputed.key, ["p2"], curation.slug),
    ]  # fmt: skip
    case = program.get(f"{PLACE}/{tied.pk}").json()
    assert [row | {"id": 0, "query_id": 0, "query_key": ""} for row in votes] == [
        {"id": 0, "query_id": 0, "query_key": "", **each} for each in case["votes"]
    ]
    is_problem(program.get(f"/projects/tea/stages/{screening.slug}/selections.jsonl"), 404, "not_found")
    is_problem(program.get(f"/projects/tea/stages/{curation.slug}/votes.jsonl"), 404, "not_found")


def test_candidates_of_a_query_are_found(program, project):
    passages = (
        b'{"id": "p1", "text": "Water boils at 100 degrees."}\n{"id": "p2", "text": "Rome is in Italy."}\n'
    )
    upload = program.ask("PUT", "/projects/tea/uploads?name=facts.jsonl", passages).json()["sha256"]
    made = program.post("/projects/tea/corpora", {"upload": upload, "slug": "facts"})
    runner.run(job_id=made.json()["job"])
    query = make_query(project, "when does water boil", status="accepted")
    waiting = program.get("/projects/tea/curation").json()
    assert (waiting["accepted"], waiting["without_candidates"]) == (1, 1)
    assert (waiting["recall"]["queries"], waiting["recall"]["recall"]) == (0, None)
    empty = make_query(project, "zebra", status="accepted")
    place = "/projects/tea/queries/{}/candidates"
    is_problem(program.post(place.format(query.pk), {"k": 0}), 422, "invalid")
    runner.run(job_id=program.post("/projects/tea/corpora/facts/index").json()["job"])
    for _ in range(2):
        assert program.post(place.format(query.pk)).json() == {"query": query.pk, "shown": 1}
    assert program.post(place.format(empty.pk)).json()["shown"] == 0
