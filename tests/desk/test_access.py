"""Who may see and do what, over every address of the desk as the address list has them."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from core.notices.services import raise_notice
from core.projects.models import Event, Project
from crowd.desk import urls
from crowd.models import Hit, LedgerEntry, MarketOperation, PanelStudy, Stage
from tests.desk.conftest import make_hit, make_stage, make_unknown, make_work

pytestmark = pytest.mark.django_db

#: What everybody who may see the project may look at; each other page or action is named below.
LOOKING = {
    "projects", "new_project", "project", "board", "agreement", "project_workers", "person", "settings",
    "all_workers", "my_settings", "notices", "project_notices", "queues",
    "events", "members", "stage", "live", "hits", "hit", "work",
    "assignment", "workers", "worker", "operations", "decisions", "submissions", "try", "try_task", "panel",
    "panel_messages", "sources", "matches",
}  # fmt: skip
#: Pages with forms, which managers or owners open.
FORMS = {
    "new_stage": "manager",
    "edit_stage": "manager",
    "opening": "manager",
    "message": "manager",
    "edit_project": "owner",
}
#: Addresses that the matrix of the whole site walks (`tests/test_access_matrix.py`), beside their own tests.
ELSEWHERE = {
    "create_token", "end_token", "end_project_token", "webhooks", "webhook", "webhook_action",
    "webhook_message", "write_panel_message", "decide_match",
}  # fmt: skip
#: An address that leads on to another one.
LEADING = {"queue"}
#: Addresses that only take a POST, with the least role.
ACTIONS = {
    "see_notices": "viewer", "see_notice": "viewer", "see_project_notices": "viewer", "notice_wish": "viewer",
    "set_member": "owner", "remove_member": "owner", "set_stage_budget": "owner",
    "close_project": "owner", "reopen_project": "owner",
    "expect": "manager", "approve_chosen": "manager",
    "pause": "manager", "close": "manager", "reopen": "manager", "top_up": "manager", "more_time": "manager",
    "more_places": "manager", "expire": "manager", "approve": "manager", "reject": "manager",
    "override": "manager", "bonus": "manager", "release": "manager", "exclude": "manager",
    "exclude_person": "manager", "readmit": "manager", "readmit_person": "manager", "compensate": "manager",
    "resolve": "manager",
    "read_panel": "manager", "ask_return": "manager",
    "panel_terms": "manager", "read_panel_messages": "manager",
    "pay_in_part": "manager", "state_part_amount": "manager", "set_sources": "manager",
    "pause_source": "manager", "open_source": "manager", "close_source": "manager", "move_work": "manager",
}  # fmt: skip
#: Actions of those who run the installation, whatever their role in a project.
STAFF = {"add_endpoint", "check_endpoint", "endpoint_hooks"}
RANK = {"viewer": 0, "manager": 1, "owner": 2}
NAMES = [pattern.name for pattern in urls.urlpatterns if pattern.name not in ELSEWHERE]


@pytest.fixture
def place(stage, people):
    hit = make_hit(stage)
    work = make_work(hit)
    unknown = make_unknown(make_hit(stage, state=Hit.State.PLANNED, external_id=""))
    notice = raise_notice(
        project=stage.project, kind="stuck", key="stuck:1", level="warning", sentence="It is stuck."
    )
    study = PanelStudy.objects.create(stage=stage, endpoint=stage.endpoint, created_at=timezone.now())
    came = study.submissions.create(external_id="1", participant="2", status="ACTIVE", seen_at=timezone.now())
    return {
        "project": stage.project.slug,
        "stage": stage.slug,
        "number": hit.ordinal,
        "pk": work.pk,
        "operation": unknown.pk,
        "user": people["viewer"].pk,
        "queue": "operations",
        "endpoint": stage.endpoint.name,
        "form": "csv",
        "worker_pk": work.worker_id,
        "notice_pk": notice.pk,
        "submission_pk": came.pk,
    }


def address(name, place):
    pattern = next(each for each in urls.urlpatterns if each.name == name)
    values = {part: place[part] for part in pattern.pattern.converters}
    if name in ("worker", "exclude", "readmit", "compensate", "person", "exclude_person", "readmit_person"):
        values["pk"] = place["worker_pk"]
    if name in ("ask_return", "pay_in_part", "state_part_amount"):
        values["pk"] = place["submission_pk"]
    if name == "see_notice":
        values["pk"] = place["notice_pk"]
    return reverse(f"desk:{name}", kwargs=values)


def counts():
    return [
        MarketOperation.objects.count(), LedgerEntry.objects.count(), Event.objects.count(),
        Project.objects.count(), list(Stage.objects.values_list("status", "budget_cents")),
    ]  # fmt: skip


def test_every_address_is_in_this_matrix():
    assert sorted(NAMES) == sorted([*LOOKING, *FORMS, *ACTIONS, *LEADING, *STAFF])


@pytest.mark.parametrize("name", NAMES)
def test_nobody_without_an_account_sees_anything(as_, place, name):
    client, before = as_("anonymous"), counts()
    for answer in (client.get(address(name, place)), client.post(address(name, place))):
        assert answer.status_code in (302, 405)
        if answer.status_code == 302:
            assert answer.headers["Location"].startswith("/accounts/login/")
    assert counts() == before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("who", ["stranger", "worker"])
def test_to_strangers_and_workers_there_is_no_such_page(as_, place, who, name):
    client, before = as_(who), counts()
    assert client.get(address(name, place)).status_code in (404, 405)
    assert client.post(address(name, place)).status_code in (404, 405)
    assert counts() == before


@pytest.mark.parametrize("name", sorted(LOOKING))
@pytest.mark.parametrize("who", ["viewer", "manager", "owner"])
def test_all_members_may_look(as_, place, who, name):
    before = counts()
    answer = as_(who).get(address(name, place))
    assert answer.status_code == (302 if name == "queue" else 200)  # on to the next one
    assert counts() == before


@pytest.mark.parametrize("name", sorted(FORMS))
@pytest.mark.parametrize("who", ["viewer", "manager", "owner"])
def test_forms_open_for_those_who_may_send_them(as_, place, who, name):
    before = counts()
    allowed = RANK[who] >= RANK[FORMS[name]]
    assert as_(who).get(address(name, place)).status_code == (200 if allowed else 404)
    if not allowed:
        assert as_(who).post(address(name, place)).status_code == 404
    assert counts() == before


@pytest.mark.parametrize("name", sorted(ACTIONS))
@pytest.mark.parametrize("who", ["viewer", "manager", "owner"])
def test_actions_are_for_their_role_and_never_happen_by_looking(as_, place, who, name):
    before = counts()
    client = as_(who)
    assert client.get(address(name, place)).status_code == 405
    assert counts() == before
    answer = client.post(address(name, place))
    assert answer.status_code == (302 if RANK[who] >= RANK[ACTIONS[name]] else 404)
    if answer.status_code == 404:
        assert counts() == before


@pytest.mark.parametrize("name", ["opening", "top_up", "more_places", "override", "bonus", "compensate"])
def test_only_owners_spend_real_money(as_, place, stage, name):
    stage.endpoint.real_money = True
    stage.endpoint.save()
    assert as_("manager").post(address(name, place)).status_code == 404
    assert as_("owner").post(address(name, place)).status_code == 302


def test_a_superuser_owns_every_project(place, client):
    client.force_login(User.objects.create_superuser("root"))
    assert client.get(address("edit_project", place)).status_code == 200
    assert "Reading" in client.get("/desk/projects/").content.decode()


def test_what_belongs_to_another_stage_is_not_found_here(as_, place, project, endpoint):
    other = make_stage(project, endpoint, slug="other")
    elsewhere = {**place, "stage": other.slug}
    for name in ("hit", "assignment", "worker", "resolve", "approve"):
        client = as_("owner")
        method = client.post if name == "resolve" else client.get
        assert method(address(name, elsewhere)).status_code == (405 if name == "approve" else 404)
    assert as_("owner").post(address("resolve", {**place, "operation": uuid.uuid4()})).status_code == 404
