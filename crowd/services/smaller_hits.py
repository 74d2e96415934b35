"""Smaller HITs, of the units that a person may do, where no one who is left may do a whole one.

Where we deal work out, a HIT is made for the person who comes: places are taken from HITs on offer, one from
each, and what of these the person does not get is on offer again at once, in HITs for others. At a
marketplace HITs are accepted as they are: those that none of the people who are known may take are ended, and
the next round bundles their units so that some may.

A smaller HIT pays what a whole one does. The money of the places that were taken pays for the HITs that take
their place; if more is needed, it is set aside within the budget, and what it does not cover is asked later.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.core.cache import cache
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from crowd import budget, bundles
from crowd.adapters.base import CallSuccess
from crowd.adapters.link import TAKEN, reference
from crowd.budget import Cost, MovementPurpose
from crowd.errors import BudgetError
from crowd.kinds import PendingUnit, kind_of
from crowd.models import Assignment, Claim, Hit, HitUnit, Stage, Worker
from crowd.outbox import epoch, results
from crowd.rights import why_unentitled
from crowd.selectors.hits_on_offer import free_hits, units_of_hits
from crowd.selectors.known_people import KnownPeople, excluded_workers
from crowd.services import persons
from crowd.services.arrivals import AssignmentUnits, arrive
from crowd.services.publication import fee, insert_hits
from crowd.services.sources import list_hits_with_places
from crowd.services.stages import expire_hit
from crowd.sources import source_for_hit

Role = HitUnit.Role
#: HITs that are looked at together.
_PAGE = 200
#: How often units are chosen again whose last places were taken meanwhile.
_TRIES = 5
#: HITs at a marketplace are ended when no one took any of the stage's for so long; how often that is asked.
_UNTAKEN_FOR, _ASKED_EVERY_S = timedelta(hours=1), 900


def barred_units(stage: Stage, people: Collection[int], units: Sequence[str]) -> tuple[set[str], set[str]]:
    """Units from which other work keeps a person, and those that they have had."""
    barred = {unit for unit, workers in excluded_workers(stage, units, people).items() if workers}
    had = Claim.objects.filter(stage=stage, worker__in=people)
    return barred, set(had.values_list("unit", flat=True))


@transaction.atomic
def arrive_at_part(
    stage: Stage, worker: Worker, *, external_id: str, unsplit: Collection[int] = ()
) -> AssignmentUnits | None:
    """Give a person a HIT of units that they may do, taken from HITs on offer; None where there are none.

    `unsplit` are HITs that the person may do as they are: of one of them alone none is made. Locks as
    elsewhere: the person, the stage, the HITs. All or nothing is made.
    """
    people = persons.hold_person(worker, stage.project_id)
    row = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    if row.status != Stage.Status.OPEN or epoch.is_halted(stage.endpoint) or why_unentitled(stage):
        return None
    donors: list[tuple[Hit, list[str]]] = []
    for _ in range(_TRIES):  # who takes a whole HIT holds its row alone, and may have been first
        units_by_hit = _choose_units(stage, people, row.units_per_hit)
        if len(units_by_hit) == 1 and units_by_hit.keys() <= set(unsplit):
            return None
        donors = _take_places(stage, units_by_hit)
        if donors or not units_by_hit:
            break
    if not donors:
        return None
    own = [unit for _, units in donors for unit in units]
    rest = Counter(
        unit
        for hit, units in donors
        for unit in hit.units.filter(role=Role.UNIT).exclude(unit__in=units).values_list("unit", flat=True)
    )
    hit = _open_hits(stage, dict.fromkeys(own, 1), wave=donors[0][0].wave, people=people)[0]
    try:
        with transaction.atomic():
            _open_hits(stage, rest, wave=hit.wave)
    except BudgetError:
        pass  # the next round asks for these units, and says that the budget has come to its end
    return arrive(hit=hit, external_id=external_id, worker_id=worker.external_id, is_compared=True)


def _choose_units(stage: Stage, people: Sequence[int], room: int) -> dict[int, list[str]]:
    """By HIT with a free place, units for a person: from few HITs, what belongs together uncut."""
    permitted: dict[int, list[str]] = {}
    for page in free_hits(stage):
        own = {
            hit: [unit for unit, role in units.items() if role == Role.UNIT]
            for hit, units in units_of_hits(page).items()
        }
        barred, had = barred_units(stage, people, sorted({unit for units in own.values() for unit in units}))
        for hit, units in own.items():
            if may_do := [unit for unit in units if unit not in barred | had]:
                permitted[hit] = may_do
        if len({unit for units in permitted.values() for unit in units}) >= room:
            break
    units_by_hit: dict[int, list[str]] = {}
    picked: set[str] = set()
    for hit in sorted(permitted, key=lambda pk: (-len(permitted[pk]), pk)):
        free = [unit for unit in permitted[hit] if unit not in picked]
        together = kind_of(stage).together(stage, free)
        groups: dict[str, list[str]] = defaultdict(list)
        for unit in free:
            groups[together.get(unit, unit)].append(unit)
        for group in groups.values():
            part = group if picked else group[:room]
            if len(picked) + len(part) <= room:
                picked.update(part)
                units_by_hit.setdefault(hit, []).extend(part)
        if len(picked) == room:
            break
    return units_by_hit


def _take_places(stage: Stage, units_by_hit: dict[int, list[str]]) -> list[tuple[Hit, list[str]]]:
    """Take a place from each of these HITs, with its money; one whose last place went meanwhile is left."""
    now = timezone.now()
    donors = []
    for hit in Hit.objects.select_for_update(no_key=True).filter(pk__in=units_by_hit).order_by("pk"):
        # Counted once the row is held: who takes a place holds it too.
        places_used = (
            Hit.objects.filter(pk=hit.pk).annotate(taken=TAKEN).values_list("taken", flat=True).get()
        )
        if hit.state == Hit.State.OPEN and places_used < hit.places:
            Hit.objects.filter(pk=hit.pk).update(places=F("places") - 1)
            budget.release(
                stage, budget.unit_cost(hit), MovementPurpose("place to a smaller HIT", hit=hit), at=now
            )
            donors.append((hit, units_by_hit[hit.pk]))
    return donors


def _open_hits(stage: Stage, units: dict[str, int], *, wave: int, people: Sequence[int] = ()) -> list[Hit]:
    """HITs of these units, on offer at once; for one person, without checks and overlap that bar them."""
    if not units:
        return []
    kind = kind_of(stage)
    overlap, checks = _list_mixed_in(stage, Role.OVERLAP), _list_mixed_in(stage, Role.CHECK)
    if people:
        barred, had = barred_units(stage, people, [*overlap, *checks])
        overlap = [unit for unit in overlap if unit not in barred]
        checks = [unit for unit in checks if unit not in barred | had]
    parts = bundles.bundle(
        [PendingUnit(unit, missing) for unit, missing in units.items()],
        units_per_hit=len(units) if people else stage.units_per_hit,
        overlap=overlap,
        checks=checks,
        checks_per_hit=stage.checks_per_hit,
        seed=stage.seed + Hit.objects.filter(stage=stage).count(),
        together=kind.together(stage, list(units)),
    )
    planned = [
        (
            Hit(
                stage=stage,
                source=source_for_hit(stage),
                places=part.people,
                reward_cents=stage.reward_cents,
                fee_cents=fee(stage, part.people),
                wave=wave,
            ),
            stage,
            part,
        )
        for part in parts
    ]
    now = timezone.now()
    budget.set_aside(stage, sum((budget.unit_cost(hit) * hit.places for hit, _, _ in planned), Cost(0)))
    operations = insert_hits(stage, planned, at=now)
    for operation in operations:  # our own endpoint has nothing to wait for
        results.apply(operation, CallSuccess(reference(operation.token)))
    hits = [hit for hit, _, _ in planned]
    for hit in hits:
        hit.refresh_from_db(fields=["state", "external_id", "published_at", "expires_at"])
    return hits


def _list_mixed_in(stage: Stage, role: HitUnit.Role) -> list[str]:
    """What the stage's newest HITs have of this role: a kind takes long to draw its checks again."""
    newest = Hit.objects.filter(stage=stage, compensates=None).order_by("-pk")[:_PAGE]
    units = HitUnit.objects.filter(hit__in=list(newest.values_list("pk", flat=True)), role=role)
    return sorted(units.values_list("unit", flat=True).distinct())


def replace_untaken(source_stage: Stage) -> int:
    """End HITs at a marketplace of which the people who are known may take none whole; how many.

    `source_stage` is the stage as the source meets it. As long as people take HITs of it, all of them stay.
    """
    if source_stage.endpoint.deals_work or source_stage.units_per_hit == 1:
        return 0
    if not cache.add(f"untaken:{source_stage.pk}:{source_stage.endpoint_id}", True, _ASKED_EVERY_S):
        return 0
    since = timezone.now() - _UNTAKEN_FOR
    if Assignment.objects.filter(stage=source_stage, arrived_at__gt=since).exists():
        return 0
    hits = {hit.pk: hit for hit in _untaken(source_stage, since)}
    people = KnownPeople(source_stage) if hits else None
    if people is None or not people.persons:
        return 0
    count, everybody = 0, len(people.persons)
    for pk, units in units_of_hits(hits).items():
        barred = people.find_barred(units)
        own = [barred.get(unit, frozenset[int]()) for unit, role in units.items() if role == Role.UNIT]
        barred_people = frozenset[int]().union(*barred.values())
        if len(barred_people) == everybody and any(len(each) < everybody for each in own):
            expire_hit(hit=hits[pk], purpose="smaller")
            count += 1
    return count


def _untaken(source_stage: Stage, since: datetime) -> Sequence[Hit]:
    rows = list_hits_with_places(source_stage).filter(published_at__lte=since)
    return list(rows.select_related("stage__project", "stage__endpoint", "source__endpoint")[:_PAGE])
