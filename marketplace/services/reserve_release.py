"""Money that comes free when HITs end with places nobody took: of many HITs at once.

A large batch ends in one moment. Releasing its HITs one by one took minutes, during which whoever asked for
their balance waited.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from django.db import transaction
from django.db.models import F

from marketplace import ledger
from marketplace.ledger import Kind, Movement
from marketplace.models import HIT
from marketplace.selectors import unreleased_after_expiry


def release_expired(*, hit_pks: Sequence[int], now: datetime) -> None:
    """Give back what is held for the open places of those of these HITs that have expired.

    One transaction for each requester. HITs are locked in the order of their keys, and looked at again once
    they are: whoever came first has done the work.
    """
    owned = HIT.objects.filter(pk__in=hit_pks).order_by("requester_id", "pk")
    for _, pairs in groupby(owned.values_list("requester_id", "pk"), key=lambda pair: pair[0]):
        _release([pk for _, pk in pairs], now)


@transaction.atomic
def _release(pks: Sequence[int], now: datetime) -> None:
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
