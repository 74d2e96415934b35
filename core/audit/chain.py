"""Logs that are chained: sealed in the background, verified, pruned, and append-only in the database.

Whoever writes an entry waits for nothing: it is sealed within a minute, in the order of keys as far as they
are committed. An entry that a long transaction commits late is sealed late; nothing is left out.

Triggers, on SQLite and PostgreSQL, keep entries and links from being changed. An entry can be deleted where a
checkpoint says up to where its chain was pruned, and not otherwise; a column that the database itself empties
when an account goes may become empty.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Model, OuterRef, QuerySet, Subquery
from django.utils import timezone

from core.audit.models import AuditChain, AuditCheckpoint, AuditLink, AuditProgress
from core.extensions import parts_of
from core.origin import Owner

# Triggers, made from the models as they are: a column that is added is kept from being changed, too.

_LINKS, _CHECKPOINTS = AuditLink._meta.db_table, AuditCheckpoint._meta.db_table


@dataclass(frozen=True, slots=True)
class _Table:
    """What one table's triggers are made of; `covered` is SQL that says whether OLD was pruned."""

    name: str
    columns: tuple[str, ...]
    released: tuple[str, ...]
    covered: str


def _tables() -> Iterator[_Table]:
    covers = f"SELECT 1 FROM {_CHECKPOINTS} c WHERE c.chain_id = OLD.chain_id AND c.number >= OLD.number"  # noqa: S608 - ours
    yield _Table(_LINKS, _columns(AuditLink), (), covers)
    yield _Table(_CHECKPOINTS, _columns(AuditCheckpoint), (), "SELECT 1 WHERE 1 = 0")
    for source in sources().values():
        covers = (
            f"SELECT 1 FROM {_LINKS} l JOIN {_CHECKPOINTS} c ON c.chain_id = l.chain_id AND "  # noqa: S608 - ours
            f"c.number >= l.number WHERE l.kind = '{source.kind}' AND l.\"row\" = OLD.id"
        )
        fields = source.model._meta.concrete_fields
        released = tuple(str(field.column) for field in fields if field.name in source.released)
        yield _Table(source.model._meta.db_table, _columns(source.model), released, covers)


def _columns(model: Any) -> tuple[str, ...]:
    return tuple(field.column for field in model._meta.concrete_fields)


def install_triggers(connection: Any) -> None:
    """Make the triggers, or make them again as they are now, on tables that are there."""
    tables = set(connection.introspection.table_names())
    if _LINKS not in tables:
        return
    with connection.cursor() as cursor:
        for table in _tables():
            if table.name in tables and set(table.columns) <= _present(connection, cursor, table.name):
                for statement in (*_drops(connection.vendor, table), *_makes(connection.vendor, table)):
                    cursor.execute(statement)


def _present(connection: Any, cursor: Any, table: str) -> set[str]:
    return {column.name for column in connection.introspection.get_table_description(cursor, table)}


def tables_without_triggers(connection: Any) -> list[str]:
    """Tables whose triggers are not there."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'")
        else:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        triggers = {name for (name,) in cursor.fetchall()}
    return [table.name for table in _tables() if not {name for name, _ in _names(table)} <= triggers]


def emptying_statements(vendor: str, deletions: list[str]) -> list[str]:
    """Statements that empty the whole database, for `flush`: without triggers, which are made again after."""
    tables = list(_tables())
    drops = [each for table in tables for each in _drops(vendor, table)]
    makes = [each for table in tables for each in _makes(vendor, table)]
    return [*drops, *deletions, *makes]


def _names(table: _Table) -> list[tuple[str, str]]:
    names = [(f"{table.name}_never_changed", "change"), (f"{table.name}_never_deleted", "delete")]
    return names + ([(f"{table.name}_only_released", "release")] if table.released else [])


def _drops(vendor: str, table: _Table) -> list[str]:
    on = f" ON {table.name}" if vendor == "postgresql" else ""
    return [f"DROP TRIGGER IF EXISTS {name}{on}" for name, _ in _names(table)]


def _makes(vendor: str, table: _Table) -> list[str]:
    columns = ", ".join(f'"{column}"' for column in table.columns if column not in table.released)
    events = {
        "change": f"BEFORE UPDATE OF {columns}",
        "delete": "BEFORE DELETE",
        "release": "BEFORE UPDATE OF " + ", ".join(f'"{column}"' for column in table.released),
    }
    conditions = {
        "change": "1 = 1",
        "delete": f"NOT EXISTS ({table.covered})",
        "release": " OR ".join(f'NEW."{column}" IS NOT NULL' for column in table.released),
    }
    refusal = f"{table.name} is append-only"
    statements = []
    for name, what in _names(table):
        if vendor == "postgresql":
            passed = "OLD" if what == "delete" else "NEW"
            statements.append(
                f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                f"IF {conditions[what]} THEN RAISE EXCEPTION '{refusal}' "
                f"USING ERRCODE = 'restrict_violation'; END IF; RETURN {passed}; END $$"
            )
            statements.append(
                f"CREATE TRIGGER {name} {events[what]} ON {table.name} FOR EACH ROW EXECUTE FUNCTION {name}()"
            )
        else:
            statements.append(
                f"CREATE TRIGGER {name} {events[what]} ON {table.name} FOR EACH ROW "
                f"WHEN {conditions[what]} BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
            )
    return statements


# The logs that are chained. Apps add theirs to their extensions:
#
#     AuditSource(Owner.Kind.PROJECT, Event, "project_id", record_of_event)


@dataclass(frozen=True, slots=True)
class AuditSource:
    """A table of entries, of which each belongs to one owner.

    `record` gives of a row what its digest is made of: what never changes, and fits into JSON. `describe`
    adds words for people, such as the present name of an account. `released` are fields that may become
    empty later, and are not in the record. Rows have a time `at`.
    """

    kind: str
    model: type[Model]
    owner: str
    record: Callable[[Any], dict[str, Any]]
    describe: Callable[[Any], dict[str, Any]]
    related: tuple[str, ...] = ()
    released: tuple[str, ...] = ()


@cache
def sources() -> Mapping[str, AuditSource]:
    """The logs by their kind."""
    return {source.kind: source for source in parts_of(AuditSource)}


def moment(at: datetime) -> str:
    """A time as records have it: UTC, microseconds, the same from both databases."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


# Sealing and verifying.

#: Entries of one transaction, and entries that are verified at a time.
BATCH = 1_000
#: So long after a key was sealed, no transaction is open any more that holds a smaller one; nightly all are
#: looked at.
_SETTLED = timedelta(hours=2)
#: Entries that are older and not sealed are a fault: the timer does not run, or one came in beside it.
UNSEALED_AFTER = timedelta(hours=26)


def digest_of(previous: str, number: int, record: dict[str, Any]) -> str:
    """The digest of an entry: SHA-256 of the one before, a line feed, and its record as JSON."""
    return hashlib.sha256(f"{previous}\n{canonical({**record, 'number': number})}".encode()).hexdigest()


def canonical(record: dict[str, Any]) -> str:
    """JSON that is the same for the same record: sorted, without white space, ASCII."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def seal_all(*, everything: bool = False) -> int:
    """Seal what is not sealed; how many entries. `everything` also looks for keys that came late."""
    return sum(_seal_kind(source, everything=everything) for source in sources().values())


def _pieces(rows: QuerySet[Any]) -> Iterator[list[Any]]:
    """All rows, some in memory at a time."""
    source = rows.iterator(chunk_size=BATCH)
    while chunk := list(islice(source, BATCH)):
        yield chunk


def _seal_kind(source: AuditSource, *, everything: bool) -> int:
    sealed, after = 0, 0
    while keys := _seal_some(source, after, everything=everything):
        sealed, after = sealed + len(keys), keys[-1]
    return sealed


@transaction.atomic
def _seal_some(source: AuditSource, after: int, *, everything: bool) -> list[int]:
    """Seal the next entries behind the key `after`, in their order; their keys."""
    now = timezone.now()
    AuditProgress.objects.get_or_create(kind=source.kind, defaults={"top_at": now})
    progress = AuditProgress.objects.select_for_update().get(kind=source.kind)
    floor = max(after, 0 if everything else progress.floor)
    rows = list(_unsealed(source, floor).order_by("pk")[:BATCH])
    chains = _chains(source.kind, {getattr(row, source.owner) for row in rows}, now)
    links = []
    for row in rows:
        chain = chains[getattr(row, source.owner)]
        chain.length += 1
        chain.head = digest_of(chain.head, chain.length, source.record(row))
        links.append(
            AuditLink(
                chain=chain,
                number=chain.length,
                kind=source.kind,
                row=row.pk,
                digest=chain.head,
                sealed_at=now,
            )
        )
    AuditLink.objects.bulk_create(links)
    AuditChain.objects.bulk_update(chains.values(), ["length", "head"])
    if rows and (progress.top_at < now - _SETTLED or not progress.top):
        progress.floor, progress.top, progress.top_at = progress.top, rows[-1].pk, now
        progress.save(update_fields=["floor", "top", "top_at"])
    return [row.pk for row in rows]


def _unsealed(source: AuditSource, floor: int) -> QuerySet[Any]:
    link = AuditLink.objects.filter(kind=source.kind, row=OuterRef("pk"))
    return source.model._default_manager.filter(~Exists(link), pk__gt=floor)


def _chains(kind: str, owners: set[int], now: datetime) -> dict[int, AuditChain]:
    chains = {each.owner_id: each for each in AuditChain.objects.filter(kind=kind, owner_id__in=owners)}
    for owner in owners - set(chains):
        chains[owner] = AuditChain.objects.create(kind=kind, owner_id=owner, began_at=now)
    return chains


@dataclass(slots=True)
class ChainReport:
    """What verifying one chain found; a chain without faults is whole."""

    kind: str
    owner_id: int
    length: int
    head: str
    pruned: int = 0
    unsealed: int = 0
    faults: list[str] = field(default_factory=list)


#: Faults of one chain that are listed; further ones are counted.
_MOST_FAULTS = 20


def verify(chain: AuditChain) -> ChainReport:
    """Compute every digest of a chain again, from its last checkpoint on."""
    source = sources()[chain.kind]
    report = ChainReport(chain.kind, chain.owner_id, chain.length, chain.head)
    start = AuditCheckpoint.objects.filter(chain=chain).order_by("-number").first()
    expected, previous = (start.number + 1, start.digest) if start else (1, "")
    report.pruned = start.number if start else 0
    more = 0
    for fault, link in _faults(source, chain, expected, previous):
        if link is not None:
            expected, previous = link.number + 1, link.digest
        if fault and len(report.faults) < _MOST_FAULTS:
            report.faults.append(fault)
        elif fault:
            more += 1
    if expected - 1 != chain.length:
        report.faults.append(f"The chain ends at {expected - 1}, and its head says {chain.length}.")
    elif previous != chain.head:
        report.faults.append("The last digest is not the one of the head.")
    if more:
        report.faults.append(f"{more} more.")
    old = _unsealed(source, 0).filter(**{source.owner: chain.owner_id})
    report.unsealed = old.filter(at__lt=timezone.now() - UNSEALED_AFTER).count()
    if report.unsealed:
        report.faults.append(f"{report.unsealed} entries of more than a day ago are not sealed.")
    return report


def _faults(
    source: AuditSource, chain: AuditChain, expected: int, previous: str
) -> Iterator[tuple[str, AuditLink | None]]:
    """Every link of a chain with what is wrong about it, if anything is."""
    links = AuditLink.objects.filter(chain=chain, number__gte=expected).order_by("number")
    for chunk in _pieces(links):
        rows = source.model._default_manager.in_bulk([link.row for link in chunk])
        for link in chunk:
            if link.number != expected:
                yield f"Entries {expected} to {link.number - 1} are missing from the chain.", None
            row = rows.get(link.row)
            if row is None:
                yield f"Entry {link.number} (row {link.row}) is missing.", link
            elif getattr(row, source.owner) != chain.owner_id:
                yield f"Entry {link.number} (row {link.row}) belongs to another log now.", link
            elif (
                link.number == expected
                and digest_of(previous, link.number, source.record(row)) != link.digest
            ):
                yield f"Entry {link.number} (row {link.row}) was changed.", link
            else:
                yield "", link
            expected, previous = link.number + 1, link.digest


def chain_of(owner: Owner) -> AuditChain | None:
    """The chain of an owner's log; None where nothing is sealed yet."""
    return AuditChain.objects.filter(kind=owner.kind, owner_id=owner.pk).first()


def verify_all() -> list[ChainReport]:
    """Reports on all chains, and on logs that have entries of more than a day ago and no chain."""
    return [verify(chain) for chain in AuditChain.objects.order_by("kind", "owner_id").iterator()]


@transaction.atomic
def checkpoint(chain: AuditChain, number: int, why: str) -> AuditCheckpoint | None:
    """Say that a chain was pruned up to a number, which lets its entries up to there be deleted."""
    link = AuditLink.objects.filter(chain=chain, number=number).first()
    before = AuditCheckpoint.objects.filter(chain=chain).order_by("-number").first()
    if link is None or (before is not None and before.number >= number):
        return None
    return AuditCheckpoint.objects.create(
        chain=chain,
        number=number,
        digest=link.digest,
        rows=number - (before.number if before else 0),
        made_at=timezone.now(),
        why=why[:200],
    )


def delete_pruned(chain: AuditChain) -> int:
    """Delete the entries that the last checkpoint lets go, some at a time; how many."""
    last = AuditCheckpoint.objects.filter(chain=chain).order_by("-number").first()
    source, gone = sources()[chain.kind], 0
    while last is not None:
        with transaction.atomic():
            links = AuditLink.objects.filter(chain=chain, number__lte=last.number).order_by("number")
            pairs = list(links.values_list("pk", "row")[:BATCH])
            if not pairs:
                break
            rows = source.model._base_manager.filter(pk__in=[row for _, row in pairs])
            # Django's own delete is refused for these models; the trigger knows the checkpoint.
            gone += rows._raw_delete(rows.db)
            mine = AuditLink.objects.filter(pk__in=[pk for pk, _ in pairs])
            mine._raw_delete(mine.db)
    return gone


def prune(before: datetime, *, why: str) -> int:
    """Delete entries from before a time, from the beginning of each chain; how many.

    The digest at the cut is kept in a checkpoint, so what is left can be verified, and how much went is seen.
    """
    seal_all()
    gone = 0
    for chain in AuditChain.objects.order_by("pk"):
        source = sources()[chain.kind]
        remaining = source.model._default_manager.filter(at__gte=before, **{source.owner: chain.owner_id})
        links = AuditLink.objects.filter(chain=chain)
        first = (
            links.filter(row__in=remaining.values("pk"))
            .order_by("number")
            .values_list("number", flat=True)
            .first()
        )
        checkpoint(chain, chain.length if first is None else first - 1, why)
        gone += delete_pruned(chain)
    return gone


def empty(kind: str, *, why: str) -> int:
    """Delete all entries of a kind of log, with checkpoints that say why: for test controls."""
    seal_all(everything=True)
    gone = 0
    for chain in AuditChain.objects.filter(kind=kind).order_by("pk"):
        checkpoint(chain, chain.length, why)
        gone += delete_pruned(chain)
    return gone


def export_lines(owner: Owner, rows: QuerySet[Any] | None = None) -> Iterator[str]:
    """The log as JSONL, in the order of its chain: the record that was digested, its digest, and words.

    `rows` are those that are wanted, all without it. What is not sealed yet comes last, without a digest.
    """
    source = sources()[owner.kind]
    entries = source.model._default_manager.filter(**{source.owner: owner.pk}) if rows is None else rows
    place = AuditLink.objects.filter(kind=owner.kind, row=OuterRef("pk")).values("number")
    entries = entries.annotate(place=Subquery(place)).order_by(F("place").asc(nulls_last=True), "pk")
    if source.related:
        entries = entries.select_related(*source.related)
    chain = chain_of(owner)
    began = chain.began_at if chain else None
    for chunk in _pieces(entries):
        links = {
            link.row: link
            for link in AuditLink.objects.filter(kind=owner.kind, row__in=[row.pk for row in chunk])
        }
        for row in chunk:
            link = links.get(row.pk)
            line: dict[str, Any] = {"record": source.record(row)}
            if link is not None:
                line["record"]["number"] = link.number
                line["digest"] = link.digest
                line["sealed_at"] = link.sealed_at.isoformat()
                line["before_chain"] = began is not None and row.at < began
            yield canonical(line | source.describe(row)) + "\n"
