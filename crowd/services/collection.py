"""Collecting: what the marketplace says was submitted and decided, against what we have stored.

Events and arrivals are hints; only the marketplace's own list makes an assignment real. What is listed but
was never stored here, or stored but never listed, is quarantined and shown to a person, not dropped.
"""

import logging
import uuid
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from crowd import bulk
from crowd.adapters import base, registry
from crowd.budget import Cost
from crowd.counted_work import counts
from crowd.errors import BudgetError
from crowd.models import Assignment, Claim, Hit, HitUnit, MarketOperation, Stage, Worker
from crowd.outbox.calls import NOTHING, Contact, plan
from crowd.services import decisions, responses, unproven
from crowd.services.decisions import recount, recount_all
from crowd.services.stages import by_key, settle_closed_hit, settle_closed_hits
from crowd.sources import hits_of
from web.cache import figures

logger = logging.getLogger(__name__)
State = Assignment.State

# Ordinary submissions, confirmed many at a time. Ordinary is what nearly all are: answered on our page,
# handed over with our receipt, undecided, for the HIT that lists it, and its units are the worker's own. They
# need no look at each; whatever differs is reconciled one by one.


@dataclass(frozen=True, slots=True)
class AssignmentFacts:
    """What decides whether an assignment is ordinary, without its answer."""

    pk: int
    external_id: str
    worker: str
    hit_pk: int
    stage_pk: int
    state: str
    receipt: str
    untouched: bool
    failed_checks: int
    proven: bool


def _load_facts(
    stage: Stage, submissions: Sequence[base.Submission]
) -> dict[tuple[str, str], AssignmentFacts]:
    """Our assignments of these submissions by (external id, worker), their rows held."""
    rows = (
        Assignment.objects.filter(
            external_id__in=[submission.ref for submission in submissions],
            worker__endpoint=stage.endpoint_id,
        )
        .select_for_update(of=("self",), no_key=True)
        .order_by("pk")
        .values_list(
            "pk",
            "external_id",
            "worker_id",
            "hit_id",
            "stage_id",
            "state",
            "receipt",
            "submitted_at",
            "failed_checks",
            "stored_at",
            "proven",
        )
    )
    row_values = list(rows)
    workers = dict(
        Worker.objects.filter(pk__in={row[2] for row in row_values}).values_list("pk", "external_id")
    )
    return {
        (row[1], workers[row[2]]): AssignmentFacts(
            pk=row[0],
            external_id=row[1],
            worker=workers[row[2]],
            hit_pk=row[3],
            stage_pk=row[4],
            state=row[5],
            receipt=str(row[6]),
            untouched=row[7] is None and row[9] is not None,
            failed_checks=row[8],
            proven=row[10],
        )
        for row in row_values
    }


#: A submission, the HIT that lists it, and the assignment that it is here.
Pair = tuple[base.Submission, Hit, AssignmentFacts]


def _confirm_ordinary(stage: Stage, pairs: Sequence[Pair]) -> set[int]:
    """Confirm the ordinary ones and plan their approval by policy; the keys of those assignments."""
    ordinary = _with_their_units(stage, [pair for pair in pairs if _is_ordinary(stage, *pair)])
    bulk.update(
        Assignment,
        ("submitted_at", "auto_approve_at"),
        [(row.pk, submission.submitted_at, submission.auto_approve_at) for submission, _, row in ordinary],
        {"state": State.SUBMITTED, "held": False, "note": ""},
    )
    if stage.approve_at_once:
        _plan_approvals(stage, [row for _, _, row in ordinary])
    return {row.pk for _, _, row in ordinary}


def _is_ordinary(stage: Stage, submission: base.Submission, hit: Hit, row: AssignmentFacts) -> bool:
    return (
        submission.state == "submitted"
        and submission.auto_approve_at is not None
        and row.state == State.STORED
        and row.untouched
        and row.proven
        and row.hit_pk == hit.pk
        and row.stage_pk == stage.pk
        and submission.answer.get("receipt") == row.receipt
        and not (stage.hold_failed_checks and row.failed_checks)
    )


def _with_their_units(stage: Stage, pairs: Sequence[Pair]) -> list[Pair]:
    """Those whose worker has every unit of the HIT through this very assignment."""
    if not pairs:
        return []
    own: dict[int, set[str]] = defaultdict(set)
    units = HitUnit.objects.filter(hit__in={hit.pk for _, hit, _ in pairs}, role=HitUnit.Role.UNIT)
    for hit_pk, unit in units.values_list("hit_id", "unit"):
        own[hit_pk].add(unit)
    claimed_units: dict[int, set[str]] = defaultdict(set)
    claims = Claim.objects.filter(stage=stage, assignment__in=[row.pk for _, _, row in pairs])
    for assignment_pk, unit in claims.values_list("assignment_id", "unit"):
        claimed_units[assignment_pk].add(unit)
    return [pair for pair in pairs if own[pair[1].pk] <= claimed_units[pair[2].pk]]


def _plan_approvals(stage: Stage, rows: Sequence[AssignmentFacts]) -> None:
    """What `plan_decision` plans for one; an assignment that was never decided has no other."""
    now = timezone.now()
    shared: dict[str, Any] = {
        "kind": MarketOperation.Kind.APPROVE,
        "endpoint": stage.endpoint_id,
        "endpoint_url": stage.endpoint.url,
        "stage": stage.pk,
        "purpose": MarketOperation.Kind.APPROVE,
        "planned_at": now,
        "not_before": now,
    }
    bulk.insert(
        MarketOperation,
        ("id", "assignment", "target", "payload"),
        [
            (uuid.uuid4(), row.pk, f"assignment:{row.pk}", {"ref": row.external_id, "note": ""})
            for row in rows
        ],
        shared,
    )


#: Submissions reconciled in one transaction; larger HITs are not held in memory whole.
_BATCH = 200
#: HITs that are read from the marketplace at the same time, and how many may wait to be reconciled.
_READERS, _AHEAD = 4, 32
_Submitted = tuple[base.Submission, Hit]
#: An answer that the marketplace has not listed so long after the time allowed was never submitted there.
_UNLISTED_AFTER = timedelta(hours=1)
#: HITs in a row that could not be read, after which the marketplace counts as down.
_PATIENCE = 5
_SYNC_AGAIN_AFTER = timedelta(minutes=5)
#: HITs whose work may be decided at the marketplace itself are read again after so long, the oldest first: at
#: most so many, so often in seconds.
_LOOK_AGAIN_AFTER = timedelta(hours=6)
_LOOKS, _LOOK_EVERY = 200, 900
#: For so long a rejection can be turned into an approval.
_OVERRIDABLE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class _HitReading:
    """What the marketplace says about a HIT; without its listing where every place was submitted anyway."""

    submissions: Iterable[base.Submission]
    listing: base.Listing | None = None
    full: bool = False


@dataclass(slots=True)
class _Prefetch:
    """HITs that are being read, in the order in which they are reconciled, and how many failed in a row."""

    contact: Contact
    reads: "deque[tuple[Hit, Future[_HitReading]]]" = field(default_factory=deque)
    failed: int = 0

    def note(self, hit: Hit, error: base.MarketplaceDownError) -> None:
        """Go on without this HIT until the next round; raises `error` where the endpoint seems to be down."""
        self.failed += 1
        self.contact.note_trouble(f"{hit.external_id} could not be read: {error}")
        if self.failed >= _PATIENCE:
            self.contact.is_down = True
            raise error

    def note_read(self) -> None:
        """A HIT was read."""
        self.failed = 0
        self.contact.note_answer()


def collect(stage: Stage, *, limit: int = 100_000, contact: Contact | None = None) -> int:
    """Reconcile the stage's HITs that may have news; the number of submissions that changed something.

    Where the stage has several sources, it is given as one of them meets it, and that one's HITs are read.

    The marketplace is read a few HITs ahead, in the order in which they are reconciled; small ones are
    reconciled several at a time. A HIT that cannot be read waits for the next round; after a few in a row
    all do. `contact` learns whether the marketplace answers.
    """
    market = registry.adapter(stage.endpoint)
    changed = 0
    with _readers_of(stage) as readers:
        ahead = _Prefetch(contact or Contact())
        hits = islice(chain(by_key(hits_with_news(stage)), _hits_to_look_at(stage)), limit)
        try:
            while True:
                for hit in islice(hits, 0 if ahead.contact.must_end() else _AHEAD - len(ahead.reads)):
                    ahead.reads.append((hit, readers.submit(_read_hit, market, hit)))
                if not ahead.reads:
                    break
                hit_readings = _take_readings(stage, ahead)
                try:
                    changed += _reconcile_hits(stage, hit_readings)
                except base.MarketplaceDownError as error:
                    ahead.note(hit_readings[-1][0], error)
        except base.MarketplaceDownError:
            readers.shutdown(cancel_futures=True)
    give_up_the_unlisted(stage)
    return changed


class _InTurn(Executor):
    """Calls at once, in the caller's thread: for what is read from our own tables, in our own transaction."""

    def submit(self, call: Callable[..., Any], /, *values: Any, **named: Any) -> Future[Any]:
        """A future that is done."""
        done: Future[Any] = Future()
        try:
            done.set_result(call(*values, **named))
        except Exception as error:  # as an executor does: the future carries it
            done.set_exception(error)
        return done


def _readers_of(stage: Stage) -> Executor:
    if stage.endpoint.deals_work:
        return _InTurn()
    return ThreadPoolExecutor(_READERS, thread_name_prefix="collect")


def _take_readings(stage: Stage, ahead: _Prefetch) -> list[tuple[Hit, _HitReading]]:
    """Take HITs that were read: several small ones, or a large one alone. None where the next failed."""
    readings: list[tuple[Hit, _HitReading]] = []
    submissions = 0
    while ahead.reads and submissions < _BATCH and (not readings or ahead.reads[0][1].done()):
        hit, reading = ahead.reads[0]
        error = reading.exception()
        if readings and (isinstance(error, base.MarketplaceDownError) or not _is_small(reading)):
            break
        ahead.reads.popleft()
        if isinstance(error, base.MarketplaceDownError):
            ahead.note(hit, error)
        elif isinstance(error, base.MarketplaceRefusedError):
            logger.warning("%s of %s cannot be collected: %s", hit.external_id, stage.slug, error)
        else:
            readings.append((hit, reading.result()))
            submissions += hit.places
            ahead.note_read()
    return readings


def _is_small(reading: Future[_HitReading]) -> bool:
    return reading.exception() is not None or isinstance(reading.result().submissions, list)


def hits_with_news(stage: Stage) -> QuerySet[Hit]:
    """Open HITs with answers to confirm, time that ran out, or decisions that time made.

    `answered` is how many answers we have of each.
    """
    now = timezone.now()
    of_hit = Assignment.objects.filter(hit=OuterRef("pk"))
    stored = Exists(of_hit.filter(state=State.STORED))
    auto_approved = Exists(
        of_hit.filter(state__in=[State.SUBMITTED, State.QUARANTINED], auto_approve_at__lte=now)
    )
    over = Q(state=Hit.State.OPEN, expires_at__lte=now) & (
        Q(synced_at=None) | Q(synced_at__lte=now - _SYNC_AGAIN_AFTER) | Q(synced_at__lte=F("expires_at"))
    )
    submitted = of_hit.filter(submitted_at__isnull=False).order_by().values("hit").annotate(n=Count("pk"))
    full = Q(state=Hit.State.OPEN, places__lte=Coalesce(Subquery(submitted.values("n")), 0))
    answered = of_hit.filter(stored_at__isnull=False).order_by().values("hit").annotate(n=Count("pk"))
    return (
        Hit.objects.filter(hits_of(stage))
        .annotate(answered=Coalesce(Subquery(answered.values("n")), 0))
        .exclude(external_id="")
        .filter(Q(stored) | Q(auto_approved) | over | full)
        .order_by("pk")
    )


def _hits_to_look_at(stage: Stage) -> Iterator[Hit]:
    """HITs of which nothing is due, and whose work a requester may have decided without us.

    It may be done on the marketplace's pages or by a program; the marketplace tells us nothing then.
    """
    where = f":{stage.endpoint_id}" if stage.source is not None else ""
    if not figures.add(f"decided-elsewhere:{stage.pk}{where}", True, _LOOK_EVERY):
        return
    now = timezone.now()
    undecided = Q(state__in=[State.SUBMITTED, State.QUARANTINED])
    open_work = Assignment.objects.filter(
        undecided | Q(state=State.REJECTED, decided_at__gt=now - _OVERRIDABLE), stage=stage
    )
    rows = Hit.objects.filter(
        hits_of(stage), synced_at__lte=now - _LOOK_AGAIN_AFTER, pk__in=open_work.values("hit")
    )
    yield from list(rows.exclude(external_id="").order_by("synced_at", "pk")[:_LOOKS])


def collect_hit(market: base.Marketplace, stage: Stage, hit: Hit) -> int:
    """Reconcile one HIT; the number of submissions that changed something."""
    return _reconcile_hits(stage, [(hit, _read_hit(market, hit))])


def _read_hit(market: base.Marketplace, hit: Hit) -> _HitReading:
    """A HIT as the marketplace has it, and its submissions; of a large HIT they are read while used.

    The listing is read before its submissions: once it takes nobody any more and nobody is working, the
    submissions read afterwards are all there will be. As many are read as it says there are: what came in
    between comes with the next round, and no empty page is asked for. Where we have answers for all places,
    the submissions alone usually say that it is full, and the listing is not asked for.
    """
    if getattr(hit, "answered", 0) >= hit.places and hit.places <= _BATCH:
        submissions = list(islice(market.iter_submissions(hit.external_id), hit.places))
        if len(submissions) == hit.places:
            return _HitReading(submissions, full=True)
    listing = market.get_listing(hit.external_id)
    if listing is None:
        return _HitReading(())
    ahead = market.iter_submissions(hit.external_id)
    if (submission_count := listing.places - listing.available - listing.pending) > 0:
        ahead = islice(ahead, submission_count)
    return _HitReading(ahead if listing.places > _BATCH else list(ahead), listing)


def _reconcile_hits(stage: Stage, reads: Sequence[tuple[Hit, _HitReading]]) -> int:
    changed = 0
    submission_counts: Counter[int] = Counter()
    for batch in _batches((submission, hit) for hit, read in reads for submission in read.submissions):
        changed += _reconcile(stage, batch)
        submission_counts.update(hit.pk for _, hit in batch)
    now = timezone.now()
    full = {hit.pk: submission_counts[hit.pk] for hit, read in reads if read.full}
    if full:
        Hit.objects.filter(pk__in=full).update(synced_at=now)
        settle_closed_hits(stage.pk, full, at=now)
    for hit, read in reads:
        if not read.full:
            _after_listing(stage, hit, read.listing, submission_counts[hit.pk])
    return changed


def _batches(submissions: Iterable[_Submitted]) -> Iterator[list[_Submitted]]:
    ahead = iter(submissions)
    while batch := list(islice(ahead, _BATCH)):
        yield batch


def _after_listing(stage: Stage, hit: Hit, listing: base.Listing | None, submission_count: int) -> None:
    """Note what the marketplace says about a HIT, and close its books where it is over."""
    now = timezone.now()
    Hit.objects.filter(pk=hit.pk).update(
        synced_at=now, **({"expires_at": listing.expires_at} if listing else {})
    )
    if listing is None:
        logger.warning("%s of %s is not at the marketplace any more", hit.external_id, stage.slug)
        if hit.expires_at and hit.expires_at <= now:
            settle_closed_hit(hit, at=now)
    elif _all_in(listing, submission_count):
        settle_closed_hit(hit, at=now, places=listing.places)


def _all_in(listing: base.Listing, submission_count: int) -> bool:
    """Nobody can start or is working, and every submission is listed: some marketplaces show them late."""
    over = listing.state in ("reviewable", "archived") and not listing.pending
    return over and submission_count >= listing.places - listing.available


@transaction.atomic
def _reconcile(stage: Stage, submitted: Sequence[_Submitted]) -> int:
    facts = _load_facts(stage, [submission for submission, _ in submitted])
    matches = [
        (submission, hit, facts.get((submission.ref, submission.worker))) for submission, hit in submitted
    ]
    confirmed = _confirm_ordinary(stage, [(read, hit, row) for read, hit, row in matches if row is not None])
    others = [one for one in matches if one[2] is None or one[2].pk not in confirmed]
    rows = _load_assignments([(hit, row.pk) for _, hit, row in others if row is not None], stage)
    return len(confirmed) + sum(
        _reconcile_one(stage, hit, submission, rows[row.pk] if row else None)
        for submission, hit, row in others
    )


def _load_assignments(pairs: Sequence[tuple[Hit, int]], stage: Stage) -> dict[int, Assignment]:
    """Assignments that need a look at each, with all that is looked at."""
    if not pairs:
        return {}
    assignments = (
        Assignment.objects.select_related("worker")
        .defer("draft", "telemetry")
        .in_bulk([pk for _, pk in pairs])
    )
    for hit, pk in pairs:
        row = assignments[pk]
        if (row.hit_id, row.stage_id) == (hit.pk, stage.pk):
            row.hit, row.stage = hit, stage
    return assignments


def _reconcile_one(
    stage: Stage, hit: Hit, submission: base.Submission, assignment: Assignment | None
) -> bool:
    assignment = assignment or _recover(stage, hit, submission)
    if assignment is None:
        _take_unknown(stage, hit, submission)
        return True
    changed = False
    if assignment.submitted_at is None:
        changed = True
        _confirm(assignment, submission, hit)
    if submission.state == "approved":
        try:
            with transaction.atomic():
                changed |= decisions.approved(assignment, at=submission.decided_at or timezone.now())
        except BudgetError as error:
            note = f"Approved at the marketplace after its rejection, but not booked here: {error}"
            Assignment.objects.filter(pk=assignment.pk).update(held=True, note=note[:300])
    elif submission.state == "rejected":
        changed |= decisions.rejected(assignment, at=submission.decided_at or timezone.now())
    elif changed and assignment.state == State.SUBMITTED:
        approve_by_policy(assignment)
    return changed


def _confirm(assignment: Assignment, submission: base.Submission, hit: Hit) -> None:
    """The marketplace has it too. Without an answer here, the copy in the receipt is read."""
    Assignment.objects.filter(pk=assignment.pk).update(
        submitted_at=submission.submitted_at, auto_approve_at=submission.auto_approve_at
    )
    assignment.submitted_at = submission.submitted_at
    assignment.auto_approve_at = submission.auto_approve_at
    if assignment.hit_id != hit.pk:
        # Its money is that of the HIT that lists it, whatever the page's address said.
        _quarantine(assignment, "Answered on the page of another HIT than the one it was accepted for.")
        Assignment.objects.filter(pk=assignment.pk).update(hit=hit, stage=hit.stage_id)
        assignment.hit, assignment.stage = hit, hit.stage
        return
    if assignment.response is None:
        restored = responses.read_copy(submission.answer, assignment)
        if restored is None:
            _quarantine(assignment, "Submitted at the marketplace, but no answer was stored here.")
            return
        responses.store_response(assignment, restored, at=submission.submitted_at)
    elif submission.answer.get("receipt") != str(assignment.receipt):
        _quarantine(assignment, "The receipt that came back is not the one that was given out.")
        return
    if not _has_its_units(assignment):
        _quarantine(assignment, "Sent after its time was over, when the worker had begun the same again.")
        return
    Assignment.objects.filter(pk=assignment.pk).update(state=State.SUBMITTED, held=False, note="")
    given_up = assignment.state == State.QUARANTINED
    assignment.state, assignment.held = State.SUBMITTED, False
    if given_up and counts(assignment):
        recount(assignment, "was listed by the marketplace after all")
    if not assignment.proven:
        responses.bar_from_more(assignment)


def _has_its_units(assignment: Assignment) -> bool:
    """Units of work that we gave up are claimed again, unless the worker has them through another HIT now."""
    own = set(
        HitUnit.objects.filter(hit=assignment.hit_id, role=HitUnit.Role.UNIT).values_list("unit", flat=True)
    )
    claims = Claim.objects.filter(stage=assignment.stage_id, worker=assignment.worker_id, unit__in=own)
    holders = dict(claims.values_list("unit", "assignment_id"))
    if any(holder != assignment.pk for holder in holders.values()):
        return False
    Claim.objects.bulk_create(
        Claim(stage=assignment.stage, worker=assignment.worker, assignment=assignment, unit=unit)
        for unit in sorted(own.difference(holders))
    )
    return True


def _recover(stage: Stage, hit: Hit, submission: base.Submission) -> Assignment | None:
    """Work that was stored here once and that a restored database has lost: its copy carries our receipt.

    A receipt that other work has is a copy of a copy, and recovers nothing.
    """
    receipt = responses.receipt_in(submission.answer)
    if receipt is None or Assignment.objects.filter(receipt=receipt).exists():
        return None
    worker = _worker(stage, submission)
    others = Assignment.objects.filter(hit=hit, worker=worker)
    if others.exclude(state__in=[State.ENDED, State.QUARANTINED]).exists():
        return None
    assignment = Assignment(
        stage=stage,
        hit=hit,
        worker=worker,
        external_id=submission.ref,
        receipt=receipt,
        arrived_at=submission.accepted_at or submission.submitted_at,
    )
    assignment.save(force_insert=True)
    return assignment


def _worker(stage: Stage, submission: base.Submission) -> Worker:
    worker, _ = Worker.objects.get_or_create(
        endpoint=stage.endpoint,
        external_id=submission.worker,
        defaults={"first_seen_at": timezone.now()},
    )
    return worker


def _take_unknown(stage: Stage, hit: Hit, submission: base.Submission) -> None:
    """Submitted work that never came to our page: kept, in quarantine, for a person to look at."""
    worker = _worker(stage, submission)
    Assignment.objects.get_or_create(
        worker=worker,
        external_id=submission.ref,
        defaults={
            "stage": stage,
            "hit": hit,
            "state": State.QUARANTINED,
            "arrived_at": submission.accepted_at or submission.submitted_at,
            "submitted_at": submission.submitted_at,
            "auto_approve_at": submission.auto_approve_at,
            "held": True,
            "note": "Submitted at the marketplace without ever opening the task page here.",
        },
    )


def _quarantine(assignment: Assignment, why: str) -> None:
    decisions.quarantined(assignment, note=why)
    assignment.state = State.QUARANTINED


def approve_by_policy(assignment: Assignment) -> MarketOperation | None:
    """Plan the approval of good-faith work, unless a person should look first."""
    stage = assignment.stage
    if not stage.approve_at_once or assignment.held:
        return None
    if stage.hold_failed_checks and assignment.failed_checks:
        Assignment.objects.filter(pk=assignment.pk).update(
            held=True, note="Attention checks failed; a person decides."
        )
        return None
    return plan_decision(assignment, MarketOperation.Kind.APPROVE, "")


def plan_decision(
    assignment: Assignment,
    kind: MarketOperation.Kind,
    note: str,
    *,
    purpose: str = "",
    cost: Cost = NOTHING,
    actor: Any = None,
) -> MarketOperation:
    """Plan approve, reject or unreject of an assignment; each once, and once more after each refusal.

    Raises SpendingRightError where the actor may not spend what an unreject costs.
    """
    target = f"assignment:{assignment.pk}"
    refused = MarketOperation.objects.filter(
        kind=kind, target=target, state=MarketOperation.State.REFUSED
    ).count()
    return plan(
        kind=kind,
        endpoint=assignment.endpoint,
        stage=assignment.stage,
        assignment=assignment,
        target=target,
        purpose=purpose or (f"{kind} {refused + 1}" if refused else kind),
        payload={"ref": assignment.external_id, "note": note},
        cost=cost,
        actor=actor,
    )


def give_up_the_unlisted(stage: Stage) -> int:
    """Answers that the marketplace never listed though it was asked, and work whose time is over."""
    now = timezone.now()
    allowed = timedelta(seconds=stage.work_seconds)
    forged = _quarantine_the_unlisted(
        Assignment.objects.filter(
            stage=stage,
            state=State.STORED,
            stored_at__lt=now - allowed - _UNLISTED_AFTER,
            hit__synced_at__gt=F("stored_at") + allowed + _UNLISTED_AFTER,
        )
    )
    overdue = Assignment.objects.filter(
        stage=stage, state=State.WORKING, arrived_at__lt=now - allowed - _UNLISTED_AFTER
    )
    for assignment in by_key(overdue):
        decisions.ended(assignment)
    unproven.sweep(stage)
    return forged


@transaction.atomic
def _quarantine_the_unlisted(forged: QuerySet[Assignment]) -> int:
    rows = list(forged.select_for_update(of=("self",), no_key=True).select_related("worker"))
    recount_all(rows, "was never listed by the marketplace")
    return Assignment.objects.filter(pk__in=[row.pk for row in rows]).update(
        state=State.QUARANTINED,
        held=True,
        note="Answered here, but the marketplace never listed it: a forged address or a lost submission.",
    )


def waiting_for_decision(
    stage: Stage, *, within: timedelta, now: datetime | None = None
) -> Iterable[Assignment]:
    """Submitted work that time will approve within `within`, though a person should look first."""
    moment = (now or timezone.now()) + within
    return Assignment.objects.filter(
        stage=stage, state=State.SUBMITTED, held=True, auto_approve_at__lte=moment
    ).order_by("auto_approve_at")
