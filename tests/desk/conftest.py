"""A project with people in every role, and a poll on a made-up marketplace."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.crypto import seal
from core.projects.models import Project
from core.projects.services import create_project, set_role
from crowd.models import Assignment, Endpoint, EndpointSpender, Hit, HitUnit, MarketOperation, Stage, Worker
from crowd.outbox.calls import plan
from crowd.services.stages import create_stage
from marketplace.models import Worker as SiteWorker

HOSTILE = "<script>alert('x')</script>\u202e\"'&{{7*7}}"
CONFIG = {
    "question": "Which?",
    "options": ["tea", "milk"],
    "items": ["one", "two"],
    "checks": {"say tea": "tea"},
}


@pytest.fixture
def people() -> dict[str, User]:
    names = ("owner", "manager", "viewer", "stranger", "worker")
    users = {name: User.objects.create_user(name, password="seven green kettles") for name in names}
    SiteWorker.objects.create(
        worker_id="AWORKER", name="worker", user=users["worker"], created_at=timezone.now()
    )
    return users


@pytest.fixture
def as_(people) -> Callable[[str], Client]:
    """A browser of somebody; "anonymous" is nobody."""

    def sign_in(name: str) -> Client:
        client = Client()
        if name != "anonymous":
            client.force_login(people[name])
        return client

    return sign_in


@pytest.fixture
def endpoint() -> Endpoint:
    made = Endpoint.objects.create(
        name="local",
        label="Our marketplace",
        url="http://127.0.0.1:9/mturk/api",
        access_key="AKEXAMPLE",
        secret_sealed=seal("secret", purpose="crowd.endpoint"),
        real_money=False,
        submit_origins=["http://127.0.0.1:9"],
        created_at=timezone.now(),
    )
    give_all()
    return made


@pytest.fixture
def project(people) -> Project:
    project = create_project(slug="reading", title="Reading", owner=people["owner"], budget_cents=10_000)
    for role in ("manager", "viewer"):
        set_role(project=project, user=people[role], role=role)
    let_make_projects(people["owner"])
    give_all()
    return project


@pytest.fixture
def stage(project, endpoint) -> Stage:
    return make_stage(project, endpoint)


def make_stage(project: Project, endpoint: Endpoint, slug: str = "poll", **fields: object) -> Stage:
    """A draft of a poll with two items, three people each."""
    values = {
        "title": "A poll",
        "kind": "poll",
        "config": CONFIG,
        "task_title": "Which do you like?",
        "task_description": "One question.",
        "reward_cents": 10,
        "redundancy": 3,
        "budget_cents": 2_000,
    }
    give(endpoint, project)
    return create_stage(project=project, slug=slug, endpoint=endpoint, **(values | fields))


def give(endpoint: Endpoint, project: Project | None = None, user: User | None = None) -> None:
    """Let a project or a person spend from an endpoint, without a line in a log."""
    EndpointSpender.objects.get_or_create(
        endpoint=endpoint, project=project, user=user, defaults={"created_at": timezone.now()}
    )


def give_all() -> None:
    """Let every project spend from every endpoint."""
    for endpoint in Endpoint.objects.all():
        for project in Project.objects.all():
            give(endpoint, project)


def let_make_projects(*people: User) -> None:
    """Give people the right to make projects."""
    right = Permission.objects.get(content_type__app_label="projects", codename="add_project")
    right.user_set.add(*people)


def make_hit(stage: Stage, places: int = 3, **fields: object) -> Hit:
    """A HIT on offer, with one item and one check."""
    ordinal = stage.hits.count()
    values = {
        "state": Hit.State.OPEN,
        "external_id": f"3HIT{ordinal}",
        "expires_at": timezone.now() + timedelta(days=3),
        "reward_cents": stage.reward_cents,
        "fee_cents": 2,
    }
    hit = Hit.objects.create(stage=stage, ordinal=ordinal, places=places, **(values | fields))
    HitUnit.objects.create(hit=hit, unit="item:0", position=0)
    HitUnit.objects.create(hit=hit, unit="check:0", position=1, role=HitUnit.Role.CHECK)
    return hit


def make_work(hit: Hit, name: str = "A1", **fields: object) -> Assignment:
    """Submitted work of a worker of that name."""
    now = timezone.now()
    worker, _ = Worker.objects.get_or_create(
        endpoint=hit.stage.endpoint, external_id=name, defaults={"first_seen_at": now}
    )
    values = {
        "state": Assignment.State.SUBMITTED,
        "arrived_at": now - timedelta(minutes=2),
        "stored_at": now,
        "submitted_at": now,
        "auto_approve_at": now + timedelta(hours=12),
        "response": {"item:0": {"choice": "tea"}, "check:0": {"choice": "milk"}},
        "telemetry": {"active_ms": 60_000},
    }
    return Assignment.objects.create(
        stage=hit.stage, hit=hit, worker=worker, external_id=f"3A{name}{hit.pk}", **(values | fields)
    )


def make_unknown(hit: Hit) -> MarketOperation:
    """A publication that nobody answered, and that the list does not show."""
    operation = plan(
        kind=MarketOperation.Kind.PUBLISH,
        endpoint=hit.stage.endpoint,
        stage=hit.stage,
        hit=hit,
        target=f"hit:{hit.pk}",
        purpose="publish",
        payload={"open_seconds": 3600},
    )
    MarketOperation.objects.filter(pk=operation.pk).update(
        state=MarketOperation.State.UNKNOWN, needs_person=True, first_sent_at=timezone.now(), attempts=3
    )
    operation.refresh_from_db()
    return operation


@pytest.fixture
def owner(as_):
    return as_("owner")


@pytest.fixture
def manager(as_):
    return as_("manager")


def at(name, stage, **parts):
    """Address of a page of a stage."""
    return reverse(f"desk:{name}", kwargs={"project": stage.project.slug, "stage": stage.slug, **parts})
