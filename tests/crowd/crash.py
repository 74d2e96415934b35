"""Dying at every point: one process that plans and dispatches is killed, another one goes on.

    python -m tests.crowd.crash SITE_URL SCENARIO…

Runs inside a server's installation (its environment) and prints a report in JSON. Nothing durable changes
but by a commit of ours or by a call that the marketplace performs, so these are the points: after each commit
that wrote something, before and after each call. For each of them, from 1 until the process survives, a
process is forked, counts, and ends itself without a word when it gets there. Then others go on: leases are
over, the person repeats what they had asked for, ticks run until they find nothing to do. Where the
call was in doubt, the same is done once more with everything a day older, when the marketplace has forgotten
its tokens and only its lists and a person can say what happened.
"""

import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import django

from tests.statements import is_write

KILLED = 9
MOST_POINTS = 200
#: Scenarios whose lost answers and late doubts are those of others.
BRIEF = ("sources", "close_one")
MOST_ROUNDS = 12
DEPOSIT = 100_00


class Points:
    """Counts points; the process ends at number `last`, or has the answer to call `lose` lost."""

    def __init__(self, last: int = 0, lose: int = 0, on_loss: Callable[[], None] | None = None) -> None:
        self.names: list[str] = []
        self.calls = 0
        self._last, self._lose, self._on_loss = last, lose, on_loss
        self._dirty = False
        self._lock = threading.Lock()

    def watch(self) -> None:
        """Count in this process from now on."""
        from botocore.httpsession import URLLib3Session
        from django.db import connection
        from django.db.backends.base.base import BaseDatabaseWrapper

        commit, send = BaseDatabaseWrapper._commit, URLLib3Session.send

        def counted_commit(wrapper):
            commit(wrapper)
            if self._dirty:
                self._dirty = False
                self._reached("commit")

        def counted_send(session, request):
            operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
            self._before(operation)
            answer = send(session, request)
            self._reached(f"after {operation}")
            return answer

        def written(execute, sql, params, many, context):
            result = execute(sql, params, many, context)
            if is_write(sql):
                if context["connection"].in_atomic_block:
                    self._dirty = True
                else:
                    self._reached("commit")
            return result

        BaseDatabaseWrapper._commit = counted_commit
        URLLib3Session.send = counted_send
        connection.execute_wrappers.append(written)

    def _before(self, operation: str) -> None:
        self._reached(f"before {operation}")
        if _only_reads(operation):
            return
        self.calls += 1
        if self.calls == self._lose and self._on_loss:
            self._on_loss()

    def _reached(self, name: str) -> None:
        with self._lock:
            self.names.append(name)
            if len(self.names) == self._last:
                os._exit(KILLED)


def _only_reads(operation: str) -> bool:
    return operation.startswith(("Get", "List"))


@dataclass
class World:
    """A requester with money, a stage of theirs, and what is expected in the end."""

    site: str
    requester: Any
    endpoint: Any
    stage: Any
    act: Callable[["World"], None] = lambda world: None
    hits: int = 1
    places: int = 1
    bonuses: int = 0
    approved: int = 0
    notes: dict[str, Any] = field(default_factory=dict)
    others: list[Any] = field(default_factory=list)

    @property
    def endpoints(self) -> list[Any]:
        """All endpoints of the stage; the first is the marketplace."""
        return [self.endpoint, *self.others]


def new_world(site: str, **fields: Any) -> World:
    """An account of its own, so that ticks find this stage alone."""
    from marketplace.accounts import people
    from marketplace.money import deposits
    from tests.crowd.world import make_endpoint, make_stage

    requester, key = people.create_requester(name=f"lab {os.urandom(6).hex()}", fee_profile="mturk-2026")
    deposits.deposit(requester=requester, cents=DEPOSIT)
    endpoint = make_endpoint(
        url=f"{site}/mturk/api", access_key=key.access_key, secret=key.secret, submit_origins=[site]
    )
    return World(site, requester, endpoint, make_stage(endpoint, **fields))


# What people ask for; asking again changes nothing


def publish(site: str) -> World:
    """Two HITs of one place."""
    world = new_world(site)
    world.act, world.hits = _open, 2
    return world


def approve(site: str) -> World:
    """A submitted answer that the next round collects and approves."""
    world = new_world(site, items=["tea"])
    _open(world)
    _settle(world)
    _submit(world)
    world.approved = 1
    return world


def bonus(site: str) -> World:
    """A bonus for approved work."""
    world = approve(site)
    _settle(world)
    world.act, world.bonuses = _pay_bonus, 1
    return world


def extend(site: str) -> World:
    """A place more for a HIT on offer."""
    world = new_world(site, items=["tea"])
    _open(world)
    _settle(world)
    world.act, world.places = _extend, 2
    return world


def sources(site: str) -> World:
    """Two things by two people each, half from the marketplace and half by links."""
    from crowd.services.endpoints import create_endpoint
    from crowd.services.sources import SourcePlan, set_sources

    world = new_world(site, redundancy=2)
    name = f"links-{os.urandom(6).hex()}"
    links = create_endpoint(name=name, preset="link", access_key="", secret="")
    set_sources(stage=world.stage, plans=[SourcePlan(world.endpoint, share=1), SourcePlan(links, share=1)])
    world.others, world.act, world.hits = [links], _open, 2
    return world


def close_one(site: str) -> World:
    """The marketplace is closed as a source: its HITs expire, and links get what nobody answered."""
    world = sources(site)
    _open(world)
    _settle(world)
    world.act = _close_marketplace
    return world


SCENARIOS: dict[str, Callable[[str], World]] = {
    "publish": publish,
    "approve": approve,
    "bonus": bonus,
    "extend": extend,
    "sources": sources,
    "close_one": close_one,
}


def _open(world: World) -> None:
    from crowd.models import Stage
    from crowd.services import stages

    world.stage.refresh_from_db()
    if world.stage.status == Stage.Status.DRAFT:
        stages.open_stage(stage=world.stage)


def _close_marketplace(world: World) -> None:
    from crowd.services.sources import close_source, row_of

    world.stage.refresh_from_db()
    close_source(stage=world.stage, row=row_of(world.stage, world.endpoint.name))


def _submit(world: World) -> None:
    from crowd.models import Hit
    from marketplace.accounts import people
    from tests.clients import ScriptedWorker
    from tests.crowd.world import work

    made, token = people.create_scripted_worker(name=f"worker {os.urandom(6).hex()}")
    work(Hit.objects.get(stage=world.stage), ScriptedWorker(world.site, made.worker_id, token))


def _pay_bonus(world: World) -> None:
    from crowd.models import Assignment
    from crowd.services import review

    assignment = Assignment.objects.select_related("stage__endpoint", "stage__project", "worker").get(
        stage=world.stage
    )
    review.bonus(assignment=assignment, actor=None, cents=25, reason="Very thorough.", purpose="thorough")


def _extend(world: World) -> None:
    from crowd.models import Hit
    from crowd.services import stages

    hit = Hit.objects.select_related("stage__endpoint").get(stage=world.stage)
    stages.extend_hit_places(hit=hit, places=1, purpose="one more")


# Dying, and going on


def _tick(world: World) -> Any:
    """One round, for this world's endpoint only: the others are over."""
    from unittest import mock

    from django.db.models import Q

    from crowd.outbox import dispatch
    from crowd.services import tick

    mine = mock.patch.object(tick, "_with_work", lambda: Q(pk__in=[each.pk for each in world.endpoints]))
    with mine, mock.patch.object(dispatch, "THREADS", 1):
        return tick.tick()


def run_and_die(world: World, point: int, lose: int = 0) -> tuple[bool, list[str], int]:
    """Act and tick in a process of its own; whether it survived, the points it saw, the calls it made."""
    from django.db import connections

    from crowd.adapters import registry
    from marketplace.protocol import testcontrols

    connections.close_all()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            registry._adapters.clear()
            points = Points(
                point, lose, lambda: testcontrols.switch_faults(world.requester, lose_response_after_commit=1)
            )
            points.watch()
            world.act(world)
            _tick(world)
            os.write(writing, json.dumps([points.names, points.calls]).encode())
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, KILLED), f"the process failed with {code}"
    names, calls = json.loads(said) if said else ([], 0)
    return code == 0, names, calls


def _settle(world: World) -> int:
    """Tick until nothing is left to do, as if no time were left to wait for; the number of rounds."""
    from django.utils import timezone

    from crowd.models import EndpointRound, Hit, MarketOperation, Stage

    past = timezone.now() - timedelta(seconds=1)
    for number in range(1, MOST_ROUNDS + 1):
        mine = MarketOperation.objects.filter(endpoint__in=world.endpoints).exclude(
            state__in=MarketOperation.FINAL
        )
        mine.update(not_before=past)
        mine.exclude(lease_until=None).update(lease_until=past)
        Stage.objects.filter(pk=world.stage.pk).exclude(planner=None).update(planner_until=past)
        if world.others:  # what is over is read again after a while
            Hit.objects.filter(stage=world.stage).update(synced_at=None)
        rounds = EndpointRound.objects.filter(pk__in=[each.pk for each in world.endpoints])
        rounds.exclude(lease_until=None).update(lease_until=past)
        if _tick(world).idle:
            return number
    return MOST_ROUNDS


def in_doubt(world: World, points: list[str]) -> bool:
    """Whether something was unfinished after a call that changes something had begun."""
    from crowd.models import MarketOperation

    called = any(name.startswith("before ") and not _only_reads(name.split()[1]) for name in points)
    going = MarketOperation.objects.filter(endpoint__in=world.endpoints).exclude(
        state__in=MarketOperation.FINAL
    )
    return called and going.exists()


def a_day_later(world: World) -> None:
    """The marketplace has forgotten the tokens, and we know that it has."""
    from django.db.models import F

    from crowd.models import MarketOperation
    from marketplace.models import TokenUse

    day = timedelta(hours=24, minutes=1)
    MarketOperation.objects.filter(endpoint__in=world.endpoints).update(
        first_sent_at=F("first_sent_at") - day
    )
    TokenUse.objects.filter(requester=world.requester).update(at=F("at") - day)


def a_person_looks(world: World) -> int:
    """Somebody answers what nobody else can, after looking at the marketplace: it was not done."""
    from crowd.models import MarketOperation
    from crowd.services import review

    asked = list(MarketOperation.objects.filter(endpoint__in=world.endpoints, needs_person=True))
    for operation in asked:
        review.resolve_operation(operation=operation, actor=None, happened=False, why="It is not there.")
    return len(asked)


# What must be true afterwards


def faults(world: World, *, given_up: int = 0) -> list[str]:
    """Sentences about what is not as it must be; `given_up`: operations that a person said were not done."""
    from crowd.adapters import registry
    from crowd.models import Assignment, Hit, LedgerEntry, MarketOperation
    from crowd.selectors.stage_status import money_by_endpoint
    from crowd.sources import hits_at

    kinds, states = MarketOperation.Kind, MarketOperation.State
    found: list[str] = []

    def expect(what: str, is_: object, wanted: object) -> None:
        if is_ != wanted:
            found.append(f"{what}: {is_!r} instead of {wanted!r}")

    everything = list(MarketOperation.objects.filter(endpoint__in=world.endpoints))
    operations = [operation for operation in everything if operation.endpoint_id == world.endpoint.pk]
    expect("pending", [str(o) for o in everything if o.state not in MarketOperation.FINAL], [])
    expect("refused", sum(o.state == states.REFUSED for o in everything), given_up)

    def confirmed(kind: str) -> list[MarketOperation]:
        return [o for o in operations if o.kind == kind and o.state == states.CONFIRMED]

    world.stage.refresh_from_db()
    project = world.stage.project
    project.refresh_from_db()
    booked = dict.fromkeys(LedgerEntry.Kind.values, 0)
    for entry in LedgerEntry.objects.filter(stage=world.stage):
        booked[entry.kind] += entry.cents + entry.fee_cents
    for row in (world.stage, project):
        expect("spent", row.spent_cents, booked["spend"] - booked["refund"])
        expect("reserved", row.reserved_cents, booked["reserve"] - booked["release"] - booked["spend"])

    market = registry.adapter(world.endpoint)
    balance = market.check()
    held = balance.on_hold.minor if balance.on_hold else 0
    there = money_by_endpoint(world.stage)[world.endpoint.pk]
    expect("paid", there.total_cents, DEPOSIT - balance.available.minor - held)
    expect("held", there.reserved_cents, held)
    if not given_up:
        found += overasked(world)

    listings = list(market.iter_listings())
    expect(
        "HITs",
        sorted(str(listing.key) for listing in listings),
        sorted(o.token for o in confirmed(kinds.PUBLISH)),
    )
    expect(
        "open or closed HITs",
        Hit.objects.filter(hits_at(world.endpoint), stage=world.stage).exclude(external_id="").count(),
        len(listings),
    )
    paid = [one.reason for listing in listings for one in market.iter_bonuses(listing=listing.ref)]
    refs = [f"[ref {o.token[:8]}]" for o in confirmed(kinds.BONUS)]
    expect("bonuses", sorted(reason[-len("[ref 01234567]") :] for reason in paid), sorted(refs))
    extended = len(confirmed(kinds.EXTEND))
    for listing in listings:
        places = list(Hit.objects.filter(external_id=listing.ref).values_list("places", flat=True))
        expect("places", (places, listing.places), ([1 + extended], 1 + extended))
    approvals = Assignment.objects.filter(stage=world.stage, state="approved").count()
    expect("approved", approvals, world.approved)
    if not given_up:
        expect("number of HITs", len(listings), world.hits)
        expect("number of bonuses", len(paid), world.bonuses)
        expect("number of places", {listing.places for listing in listings}, {world.places})
    return found


def overasked(world: World) -> list[str]:
    """Units of a stage with several sources whose places are not as many as people were asked for."""
    from django.db.models import Sum

    from crowd.models import Hit, HitUnit

    if not world.others:
        return []
    living = HitUnit.objects.filter(
        hit__stage=world.stage, hit__state__in=[Hit.State.OPEN, Hit.State.PLANNED]
    )
    places = dict(living.values_list("unit").annotate(Sum("hit__places")).order_by("unit"))
    wanted = {f"item:{number}": world.stage.redundancy for number in range(2)}
    return [] if places == wanted else [f"places by unit: {places}"]


# All points of a scenario


def every_point(name: str, site: str) -> dict[str, Any]:
    """Kill at the first point, the second, …, until the process survives; what was found."""
    from crowd.outbox import epoch

    epoch.obstacle()  # an installation books once which data folder it has
    report: dict[str, Any] = {"killed": 0, "late": 0, "asked": 0, "lost": 0, "rounds": 0, "faults": []}
    _, points, calls = run_and_die(SCENARIOS[name](site), 0)
    report["points"] = points

    def note(where: str, found: list[str]) -> None:
        report["faults"] += [f"{name}, {where}: {sentence}" for sentence in found]

    for point in range(1, MOST_POINTS):
        where = f"killed at {point} ({points[point - 1] if point <= len(points) else 'end'})"
        world = SCENARIOS[name](site)
        survived, _, _ = run_and_die(world, point)
        doubtful = in_doubt(world, points[:point])
        world.act(world)
        report["rounds"] = max(report["rounds"], _settle(world))
        note(where, faults(world))
        if survived:
            break
        report["killed"] += 1
        if doubtful and name not in BRIEF:
            report["late"] += 1
            asked, found = _again_a_day_later(name, site, point)
            report["asked"] += asked
            note(f"{where}, a day later", found)
    for call in range(1, 1 if name in BRIEF else calls + 1):
        world = SCENARIOS[name](site)
        run_and_die(world, 0, lose=call)
        world.act(world)
        _settle(world)
        note(f"answer {call} lost", faults(world))
        report["lost"] += 1
    return report


def _again_a_day_later(name: str, site: str, point: int) -> tuple[int, list[str]]:
    world = SCENARIOS[name](site)
    run_and_die(world, point)
    a_day_later(world)
    _settle(world)
    asked = a_person_looks(world)
    _settle(world)
    return asked, faults(world, given_up=asked)


def main() -> None:
    """The report of the scenarios named on the command line."""
    site, names = sys.argv[1], sys.argv[2:]
    django.setup()
    reports = {name: every_point(name, site) for name in names}
    from django.db import connections

    connections.close_all()
    sys.stdout.write(json.dumps(reports))


if __name__ == "__main__":
    main()
