"""A stage's life by the API: made, changed, quoted, opened, worked on, paid, closed."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from core.api.models import IdempotencyRecord
from crowd.models import Assignment, Endpoint, MarketOperation, Stage
from crowd.services.endpoints import create_endpoint
from tests.api.conftest import is_problem, program_of
from tests.desk.conftest import give, make_hit, make_work
from web.api.fields import MOST_NUMBER

STAGE = {
    "slug": "poll",
    "title": "A poll",
    "kind": "poll",
    "endpoint": "local",
    "reward_cents": 10,
    "redundancy": 2,
    "budget_cents": 2000,
    "config": {"question": "Which?", "options": ["tea", "milk"], "items": ["one", "two"]},
}


ONE_OPTION = {"de": {"options": ["Tee"]}}


@pytest.fixture
def market(project):
    made = create_endpoint(
        name="local", preset="local", access_key="AK", secret="s", url="http://127.0.0.1:9/mturk/api"
    )
    give(made, project)
    return made


@pytest.fixture
def stage(program, market):
    assert program.post("/projects/tea/stages", STAGE).status_code == 201
    return Stage.objects.select_related("project", "endpoint").get()


AT = "/projects/tea/stages/poll"


def test_a_draft_is_made_with_texts_of_its_kind_and_what_cannot_be_is_named_by_field(
    program, market, subtests
):
    country = {"kind": "country", "op": "In", "values": ["Germany"]}
    for changes, code, field in (
        ({"kind": "nothing"}, "no_such_kind", "kind"),
        ({"endpoint": "elsewhere"}, "no_such_endpoint", "endpoint"),
        ({"config": {"question": "?"}}, "invalid", "config.options"),
        ({"config": STAGE["config"] | {"languages": ONE_OPTION}}, "invalid", "config.languages.de.options"),
        ({"eligibility": [country]}, "invalid", "eligibility.0"),
        ({"redundancy": 0}, "invalid", "redundancy"),
    ):
        with subtests.test(field=field):
            found = is_problem(program.post("/projects/tea/stages", {**STAGE, **changes}), 422, code)
            assert field in found["errors"] and not Stage.objects.exists()
    made = program.post("/projects/tea/stages", STAGE).json()
    assert (made["status"], made["currency"]) == ("draft", "USD")
    assert made["task_title"] == "Choose an answer to a short question"
    assert program.get("/projects/tea/stages").json()["items"] == [program.get(AT).json()]


def test_texts_in_further_languages_are_options_and_the_quote_says_what_is_missing(program, stage):
    german = {"question": "Was?", "options": ["Tee", "Milch"], "title": "Eine Umfrage"}

    def change(**languages):
        tag = program.get(AT)["ETag"]
        return program.ask("PATCH", AT, {"config": STAGE["config"] | languages}, match=tag)

    changed = change(languages={"de": german})
    assert changed.status_code == 200, changed.content
    assert changed.json()["config"]["languages"] == {"de": german}
    cautions = program.post(f"{AT}/quote").json()["cautions"]
    assert "Deutsch: description missing; people read it in English." in cautions
    assert change().status_code == 200
    assert "languages" not in program.get(AT).json()["config"]


def move(program, at, **body):
    """Have a stage or a project be in another state."""
    return program.ask("PUT", f"{at}/{'status' if 'status' in body else 'state'}", body)


def test_budgets_are_for_owners(program, market, owner, project):
    manager = program_of(project.memberships.get(role="manager").user)
    is_problem(manager.post("/projects/tea/stages", STAGE), 403, "role_missing")
    assert manager.post("/projects/tea/stages", {**STAGE, "budget_cents": 0}).status_code == 201
    tag = manager.get(AT)["ETag"]
    is_problem(manager.patch(AT, {"budget_cents": 5}, match=tag), 403, "role_missing")
    assert manager.patch(AT, {"title": "Polls"}, match=tag).json()["title"] == "Polls"


def test_it_is_quoted_opened_paused_and_closed(program, stage):
    quote = program.post(f"{AT}/quote").json()
    assert (quote["units"], quote["assignments"], quote["total_cents"]) == (2, 4, 40)
    assert (quote["problems"], quote["cautions"]) == ([], [])
    is_problem(move(program, AT, status="paused"), 409, "stage_state")
    opened = program.post(f"{AT}/open", {}, key="open-1")
    assert opened.status_code == 200 and program.get(AT).json()["status"] == "open"
    assert program.post(f"{AT}/open", {}, key="open-1").content == opened.content
    is_problem(program.post(f"{AT}/open", {}), 409, "stage_state")
    assert MarketOperation.objects.filter(kind="publish").count() == quote["hits"]
    for status in ("paused", "paused", "closed", "paused"):
        assert move(program, AT, status=status, why="Enough.").json()["status"] == status
    actions = stage.project.events.filter(action__startswith="stage.").order_by("pk")
    assert list(actions.values_list("action", flat=True))[-3:] == [
        "stage.paused", "stage.closed", "stage.reopened",
    ]  # fmt: skip
    is_problem(move(program, AT, status="open"), 422, "invalid")
    progress = program.get(f"{AT}/progress").json()
    assert progress["hits"] == {"planned": quote["hits"]} and progress["done"] is False
    assert program.get("/projects/tea").json()["reserved_cents"] == 40
    assert program.get(f"{AT}/ledger").json()["items"][0]["kind"] == "reserve"


def test_real_money_wants_its_amount_and_an_owner(program, stage, project):
    Endpoint.objects.update(real_money=True)
    assert program.post(f"{AT}/quote").json()["confirm_budget_cents"] == 2000
    is_problem(program.post(f"{AT}/open", {"confirm_budget_cents": 1}), 422, "amount_not_confirmed")
    manager = program_of(project.memberships.get(role="manager").user)
    is_problem(manager.post(f"{AT}/open", {"confirm_budget_cents": 2000}), 403, "role_missing")
    assert program.post(f"{AT}/open", {"confirm_budget_cents": 2000}).status_code == 200


def test_a_budget_that_does_not_cover_it_changes_nothing(program, stage):
    Stage.objects.update(budget_cents=5)
    is_problem(program.post(f"{AT}/open", key="k"), 409, "budget_exceeded")
    assert Stage.objects.get().status == "draft" and not IdempotencyRecord.objects.exists()


def test_work_is_decided_and_a_bonus_is_planned_once_per_key(program, stage):
    Stage.objects.update(status="open", reserved_cents=100)
    stage.project.reserved_cents = 100
    stage.project.save()
    first, second, third = (make_work(make_hit(stage), f"A{number}") for number in range(3))
    assert program.post(f"{AT}/assignments/{first.pk}/approve").json()["kind"] == "approve"
    is_problem(program.post(f"{AT}/assignments/{first.pk}/approve"), 422, "refused")
    is_problem(program.post(f"{AT}/assignments/{second.pk}/reject", {"reason": ""}), 422, "invalid")
    assert program.post(f"{AT}/assignments/{second.pk}/reject", {"reason": "Empty."}).status_code == 200
    body = {"cents": 5, "reason": "Careful."}
    paid = program.post(f"{AT}/assignments/{third.pk}/bonus", body, key="b1").json()
    IdempotencyRecord.objects.all().delete()  # a week later
    again = program.post(f"{AT}/assignments/{third.pk}/bonus", body, key="b1").json()
    assert again["operation"] == paid["operation"] and paid["amount_cents"] == 5
    assert MarketOperation.objects.filter(kind="bonus").count() == 1
    outcome = program.post(f"{AT}/approvals", {"assignments": [first.pk, third.pk]}).json()
    assert outcome["approved"] == 1 and len(outcome["refused"]) == 1
    waiting = program.get(f"{AT}/assignments?state=waiting").json()["items"]
    assert waiting == [] and Assignment.objects.count() == 3


def test_a_hit_is_kept_on_offer_or_ended_and_one_of_a_number_that_no_column_holds_is_not_there(
    program, stage
):
    Stage.objects.update(status="open")
    hit, now = make_hit(stage), timezone.now()
    one = f"{AT}/hits/{hit.ordinal}"
    for days, kind in ((3, "deadline"), (-1, "close")):
        sent = {"expires_at": (now + timedelta(days=days)).isoformat()}
        assert program.patch(one, sent).json()["kind"] == kind
    late = {"expires_at": (now + timedelta(days=400)).isoformat()}
    is_problem(program.patch(one, late), 422, "invalid")
    for number in (MOST_NUMBER, MOST_NUMBER + 1, 10**30):
        for at in (f"stages/{stage.slug}/hits/{number}", f"evaluations/{number}"):
            is_problem(program.get(f"/projects/tea/{at}"), 404, "not_found")


def test_a_study_is_applied_as_a_file_and_comes_back_as_one(program, stage, owner):
    text = program.get("/projects/tea/study.toml").content.decode()
    send = {"Content_Type": "application/toml"}
    assert program.ask("POST", "/studies/check", text, **send).json()["outcome"] == "checked"
    assert program.ask("POST", "/studies/apply", text, **send).json()["outcome"] == "nothing to change"
    other = text.replace('slug = "tea"', 'slug = "mate"').replace('title = "Tea"', 'title = "Mate"')
    applied = program.ask("POST", "/studies/apply", other, key="s1", **send)
    assert applied.status_code == 200, applied.content
    assert applied.json()["quotes"]["poll"]["total_cents"] == 40
    assert program.get("/projects/mate").json()["role"] == "owner"
    found = is_problem(program.ask("POST", "/studies/apply", "[project", **send), 422, "study_invalid")
    assert "Line 1" in next(iter(found["errors"].values()))[0]


def test_a_file_takes_no_keys_out_of_the_servers_environment(program, stage, monkeypatch):
    monkeypatch.setenv("SECRET_OF_OURS", "s3cret")
    text = """[project]
slug = "leak"
title = "Leak"
budget = "1.00"
[endpoints.evil]
url = "https://example.org/"
access_key_env = "SECRET_OF_OURS"
secret_key_env = "SECRET_OF_OURS"
"""
    is_problem(program.ask("POST", "/studies/apply", text), 422, "study_invalid")
    assert not Endpoint.objects.filter(name="evil").exists()


def test_a_project_is_closed_when_its_work_is_over_and_nothing_new_is_asked_then(program, stage, project):
    Stage.objects.update(status="paused")
    found = is_problem(move(program, "/projects/tea", state="closed"), 422, "refused")
    assert "Close these stages first: poll" in found["detail"]
    Stage.objects.update(status="closed")
    closed = move(program, "/projects/tea", state="closed", why="Done.").json()
    assert closed["closed_at"] is not None
    assert move(program, "/projects/tea", state="closed").json() == closed
    is_problem(program.post("/projects/tea/stages", STAGE | {"slug": "more"}), 409, "stage_state")
    is_problem(move(program, AT, status="paused"), 409, "stage_state")
    Stage.objects.update(status="draft")
    is_problem(program.post(f"{AT}/open", {}), 409, "stage_state")
    assert "was closed on" in program.post(f"{AT}/quote").json()["problems"][0]
    assert program.get(f"{AT}/progress").status_code == 200
    assert move(program, "/projects/tea", state="open").json()["closed_at"] is None
    assert program.post("/projects/tea/stages", STAGE | {"slug": "more"}).status_code == 201
    actions = list(
        project.events.filter(action__startswith="project.").order_by("id").values_list("action", flat=True)
    )
    assert actions[-2:] == ["project.closed", "project.reopened"]


def test_owners_close_and_reopen_a_project_on_its_page(project, owner):
    browser = Client()
    browser.force_login(owner)
    assert "Close the project" in browser.get("/desk/projects/tea/settings/").content.decode()
    browser.post("/desk/projects/tea/close/")
    page = browser.get("/desk/projects/tea/settings/").content.decode()
    assert "Reopen the project" in page and "closed since" in page
    assert "New stage" not in browser.get("/desk/projects/tea/board/").content.decode()
    browser.post("/desk/projects/tea/reopen/")
    project.refresh_from_db()
    assert project.closed_at is None
