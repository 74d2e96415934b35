"""What the parts of a campaign's loader share: sizes, chance, people, the tables of the crowd app."""

import random
import string
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from core.bulk_rows import BulkTable
from core.projects.models import Project
from crowd.models import (
    Assignment,
    Claim,
    Exclusion,
    Hit,
    HitUnit,
    LedgerEntry,
    MarketOperation,
    Stage,
    Worker,
)
from crowd.services.publication import fee, listing, sizes

_CAPITALS = string.ascii_uppercase + string.digits
LONG = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Size:
    """How large a campaign is. With the shares below, 20 answers and 50 judgments come on each query.

    A fifth of the workers are editors, two fifths each write and judge; 0 makes them grow with the queries.
    """

    queries: int = 20_000
    answers_per_query: int = 25
    judgments_per_candidate: int = 10
    systems: int = 6
    seed: int = 7
    workers: int = 0

    @property
    def passed(self) -> int:
        """Queries with a curated set: four fifths."""
        return self.queries * 4 // 5

    @property
    def held_out(self) -> int:
        """Queries one of whose answers is a candidate of the system `human`: a quarter of those."""
        return self.passed // 4


@dataclass(slots=True)
class World:
    """The project that is being filled, with everybody in it; times run from `begin`."""

    size: Size
    project: Project
    owner: Any
    begin: datetime
    chance: random.Random
    stages: dict[str, Stage] = field(default_factory=dict)
    editors: list[int] = field(default_factory=list)
    writers: list[int] = field(default_factory=list)
    judges: list[int] = field(default_factory=list)
    excluded: set[tuple[int, str]] = field(default_factory=set)

    def code(self) -> str:
        """A marketplace's name of something: 30 capitals and digits."""
        return "3" + "".join(self.chance.choices(_CAPITALS, k=29))

    def uuid(self) -> uuid.UUID:
        """A random UUID of the seed."""
        return uuid.UUID(int=self.chance.getrandbits(128), version=4)

    def at(self, day: float) -> datetime:
        """A moment: so many days after the beginning."""
        return self.begin + timedelta(days=day)


def people(world: World, endpoint: int) -> None:
    """Editors who screen and curate, writers, judges: three groups, so that nobody sees their own work."""
    table = BulkTable(Worker, "endpoint_id", "external_id", "simulated", "first_seen_at")
    total, wanted = world.size.queries, world.size.workers
    for group, count in (
        (world.editors, max(30, wanted // 5 or total // 40)),
        (world.writers, max(60, wanted * 2 // 5 or total // 20)),
        (world.judges, max(60, wanted * 2 // 5 or total // 10)),
    ):
        for _ in range(count):
            name = "A" + "".join(world.chance.choices(_CAPITALS, k=13))
            group.append(table.add(endpoint, name, True, world.begin))
    table.close()


@dataclass(frozen=True, slots=True)
class Work:
    """One assignment that was made: who did it, of which HIT, and whether it counts."""

    pk: int
    worker: int
    stored_at: datetime
    good: bool


class Crowd:
    """HITs of one stage with everything that belongs to them: money, operations, claims, exclusions."""

    def __init__(self, world: World, stage: Stage, pool: Sequence[int], first_day: float) -> None:
        self.world, self.stage, self.pool, self._day = world, stage, pool, first_day
        self._weights = [world.chance.lognormvariate(0, 0.45) for _ in pool]
        self._hits = BulkTable(
            Hit, "stage_id", "key", "ordinal", "places", "reward_cents", "fee_cents", "external_id",
            "state", "wave", "part", "part_count", "published_at", "expires_at", "synced_at",
        )  # fmt: skip
        self._units = BulkTable(HitUnit, "hit_id", "unit", "role", "position")
        self._work = BulkTable(
            Assignment, "stage_id", "hit_id", "worker_id", "external_id", "state", "arrived_at", "stored_at",
            "submitted_at", "auto_approve_at", "decided_at", "receipt", "draft", "response", "telemetry",
            "failed_checks", "held", "note",
        )  # fmt: skip
        self._claims = BulkTable(Claim, "stage_id", "unit", "worker_id", "assignment_id")
        self._operations = BulkTable(
            MarketOperation, "id", "endpoint_id", "endpoint_url", "stage_id", "hit_id", "assignment_id",
            "kind", "target", "purpose", "payload", "amount_cents", "fee_cents", "state", "attempts",
            "planned_at", "not_before", "first_sent_at", "finished_at", "result_ref", "request_id",
            "needs_person",
        )  # fmt: skip
        self._ledger = BulkTable(
            LedgerEntry, "stage_id", "operation_id", "hit_id", "assignment_id", "kind", "cents", "fee_cents",
            "reason", "at",
        )  # fmt: skip
        self._exclusions = BulkTable(Exclusion, "worker_id", "scope", "reason", "created_at")
        self._ordinal = self._spent = self._reserved = 0

    def draw(self, count: int) -> list[int]:
        """Different workers; the busy ones more often."""
        chosen: dict[int, None] = {}
        while len(chosen) < count:
            chosen |= dict.fromkeys(self.world.chance.choices(self.pool, self._weights, k=count))
        return list(chosen)[:count]

    def hits(self, units: Sequence[tuple[str, str]], marks: Sequence[str]) -> list[tuple[int, list[int]]]:
        """The HITs of one bundle of (unit, role), split for the fee tier, with the workers of each."""
        workers = self.draw(self.stage.redundancy)
        parts = sizes(self.stage, self.stage.redundancy)
        made, start = [], 0
        for part, places in enumerate(parts):
            hit = self._hit(units, places, part if len(parts) > 1 else None, len(parts))
            made.append((hit, workers[start : start + places]))
            start += places
        for worker in workers:
            for scope in marks:
                if (worker, scope) not in self.world.excluded:
                    self.world.excluded.add((worker, scope))
                    self._exclusions.add(worker, scope, f"Worked on {self.stage.slug}", self.world.at(0))
        return made

    def open_hit(self, units: Sequence[tuple[str, str]], places: int, busy: int) -> None:
        """A HIT of a top-up on offer, with so many people at work on it who did nothing else here."""
        now = self.world.at(self._day)
        hit = self._hit(units, places, None, 1, wave=1, state=Hit.State.OPEN)
        for worker in self.world.chance.sample(self.world.editors, busy):
            work = self._work.add(
                self.stage.pk, hit, worker, self.world.code(), Assignment.State.WORKING, now, None, None,
                None, None, self.world.uuid(), {}, None, {}, 0, False, "",
            )  # fmt: skip
            self._claims.add_all((self.stage.pk, unit, worker, work) for unit, _ in units)

    def _hit(
        self,
        units: Sequence[tuple[str, str]],
        places: int,
        part: int | None,
        count: int,
        *,
        wave: int = 0,
        state: Hit.State = Hit.State.CLOSED,
    ) -> int:
        stage, world = self.stage, self.world
        at, cents = world.at(self._day), fee(stage, places)
        key, external = world.uuid(), world.code()
        hit = self._hits.add(
            stage.pk, key, self._ordinal, places, stage.reward_cents, cents, external, state, wave, part,
            count, at, at + (LONG if state == Hit.State.OPEN else timedelta(days=7)), at,
        )  # fmt: skip
        self._ordinal += 1
        self._units.add_all((hit, unit, role, position) for position, (unit, role) in enumerate(units))
        row = Hit(key=key, places=places, reward_cents=stage.reward_cents)
        payload = listing(
            stage,
            row,
            units,
            title=stage.task_title,
            description=stage.task_description,
            rules=[],
            installation="",  # the memo is of no use to a campaign that is made up
        )
        amount, fees = stage.reward_cents * places, cents * places
        operation = self._operation(
            "publish", f"hit:{hit}", at, hit=hit, payload=payload, amount=amount, fees=fees, ref=external
        )
        self._ledger.add(stage.pk, operation, hit, None, "reserve", amount, fees, "publish", at)
        self._reserved += amount + fees
        return hit

    def work(
        self,
        hit: int,
        worker: int,
        places: int,
        response: Mapping[str, Any],
        *,
        checks: int = 0,
        failed: int = 0,
        characters: int = 0,
        draft: Mapping[str, str] | None = None,
    ) -> Work:
        """Somebody's work on a HIT: nearly all of it approved and paid."""
        world, stage, chance = self.world, self.stage, self.world.chance
        seconds = stage.expected_seconds or 60
        took = seconds * chance.lognormvariate(0, 0.35)
        arrived = world.at(self._day + chance.random() * 5)
        stored = arrived + timedelta(seconds=took)
        state, held, note, decided = Assignment.State.APPROVED, False, "", stored + timedelta(minutes=4)
        lot = chance.random()
        if lot < 0.003:
            state, note = Assignment.State.REJECTED, "No answer to the question was read."
        elif lot < 0.006:
            state, held = Assignment.State.SUBMITTED, True
            note = "Attention checks failed; a person decides."
        elif lot < 0.008:
            state = Assignment.State.SUBMITTED
        is_decided = state in (Assignment.State.APPROVED, Assignment.State.REJECTED)
        external = world.code()
        pk = self._work.add(
            stage.pk, hit, worker, external, state, arrived, stored, stored + timedelta(seconds=2),
            stored + timedelta(days=3), decided if is_decided else None, world.uuid(), dict(draft or {}),
            response, _telemetry(chance, took, characters), failed, held, note,
        )  # fmt: skip
        self._claims.add_all(
            (stage.pk, unit, worker, pk) for unit in response if not unit.startswith("check:")
        )
        if state == Assignment.State.APPROVED:
            self._operation("approve", f"assignment:{pk}", stored, work=pk, payload={"ref": external})
            cents = fee(stage, places)
            self._ledger.add(stage.pk, None, None, pk, "spend", stage.reward_cents, cents, "reward", decided)
            self._reserved -= stage.reward_cents + cents
            self._spent += stage.reward_cents + cents
        elif state == Assignment.State.REJECTED:
            self._operation("reject", f"assignment:{pk}", stored, work=pk, payload={"ref": external})
        return Work(pk, worker, stored, state != Assignment.State.REJECTED)

    def _operation(
        self,
        kind: str,
        target: str,
        at: datetime,
        *,
        hit: int | None = None,
        work: int | None = None,
        payload: Mapping[str, Any],
        amount: int = 0,
        fees: int = 0,
        ref: str = "",
    ) -> uuid.UUID:
        world, endpoint = self.world, self.stage.endpoint
        key = world.uuid()
        unknown = kind != "publish" and world.chance.random() < 0.0002
        self._operations.add(
            key, endpoint.pk, endpoint.url, self.stage.pk, hit, work, kind, target, kind, payload, amount,
            fees, "unknown" if unknown else "confirmed", 1, at, at, at + timedelta(seconds=1),
            None if unknown else at + timedelta(seconds=2), ref, str(world.uuid()), unknown,
        )  # fmt: skip
        return key

    def close(self, **changes: Any) -> None:
        """Write what is left, and what the stage and its project have spent and reserved."""
        for table in (
            self._hits, self._units, self._work, self._claims, self._operations, self._ledger,
            self._exclusions,
        ):  # fmt: skip
            table.close()
        stage, project = self.stage, self.world.project
        stage.refresh_from_db()
        stage.reserved_cents, stage.spent_cents = self._reserved, self._spent
        stage.opened_at = stage.settled_until = self.world.at(self._day)
        for name, value in changes.items():
            setattr(stage, name, value)
        project.reserved_cents += self._reserved
        project.spent_cents += self._spent
        project.save(update_fields=["reserved_cents", "spent_cents"])
        stage.save()


def _telemetry(chance: random.Random, took: float, characters: int) -> dict[str, Any]:
    measures = {
        "active_ms": int(took * 1000 * chance.uniform(0.6, 1)),
        "keystrokes": characters,
        "pastes": 0,
        "pasted_characters": 0,
        "focus_losses": chance.randrange(4),
        "edits": characters // 20,
    }
    visit = f"{chance.getrandbits(64):016x}"
    return {"first_key_ms": chance.randrange(500, 9000), **measures, "visits": {visit: measures}}
