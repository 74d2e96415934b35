"""Projects, endpoints, stages, HITs and finished work for tests, made in the shortest way."""

import itertools
import random
import uuid
from datetime import timedelta

from django.utils import timezone

from core.crypto import seal
from core.projects.models import Project
from core.projects.services import create_project
from crowd.models import Assignment, Endpoint, Hit, HitUnit, Stage, Worker
from crowd.services import responses, stages
from crowd.services.arrivals import arrive
from tests.clients import ScriptedWorker

URL = "https://market.example.org/mturk/api"
_numbers = itertools.count(random.randrange(10**9))


def make_endpoint(**fields) -> Endpoint:
    """An endpoint with MTurk's fees, without a limit on calls."""
    name = f"market-{next(_numbers)}"
    given = {
        "url": URL,
        "access_key": "AKTEST",
        "real_money": False,
        "fee_profile": "mturk-2026",
        "submit_origins": ["https://market.example.org"],
        "rate": 0,
        **fields,
    }
    secret = given.pop("secret", "a secret")
    return Endpoint.objects.create(
        name=name,
        label=name,
        secret_sealed=seal(secret, purpose="crowd.endpoint"),
        created_at=timezone.now(),
        **given,
    )


def make_project(budget_cents: int = 100_000) -> Project:
    """A project with money."""
    name = f"project-{next(_numbers)}"
    return create_project(slug=name, title=name, budget_cents=budget_cents)


def make_stage(endpoint: Endpoint | None = None, project: Project | None = None, **fields) -> Stage:
    """A poll about `items` (two of them); ten cents, one person each."""
    items, checks = fields.pop("items", ["tea", "coffee"]), fields.pop("checks", {})
    given = {
        "task_title": "A small question",
        "task_description": "Choose one.",
        "reward_cents": 10,
        "redundancy": 1,
        "budget_cents": 10_000,
        **fields,
    }
    return stages.create_stage(
        project=project or make_project(),
        slug=f"poll-{next(_numbers)}",
        title="Poll",
        kind="poll",
        config={
            "question": "Is it good?",
            "options": ["yes", "no"],
            "items": list(items),
            "checks": dict(checks),
        },
        endpoint=endpoint or make_endpoint(),
        **given,
    )


def make_hit(stage: Stage, *units: str, places: int = 1, **fields) -> Hit:
    """A HIT that is on offer already, with nothing reserved for it."""
    given = {
        "ordinal": Hit.objects.filter(stage=stage).count(),
        "external_id": f"3{uuid.uuid4().hex[:29].upper()}",
        "state": Hit.State.OPEN,
        "reward_cents": stage.reward_cents,
        "fee_cents": 2,
        "published_at": timezone.now(),
        "expires_at": timezone.now() + timedelta(days=7),
        **fields,
    }
    hit = Hit.objects.create(stage=stage, places=places, **given)
    HitUnit.objects.bulk_create(
        HitUnit(hit=hit, unit=unit, position=position) for position, unit in enumerate(units or ("item:0",))
    )
    return hit


def make_worker(endpoint: Endpoint, name: str = "") -> Worker:
    """A worker of an endpoint."""
    return Worker.objects.create(
        endpoint=endpoint, external_id=name or f"A{next(_numbers)}", first_seen_at=timezone.now()
    )


def new_submission_id() -> str:
    """What a marketplace calls an assignment."""
    return f"3{uuid.uuid4().hex[:29].upper()}"


def answer(hit: Hit, *, worker_id: str, submission: str = "", choice: str = "yes") -> Assignment:
    """A worker opens the task page and answers everything: our record stands, the marketplace's does not."""
    arrived = arrive(hit=hit, external_id=submission or new_submission_id(), worker_id=worker_id)
    response = {unit: {"choice": choice} for unit in arrived.units}
    assert responses.store_response(arrived.assignment, response, at=timezone.now())
    arrived.assignment.refresh_from_db()
    return arrived.assignment


def work(hit: Hit, worker: ScriptedWorker, choice: str = "yes") -> Assignment:
    """A scripted worker accepts a HIT at a real marketplace, answers it here and submits it there."""
    taken = worker.accept(hit.external_id)
    assignment = answer(hit, worker_id=worker.worker_id, submission=taken["assignment_id"], choice=choice)
    said = worker.submit(taken, **responses.receipt_fields(assignment))
    assert said.status == 200, said.text
    return assignment
