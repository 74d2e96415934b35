"""More rows, more places and more time for a published batch.

One form is one extension, by the number that it carries. A job goes through the tasks in their order, some in
one transaction: what was changed, the money put on hold and how far it is are committed together, so that an
attempt that dies anywhere leaves no HIT extended twice and none forgotten.

Rows are a draft to look at first. Nothing of the batch changes before the total of the new rows was typed.
Then its tasks move into the batch, behind those that it has, and the draft is gone, in one transaction: sent
twice, the form finds no draft.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum
from django.db.models.expressions import CombinedExpression

from core.jobs import services as jobs
from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext
from core.jobs.models import Job
from marketplace import clock
from marketplace.activity import note
from marketplace.batches import templates
from marketplace.batches.drafts import store_draft
from marketplace.batches.publication import PUBLISH, check_funds, effect_of
from marketplace.batches.templates import join_names
from marketplace.errors import Refusal
from marketplace.forms.sheets import TASKS, Row, Sheet
from marketplace.lifecycle.hits import notice_expiry
from marketplace.lifecycle.holds import LARGE_HIT, LONGEST_LIFE, add_places_locked, lengthen_locked, lock_hit
from marketplace.lifecycle.notifications import emit_event
from marketplace.models import HIT, Batch, BatchExtension, BatchTask, Requester
from marketplace.money.amounts import money
from metrics.figure import counted

# Places and time.

EXTEND = "marketplace.extend-batch"
State = BatchExtension.State
#: Tasks of one transaction.
AT_ONCE = 50
#: Tasks that were passed over of which the page says why.
_TOLD = 200


@dataclass(frozen=True, slots=True)
class Wish:
    """More places for each HIT and seconds more, for all tasks (None) or those with these numbers."""

    places: int = 0
    seconds: int = 0
    ordinals: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ExtensionCost:
    """What an extension puts on hold at most: for new places, and for open ones of HITs that had expired."""

    hits: int
    expired: int
    #: HITs that stay as they are, because they would come to ten places or are deleted.
    too_large: int
    deleted: int
    places_cents: int
    reopened_cents: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.places_cents + self.reopened_cents


def parse_ordinals(text: str, most: int) -> tuple[int, ...] | None:
    """Numbers of tasks from "1-20, 35"; None where nothing is written. Raises ValueError in words."""
    ordinals: set[int] = set()
    for word in text.replace("\u2013", "-").replace(";", ",").replace(",", " ").split():
        first, dash, last = word.partition("-")
        ends = (first, last) if dash else (first,)
        if not all(each.isascii() and each.isdigit() and len(each) <= 9 for each in ends):
            raise ValueError(f"{word[:40]!r} is no number of a task. Write such as 1-20, 35.")
        begin, end = int(first), int(ends[-1])
        if not 1 <= begin <= end <= most:
            raise ValueError(f"{word[:40]} is not between 1 and {most:,}, the tasks of the batch.")
        ordinals.update(range(begin, end + 1))
    return tuple(sorted(ordinals)) or None


def _each() -> CombinedExpression:
    return F("reward_cents") + F("fee_cents")


def _hits(batch: Batch, ordinals: Sequence[int] | None) -> QuerySet[HIT]:
    hits = HIT.objects.filter(batch=batch)
    if ordinals is None:
        return hits
    return hits.filter(batch_task__in=BatchTask.objects.filter(batch=batch, ordinal__in=ordinals))


def cost_of_extension(batch: Batch, wish: Wish, now: datetime) -> ExtensionCost:
    """What the wish costs at this moment."""
    hits = _hits(batch, wish.ordinals)
    existing = hits.filter(disposed_at=None)
    too_large = Q(max_at_creation__lt=LARGE_HIT, max_assignments__gte=LARGE_HIT - wish.places)
    fit = existing.exclude(too_large) if wish.places else existing
    live, ended = fit.filter(expires_at__gt=now), fit.filter(expires_at__lte=now)
    reserving = fit if wish.seconds else live
    places = reserving.aggregate(sum=Sum(wish.places * _each()))["sum"] or 0
    reopened = (ended.aggregate(sum=Sum(F("open_places") * _each()))["sum"] or 0) if wish.seconds else 0
    number = fit.count()
    return ExtensionCost(
        hits=number,
        expired=ended.count(),
        too_large=existing.count() - number,
        deleted=hits.count() - existing.count(),
        places_cents=int(places),
        reopened_cents=int(reopened),
    )


@transaction.atomic
def extend_batch(
    *, batch: Batch, wish: Wish, cents: int, once: UUID, user: User | None = None
) -> BatchExtension:
    """Begin an extension whose cost was shown as `cents`; the same form sent again gives the one there is.

    Raises Refusal where it costs more by now, or more than is available, and changes nothing.
    """
    row = Batch.objects.select_for_update(of=("self",), no_key=True).select_related("requester")
    batch = row.get(pk=batch.pk)
    if (before := BatchExtension.objects.filter(once=once, batch=batch).first()) is not None:
        return before
    if batch.state != Batch.State.PUBLISHED:
        raise Refusal("InvalidBatchState", f"Only a published batch can be extended; it is {batch.state}.")
    now = clock.now()
    cost = cost_of_extension(batch, wish, now)
    if not cost.hits:
        raise Refusal("InvalidBatchState", "No HIT of these tasks can be extended so; nothing was changed.")
    if cost.total > cents:
        raise Refusal(
            "InvalidParameterValue",
            f"It costs {money(cost.total)} by now, not {money(cents)}. Look at it once more.",
        )
    if (missing := cost.total - batch.requester.available_cents) > 0:
        raise Refusal(
            "InsufficientFunds",
            f"This puts {money(cost.total)} on hold, and {money(batch.requester.available_cents)} is "
            f"available. Deposit at least {money(missing)}, or choose fewer tasks.",
        )
    extension = BatchExtension.objects.create(
        batch=batch,
        once=once,
        ordinals=list(wish.ordinals) if wish.ordinals else None,
        places=wish.places,
        seconds=wish.seconds,
        cents=cents,
        by=user,
        at=now,
    )
    places, hours = counted(wish.places, "place"), counted(wish.seconds // 3600, "hour")
    summary = f"{places}, {hours} for {counted(cost.hits, 'HIT')}, {money(cost.total)}"
    note(batch.requester_id, "batch.extended", batch.name, summary)
    Batch.objects.filter(pk=batch.pk).update(end_mailed_at=None)
    _enqueue(extension)
    return extension


def _enqueue(extension: BatchExtension) -> Job:
    return jobs.enqueue(kind=EXTEND, payload={"extension": extension.pk}, effect=f"{EXTEND}:{extension.pk}")


def job_of_extension(extension: BatchExtension) -> Job | None:
    """The job that works on an extension."""
    return Job.objects.filter(effect=f"{EXTEND}:{extension.pk}").first()


@transaction.atomic
def go_on(*, extension: BatchExtension) -> None:
    """Go on with an extension that stopped."""
    changed = BatchExtension.objects.filter(pk=extension.pk, state=State.STOPPED)
    if not changed.update(state=State.RUNNING, error=""):
        raise Refusal("DuplicateRequest", "It goes on already, or is done.")
    if (job := job_of_extension(extension)) is not None:
        jobs.retry(job_id=job.pk)


def work_off(context: JobContext) -> None:
    """The job: every task from the first that was not dealt with."""
    extension = BatchExtension.objects.select_related("batch").get(pk=context.payload["extension"])
    tasks = BatchTask.objects.filter(batch=extension.batch_id, hit__isnull=False)
    if extension.ordinals is not None:
        tasks = tasks.filter(ordinal__in=extension.ordinals)
    total, done = tasks.count(), tasks.filter(ordinal__lte=extension.after).count()
    try:
        while chunk := list(_next(tasks, extension)):
            context.progress(done, total, "Extending HITs")
            _extend_some(extension, chunk)
            extension.refresh_from_db()
            done += len(chunk)
    except Refusal as refusal:
        raise PermanentError(_stop(extension, refusal)) from refusal
    context.commit(lambda: _finish(extension))


def _next(tasks: QuerySet[BatchTask], extension: BatchExtension) -> QuerySet[BatchTask]:
    return tasks.filter(ordinal__gt=extension.after).order_by("ordinal")[:AT_ONCE]


def _extend_some(extension: BatchExtension, tasks: Sequence[BatchTask]) -> None:
    """Extend the HITs of these tasks together; where the money does not last, one after the other."""
    try:
        _extend_together(extension.pk, tasks)
    except Refusal as refusal:
        if refusal.code != "InsufficientFunds" or len(tasks) == 1:
            raise
        # What the money lasts for is done, in order; the one that it does not last for stops the extension.
        for task in tasks:
            _extend_together(extension.pk, [task])


@transaction.atomic
def _extend_together(pk: int, tasks: Sequence[BatchTask]) -> None:
    """The first statement locks the extension: another attempt that was here first has moved `after`."""
    extension = BatchExtension.objects.select_for_update(no_key=True).get(pk=pk)
    tasks = [task for task in tasks if task.ordinal > extension.after]
    if extension.state != State.RUNNING or not tasks:
        return
    now = clock.now()
    for task in tasks:
        assert task.hit_id is not None
        hit = lock_hit(task.hit_id)
        before = hit.held_places
        if why := _extend(hit, extension, now):
            extension.passed_over_count += 1
            if len(extension.passed_over) < _TOLD:
                extension.passed_over.append([task.ordinal, why])
        else:
            extension.changed += 1
            change = (hit.held_places - before) * (hit.reward_cents + hit.fee_cents)
            extension.held_cents += max(0, change)
    extension.after = tasks[-1].ordinal
    extension.save()


def _extend(hit: HIT, extension: BatchExtension, now: datetime) -> str:
    """Extend a locked HIT; why not, if it stays as it is."""
    if hit.disposed_at:
        return "It is deleted."
    if extension.places and hit.max_at_creation < LARGE_HIT <= hit.max_assignments + extension.places:
        return f"It has {hit.max_assignments}; made with fewer than {LARGE_HIT}, it never gets {LARGE_HIT}."
    notice_expiry(hit, now)
    if extension.seconds:
        begin = max(hit.expires_at, extension.at)
        until = min(begin + timedelta(seconds=extension.seconds), now + LONGEST_LIFE)
        if until > hit.expires_at and until > now:
            lengthen_locked(hit, until, now)
            emit_event("HITExtended", hit, at=now)
    if extension.places:
        add_places_locked(hit, extension.places, now)
    return ""


def _stop(extension: BatchExtension, refusal: Refusal) -> str:
    extension.refresh_from_db()
    why = refusal.message
    if refusal.code == "InsufficientFunds":
        requester = Requester.objects.get(pk=extension.batch.requester_id)
        available = money(requester.available_cents)
        why = f"The account has {available}, which is too little. Deposit and continue."
    sentence = f"Stopped after task {extension.after:,}: extended {counted(extension.changed, 'HIT')}. {why}"
    BatchExtension.objects.filter(pk=extension.pk).update(state=State.STOPPED, error=sentence)
    return sentence


def _finish(extension: BatchExtension) -> dict[str, int]:
    BatchExtension.objects.filter(pk=extension.pk).update(state=State.DONE, done_at=clock.now())
    return {"changed": extension.changed, "passed_over": extension.passed_over_count}


# Rows.

BatchState = Batch.State
_ROWS_AT_ONCE = 1000
#: Rows that were there before of which the page says the line.
_LINES_TOLD = 20


class AddedRows:
    """Rows of a table in the columns of a batch, and which of them the batch or the table has already.

    `rows` can be read as often as wanted; the rows that are repeats are left out where that is asked for.
    """

    def __init__(self, batch: Batch, sheet: Sheet, *, leave_out: bool) -> None:
        self.columns: list[str] = batch.columns
        self._sheet, self._leave_out = sheet, leave_out
        self._order = _order(batch, sheet)
        self._there = {digest(values) for values in _values(batch)}
        self.in_batch, self.in_file = 0, 0
        self.lines: list[int] = []

    def rows(self) -> Iterator[Row]:
        """The rows, with cells in the order of the batch."""
        seen: set[bytes] = set()
        self.in_batch, self.in_file, self.lines = 0, 0, []
        for row in self._sheet.rows():
            cells = [row.cells[place] for place in self._order]
            key = digest(cells)
            repeated = key in self._there or key in seen
            if repeated:
                self.in_batch += key in self._there
                self.in_file += key not in self._there
                self.lines += [row.line] if len(self.lines) < _LINES_TOLD else []
            seen.add(key)
            if not (repeated and self._leave_out):
                yield Row(row.line, cells)

    @property
    def repeats(self) -> dict[str, object]:
        """What the page says of rows that were there before, once all rows were read."""
        return {
            "in_batch": self.in_batch,
            "in_file": self.in_file,
            "lines": self.lines,
            "left_out": self._leave_out,
        }


def digest(cells: Sequence[str]) -> bytes:
    """The same for the same cells, and short."""
    text = json.dumps(list(cells), ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _values(batch: Batch) -> Iterator[list[str]]:
    return batch.tasks.order_by("ordinal").values_list("values", flat=True).iterator(chunk_size=_ROWS_AT_ONCE)


def _order(batch: Batch, sheet: Sheet) -> list[int]:
    """Where the columns of the batch are in the table, which has to have these and no others."""
    missing = [name for name in batch.columns if name not in sheet.columns]
    surplus = [name for name in sheet.columns if name not in batch.columns]
    for names, fault in ((missing, "has no column"), (surplus, "has a column that the batch has not:")):
        if names:
            raise sheet.error(
                f"it {fault} {join_names(names)}. Added rows need the columns of the batch, which are "
                f"{join_names(batch.columns)}; change the head of the file.",
                line=1,
            )
    return [sheet.columns.index(name) for name in batch.columns]


def make_addition(*, batch: Batch, sheet: Sheet, leave_out: bool, user: User | None = None) -> Batch:
    """A draft of rows for a published batch. Raises Refusal where the file or the batch is not right."""
    _refuse_other(batch)
    table = AddedRows(batch, sheet, leave_out=leave_out)
    page = templates.parse(batch.html)
    draft = Batch(
        requester=batch.requester,
        name=f"Rows for {batch.name}"[:120],
        template=batch.template,
        html=batch.html,
        frame_height=batch.frame_height,
        hosts=batch.hosts,
        columns=batch.columns,
        properties=batch.properties,
        file_name=sheet.name,
        extends=batch,
        created_by=user,
    )

    def describe() -> None:
        draft.repeats = table.repeats

    stored = store_draft(
        draft, page=page, sheet=sheet, rows=table.rows, known_hosts=batch.hosts, checked=describe
    )
    if not stored:
        raise sheet.error(
            "the batch has all of its rows already, so there is nothing to add. To have them answered again, "
            "untick “leave out”."
        )
    return draft


def _refuse_other(batch: Batch) -> None:
    if batch.state != BatchState.PUBLISHED or batch.extends_id:
        raise Refusal(
            "InvalidBatchState",
            f"Rows can be added to a published batch; this one is {batch.state}. "
            "Wait until it is published, or make a new batch.",
        )


def add_rows(*, draft: Batch) -> Job:
    """Put the tasks of a draft into the batch that it is for, and publish them; the draft is gone afterwards.

    Raises Refusal where the money is not there, and changes nothing.
    """
    assert draft.extends_id is not None
    with transaction.atomic():
        locked = Batch.objects.select_for_update(of=("self",), no_key=True).select_related("requester")
        batch = locked.get(pk=draft.extends_id)
        row = locked.filter(pk=draft.pk, state=BatchState.DRAFT).first()
        if row is None:
            raise Refusal("DuplicateRequest", "These rows were added already; nothing was done twice.")
        _refuse_other(batch)
        if batch.task_count + row.task_count > TASKS.rows:
            raise Refusal(
                "InvalidBatchState",
                f"A batch has at most {TASKS.rows:,} tasks; this one would have "
                f"{batch.task_count + row.task_count:,}. Make a new batch of the rows.",
            )
        cents = check_funds(row)
        BatchTask.objects.filter(batch=row).update(batch=batch, ordinal=F("ordinal") + batch.task_count)
        hosts = list(dict.fromkeys([*batch.hosts, *row.hosts]))
        of_cells = sorted({*batch.hosts_of_cells, *row.hosts_of_cells})
        Batch.objects.filter(pk=batch.pk).update(
            task_count=F("task_count") + row.task_count,
            state=BatchState.PUBLISHING,
            error="",
            hosts=hosts,
            hosts_of_cells=of_cells,
            end_mailed_at=None,
        )
        note(
            batch.requester_id, "batch.rows", batch.name, f"{counted(row.task_count, 'row')}, {money(cents)}"
        )
        # The batch has a job with its own effect already, of when it was published; this is another one.
        effect = f"{effect_of(PUBLISH, batch)}:{row.pk}"
        row.delete()
        return jobs.enqueue(kind=PUBLISH, payload={"batch": batch.pk}, effect=effect)
