"""Judgments of a stage as columns: read in chunks, never a model instance per row."""

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import F, IntegerField, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from crowd.models import Assignment, Stage, Worker
from judgments.models import Candidate, CheckAnswer, FilterRun, Judgment, Verdict
from judgments.selectors.stamps import NOT_GOOD
from judgments.units import of_candidate
from projects.models import Project

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from quality.ratings import Mask, Ratings, Scale

    Keys = npt.NDArray[np.int64]

_CHUNK = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class StageRatings:
    """A stage's good judgments in the order of submission, and what belongs to their rows and codes.

    `judgments` and `assignments` are keys, one per row of `ratings`; `candidates` and `workers` are the keys
    behind the codes of items and workers. `item_names` of `ratings` are units, `worker_names` pseudonyms.
    """

    ratings: "Ratings"
    judgments: "Keys"
    assignments: "Keys"
    candidates: "Keys"
    workers: "Keys"

    @property
    def last(self) -> int:
        """Key of the newest judgment, 0 for none."""
        return int(self.judgments.max()) if len(self.judgments) else 0


def good(rows: QuerySet[Judgment], stage: Stage) -> QuerySet[Judgment]:
    """Judgments whose assignment counts: neither rejected, nor given back, nor in quarantine.

    Few assignments do not count, so the database looks them up once instead of joining every row.
    """
    return rows.exclude(assignment__in=Assignment.objects.filter(stage=stage, state__in=NOT_GOOD).values("pk"))


def scale_of(stage: Stage) -> "Scale":
    """The scale of the stage's options; 1 to 5 where they name none."""
    from quality.ratings import Scale  # noqa: PLC0415 - numpy

    scale = stage.config.get("scale") if isinstance(stage.config, dict) else None
    if isinstance(scale, dict):
        return Scale(int(scale.get("low", 1)), int(scale.get("high", 5)))
    return Scale()


def ratings_of_stage(stage: Stage) -> StageRatings:
    """All good judgments of a stage as columns, in two questions to the database."""
    import numpy as np  # noqa: PLC0415

    from quality.ratings import Ratings  # noqa: PLC0415 - numpy

    rows = (
        good(Judgment.objects.filter(stage=stage), stage)
        .order_by("pk")
        .values_list("pk", "candidate_id", "worker_id", "assignment_id", "score")
    )
    names = ("judgment", "candidate", "worker", "assignment", "score")
    table = np.fromiter(rows.iterator(chunk_size=_CHUNK), dtype=[(name, np.int64) for name in names])
    candidates, items = np.unique(table["candidate"], return_inverse=True)
    workers, who = np.unique(table["worker"], return_inverse=True)
    return StageRatings(
        Ratings(
            items.astype(np.int32),
            who.astype(np.int32),
            table["score"].astype(np.int16),
            [of_candidate(key) for key in candidates.tolist()],
            pseudonyms(stage.project, workers.tolist()),
            scale_of(stage),
        ),
        table["judgment"].copy(),
        table["assignment"].copy(),
        candidates,
        workers,
    )


def pseudonyms(project: Project, workers: Sequence[int]) -> list[str]:
    """Names of workers that differ from project to project and lead nobody back, for files that leave."""
    known: dict[int, str] = {}
    for some in _chunks(workers):
        known.update(Worker.objects.filter(pk__in=some).values_list("pk", "external_id"))
    return [pseudonym(project, known[worker]) for worker in workers]


def pseudonym(project: Project, external_id: str) -> str:
    """A worker's name in files of this project."""
    digest = hmac.new(bytes.fromhex(project.pseudonym_key), external_id.encode(), hashlib.sha256)
    return f"w{digest.hexdigest()[:12]}"


def kept_by(run: FilterRun | None, judgments: "Keys") -> "Mask":
    """Which of these judgments a run leaves in; all of them without one."""
    import numpy as np  # noqa: PLC0415

    if run is None:
        return np.ones(len(judgments), dtype=np.bool_)
    removed = Verdict.objects.filter(run=run, removes=True, judgment__isnull=False).order_by()
    keys = np.fromiter(
        removed.values_list("judgment_id", flat=True).iterator(chunk_size=_CHUNK), dtype=np.int64
    )
    return np.isin(judgments, keys, invert=True)


def seconds_per_assignment(stage: Stage, workers: Sequence[int] | None = None) -> dict[int, float]:
    """Active seconds of each good assignment, as the task page measured them (else from opening to sending)."""
    rows = Assignment.objects.filter(stage=stage, state__in=Assignment.GOOD)
    if workers is not None:
        rows = rows.filter(worker__in=workers)
    active = Cast(KeyTextTransform("active_ms", "telemetry"), IntegerField())
    measured = rows.annotate(active=active)
    found = {
        pk: ms / 1000
        for pk, ms in measured.filter(active__gt=0).values_list("pk", "active").iterator(chunk_size=_CHUNK)
    }
    others = measured.filter(Q(active=None) | Q(active__lte=0)).exclude(stored_at=None)
    for pk, arrived, stored in others.values_list("pk", "arrived_at", "stored_at").iterator(chunk_size=_CHUNK):
        found[pk] = (stored - arrived).total_seconds()
    return found


def groups_of(candidates: Sequence[int]) -> dict[int, tuple[str, str]]:
    """The system's name and the query's type of each candidate; a query without a type has ""."""
    found: dict[int, tuple[str, str]] = {}
    for some in _chunks(candidates):
        rows = Candidate.objects.filter(pk__in=some).values_list("pk", "system__name", "query__type")
        found.update((pk, (system, kind)) for pk, system, kind in rows)
    return found


def checks_of(stage: Stage) -> list[tuple[int, int, bool]]:
    """Answers to attention checks by (worker, check, passed), oldest first; only of good assignments."""
    rows = CheckAnswer.objects.filter(check_item__stage=stage, assignment__state__in=Assignment.GOOD)
    return list(rows.order_by("pk").values_list("worker_id", "check_item_id", "passed"))


def newer_than(stage: Stage, judgment: int) -> int:
    """How many good judgments came after this one."""
    return good(Judgment.objects.filter(stage=stage, pk__gt=judgment), stage).count()


def _chunks(keys: Iterable[int]) -> Iterator[list[int]]:
    """Keys, few enough at a time for one statement."""
    listed = list(keys)
    for start in range(0, len(listed), _CHUNK):
        yield listed[start : start + _CHUNK]


def related(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Judgments with system and query, for tables."""
    return rows.annotate(system=F("candidate__system__name"), query=F("candidate__query_id"))
