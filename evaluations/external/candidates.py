"""The candidates of a release by what a file may call them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluations.errors import EvaluationError
from releases.models import Release
from releases.reader import files_of, formats_of, records
from releases.stored_files import fetched
from releases.tables import CANDIDATES

#: A query and a system that more than one candidate belongs to.
SEVERAL = ""


@dataclass(slots=True)
class Candidates:
    """Ids of candidates, and the candidate of a query and a system; `SEVERAL` where there are several."""

    ids: set[str] = field(default_factory=set)
    by_system: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, record: Mapping[str, Any]) -> None:
        """One row of the table of candidates."""
        candidate = str(record["candidate_id"])
        key = (str(record["query_id"]), str(record["system"]))
        self.ids.add(candidate)
        self.by_system[key] = SEVERAL if key in self.by_system else candidate


def candidates_of(release: Release) -> Candidates:
    """All candidates of a release; EvaluationError where it has none or cannot be read."""
    formats = formats_of(release.manifest)
    files = files_of(release.manifest, formats[0], CANDIDATES.name) if formats else []
    if not files:
        raise EvaluationError(f"Release {release.version} has no candidates that can be read.")
    found = Candidates()
    with fetched(release) as folder:
        _fill(found, records(folder, formats[0], files))
    return found


def _fill(found: Candidates, rows: Iterable[Mapping[str, Any]]) -> None:
    for record in rows:
        found.add(record)
