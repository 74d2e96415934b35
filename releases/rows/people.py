"""Workers under their pseudonyms."""

from collections.abc import Iterable

from core.projects.models import Project
from crowd.models import Worker
from judgments.selectors.ratings import pseudonym


class People:
    """Pseudonyms by worker; each is worked out once. `simulated` grows with those who are."""

    def __init__(self, project: Project, using: str) -> None:
        self._project, self._using = project, using
        self._names: dict[int, str] = {}
        self.simulated: set[int] = set()

    def __len__(self) -> int:
        return len(self._names)

    def names(self, workers: Iterable[int]) -> dict[int, str]:
        """Pseudonyms of these at least, by key; one statement where somebody is new."""
        new = set(workers).difference(self._names)
        if new:
            rows = Worker.objects.using(self._using).filter(pk__in=new)
            for pk, external_id, simulated in rows.values_list("pk", "external_id", "simulated"):
                self._names[pk] = pseudonym(self._project, external_id)
                if simulated:
                    self.simulated.add(pk)
        return self._names
