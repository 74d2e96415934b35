"""Who may spend from an endpoint, and who may make projects: asked by each service, by every way in."""

from dataclasses import dataclass
from importlib import import_module
from io import StringIO

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from core.accounts.security import Actor, acting_as
from core.projects.models import Project
from core.projects.services import ProjectRightError, create_project, remove_member, set_role
from crowd.errors import SpendingRightError
from crowd.models import Assignment, Endpoint, EndpointSpender, Hit, MarketOperation, Stage
from crowd.rights import may_spend, usable_endpoints
from crowd.services import publication, review, sources, spenders, stages, tick
from crowd.services.endpoints import create_endpoint
from crowd.services.sources import SourcePlan
from judgments.services.filter_runs import top_up
from tests.api.conftest import Program, is_problem, program_of
from tests.cases import apart, rows_of_module
from tests.crowd import world

OPENED = "/projects/other/stages/poll/open"


@dataclass
class Lab:
    """A lab whose project may spend from its endpoint, and another project that may not."""

    users: dict[str, User]
    endpoint: Endpoint
    mine: Stage
    theirs: Stage

    def program(self, name: str) -> Program:
        """A token of somebody, with every scope."""
        return program_of(self.users[name])

    def browser(self, name: str) -> Client:
        """A browser of somebody."""
        client = Client()
        client.force_login(self.users[name])
        return client


@pytest.fixture(scope="module")
def lab(django_db_setup, django_db_blocker):
    with rows_of_module(django_db_blocker):
        names = ("olga", "vera", "fred", "nina", "stan", "ada")
        users = {name: User.objects.create_user(name) for name in names}
        User.objects.filter(username="ada").update(is_staff=True)
        users["ada"].refresh_from_db()
        endpoint = world.make_endpoint()
        made = {}
        for slug, owner in (("lab", "olga"), ("other", "nina")):
            project = create_project(slug=slug, title=slug, owner=users[owner], budget_cents=100_000)
            stage = world.make_stage(endpoint, project)
            Stage.objects.filter(pk=stage.pk).update(slug="poll")
            made[slug] = Stage.objects.select_related("project", "endpoint").get(pk=stage.pk)
        set_role(project=made["lab"].project, user=users["vera"], role="viewer")
        set_role(project=made["lab"].project, user=users["fred"], role="owner")
        remove_member(project=made["lab"].project, user=users["fred"])
        EndpointSpender.objects.create(
            endpoint=endpoint, project=made["lab"].project, created_at=timezone.now()
        )
        yield Lab(users, endpoint, made["lab"], made["other"])


def now(stage: Stage) -> Stage:
    return Stage.objects.select_related("project", "endpoint", "opened_by").get(pk=stage.pk)


def test_to_make_projects_is_a_right_of_its_own(lab, db, subtests):
    body = {"slug": "mine", "title": "Mine", "budget_cents": 10_000}
    for name in ("vera", "olga", "fred", "stan"):
        with apart(subtests, name=name):
            refused = lab.program(name).post("/projects", body)
            assert refused.status_code == 403
            page = lab.browser(name).post("/desk/new-project/", {"from": "empty", "step": "make", **body})
            assert page.status_code == 404
            with pytest.raises(ProjectRightError), acting_as(lambda: Actor(lab.users[name])):  # noqa: B023
                create_project(slug="mine", title="Mine", owner=lab.users[name])
            assert not Project.objects.filter(slug="mine").exists()
    with apart(subtests, name="staff"):
        assert lab.program("ada").post("/projects", body).status_code == 201
    with apart(subtests, name="given by the operator"):
        call_command("crowd", "makers", "add", "vera", stdout=StringIO())
        assert lab.program("vera").post("/projects", body).status_code == 201
        call_command("crowd", "makers", "remove", "vera", stdout=StringIO())
        is_problem(lab.program("vera").post("/projects", body | {"slug": "more"}), 403, "right_missing")


def test_a_project_without_the_right_opens_nothing(lab, db, subtests):
    with apart(subtests, way="API"):
        is_problem(lab.program("nina").post(OPENED, {}), 403, "right_missing")
        assert now(lab.theirs).status == "draft"
    with apart(subtests, way="page"):
        lab.browser("nina").post("/desk/projects/other/stages/poll/open/", {"typed": "100.00"})
        assert now(lab.theirs).status == "draft"
    with apart(subtests, way="service"), pytest.raises(SpendingRightError, match="crowd endpoint allow"):
        stages.open_stage(stage=now(lab.theirs), actor=lab.users["nina"])
    for name in ("vera", "fred", "stan"):
        with apart(subtests, way="API", name=name):
            assert lab.program(name).post(OPENED, {}).status_code == 404
            assert lab.program(name).post("/projects/lab/stages/poll/open", {}).status_code in (403, 404)
    with apart(subtests, way="the project that has it"):
        assert lab.program("olga").post("/projects/lab/stages/poll/open", {}).status_code == 200
        assert MarketOperation.objects.filter(stage=lab.mine, kind="publish").exists()
    assert not MarketOperation.objects.exists()


def test_every_service_that_spends_or_writes_asks(lab, db, subtests):
    nina, endpoint = lab.users["nina"], lab.endpoint
    Stage.objects.filter(pk=lab.theirs.pk).update(status="open", opened_by=nina)
    stage = now(lab.theirs)
    hit = world.make_hit(stage, places=2)
    worker = world.make_worker(endpoint)
    fresh = world.make_worker(endpoint)
    times = dict.fromkeys(("arrived_at", "submitted_at"), timezone.now())
    submitted, rejected = (
        Assignment.objects.create(
            stage=stage, hit=hit, worker=who, external_id=state[:2], state=state, **times
        )
        for who, state in ((worker, "submitted"), (world.make_worker(endpoint), "rejected"))
    )
    hit = Hit.objects.select_related("stage__endpoint", "stage__project").get(pk=hit.pk)
    cheap = world.make_endpoint()
    EndpointSpender.objects.create(endpoint=cheap, project=stage.project, created_at=timezone.now())
    plans = [SourcePlan(endpoint, share=1), SourcePlan(world.make_endpoint(), share=1)]
    pay = {"cents": 5, "reason": "Thanks.", "actor": nina}
    asked = {
        "publish": lambda: publication.publish_pending(stage, actor=nina),
        "top up": lambda: top_up(stage=stage, most_cents=10_000, actor=nina),
        "places": lambda: stages.extend_hit_places(hit=hit, places=1, purpose="more"),
        "time": lambda: stages.extend_hit_time(hit=hit, until=timezone.now()),
        "approve after a rejection": lambda: review.override(assignment=rejected, actor=nina, note=""),
        "bonus": lambda: review.bonus(assignment=submitted, purpose="p", **pay),
        "compensate": lambda: review.compensate(stage=stage, worker=fresh, **pay),
        "write": lambda: review.message_workers(
            stage=stage, workers=[worker], subject="a", text="b", actor=nina
        ),
        "sources": lambda: sources.set_sources(stage=stage, plans=plans, actor=nina),
    }
    for name, act in asked.items():
        with apart(subtests, service=name):
            with pytest.raises(SpendingRightError):
                act()
            assert not MarketOperation.objects.exclude(kind__in=["group", "grant"]).exists()
    with apart(subtests, service="decisions about work go on"):
        assert review.approve(assignment=submitted, actor=nina).kind == "approve"


def test_what_goes_on_by_itself_has_the_right_of_who_opened_the_stage(lab, db):
    nina, stage = lab.users["nina"], now(lab.theirs)
    spenders.allow_spending(endpoint=lab.endpoint, user=nina)
    stages.open_stage(stage=stage, actor=nina)
    assert now(stage).opened_by == nina
    EndpointSpender.objects.filter(user=nina).delete()
    tick._go_on(now(stage), lab.endpoint, tick.Round(), tick.Contact())
    assert now(stage).status == "paused"
    event = stage.project.events.filter(action="stage.paused").latest("pk")
    assert "nina, who opened the stage" in event.details["why"]
    with pytest.raises(SpendingRightError):
        stages.open_stage(stage=now(stage), actor=nina)


def test_a_personal_right_counts_where_the_person_works(lab, db):
    vera = lab.users["vera"]
    spenders.allow_spending(endpoint=lab.endpoint, user=vera)
    assert not may_spend(lab.endpoint, lab.theirs.project, vera)
    set_role(project=lab.theirs.project, user=vera, role="manager")
    assert may_spend(lab.endpoint, lab.theirs.project, vera)
    remove_member(project=lab.theirs.project, user=vera)
    assert not may_spend(lab.endpoint, lab.theirs.project, vera)


def test_a_right_that_is_taken_away_pauses_what_it_opened(lab, db, subtests):
    for ways in ("page", "command"):
        with apart(subtests, ways=ways):
            stages.open_stage(stage=now(lab.mine), actor=lab.users["olga"])
            row = EndpointSpender.objects.get(project=lab.mine.project)
            name = lab.endpoint.name
            if ways == "page":
                lab.browser("ada").post(f"/desk/settings/spenders/{row.pk}/end/")
            else:
                words = ("disallow", name, "--project", "lab")
                call_command("crowd", "endpoint", *words, stdout=StringIO())
            assert now(lab.mine).status == "paused"


def test_only_staff_and_the_operator_give_the_right(lab, db):
    at = f"/desk/settings/endpoints/{lab.endpoint.name}/allow/"
    assert lab.browser("nina").post(at, {"project": "other"}).status_code == 404
    with pytest.raises(SpendingRightError), acting_as(lambda: Actor(lab.users["nina"])):
        spenders.allow_spending(endpoint=lab.endpoint, project=lab.theirs.project)
    with pytest.raises(SpendingRightError), acting_as(lambda: Actor(lab.users["nina"])):
        create_endpoint(name="hers", preset="link", access_key="", secret="")
    assert lab.browser("ada").post(at, {"project": "other"}).status_code == 302
    assert may_spend(lab.endpoint, lab.theirs.project, lab.users["nina"])
    with acting_as(lambda: Actor(lab.users["ada"])):
        made = create_endpoint(name="new", preset="link", access_key="", secret="")
    assert made.spenders.get().user == lab.users["ada"]


def test_a_token_and_forms_see_the_endpoints_that_can_be_used(lab, db, subtests):
    def listed(program):
        return [row["name"] for row in program.get("/endpoints").json()["items"]]

    name = lab.endpoint.name
    with apart(subtests):
        assert [listed(lab.program(each)) for each in ("olga", "vera", "nina", "ada")] == [
            [name], [name], [], [name],
        ]  # fmt: skip
        set_role(project=lab.theirs.project, user=lab.users["olga"], role="viewer")
        bound = program_of(lab.users["olga"], project=lab.theirs.project)
        assert listed(bound) == [] and bound.get(f"/endpoints/{name}").status_code == 404
        with acting_as(lambda: Actor(lab.users["nina"])):
            assert not usable_endpoints([lab.theirs.project]).exists()


def test_an_upgrade_gives_each_project_the_endpoints_that_it_uses(lab, db):
    EndpointSpender.objects.all().delete()
    import_module("crowd.migrations.0020_projects_keep_their_endpoints").give_rights(apps, None)
    assert set(EndpointSpender.objects.values_list("project__slug", "endpoint")) == {
        ("lab", lab.endpoint.pk),
        ("other", lab.endpoint.pk),
    }
    import_module("core.projects.migrations.0006_owners_make_projects").give_right(apps, None)
    assert User.objects.get(username="nina").has_perm("projects.add_project")
    assert not User.objects.get(username="vera").has_perm("projects.add_project")
