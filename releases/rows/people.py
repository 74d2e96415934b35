"""Pseudonyms of workers: one for each person of a panel, whichever endpoints or links they came by.

Workers are rows of an endpoint. Two rows are one person for certain where both are of the same kind of
marketplace or panel and have the same id there, as with two workspaces of Prolific; or where they are guests
of links that name the same source of ids (`StudyLink.id_source`) and have the same id. What is only likely
(`crowd.services.persons`) joins no rows. docs/decisions/0044.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Min

from core.projects.models import Project
from core.projects.selectors import pseudonym
from crowd.models import Endpoint, Stage, StageSource, Worker
from people.models import Guest


class People:
    """Pseudonyms by worker; each is worked out once. `len()` is the number of different ones."""

    def __init__(self, project: Project, using: str) -> None:
        self._project, self._using = project, using
        self._names: dict[int, str] = {}
        self._simulated: set[int] = set()
        self._ids: dict[int, str] = {}
        self._protocols: set[str] | None = None

    def __len__(self) -> int:
        return len(set(self._names.values()))

    @property
    def simulated(self) -> Collection[int]:
        """Keys of the simulated workers among those who have a pseudonym by now."""
        return self._simulated

    @property
    def simulated_people(self) -> int:
        """How many pseudonyms belong to simulated workers."""
        return len({self._names[worker] for worker in self._simulated})

    @property
    def by_person(self) -> bool:
        """Whether any pseudonym differs from that of the worker's id alone."""
        return any(
            name != pseudonym(self._project, self._ids[worker]) for worker, name in self._names.items()
        )

    @property
    def joined(self) -> int:
        """How many more workers there are than pseudonyms."""
        return len(self._names) - len(self)

    @property
    def renamed(self) -> Mapping[str, str]:
        """Pseudonyms by that of the worker's id alone, where they differ and the id is one person's."""
        found: dict[str, set[str]] = {}
        for worker, external_id in self._ids.items():
            found.setdefault(external_id, set()).add(self._names[worker])
        return {
            alone: next(iter(names))
            for external_id, names in found.items()
            if len(names) == 1 and (alone := pseudonym(self._project, external_id)) not in names
        }

    def names(self, workers: Iterable[int]) -> dict[int, str]:
        """Pseudonyms by key, of at least these workers; a few statements where some are new."""
        new = set(workers).difference(self._names)
        if new:
            rows = list(
                Worker.objects.using(self._using)
                .filter(pk__in=new)
                .values_list("pk", "external_id", "endpoint__protocol", "simulated")
            )
            self._name(rows)
        return self._names

    def _name(self, rows: list[tuple[int, str, str, bool]]) -> None:
        links = [external_id for _, external_id, protocol, _ in rows if protocol == Endpoint.Protocol.LINK]
        first_of = _first_guests(self._project, self._using, links) if links else {}
        ids = {pk: first_of.get(external_id, external_id) for pk, external_id, _, _ in rows}
        owner_of = self._protocol_by_id(set(ids.values()))
        for pk, external_id, protocol, simulated in rows:
            # The same id at another panel is another person: of the two the first has the name of the id.
            known = owner_of.get(ids[pk], protocol) == protocol
            self._names[pk] = pseudonym(self._project, ids[pk] if known else f"{protocol}:{ids[pk]}")
            self._ids[pk] = external_id
            if simulated:
                self._simulated.add(pk)

    def _protocol_by_id(self, ids: Collection[str]) -> Mapping[str, str]:
        """The kind of panel at which each id first worked here; empty where the project has only one kind."""
        if self._protocols is None:
            own = Stage.objects.using(self._using).filter(project=self._project)
            more = StageSource.objects.using(self._using).filter(stage__project=self._project)
            asked = own.order_by().values_list("endpoint__protocol")
            self._protocols = {row[0] for row in asked.union(more.values_list("endpoint__protocol"))}
        if len(self._protocols) < 2:
            return {}
        rows = (
            Worker.objects.using(self._using)
            .filter(external_id__in=ids, assignments__stage__project=self._project)
            .order_by()
            .values_list("external_id", "endpoint__protocol")
            .annotate(first=Min("assignments"))
            .order_by("-first")
        )
        return {external_id: protocol for external_id, protocol, _ in rows}


def _first_guests(project: Project, using: str, worker_ids: Collection[str]) -> Mapping[str, str]:
    """For guests with an id of a source: the worker id of the first guest who has the same one."""
    person_of = dict(_persons(project, using, worker_id__in=worker_ids))
    if not person_of:
        return {}
    identities = {identity for _, identity in person_of.values()}
    first = {person: worker_id for worker_id, person in _persons(project, using, identity__in=identities)}
    return {worker_id: first[person] for worker_id, person in person_of.items()}


def _persons(project: Project, using: str, **conditions: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    """Worker ids of guests, the newest first, each with its source and its id there."""
    rows = (
        Guest.objects.using(using)
        .filter(project=project, visits__link__id_source__gt="", **conditions)
        .order_by("-pk")
        .values_list("worker_id", "identity", "identity_kind", "visits__link__id_source")
        .distinct()
    )
    for worker_id, identity, kind, source in rows:
        # Guests without an id, or from a class list, are identified by something that is not the source's.
        if kind.startswith(f"{source}/"):
            yield worker_id, (source, identity)
