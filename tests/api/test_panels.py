"""A study at a panel by the API: terms, submissions, parts of rewards, messages."""

import pytest
from django.utils import timezone

from crowd.models import Endpoint, MarketOperation, PanelMessage, PanelStudy
from crowd.services.endpoints import create_endpoint
from crowd.services.panels import study_of
from tests.api.conftest import is_problem, program_of
from tests.desk.conftest import make_stage

STAGE = "/projects/tea/stages/poll"
AT = f"{STAGE}/panels/panel"


@pytest.fixture
def stage(project):
    panel = create_endpoint(name="panel", preset="prolific", access_key="", secret="token")
    Endpoint.objects.filter(pk=panel.pk).update(currency="USD")
    panel.refresh_from_db()
    return make_stage(project, panel, reward_cents=100)


@pytest.fixture
def study(stage):
    """At the panel, with a person who came back and one at work."""
    found = study_of(stage)
    PanelStudy.objects.filter(pk=found.pk).update(external_id="ST1", state="open", pays_in_part=True)
    found.refresh_from_db()
    for number, status in ((1, "AWAITING REVIEW"), (2, "ACTIVE")):
        found.submissions.create(
            external_id=f"S{number}", participant=f"P{number}", status=status, seen_at=timezone.now()
        )
    return found


def test_terms_are_set_before_the_stage_opens(program, stage):
    read = program.get(AT)
    assert (read.json()["state"], read.json()["screen_out_cents"]) == (None, 0)
    terms = {"screen_out_cents": 10, "screen_out_slots": 5, "pays_in_part": True}
    is_problem(program.patch(f"{AT}/terms", terms), 428, "if_match_missing")
    found = program.patch(f"{AT}/terms", terms, match=read["ETag"])
    assert (found.json()["screen_out_slots"], found.json()["pays_in_part"]) == (5, True), found.content
    is_problem(program.patch(f"{AT}/terms", terms, match=read["ETag"]), 412, "changed_since")
    fewer = program.patch(f"{AT}/terms", {"screen_out_slots": 4}, match=found["ETag"])
    assert (fewer.json()["screen_out_slots"], fewer.json()["pays_in_part"]) == (4, True), fewer.content
    high = program.patch(f"{AT}/terms", terms | {"screen_out_cents": 100}, match=fewer["ETag"])
    assert "less than the reward" in is_problem(high, 422, "refused")["detail"]
    is_problem(program.get(f"{STAGE}/panels/elsewhere"), 404, "not_found")


def test_submissions_are_listed_and_asked_back(program, study):
    found = program.get(AT).json()
    assert (found["submissions"], found["unanswered"]) == ({"ACTIVE": 1, "AWAITING REVIEW": 1}, 1)
    (waiting,) = program.get(f"{AT}/submissions?state=unanswered").json()["items"]
    assert (waiting["external_id"], waiting["answered"]) == ("S1", False)
    sent = f"{STAGE}/panel-submissions/{waiting['id']}"
    is_problem(program.post(f"{sent}/ask-return", {"why": " "}), 422, "invalid")
    asked = program.post(f"{sent}/ask-return", {"why": "There is no answer."}, key="k").json()
    assert asked["kind"] == "return"
    assert program.post(f"{sent}/ask-return", {"why": "There is no answer."}, key="k").json() == asked
    assert MarketOperation.objects.filter(kind="return").count() == 1
    is_problem(program.post(f"{sent}/pay-in-part", {"percent": 30}), 422, "refused")
    is_problem(program.post(f"{sent}/pay-in-part", {"percent": 100}), 422, "invalid")
    is_problem(program.post(f"{sent}/paid-amount", {"cents": 30}), 422, "refused")
    is_problem(program.post(f"{STAGE}/panel-submissions/0/ask-return", {"why": "x"}), 404, "not_found")


def test_screen_outs_are_raised_once_they_are_at_the_panel(program, study):
    more = {"screen_out_slots": 8}
    assert "without paid" in is_problem(program.post(f"{AT}/screen-outs", more), 422, "refused")["detail"]
    PanelStudy.objects.update(
        screen_out_cents=10, screen_out_slots=5, screen_out_left=5, codes={"SCREENED_OUT": "OUT"}
    )
    raised = program.post(f"{AT}/screen-outs", more, key="k").json()
    assert (raised["kind"], raised["amount_cents"]) == ("places", 30)
    assert program.post(f"{AT}/screen-outs", more, key="k").json() == raised
    assert "on its way" in is_problem(program.post(f"{AT}/screen-outs", more), 422, "refused")["detail"]


def test_a_study_file_that_adds_screen_outs_commits_money_and_needs_the_scope_pay(program, owner, study):
    PanelStudy.objects.update(
        screen_out_cents=10, screen_out_slots=5, screen_out_left=5, codes={"SCREENED_OUT": "OUT"}
    )
    text = program.get("/projects/tea/study.toml").content.decode()
    more, send = text.replace("screen_outs = 5", "screen_outs = 8"), {"Content_Type": "application/toml"}
    assert more != text
    unpaid = program_of(owner, "read", "admin", "collect")
    refused = is_problem(unpaid.ask("POST", "/studies/apply", more, **send), 403, "scope_missing")
    assert "'pay'" in refused["detail"]
    assert not MarketOperation.objects.filter(kind="places").exists()
    assert program.ask("POST", "/studies/apply", more, **send).json()["outcome"] == "applied"
    assert MarketOperation.objects.get(kind="places").amount_cents == 30


def test_participants_are_written_to_and_read(program, study):
    text = {"text": "Thank you."}
    found = program.post(f"{AT}/messages", {"participants": ["P1", "P9"], **text}, key="k").json()
    assert (found["written_to"], found["unknown"]) == (1, ["P9"])
    assert program.post(f"{AT}/messages", {"participants": ["P1", "P9"], **text}, key="k").json() == found
    assert program.post(f"{AT}/messages", {"status": "ACTIVE", **text}).json()["written_to"] == 1
    is_problem(program.post(f"{AT}/messages", text), 422, "refused")
    is_problem(program.post(f"{AT}/messages", {"participants": ["P9"], **text}), 422, "refused")
    is_problem(program.post(f"{AT}/messages", {"group": 10**9, **text}), 404, "not_found")
    now = timezone.now()
    PanelMessage.objects.create(
        endpoint=study.endpoint, study=study, external_id="M1", participant="P1", body="Hi", sent_at=now,
        received_at=now,
    )  # fmt: skip
    (message,) = program.get(f"{AT}/messages").json()["items"]
    assert (message["body"], message["read_at"]) == ("Hi", None)
    assert program.get(AT).json()["unread_messages"] == 1
