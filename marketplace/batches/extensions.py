"""More places and more time for the HITs of a published batch: all of them, or those of chosen tasks.

One form is one extension, by the number that it carries. A job goes through the tasks in their order, some in
one transaction: what was changed, the money put on hold and how far it is are committed together, so that an
attempt that dies anywhere leaves no HIT extended twice and none forgotten.
"""

from collections.abc import Sequence
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
from core.money import dollars
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import HIT, Batch, BatchExtension, BatchTask, Requester
from marketplace.notifications import emit_event
from marketplace.services.activity import note
from marketplace.services.hits import notice_expiry
from marketplace.services.holds import LARGE_HIT, LONGEST_LIFE, add_places_locked, lengthen_locked, lock_hit

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
    found: set[int] = set()
    for word in text.replace("\u2013", "-").replace(";", ",").replace(",", " ").split():
        first, dash, last = word.partition("-")
        ends = (first, last) if dash else (first,)
        if not all(each.isascii() and each.isdigit() and len(each) <= 9 for each in ends):
            raise ValueError(f"{word[:40]!r} is no number of a task. Write such as 1-20, 35.")
        begin, end = int(first), int(ends[-1])
        if not 1 <= begin <= end <= most:
            raise ValueError(f"{word[:40]} is not between 1 and {most:,}, the tasks of the batch.")
        found.update(range(begin, end + 1))
    return tuple(sorted(found)) or None


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
    there = hits.filter(disposed_at=None)
    too_large = Q(max_at_creation__lt=LARGE_HIT, max_assignments__gte=LARGE_HIT - wish.places)
    fit = there.exclude(too_large) if wish.places else there
    live, ended = fit.filter(expires_at__gt=now), fit.filter(expires_at__lte=now)
    held = fit if wish.seconds else live
    places = held.aggregate(sum=Sum(wish.places * _each()))["sum"] or 0
    reopened = (ended.aggregate(sum=Sum(F("open_places") * _each()))["sum"] or 0) if wish.seconds else 0
    number = fit.count()
    return ExtensionCost(
        hits=number,
        expired=ended.count(),
        too_large=there.count() - number,
        deleted=hits.count() - there.count(),
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
            f"It costs {dollars(cost.total)} by now, not {dollars(cents)}. Look at it once more.",
        )
    if (missing := cost.total - batch.requester.available_cents) > 0:
        raise Refusal(
            "InsufficientFunds",
            f"This puts {dollars(cost.total)} on hold, and {dollars(batch.requester.available_cents)} is "
            f"available. Deposit at least {dollars(missing)}, or choose fewer tasks.",
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
    told = f"{wish.places} places, {wish.seconds // 3600} hours for {cost.hits} HITs, {dollars(cost.total)}"
    note(batch.requester_id, "batch.extended", batch.name, told)
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
        while some := list(_next(tasks, extension)):
            context.progress(done, total, "Extending HITs")
            _extend_some(extension, some)
            extension.refresh_from_db()
            done += len(some)
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
        available = dollars(requester.available_cents)
        why = f"The account has {available}, which is too little. Deposit and continue."
    sentence = f"Stopped after task {extension.after:,}: {extension.changed:,} HITs are extended. {why}"
    BatchExtension.objects.filter(pk=extension.pk).update(state=State.STOPPED, error=sentence)
    return sentence


def _finish(extension: BatchExtension) -> dict[str, int]:
    BatchExtension.objects.filter(pk=extension.pk).update(state=State.DONE, done_at=clock.now())
    return {"changed": extension.changed, "passed_over": extension.passed_over_count}
