"""HITs on offer that have a free place, and what is in them."""

from collections import defaultdict
from collections.abc import Collection, Iterator

from django.db.models import F
from django.utils import timezone

from crowd.adapters.link import TAKEN
from crowd.models import Hit, HitUnit, Stage
from crowd.sources import hits_of

#: HITs that are looked through at once: few at first, for nearly always one of them will do.
_FIRST, _PAGE = 10, 200


def free_hits(stage: Stage) -> Iterator[list[int]]:
    """Keys of HITs on offer with a free place, the oldest first, in pages."""
    rows = Hit.objects.filter(
        hits_of(stage), state=Hit.State.OPEN, expires_at__gt=timezone.now(), compensates=None
    )
    keys = rows.annotate(taken=TAKEN).filter(taken__lt=F("places")).order_by("pk")
    last, size = 0, _FIRST
    while page := list(keys.filter(pk__gt=last).values_list("pk", flat=True)[:size]):
        yield page
        last, size = page[-1], _PAGE


def units_of_hits(hits: Collection[int]) -> dict[int, dict[str, str]]:
    """The units of HITs with their roles, in their order."""
    units: dict[int, dict[str, str]] = defaultdict(dict)
    rows = HitUnit.objects.filter(hit__in=hits).order_by("hit", "position")
    for hit, unit, role in rows.values_list("hit", "unit", "role"):
        units[hit][unit] = role
    return units
