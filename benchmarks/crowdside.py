"""What `benchmarks/crowd.py` measures, in processes with the server's settings.

    python -m benchmarks.crowdside publish 2000        plan and publish so many HITs
    python -m benchmarks.crowdside fill 50000 9        make submitted assignments on both sides, in HITs of 9
    python -m benchmarks.crowdside collect STAGE       collect them
    python -m benchmarks.crowdside chaos 10000 200     publish, work on and collect HITs; compare both sides

Each prints one JSON object. `--profile` after any of them prints where the time went, to the error output.
"""

import contextlib
import cProfile
import json
import pstats
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db.models import Count, F, Sum  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks import fill  # noqa: E402
from core.money import reward_fee  # noqa: E402
from core.projects.models import Project  # noqa: E402
from core.projects.services import create_project  # noqa: E402
from crowd.kinds import kind_of  # noqa: E402
from crowd.models import (  # noqa: E402
    Assignment,
    Claim,
    Endpoint,
    Hit,
    HitUnit,
    LedgerEntry,
    MarketOperation,
    Stage,
    Worker,
)
from crowd.outbox.dispatch import dispatch  # noqa: E402
from crowd.services.collection import collect  # noqa: E402
from crowd.services.endpoints import create_endpoint  # noqa: E402
from crowd.services.publication import publish_pending  # noqa: E402
from crowd.services.responses import receipt_fields  # noqa: E402
from crowd.services.stages import create_stage  # noqa: E402
from crowd.simulation.accounts import Browser, accounts  # noqa: E402
from crowd.simulation.answers import crowd_of  # noqa: E402
from crowd.simulation.run import Crowd  # noqa: E402
from examples.poll.models import Vote  # noqa: E402
from marketplace import ids  # noqa: E402
from marketplace.models import HIT, Holding, Place, Requester  # noqa: E402
from marketplace.models import Worker as TheirWorker  # noqa: E402
from marketplace.questions import answers_xml  # noqa: E402
from marketplace.sweep import sweep  # noqa: E402

REWARD = 10
FEES = "mturk-2026"
SEED = 7
BATCH = 2_000


def local_endpoint() -> Endpoint:
    """The server's own marketplace, with play money for everything."""
    known = Endpoint.objects.filter(name="bench").first()
    if known is not None:
        return known
    made = fill.requester()
    return create_endpoint(
        name="bench",
        url=f"{settings.TASK_URL}/mturk/api",
        access_key=made["access_key"],
        secret=made["secret"],
        real_money=False,
        fee_profile=FEES,
        rate=0,
    )


def new_stage(items: int, *, redundancy: int = 1, budget_cents: int) -> Stage:
    """An open poll that nothing was planned for yet."""
    name = uuid.uuid4().hex[:12]
    stage = create_stage(
        project=create_project(slug=name, title=name, budget_cents=budget_cents),
        slug="poll",
        title="Poll",
        kind="poll",
        config={
            "question": "How right is it?",
            "options": ["1", "2", "3", "4", "5"],
            "items": [f"Statement {number}" for number in range(items)],
        },
        endpoint=local_endpoint(),
        task_title=f"How right is it? {name}",
        task_description="Read the statement and choose a number.",
        reward_cents=REWARD,
        redundancy=redundancy,
        budget_cents=budget_cents,
    )
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.OPEN, opened_at=timezone.now())
    stage.refresh_from_db()
    return stage


def cost_of(hits: int, places: int = 1) -> int:
    """What so many HITs cost with their fees, in cents."""
    return hits * places * (REWARD + reward_fee(FEES, reward_cents=REWARD, max_assignments=places))


class Memory:
    """The most memory of its own that this process has while the block runs, in MiB, looked at often.

    Pages of the database file that SQLite has mapped are the file's, and are not counted.
    """

    def __init__(self) -> None:
        self.peak_mib = 0.0
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while True:
            status = Path("/proc/self/status").read_text(encoding="ascii")
            own = next(line for line in status.splitlines() if line.startswith("RssAnon:"))
            self.peak_mib = max(self.peak_mib, int(own.split()[1]) / 1024)
            if self._done.wait(0.05):
                return


def publish(hits: int) -> dict[str, Any]:
    """Plan and publish; seconds of each, and what the marketplace has afterwards."""
    stage = new_stage(hits, budget_cents=cost_of(hits))
    started = time.perf_counter()
    planned = publish_pending(stage)
    planned_at = time.perf_counter()
    while dispatch(stage.endpoint).total:
        pass
    done, cpu = time.perf_counter(), time.process_time()
    theirs = HIT.objects.filter(hit_type__title=stage.task_title).count()
    return {
        "planned": planned,
        "published": Hit.objects.filter(stage=stage, state=Hit.State.OPEN).count(),
        "theirs": theirs,
        "planning_s": planned_at - started,
        "sending_s": done - planned_at,
        "cpu_s": cpu,
    }


# Collecting


def fill_submitted(count: int, places: int) -> dict[str, Any]:
    """Assignments that were answered here and submitted there, and wait to be collected."""
    hits = -(-count // places)
    cents = cost_of(hits, places)
    stage = new_stage(hits, redundancy=places, budget_cents=cents)
    for row in (Stage.objects.filter(pk=stage.pk), Project.objects.filter(pk=stage.project_id)):
        row.update(reserved_cents=cents)
    now = timezone.now()
    group_id = fill.hits(hits, places, stage.task_title)
    theirs = list(HIT.objects.filter(hit_type__group_id=group_id).order_by("pk"))
    fee = reward_fee(FEES, reward_cents=REWARD, max_assignments=places)
    ours = Hit.objects.bulk_create(
        Hit(
            stage=stage,
            ordinal=number,
            places=places,
            reward_cents=REWARD,
            fee_cents=fee,
            external_id=hit.hit_id,
            state=Hit.State.OPEN,
            published_at=now,
            expires_at=hit.expires_at,
        )
        for number, hit in enumerate(theirs)
    )
    HitUnit.objects.bulk_create(
        HitUnit(hit=hit, unit=f"item:{hit.ordinal}", role=HitUnit.Role.UNIT, position=0) for hit in ours
    )
    people = TheirWorker.objects.bulk_create(
        TheirWorker(worker_id=ids.new_customer_id(), name=f"{stage.slug} {stage.pk} {number}", created_at=now)
        for number in range(places)
    )
    known = Worker.objects.bulk_create(
        Worker(endpoint=stage.endpoint, external_id=person.worker_id, simulated=True, first_seen_at=now)
        for person in people
    )
    step = max(1, BATCH // places)
    for start in range(0, hits, step):
        _submit(stage, list(zip(theirs, ours, strict=True))[start : start + step], people, known)
    HIT.objects.filter(hit_type__group_id=group_id).update(
        open_places=0, submitted=F("max_assignments"), places_made=F("max_assignments")
    )
    fill.settle()
    return {"stage": stage.pk, "hits": hits, "assignments": hits * places}


def _submit(
    stage: Stage, hits: list[tuple[HIT, Hit]], people: list[TheirWorker], known: list[Worker]
) -> None:
    now = timezone.now()
    places = Place.objects.bulk_create(
        Place(hit=theirs, ordinal=ordinal + 1, assignment_id=ids.new_entity_id())
        for theirs, _ in hits
        for ordinal in range(len(people))
    )
    rows = [
        Assignment(
            stage=stage,
            hit=ours,
            worker=worker,
            external_id=places[number * len(known) + ordinal].assignment_id,
            state=Assignment.State.STORED,
            arrived_at=now,
            stored_at=now,
            response={f"item:{ours.ordinal}": {"choice": "3"}},
        )
        for number, (_, ours) in enumerate(hits)
        for ordinal, worker in enumerate(known)
    ]
    Assignment.objects.bulk_create(rows)
    Claim.objects.bulk_create(
        Claim(stage=stage, unit=f"item:{row.hit.ordinal}", worker=row.worker, assignment=row) for row in rows
    )
    Holding.objects.bulk_create(
        Holding(
            place=place,
            hit=place.hit,
            requester_id=place.hit.requester_id,
            worker=people[number % len(people)],
            assignment_id=place.assignment_id,
            state=Holding.State.SUBMITTED,
            accepted_at=now,
            deadline=now + timedelta(hours=1),
            submitted_at=now + timedelta(microseconds=number),
            auto_approve_at=now + timedelta(days=3),
            answer=answers_xml(list(receipt_fields(row).items())),
        )
        for number, (place, row) in enumerate(zip(places, rows, strict=True))
    )


def collect_stage(pk: int) -> dict[str, Any]:
    """Collect what a stage has waiting; how long it took, and how much memory."""
    stage = Stage.objects.select_related("project", "endpoint").get(pk=pk)
    started, cpu = time.perf_counter(), time.process_time()
    with Memory() as memory:
        changed = collect(stage)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    states = dict(Assignment.objects.filter(stage=stage).values_list("state").annotate(n=Count("pk")))
    approvals = MarketOperation.objects.filter(stage=stage, kind=MarketOperation.Kind.APPROVE)
    return {
        "changed": changed,
        "seconds": seconds,
        "cpu_s": cpu,
        "states": states,
        "approvals_planned": approvals.count(),
        "peak_mib": memory.peak_mib,
    }


# Chaos


def chaos(hits: int, people: int) -> dict[str, Any]:
    """Publish, work on and collect so many HITs while the marketplace fails; then count on both sides."""
    cap = cost_of(hits)
    stage = new_stage(hits, budget_cents=cap)
    highest = 0

    def watch(_: Crowd) -> None:
        nonlocal highest
        money = Stage.objects.values_list("reserved_cents", "spent_cents").get(pk=stage.pk)
        highest = max(highest, sum(money))

    started = time.perf_counter()
    said = []
    for mix in ("moderate", *["diligent"] * 4):
        crowd = Crowd(
            stage,
            crowd_of(mix, people, seed=SEED),
            accounts(settings.TASK_URL, people),
            seed=SEED,
            fast=True,
            threads=16,
        )
        said.append(crowd.run(progress=watch, settle_s=900.0).facts())
        if not any(True for _ in kind_of(stage).pending(stage)):
            break
        advance(4_000)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "said": said, "cap_cents": cap, "highest_cents": highest, **compare(stage)}


def advance(seconds: int) -> None:
    """Let time go by at the marketplace, and its timer run: what somebody abandoned is on offer again."""
    answer = Browser().send_json(
        f"{settings.TASK_URL}/mturk/test/clock",
        {"advance_seconds": seconds},
        f"Bearer {settings.MARKETPLACE_TEST_TOKEN}",
    )
    assert answer.status == 200, answer.text
    sweep()


def compare(stage: Stage) -> dict[str, Any]:
    """What each side has of a stage."""
    stage.refresh_from_db()
    their_hits = list(HIT.objects.filter(hit_type__title=stage.task_title).values_list("hit_id", flat=True))
    their_work = Holding.objects.filter(hit__hit_type__title=stage.task_title, state__in=Holding.ANSWERED)
    theirs = Counter(their_work.values_list("assignment_id", "worker__worker_id").iterator())
    mine = Assignment.objects.filter(stage=stage)
    good = Counter(
        mine.filter(state__in=Assignment.GOOD).values_list("external_id", "worker__external_id").iterator()
    )
    annotations = Counter(
        HIT.objects.filter(hit_type__title=stage.task_title).values_list("annotation", flat=True)
    )
    per_unit = Counter(
        Vote.objects.filter(stage=stage, assignment__state__in=Assignment.GOOD).values_list("unit", flat=True)
    )
    requester = Requester.objects.get(keys__access_key=stage.endpoint.access_key)
    ledger = Counter(
        dict(
            LedgerEntry.objects.filter(stage=stage)
            .values_list("kind")
            .annotate(cents=Sum(F("cents") + F("fee_cents")))
        )
    )
    operations = MarketOperation.objects.filter(stage=stage)
    unfinished = operations.exclude(state__in=MarketOperation.FINAL)
    return {
        "hits_ours": Hit.objects.filter(stage=stage).exclude(external_id="").count(),
        "hits_theirs": len(their_hits),
        "hits_twice": sum(count - 1 for count in annotations.values()),
        "work_ours": sum(good.values()),
        "work_theirs": sum(theirs.values()),
        "work_lost": len(theirs - good) + len(good - theirs),
        "work_twice": sum(count - 1 for count in per_unit.values() if count > stage.redundancy),
        "units_missing": sum(item.missing for item in kind_of(stage).pending(stage)),
        "quarantined": mine.filter(state=Assignment.State.QUARANTINED).count(),
        "spent_cents": stage.spent_cents,
        "reserved_cents": stage.reserved_cents,
        "ledger_spent_cents": ledger["spend"],
        "ledger_reserved_cents": ledger["reserve"] - ledger["release"] - ledger["spend"],
        "paid_cents": requester.paid_cents + requester.fees_cents,
        "unfinished": unfinished.count(),
        "needs_person": unfinished.filter(needs_person=True).count(),
        "repeated": operations.filter(attempts__gt=1).count(),
        "calls": operations.aggregate(n=Sum("attempts"))["n"],
    }


@contextlib.contextmanager
def profiled(wanted: bool) -> Iterator[None]:
    """Print the 45 most expensive functions, where that is wanted."""
    if not wanted:
        yield
        return
    profile = cProfile.Profile()
    profile.enable()
    yield
    profile.disable()
    pstats.Stats(profile, stream=sys.stderr).sort_stats("cumulative").print_stats(45)


def main() -> None:
    """Do what the arguments say, and print what came of it."""
    what, *rest = (argument for argument in sys.argv[1:] if argument != "--profile")
    numbers = [int(number) for number in rest]
    doers = {"publish": publish, "fill": fill_submitted, "collect": collect_stage, "chaos": chaos}
    with profiled("--profile" in sys.argv):
        found = doers[what](*numbers) if what != "settle" else fill.settle()  # type: ignore[operator]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
