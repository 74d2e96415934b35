"""Makes stages on a running server, lets crowds work on them, tells what came of it.

It works in a process with the server's settings (see tests/inside.py). Everything goes the ways that people
and researchers go; only the tables are read directly at the end.
"""

import threading
import uuid
from typing import Any
from unittest.mock import patch

from django.conf import settings

from core.projects.services import create_project
from crowd.kinds import kind_of
from crowd.models import Assignment, Endpoint, Hit, MarketOperation, Stage, Worker
from crowd.services.endpoints import create_endpoint
from crowd.services.stages import create_stage, open_stage, pause_stage
from crowd.services.tick import Round, tick
from crowd.simulation.accounts import accounts
from crowd.simulation.answers import crowd_of
from crowd.simulation.run import Crowd
from examples.poll.models import Vote
from marketplace.accounts.people import create_requester
from marketplace.models import Requester
from marketplace.money.deposits import deposit

#: Accounts made for all crowds of a server together, so that a person's number is the same in each.
PEOPLE = 40
OPTIONS = ["1", "2", "3", "4", "5"]


def endpoint_with(*, fees: str, real_money: bool) -> Endpoint:
    """The server's own marketplace as an endpoint, one for each way of paying."""
    name = f"{fees}-{real_money}".lower()
    known = Endpoint.objects.filter(name=name).first()
    if known is not None:
        return known
    requester, key = create_requester(name=name, fee_profile=fees)
    deposit(requester=requester, cents=10_000_000)
    return create_endpoint(
        name=name,
        url=f"{settings.TASK_URL}/mturk/api",
        access_key=key.access_key,
        secret=key.secret,
        real_money=real_money,
        fee_profile=fees,
        rate=0,
    )


def make_stage(
    *,
    items: int = 6,
    redundancy: int = 3,
    units_per_hit: int = 2,
    checks: int = 0,
    fees: str = "none-1",
    real_money: bool = False,
) -> Stage:
    """An open poll at the server's own marketplace."""
    name = uuid.uuid4().hex[:12]
    for earlier in Stage.objects.filter(status=Stage.Status.OPEN):
        pause_stage(stage=earlier)
    endpoint = endpoint_with(fees=fees, real_money=real_money)
    config = {
        "question": "How right is it?",
        "options": OPTIONS,
        "items": [f"Statement {number}" for number in range(items)],
        "checks": {f"Choose {number + 1}": str(number + 1) for number in range(checks)},
    }
    stage = create_stage(
        project=create_project(slug=name, title=name, budget_cents=1_000_000),
        slug="poll",
        title="Poll",
        kind="poll",
        config=config,
        endpoint=endpoint,
        task_title=f"How right is it? {name}",
        task_description="Read the statement and choose a number.",
        reward_cents=10,
        redundancy=redundancy,
        units_per_hit=units_per_hit,
        checks_per_hit=checks,
        budget_cents=1_000_000,
    )
    open_stage(stage=stage, typed_cents=1_000_000)
    return stage


def simulate(
    stage: Stage, *, people: int, mix: str, seed: int = 7, then_redundancy: int | None = None, **options: Any
) -> dict[str, Any]:
    """A crowd works on the stage; what it says it did.

    Once all is done that was on offer, every unit is to be asked `then_redundancy` people. The round that
    publishes this takes long: the crowd has nothing to do, and asks itself often whether to wait.
    """
    found = accounts(settings.TASK_URL, PEOPLE)[:people]
    options = {"threads": 4} | options
    crowd = Crowd(stage, crowd_of(mix, people, seed=seed), found, seed=seed, fast=True, **options)
    on_offer, turns, turned = places_of(stage), 0, threading.Condition()

    def ask_more(now: Crowd) -> None:
        nonlocal turns
        if then_redundancy is not None and now.summary.outcomes["submitted"] == on_offer:
            Stage.objects.filter(pk=stage.pk).update(redundancy=then_redundancy)
        with turned:
            turns += 1
            turned.notify()

    def tick_slowly() -> Round:
        before, done = places_of(stage), tick()
        if before == on_offer < places_of(stage):
            with turned:
                enough = turns + 25
                turned.wait_for(lambda: turns >= enough, timeout=5)
        return done

    with patch("crowd.simulation.run.tick", tick_slowly):
        return crowd.run(progress=ask_more).facts()


def places_of(stage: Stage) -> int:
    """How many assignments the stage's HITs offer together."""
    return sum(Hit.objects.filter(stage=stage).values_list("places", flat=True))


def look(stage: Stage) -> dict[str, Any]:
    """What both sides have."""
    stage.refresh_from_db()
    numbers = {account.worker_id: n for n, account in enumerate(accounts(settings.TASK_URL, PEOPLE))}
    assignments = Assignment.objects.filter(stage=stage).select_related("worker")
    return {
        "assignments": [
            {
                "worker": numbers[row.worker.external_id],
                "state": row.state,
                "telemetry": row.telemetry,
                "failed_checks": row.failed_checks,
                "simulated": row.worker.simulated,
            }
            for row in assignments
        ],
        "votes": sorted(
            [numbers[vote.assignment.worker.external_id], vote.unit, vote.choice]
            for vote in Vote.objects.filter(stage=stage).select_related("assignment__worker")
        ),
        "real_workers": Worker.objects.filter(simulated=False).count(),
        "hits": sorted(Hit.objects.filter(stage=stage).values_list("state", flat=True)),
        "unfinished": MarketOperation.objects.exclude(state__in=MarketOperation.FINAL).count(),
        "spent_cents": stage.spent_cents,
        "reserved_cents": stage.reserved_cents,
        "missing": sum(item.missing for item in kind_of(stage).pending(stage)),
    }


def paid(stage: Stage) -> int:
    """What the marketplace paid from the account that the stage publishes with, in cents."""
    return Requester.objects.get(keys__access_key=stage.endpoint.access_key).paid_cents


def work(*, crowds: list[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
    """One stage, one crowd (or several, one after the other), and what came of it."""
    stage = make_stage(**wanted)
    before = paid(stage)
    said = [simulate(stage, **crowd) for crowd in crowds]
    return {"stage": stage.pk, "said": said, "paid_cents": paid(stage) - before, **look(stage)}


COMMANDS = {"work": work}
