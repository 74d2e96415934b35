"""Consent texts, their versions, and the lists of study links by the API; of projects and of requesters."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.jobs.models import Job
from core.origin import Owner
from crowd.services.endpoints import create_endpoint
from marketplace.accounts.people import create_requester
from marketplace.members import set_role
from people.api import VisitLine
from people.links import LinkPlan, make_link
from people.models import ConsentText
from people.owners import project_owner
from people.rosters import MAIL
from tests.api.conftest import is_problem, program_of
from tests.desk.conftest import make_stage

AT = "/projects/tea/consent-texts"


@pytest.fixture
def lab(owner):
    found, _ = create_requester(name="Lab", fee_profile="none-1", owner=owner)
    return found


@pytest.fixture(params=["project", "requester"])
def at(request, project, lab):
    """The address of the texts of a project, and of a requester."""
    return AT if request.param == "project" else f"/requesters/{lab.customer_id}/consent-texts"


def test_a_version_is_published_and_the_one_before_stays_as_it_was(program, at):
    first = program.post(at, {"body": "Join **us**.", "minimum_age": 16, "contact": "Ada"}, key="k")
    assert first.status_code == 201, first.content
    assert (first.json()["version"], first.json()["in_force"], first.json()["language"]) == (1, True, "en")
    assert (
        program.post(at, {"body": "Join **us**.", "minimum_age": 16, "contact": "Ada"}, key="k").json()
        == first.json()
    )
    same = program.post(at, {"body": "Join **us**.\n", "contact": "Ada "}).json()
    assert same["id"] == first.json()["id"]
    second = program.post(at, {"body": "Please join us.\r\nNow."}).json()
    assert (second["version"], second["minimum_age"], second["contact"]) == (2, 16, "Ada")
    assert second["body"] == "Please join us.\nNow." and second["made_by"] == "olga"
    german = program.post(at, {"language": "de", "body": "Machen Sie mit."}).json()
    assert (german["language"], german["version"]) == ("de", 1)
    now = program.get(f"{at}?in_force=true").json()["items"]
    assert [(row["language"], row["version"]) for row in now] == [("en", 2), ("de", 1)]
    assert [row["version"] for row in program.get(f"{at}?language=EN").json()["items"]] == [1, 2]
    assert [row["in_force"] for row in program.get(f"{at}?language=en").json()["items"]] == [False, True]


def test_a_text_that_cannot_be_is_refused_by_field_and_any_in_a_read_only_project(program, project):
    for body, field in (
        ({"body": " \n "}, "body"),
        ({"body": "x" * 50_001}, "body"),
        ({"body": "x", "language": "<b>"}, "language"),
        ({"body": "x", "minimum_age": -1}, "minimum_age"),
        ({"body": "x", "protocol": "7"}, "protocol"),
        ({}, "body"),
    ):
        assert list(is_problem(program.post(AT, body), 422, "invalid")["errors"]) == [field]
    assert not ConsentText.objects.exists()
    program.post(AT, {"language": "zh-Hans", "body": "One."})
    assert program.post(AT, {"language": "zh-hans", "body": "Two."}).json()["language"] == "zh-Hans"
    type(project).objects.filter(pk=project.pk).update(read_only=True)
    refused = is_problem(program.post(AT, {"body": "Join us."}), 422, "refused")
    assert "read-only" in refused["detail"]
    assert len(program.get(AT).json()["items"]) == 2


def test_people_with_too_little_a_role_only_look(project, lab, program):
    viewer = program_of(User.objects.get(username="viewer"))
    is_problem(viewer.post(AT, {"body": "x"}), 403, "role_missing")
    set_role(requester=lab, user=User.objects.get(username="viewer"), role="reviewer")
    at = f"/requesters/{lab.customer_id}/consent-texts"
    is_problem(viewer.post(at, {"body": "x"}), 403, "role_missing")
    assert viewer.get(at).json()["items"] == []


@pytest.fixture
def link(project):
    endpoint = create_endpoint(name="links", preset="link", access_key="", secret="")
    stage = make_stage(project, endpoint)
    plan = LinkPlan(title="Tea", target=f"stage:{stage.slug}")
    return make_link(owner=project_owner(project), plan=plan, actor=None)


class TestLists:
    PEOPLE = [{"name": "Ada", "email": "ada@example.org"}, {"name": "Bo", "email": "bo@example.org"}]

    def test_people_are_put_on_the_list_once_and_an_address_that_is_none_is_named(
        self, program, link, mailoutbox
    ):
        at = f"/projects/tea/study-links/{link.pk}/people"
        wrong = {"people": [*self.PEOPLE, {"email": "nothing"}]}
        found = is_problem(program.post(at, wrong), 422, "invalid")
        assert "is no e-mail address" in found["errors"]["people.2.email"][0]
        assert program.get(at).json()["items"] == []
        assert program.post(at, {"people": self.PEOPLE}).json() == {"added": 2, "known": 0, "repeated": 0}
        twice = {"people": [self.PEOPLE[0], {"name": "Ada L.", "email": "Ada@example.org"}]}
        assert program.post(at, twice).json() == {"added": 0, "known": 1, "repeated": 1}
        found = program.get(at).json()["items"]
        assert [(row["name"], row["email"], row["invited_at"]) for row in found] == [
            ("Ada", "ada@example.org", None), ("Bo", "bo@example.org", None),
        ]  # fmt: skip
        assert "/join/" in found[0]["address"] and not mailoutbox
        viewer = program_of(User.objects.get(username="viewer"))
        is_problem(viewer.get(at), 403, "role_missing")

    def test_letters_are_planned(self, program, link, settings):
        at = f"/projects/tea/study-links/{link.pk}/people/mail"
        settings.MAIL = None
        assert (
            "no mail server"
            in is_problem(program.post(at, {"what": "invitations"}), 422, "refused")["detail"]
        )
        settings.MAIL = object()
        for _ in range(2):
            sent = program.post(at, {"what": "reminders"}, key="k")
            assert sent.json() == {"words": "Reminders are being sent."}
        assert Job.objects.get(kind=MAIL).payload == {"link": link.pk, "reminder": True}

    def test_visits_are_lines(self, program, link):
        now = timezone.now()
        link.visits.create(external_kind="pid", external_id="P1", opened_at=now, seen_at=now)
        answer = program.get(f"/projects/tea/study-links/{link.pk}/visits.jsonl")
        (line,) = [VisitLine.model_validate_json(each) for each in answer.getvalue().splitlines()]
        assert (line.identity_kind, line.identity, line.worker, line.tasks_finished) == ("pid", "P1", "", 0)
        assert (line.outcome, line.consented_at, line.signature_checked) == ("", "", "no")


def test_a_link_is_changed_while_people_come(program, link):
    at = f"/projects/tea/study-links/{link.pk}"
    changes = {"title": "More tea", "quota": 7, "expires_at": "2030-01-01T00:00:00Z", "most_tasks": 3}
    found = program.patch(at, changes | {"returns": {"completed": {"code": "C1", "address": ""}}}).json()
    assert (found["title"], found["quota"], found["most_tasks"]) == ("More tea", 7, 3)
    assert found["returns"]["completed"]["code"] == "C1"
    again = program.patch(at, {"quota": 8}).json()
    assert (again["title"], again["quota"], again["expires_at"]) == ("More tea", 8, "2030-01-01T00:00:00Z")
    assert program.patch(at, {"expires_at": None}).json()["expires_at"] is None
    wrong = {"returns": {"completed": {"code": "", "address": "javascript:alert(1)"}}}
    is_problem(program.patch(at, wrong), 422, "refused")
    is_problem(program.patch(at, {"quota": 0}), 422, "invalid")


def test_links_of_requesters_are_changed_the_same_way(program, lab):
    ours = Owner(Owner.Kind.REQUESTER, lab.pk)
    made = make_link(owner=ours, plan=LinkPlan(title="HITs", target="requester:all"), actor=None)
    at = f"/requesters/{lab.customer_id}/study-links/{made.pk}"
    assert program.patch(at, {"title": "All HITs", "quota": 3}).json()["title"] == "All HITs"
    assert program.post(f"{at}/people", {"people": TestLists.PEOPLE}).json()["added"] == 2
    assert len(program.get(f"{at}/people").json()["items"]) == 2


def test_times_and_addresses_at_the_end_of_what_can_be_are_refused_in_words(program, link):
    at = f"/projects/tea/study-links/{link.pk}"
    for late in ("9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"):
        found = is_problem(program.patch(at, {"expires_at": late}), 422, "invalid")
        assert found["errors"]["expires_at"] == ["choose a time from the year 1900 to 9000."]
    broken = {"returns": {"completed": {"code": "C", "address": "http://["}}}
    assert "is no address" in is_problem(program.patch(at, broken), 422, "refused")["detail"]
    nowhere = program.post("/projects/tea/study-links", {"title": "x", "target": "stage:99999"})
    assert "Choose from: project:tea" in is_problem(nowhere, 422, "refused")["detail"]
    assert "Send a JSON object" in is_problem(program.ask("POST", AT, "[]"), 422, "invalid")["detail"]
