"""Workers by the API: the list, excluding and readmitting, messages, pairs that may be one person."""

import json

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.jobs.runner import run
from crowd.adapters.base import CallRefusal
from crowd.models import Assignment, Exclusion, MarketOperation, Stage, Worker
from crowd.outbox import results
from crowd.services.endpoints import create_endpoint
from crowd.services.sources import SourcePlan, set_sources
from tests.api.conftest import is_problem, program_of
from tests.desk.conftest import make_hit, make_stage, make_work

AT, STAGE = "/projects/tea/workers", "/projects/tea/stages/poll"


@pytest.fixture
def market(db):
    url = "http://127.0.0.1:9/mturk/api"
    return create_endpoint(name="local", preset="local", access_key="AK", secret="s", url=url)


@pytest.fixture
def stage(project, market):
    return make_stage(project, market)


@pytest.fixture
def work(stage):
    """Of three workers, of whom the third's was rejected."""
    hit = make_hit(stage, places=3)
    made = [make_work(hit, name) for name in ("A1", "A2", "A3")]
    Assignment.objects.filter(pk=made[2].pk).update(state=Assignment.State.REJECTED)
    return made


def test_workers_are_listed_with_figures_and_names_of_exports_for_managers(program, project, work):
    page = program.get(f"{AT}?limit=2").json()
    assert [(row["worker"], row["done"], row["rejected"]) for row in page["items"]] == [
        ("A1", 1, 0),
        ("A2", 1, 0),
    ]
    first = page["items"][0]
    assert first["pace"] == {"seconds": 60.0, "quarter": None, "three_quarters": None, "cents_per_hour": 600}
    assert first["pseudonym"].startswith("w") and first["enough"] is False
    rest = program.get(f"{AT}?limit=2&cursor={page['next']}").json()
    assert [row["worker"] for row in rest["items"]] == ["A3"] and rest["next"] is None
    backwards = program.get(f"{AT}?limit=2&order=newest").json()
    assert [row["worker"] for row in backwards["items"]] == ["A3", "A2"]
    assert [row["worker"] for row in program.get(f"{AT}?state=rejected").json()["items"]] == ["A3"]
    assert [row["worker"] for row in program.get(f"{AT}?worker=a2").json()["items"]] == ["A2"]
    viewer = program_of(User.objects.get(username="viewer"))
    assert viewer.get(AT).json()["items"][0]["pseudonym"] is None
    assert [row["worker"] for row in program.lines(AT)] == ["A1", "A2", "A3"]
    is_problem(program.get(f"{AT}?limit=2&state=few&cursor={page['next']}"), 422, "cursor_invalid")


def test_one_worker_has_figures_by_stage(program, work):
    found = program.get(f"{AT}/{work[0].worker_id}").json()
    assert [(row["stage"], row["done"], row["excluded"]) for row in found["by_stage"]] == [("poll", 1, None)]
    for wrong in (0, 10**9, 10**30):
        is_problem(program.get(f"{AT}/{wrong}"), 404, "not_found")


def test_workers_are_excluded_from_all_stages_and_readmitted_with_reasons(program, project, market, work):
    make_stage(project, market, slug="more")
    at = f"{AT}/{work[0].worker_id}"
    is_problem(program.patch(at, {"excluded": True, "reason": " "}), 422, "refused")
    is_problem(program.patch(at, {"excluded": False, "reason": "Why not?"}), 422, "refused")
    barred = program.patch(at, {"excluded": True, "reason": "Copies."}).json()
    assert [(row["stage"], row["reason"]) for row in barred["exclusions"]] == [
        ("poll", "Copies."), ("more", "Copies."),
    ]  # fmt: skip
    assert [row["excluded"] for row in program.get(AT).json()["items"]] == [2, 0, 0]
    assert program.patch(at, {"excluded": False, "reason": "They wrote."}).json()["exclusions"] == []
    assert not Exclusion.objects.exists()
    events = list(project.events.filter(action__startswith="worker.").order_by("pk"))
    assert [event.action for event in events] == ["worker.excluded"] * 2 + ["worker.readmitted"] * 2
    assert {event.via for event in events} == {"api"} and events[-1].details["why"] == "They wrote."


def test_in_one_stage_too(program, work):
    at = f"{STAGE}/workers/{work[1].worker_id}"
    found = program.patch(at, {"excluded": True, "reason": "Too fast."}).json()
    assert (found["worker"], found["endpoint"], found["excluded"]) == ("A2", "local", "Too fast.")
    listed = program.get(f"{STAGE}/workers?state=excluded").json()["items"]
    assert [row["worker"] for row in listed] == ["A2"]
    back = {"excluded": False, "reason": "A slow day."}
    assert program.patch(at, back).json()["excluded"] is None
    is_problem(program.patch(at, back), 422, "refused")
    assert len(program.get(f"{STAGE}/workers").json()["items"]) == 3


def test_a_broken_session_is_compensated_once(program, work):
    at = f"{STAGE}/workers/{work[0].worker_id}/compensate"
    made = program.post(at, {"cents": 25, "reason": "Our page broke."}, key="k")
    assert (made.status_code, made.json()["amount_cents"]) == (200, 25), made.content
    assert program.post(at, {"cents": 25, "reason": "Our page broke."}, key="k").json() == made.json()
    assert (
        "already, with"
        in is_problem(program.post(at, {"cents": 30, "reason": "Again."}), 422, "refused")["detail"]
    )
    is_problem(program.post(at, {"cents": 0, "reason": "x"}), 422, "invalid")


def test_a_compensation_that_was_refused_is_told_and_asked_for_again(program, work):
    at = f"{STAGE}/workers/{work[0].worker_id}"

    def compensation():
        rows = program.get(f"{STAGE}/workers").json()["items"]
        return next(row["compensation"] for row in rows if row["id"] == work[0].worker_id)

    assert compensation() is None
    made = program.post(f"{at}/compensate", {"cents": 25, "reason": "Our page broke."}).json()
    found = compensation()
    assert (found["operation"], found["state"], found["error"]) == (made["operation"], "planned", "")
    operation = MarketOperation.objects.get(pk=made["operation"])
    assert results.apply(operation, CallRefusal("RequestError", "The worker is blocked."))
    found = compensation()
    assert (found["state"], found["error"], found["amount_cents"]) == (
        "refused",
        "The worker is blocked.",
        25,
    )
    again = program.post(f"{at}/compensate", {"cents": 30, "reason": "Our page broke."})
    assert (again.status_code, again.json()["amount_cents"]) == (200, 30), again.content
    assert compensation()["amount_cents"] == 30


class TestWriting:
    LETTER = {"subject": "Thank you", "text": "It helped."}

    def test_the_answer_counts_who_is_written_to_and_names_who_is_not(self, program, stage, work):
        links = create_endpoint(name="links", preset="link", access_key="", secret="")
        set_sources(stage=stage, plans=[SourcePlan(stage.endpoint, share=1), SourcePlan(links, share=1)])
        guest = Worker.objects.create(endpoint=links, external_id="G1", first_seen_at=timezone.now())
        hit = work[0].hit
        make = {
            "stage": stage,
            "hit": hit,
            "worker": guest,
            "external_id": "3G",
            "arrived_at": timezone.now(),
        }
        Assignment.objects.create(state=Assignment.State.SUBMITTED, **make)
        chosen = [work[0].worker_id, work[0].worker_id, guest.pk, 10**9]
        said = program.post(f"{STAGE}/messages", {"workers": chosen, **self.LETTER}, key="k")
        found = said.json()
        assert (found["written_to"], found["unknown"]) == (1, [10**9]), found
        assert [row["worker"] for row in found["unreachable"]] == ["G1"]
        assert program.post(f"{STAGE}/messages", {"workers": chosen, **self.LETTER}, key="k").json() == found
        (operation,) = MarketOperation.objects.filter(kind="message")
        assert (
            operation.payload["workers"] == ["A1"]
            and str(operation.pk) == found["operations"][0]["operation"]
        )
        only_guest = program.post(f"{STAGE}/messages", {"workers": [guest.pk], **self.LETTER})
        assert "no inbox" in is_problem(only_guest, 422, "refused")["detail"]

    def test_all_of_the_stage_are_written_to_where_none_is_named(self, program, work):
        assert program.post(f"{STAGE}/messages", self.LETTER).json()["written_to"] == 3
        event = work[0].stage.project.events.get(action="worker.messaged")
        assert (event.details["workers"], event.via) == (3, "api")

    def test_words_are_asked_for(self, program, work):
        found = is_problem(program.post(f"{STAGE}/messages", {"subject": " ", "text": ""}), 422, "invalid")
        assert set(found["errors"]) == {"subject", "text"}
        is_problem(program.post(f"{STAGE}/messages", {"workers": [], **self.LETTER}), 422, "invalid")


def test_simulated_workers_do_nothing_in_a_draft(program, stage):
    assert "draft" in is_problem(program.post(f"{STAGE}/simulations", {}), 409, "stage_state")["detail"]
    Stage.objects.update(status="open")
    assert program.post(f"{STAGE}/simulations", {}).status_code == 202


def test_a_simulation_in_which_no_one_can_submit_fails_with_the_reason(program, stage, tmp_path, settings):
    settings.DATA_DIR = tmp_path
    known = {"http://127.0.0.1:9": [{"worker_id": "A1", "token": "t", "country": ""}] * 2}
    (tmp_path / "simulated-workers.json").write_text(json.dumps(known))
    Stage.objects.update(status="open")
    job = program.post(f"{STAGE}/simulations", {"workers": 2}).json()["job"]
    run(job_id=job)
    found = program.get(f"/projects/tea/jobs/{job}").json()
    assert found["state"] == "failed"
    assert "http://127.0.0.1:9 does not answer as a marketplace" in found["error"]


def test_lists_ask_the_database_as_often_for_many_as_for_few(program, stage, django_assert_max_num_queries):
    hit = make_hit(stage, places=50)
    for number in range(30):
        make_work(hit, f"W{number}")
    with django_assert_max_num_queries(25):
        assert len(program.get(f"{STAGE}/workers").json()["items"]) == 30
    with django_assert_max_num_queries(25):
        assert len(program.get(AT).json()["items"]) == 30
