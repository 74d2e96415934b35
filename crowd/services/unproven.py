"""Arrivals that nothing proves: they bar no one, make way for others, are few, and leave nothing behind.

Most marketplaces put a worker's and an assignment's id into our page's address and sign nothing, so anybody
can write such an address. The work is taken all the same, and counts once the marketplace lists it.
"""

import contextlib
import logging
from collections import defaultdict, deque
from datetime import timedelta

from django.db import transaction
from django.db.models import ProtectedError, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from crowd.adapters import registry
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.models import Assignment, Claim, Exclusion, Hit, Stage, Worker
from crowd.services import decisions

logger = logging.getLogger(__name__)
State = Assignment.State
#: A browser hands an answer to the marketplace within this time; what is not listed then may be forged.
HANDED_OVER_AFTER = timedelta(minutes=2)
#: Unproven arrivals that a HIT has at once, for each of its places.
FOR_EACH_PLACE = 5
#: Rows that one transaction removes.
MOST_REMOVED = 1000
#: What was given up without an answer is kept so long, for a worker who comes back.
KEPT = timedelta(days=7)
FORGED = "Answered here, but the marketplace does not list it, and its worker came with another assignment."


def confirmed(prefix: str = "") -> Q:
    """Condition of assignments that are whose they say: proven at arrival, or listed by the marketplace."""
    return Q(**{f"{prefix}proven": True}) | Q(**{f"{prefix}submitted_at__isnull": False})


def make_way(hit: Hit, *, external_id: str, worker_id: str, proven: bool) -> None:
    """End what keeps this worker from the HIT's units though nothing proves that it is theirs.

    Open work makes way at once. An answer does where the arrival is proven, or where the marketplace had its
    time and lists no such submission; it stays in quarantine, and counts after all should it be listed.
    """
    rivals = _unconfirmed(Assignment.objects.filter(stage=hit.stage, worker__external_id=worker_id))
    rivals = rivals.filter(
        claims__unit__in=hit.units.values("unit"), worker__endpoint=hit.endpoint.pk
    ).exclude(external_id=external_id)
    for rival in rivals.distinct().select_related("hit"):
        if rival.state == State.WORKING:
            if rival.hit_id != hit.pk:  # in the same HIT its draft goes on
                decisions.end_assignment(rival)
        elif proven or not _is_listed(hit, rival):
            _set_aside(rival)


def make_room(hit: Hit, *, but: Worker) -> None:
    """Remove arrivals beyond what a HIT has at once.

    First those from the network that most of them came from, so that one machine displaces only itself; among
    equals those without a draft, then those at which nobody worked for longest. `but` is who arrives now.
    """
    most = hit.places * FOR_EACH_PLACE
    rows = _unanswered(Assignment.objects.filter(hit=hit)).exclude(worker=but)
    if (beyond := rows.count() + 1 - most) <= 0:
        return
    columns = rows.annotate(has_draft=~Q(draft={}), touched_at=Coalesce("saved_at", "arrived_at"))
    order = columns.order_by("has_draft", "touched_at", "pk").values_list("pk", "arrived_from")
    by_network: dict[str, deque[int]] = defaultdict(deque)
    for place, (pk, network) in enumerate(order[: most + MOST_REMOVED]):
        by_network[network or f"unknown-{place}"].append(pk)
    going = []
    for _ in range(min(beyond, MOST_REMOVED)):
        crowd = max(by_network.values(), key=len)
        going.append(crowd.popleft())
    _remove(Assignment.objects.filter(pk__in=going))


def sweep(stage: Stage) -> None:
    """Remove what was given up without an answer some time ago, and workers of whom nothing else is known."""
    old = timezone.now() - KEPT
    _remove(_unanswered(Assignment.objects.filter(stage=stage, state=State.ENDED, arrived_at__lt=old)))


def _unconfirmed(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    return rows.filter(proven=False, submitted_at=None, state__in=[State.WORKING, State.STORED])


def _unanswered(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Rows with nothing that a person sent."""
    rows = rows.filter(proven=False, submitted_at=None, response__isnull=True, operations=None)
    return rows.filter(state__in=[State.WORKING, State.ENDED])


def _is_listed(hit: Hit, rival: Assignment) -> bool:
    if rival.stored_at is None or rival.stored_at > timezone.now() - HANDED_OVER_AFTER:
        return True
    try:
        return registry.adapter(hit.endpoint).get_submission(rival.external_id) is not None
    except (MarketplaceDownError, MarketplaceRefusedError, ValueError) as error:
        logger.warning("Whether %s is listed cannot be told: %s", rival.external_id, error)
        return True


@transaction.atomic
def _set_aside(rival: Assignment) -> None:
    """Put an answer into quarantine; nothing of it is lost, and its units are free again."""
    rows = _unconfirmed(Assignment.objects.filter(pk=rival.pk)).select_for_update(of=("self",), no_key=True)
    if rows.exists():
        decisions.quarantine(rival, note=FORGED)
        Claim.objects.filter(assignment=rival).delete()


@transaction.atomic
def _remove(rows: QuerySet[Assignment]) -> None:
    pairs = list(rows.values_list("pk", "worker_id")[:MOST_REMOVED])
    Assignment.objects.filter(
        pk__in=[pk for pk, _ in pairs], response__isnull=True, submitted_at=None
    ).delete()
    gone = Worker.objects.filter(
        pk__in={worker for _, worker in pairs}, assignments=None, simulated=False
    ).exclude(pk__in=Exclusion.objects.values("worker"))
    nameless = gone.filter(hit=None)
    try:
        with transaction.atomic():
            nameless.delete()
    except ProtectedError:  # another app knows one of them: the others still go
        for worker in nameless:
            with contextlib.suppress(ProtectedError):
                worker.delete()
