"""Collecting: what the marketplace says was submitted and decided, against what we have stored.

Events and arrivals are hints; only the marketplace's own list makes an assignment real. Here HITs are read, a
few ahead; what follows for each submission is in `submissions`, and what was never listed in `overdue_work`.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain, islice
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from crowd.adapters import base, registry
from crowd.models import Assignment, Hit, Stage
from crowd.outbox.calls import Contact
from crowd.services.overdue_work import give_up_the_unlisted
from crowd.services.stages import by_key, settle_closed_hit, settle_closed_hits
from crowd.services.submissions import Submitted, reconcile
from crowd.sources import hits_of

logger = logging.getLogger(__name__)
State = Assignment.State

#: Submissions reconciled in one transaction; larger HITs are not held in memory whole.
_BATCH = 200
#: HITs that are read from the marketplace at the same time, and how many may wait to be reconciled.
_READERS, _AHEAD = 4, 32
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
    """Take HITs that were read: several small ones, or a large one alone. Empty where the next one failed."""
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
    if not cache.add(f"decided-elsewhere:{stage.pk}{where}", True, _LOOK_EVERY):
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
        changed += reconcile(stage, batch)
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


def _batches(submissions: Iterable[Submitted]) -> Iterator[list[Submitted]]:
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
