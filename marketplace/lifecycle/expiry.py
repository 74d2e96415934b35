"""What time does by itself: deadlines, auto-approvals, expiries, disposal.

Reads apply it to the HITs they show (`settle(hits=…)`), so states are right to the second; the periodic
sweep applies it to everything, so money moves even where nobody looks.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from core.extensions import parts_of
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.lifecycle.hits import abandon, dispose_old, end_life
from marketplace.lifecycle.holds import lock_hit
from marketplace.lifecycle.review import approve_locked
from marketplace.lifecycle.selectors import (
    DISPOSE_AFTER,
    is_expired,
    to_dispose,
    touched_by_expiry,
    unreleased_after_expiry,
)
from marketplace.models import HIT, HITType, Holding, Requester, SignedWrite, TokenUse
from marketplace.money import ledger
from marketplace.money.ledger import Kind, Movement
from marketplace.parts import PeriodicWork
from marketplace.qualifications.grants import expire_tests, finish_disposals

# Money that comes free when HITs end with places nobody took: of many HITs at once.
#
# A large batch ends in one moment. Releasing its HITs one by one took minutes, during which whoever asked for
# their balance waited.


def release_expired(*, hit_pks: Sequence[int], now: datetime) -> None:
    """Give back what is held for the open places of those of these HITs that have expired.

    One transaction for each requester. HITs are locked in the order of their keys, and looked at again once
    they are: whoever came first has done the work.
    """
    owned = HIT.objects.filter(pk__in=hit_pks).order_by("requester_id", "pk")
    for _, pairs in groupby(owned.values_list("requester_id", "pk"), key=lambda pair: pair[0]):
        _release_reserve([pk for _, pk in pairs], now)


@transaction.atomic
def _release_reserve(pks: Sequence[int], now: datetime) -> None:
    due = HIT.objects.filter(unreleased_after_expiry(), pk__in=pks, expires_at__lte=now)
    hits = list(due.order_by("pk").select_for_update(no_key=True).defer("question"))
    if not hits:
        return
    movements = [
        Movement(
            Kind.RELEASE,
            (hit.held_places - hit.pending - hit.submitted) * (hit.reward_cents + hit.fee_cents),
            hit=hit,
        )
        for hit in hits
    ]
    ledger.post(hits[0].requester_id, movements, at=now)
    HIT.objects.filter(pk__in=[hit.pk for hit in hits]).update(held_places=F("pending") + F("submitted"))


State = Holding.State
#: Tokens are remembered for 24 hours; rows are swept a day later.
FORGET_TOKENS_AFTER = timedelta(hours=48)
#: Signatures of calls are valid for less than this.
KEEP_SIGNATURES = timedelta(minutes=11)
_BATCH = 500
_SETTLED_FIELDS = (
    "pending",
    "submitted",
    "approved",
    "open_places",
    "held_places",
    "reviewing",
    "disposed_at",
    "max_assignments",
    "expires_at",
    "expiry_watched",
)


def sweep() -> None:
    """The periodic tick: everything that is due, tests not handed in, old HITs, old tokens and events."""
    now = clock.now()
    settle(now=now)
    expire_tests(now)
    finish_disposals(now)
    _dispose(HIT.objects.all(), now)
    TokenUse.objects.filter(at__lte=now - FORGET_TOKENS_AFTER).delete()
    for work in parts_of(PeriodicWork):
        work.sweep(now)
    # By the real clock, as signatures are checked: time that test controls skip frees no copied call.
    SignedWrite.objects.filter(at__lt=timezone.now() - KEEP_SIGNATURES).delete()


def settle(
    *, hits: Sequence[HIT] | None = None, requester: Requester | None = None, now: datetime | None = None
) -> None:
    """Apply everything that is due: to these HITs, which are refreshed, to one requester's, or to all.

    Costs no query for HITs on which nothing can be due, and three short ones for all where nothing is.
    """
    now = now or clock.now()
    if hits is None:
        _settle_all(requester, now)
        return
    changed = 0
    if pending := [hit.pk for hit in hits if hit.pending]:
        changed += _abandon(Holding.objects.filter(hit__in=pending), now)
    if submitted := [hit.pk for hit in hits if hit.submitted]:
        changed += _auto_approve(Holding.objects.filter(hit__in=submitted), now)
    if holding := [
        hit.pk
        for hit in hits
        if is_expired(hit, now) and (hit.expiry_watched or hit.held_places > hit.pending + hit.submitted)
    ]:
        changed += _release(HIT.objects.filter(pk__in=holding), now)
    if old := [hit.pk for hit in hits if not hit.disposed_at and hit.expires_at <= now - DISPOSE_AFTER]:
        changed += _dispose(HIT.objects.filter(pk__in=old), now)
    if changed:
        fresh = HIT.objects.in_bulk([hit.pk for hit in hits])
        for hit in hits:
            for name in _SETTLED_FIELDS:
                setattr(hit, name, getattr(fresh[hit.pk], name))


def _settle_all(requester: Requester | None, now: datetime) -> None:
    holdings, hits = Holding.objects.all(), HIT.objects.all()
    if requester is not None:
        holdings, hits = holdings.filter(hit__requester=requester), hits.filter(requester=requester)
    while _abandon(holdings, now):
        pass
    while _auto_approve(holdings, now):
        pass
    while _release(hits, now):
        pass


def _abandon(holdings: QuerySet[Holding], now: datetime) -> int:
    due = list(holdings.filter(state=State.ACCEPTED, deadline__lte=now).order_by("deadline")[:_BATCH])
    for holding in due:
        abandon(holding=holding)
    return len(due)


def _auto_approve(holdings: QuerySet[Holding], now: datetime) -> int:
    undecided = holdings.filter(state=State.SUBMITTED, auto_approve_at__lte=now).select_related("worker")
    due = list(undecided.order_by("auto_approve_at")[:_BATCH])
    for holding in due:
        assert holding.auto_approve_at is not None
        try:
            with transaction.atomic():
                approve_locked(
                    holding=holding, hit=lock_hit(holding.hit_id), at=holding.auto_approve_at, auto=True
                )
        except Refusal:
            # Somebody decided in between; their decision holds.
            continue
    return len(due)


def _release(hits: QuerySet[HIT], now: datetime) -> int:
    touched = hits.filter(touched_by_expiry(), expires_at__lte=now)
    due = list(touched.values_list("pk", "expiry_watched")[:_BATCH])
    for pk, watched in due:
        if watched:
            end_life(hit_pk=pk, now=now)
    release_expired(hit_pks=[pk for pk, watched in due if not watched], now=now)
    return len(due)


def _dispose(hits: QuerySet[HIT], now: datetime) -> int:
    """Dispose of old HITs in one statement, but one by one where somebody is told of it."""
    old = hits.filter(to_dispose(now), held_places=0)
    notified = list(HITType.objects.filter(notification__isnull=False).values_list("pk", flat=True))
    while notified and (due := list(old.filter(hit_type__in=notified).values_list("pk", flat=True)[:_BATCH])):
        for pk in due:
            dispose_old(hit_pk=pk, now=now)
    return old.update(disposed_at=F("expires_at") + DISPOSE_AFTER, expiry_watched=False)
