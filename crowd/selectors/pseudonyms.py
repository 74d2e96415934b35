"""Pseudonyms of workers in files that leave: by their id, and by the kind of panel that the id is of."""

from collections.abc import Collection, Iterable, Mapping

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Min

from core.projects.models import Project
from core.projects.selectors import pseudonym
from crowd.models import Stage, StageSource, Worker

_CHUNK = 5_000


def panel_pseudonym(project: Project, external_id: str, panel: str, first: Mapping[str, str]) -> str:
    """The pseudonym of the person with this id at this kind of panel.

    The same id at another kind of panel is another person. The one who worked `first` has the name of the id
    alone, see `first_panels`.
    """
    is_first = first.get(external_id, panel) == panel
    return pseudonym(project, external_id if is_first else f"{panel}:{external_id}")


def has_several_panels(project: Project, using: str = DEFAULT_DB_ALIAS) -> bool:
    """Whether the project asks people at more than one kind of marketplace or panel."""
    own = Stage.objects.using(using).filter(project=project).order_by().values_list("endpoint__protocol")
    more = StageSource.objects.using(using).filter(stage__project=project)
    return len(set(own.union(more.values_list("endpoint__protocol")))) > 1


def first_panels(project: Project, ids: Collection[str], using: str = DEFAULT_DB_ALIAS) -> dict[str, str]:
    """The kind of panel at which each of these ids first worked in a project."""
    rows = (
        Worker.objects.using(using)
        .filter(external_id__in=ids, assignments__stage__project=project)
        .order_by()
        .values_list("external_id", "endpoint__protocol")
        .annotate(first=Min("assignments"))
        .order_by("-first")
    )
    return {external_id: panel for external_id, panel, _ in rows}


def worker_pseudonyms(project: Project, workers: Iterable[int]) -> dict[int, str]:
    """Pseudonyms of workers by key; those who are one person by two links have one each."""
    worker_ids, several = list(workers), has_several_panels(project)
    pseudonyms: dict[int, str] = {}
    for start in range(0, len(worker_ids), _CHUNK):
        columns = ("pk", "external_id", "endpoint__protocol")
        rows = list(Worker.objects.filter(pk__in=worker_ids[start : start + _CHUNK]).values_list(*columns))
        first = first_panels(project, {row[1] for row in rows}) if several else {}
        pseudonyms |= {pk: panel_pseudonym(project, name, panel, first) for pk, name, panel in rows}
    return pseudonyms


#: What the API says of the name of a person in lines about work.
PERSON = (
    "The person's pseudonym, as in reports: the same as `worker`, but another where people of two kinds of "
    "panels have the same id."
)


class PersonPseudonyms(dict[int, str]):
    """Pseudonyms of a project's people by the key of a worker, those of many rows read at once."""

    def __init__(self, project: Project) -> None:
        super().__init__()
        self._project = project

    def load(self, workers: Iterable[int]) -> None:
        """Read the names of those that are not known yet."""
        if lacking := set(workers) - self.keys():
            self.update(worker_pseudonyms(self._project, lacking))
