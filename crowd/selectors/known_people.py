"""The people of a stage's sources as far as they are known, and what each of them may not do of its units.

A person may not do a unit twice, nor one from which other work of theirs keeps them. Where all come by study
links, everybody who can work is known, so it can be said what they can finish, and when no one is left.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from crowd.kinds import kind_of
from crowd.models import Assignment, Claim, Endpoint, Exclusion, HitUnit, PersonMatch, Stage, Worker
from crowd.selectors.hits_on_offer import free_hits, units_of_hits
from crowd.services.arrivals import taken_hits
from crowd.sources import is_closed, stages_at
from metrics.figure import counted
from people.models import Guest, RosterRow

#: Units that are asked about in one statement.
_AT_ONCE = 500


def excluded_workers(
    stage: Stage, units: Sequence[str], workers: Collection[int] | None = None
) -> dict[str, set[int]]:
    """By unit, who is kept from it by other work; of all workers, or of these."""
    by_unit = kind_of(stage).scopes_by_unit(stage, units)
    if workers is not None:
        rows = Exclusion.objects.filter(worker__in=workers)
    else:
        rows = Exclusion.objects.filter(scope__in={scope for scopes in by_unit.values() for scope in scopes})
    by_scope: dict[str, set[int]] = defaultdict(set)
    for scope, worker in rows.values_list("scope", "worker"):
        by_scope[scope].add(worker)
    return {
        unit: {worker for scope in scopes for worker in by_scope.get(scope, ())}
        for unit, scopes in by_unit.items()
    }


def are_all_known(stage: Stage) -> bool:
    """Whether all people come by study links: elsewhere others may come of whom nothing is known yet."""
    protocols = {
        source_stage.endpoint.protocol for source_stage in stages_at(stage) if not is_closed(source_stage)
    }
    return protocols == {Endpoint.Protocol.LINK}


class KnownPeople:
    """People of a stage's sources who may still work in it; a person is a number.

    With study links these are all who joined the project by one, and those on class lists who have not; at
    other sources those who worked in the project. Workers who may be one person are one.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        source_stages = [source_stage for source_stage in stages_at(stage) if not is_closed(source_stage)]
        linked = any(
            source_stage.endpoint.protocol == Endpoint.Protocol.LINK for source_stage in source_stages
        )
        guests = Guest.objects.filter(project=stage.project_id)
        joined = (
            set(guests.filter(withdrawn_at=None).values_list("worker_id", flat=True)) if linked else set()
        )
        worked = Assignment.objects.filter(worker=OuterRef("pk"), stage__project=stage.project_id)
        workers = Worker.objects.filter(
            Exists(worked) | Q(external_id__in=guests.values("worker_id")),
            endpoint__in=[source_stage.endpoint_id for source_stage in source_stages],
        ).exclude(external_id__in=guests.exclude(withdrawn_at=None).values("worker_id"))
        rows = dict(workers.values_list("pk", "external_id"))
        not_begun = len(joined - set(rows.values())) + (self._count_invited() if linked else 0)
        everybody = [*self._put_together(rows), *[frozenset[int]()] * not_begun]
        #: How many they are, with those whom the stage takes no more.
        self.count = len(everybody)
        self.persons = self._without_done(everybody)
        self._number = {worker: at for at, person in enumerate(self.persons) for worker in person}

    def _put_together(self, workers: Iterable[int]) -> list[frozenset[int]]:
        """Workers as persons, by the matches of the project."""
        matches = PersonMatch.objects.filter(project=self._stage.project_id)
        group = {worker: {worker} for worker in workers}
        pairs = matches.exclude(verdict=PersonMatch.Verdict.DIFFERENT).values_list("first", "second")
        for first, second in pairs:
            both = group.get(first, {first}) | group.get(second, {second})
            group.update(dict.fromkeys(both, both))
        return list(dict.fromkeys(frozenset(group[worker]) for worker in sorted(workers)))

    def _without_done(self, persons: Sequence[frozenset[int]]) -> list[frozenset[int]]:
        """Those whom the stage still takes: not excluded from it, nor with as many HITs as one may do."""
        rows = Exclusion.objects.filter(scope=f"stage:{self._stage.pk}")
        out, hit_counts = set(rows.values_list("worker", flat=True)), dict[int, int]()
        most = self._stage.max_hits_per_worker
        if most is not None:
            counts = taken_hits(self._stage).order_by().values_list("worker")
            hit_counts = dict(counts.annotate(n=Count("pk")))
        return [
            person
            for person in persons
            if not person & out
            and (most is None or sum(hit_counts.get(worker, 0) for worker in person) < most)
        ]

    def _count_invited(self) -> int:
        """People on the lists of open links who have not come yet."""
        now = timezone.now()
        rows = RosterRow.objects.filter(
            Q(link__expires_at=None) | Q(link__expires_at__gt=now),
            link__project=self._stage.project_id,
            link__closed_at=None,
            guest=None,
        )
        return rows.count()

    def find_barred(self, units: Iterable[str], *, begun: bool = True) -> dict[str, frozenset[int]]:
        """By unit, who of these people may not do it; units that all may do are left out.

        With `begun`, also who is doing it now.
        """
        barred: dict[str, frozenset[int]] = {}
        for chunk in _chunks(units):
            workers = excluded_workers(self._stage, chunk)
            claims = Claim.objects.filter(stage=self._stage, unit__in=chunk)
            if not begun:
                claims = claims.exclude(assignment__state=Assignment.State.WORKING)
            for unit, worker in claims.values_list("unit", "worker"):
                workers.setdefault(unit, set()).add(worker)
            for unit, barred_workers in workers.items():
                numbers = frozenset(
                    self._number[worker] for worker in barred_workers if worker in self._number
                )
                if numbers:
                    barred[unit] = numbers
        return barred

    def may_do_any(self, units: Iterable[str]) -> bool:
        """Whether any of these people may do any of the units."""
        return any(
            len(barred.get(unit, ())) < len(self.persons)
            for chunk in _chunks(units)
            for barred in [self.find_barred(chunk)]
            for unit in chunk
        )


def _chunks(units: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(units)
    while chunk := list(islice(rest, _AT_ONCE)):
        yield chunk


@dataclass(frozen=True, slots=True)
class Capacity:
    """Of the responses that are missing, how many the people who are known can give at most."""

    people: int
    missing: int
    possible: int


def find_capacity(stage: Stage) -> Capacity | None:
    """What everybody together can do of what is pending; None where others may come, or none came yet."""
    people = KnownPeople(stage) if are_all_known(stage) else None
    if people is None or not people.count:
        return None
    count = len(people.persons)
    missing = {unit.unit: unit.missing for unit in kind_of(stage).pending(stage)}
    barred = people.find_barred(missing, begun=False)
    possible = sum(min(number, count - len(barred.get(unit, ()))) for unit, number in missing.items())
    if stage.max_hits_per_worker is not None:
        possible = min(possible, count * stage.max_hits_per_worker * stage.units_per_hit)
    return Capacity(people.count, sum(missing.values()), possible)


_REMEDY = (
    "No one does a unit twice, or one about which they did other work. Invite more people, or ask fewer "
    "people for each unit."
)


def caution_of_capacity(stage: Stage) -> list[str]:
    """The quote's sentence where the people who are known cannot do all."""
    capacity = find_capacity(stage)
    if capacity is None or capacity.possible >= capacity.missing:
        return []
    return [
        f"With the {_people(capacity.people)} of the study links so far, at most {capacity.possible:,} of "
        f"{capacity.missing:,} responses can be given. {_REMEDY}"
    ]


def list_cautions(stage: Stage) -> list[str]:
    """What to know before the stage asks people: by its kind, and by who is there."""
    return [*kind_of(stage).cautions(stage), *caution_of_capacity(stage)]


def describe_blockage(stage: Stage) -> str:
    """A sentence where no one who is known may do anything of what an open stage lacks; else empty."""
    if stage.status != Stage.Status.OPEN or not are_all_known(stage):
        return ""
    people = KnownPeople(stage)
    if not people.count or people.may_do_any(_units_on_offer(stage)):
        return ""
    begun = dict(
        Claim.objects.filter(stage=stage, assignment__state=Assignment.State.WORKING)
        .order_by()
        .values_list("unit")
        .annotate(n=Count("pk"))
    )
    missing = {unit.unit: unit.missing - begun.get(unit.unit, 0) for unit in kind_of(stage).pending(stage)}
    lacking = {unit: number for unit, number in missing.items() if number > 0}
    if not lacking or people.may_do_any(lacking):
        return ""
    return (
        f"None of the {_people(people.count)} of the study links may do what is left: "
        f"{counted(sum(lacking.values()), 'response')}. {_REMEDY}"
    )


def _units_on_offer(stage: Stage) -> Iterator[str]:
    for page in free_hits(stage):
        for units in units_of_hits(page).values():
            yield from (unit for unit, role in units.items() if role == HitUnit.Role.UNIT)


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"
