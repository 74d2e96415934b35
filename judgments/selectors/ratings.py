"""Judgments of a stage: as columns, read in chunks and never a model instance per row, and as a stamp."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, overload

from django.db.models import Count, IntegerField, Max, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from annotation.models import Query
from core.bulk_rows import integer_columns
from crowd.counted_work import HELD, WAITS, not_counting, reason_of
from crowd.models import Assignment, Stage
from judgments.judging_config import JudgingConfig, scale_of_options
from judgments.models import Candidate, CheckAnswer, FilterRun, Judgment, System, UnitResponse
from judgments.questionnaire.ratings import (
    checks_of_questionnaire,
    good_responses,
    ratings_of_questionnaire,
    scale_of_questionnaire,
)
from judgments.selectors.rating_columns import StageRatings, chunks_of, names_of
from judgments.units import of_candidate
from metrics.agreement.scale import Scale

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Keys = npt.NDArray[np.integer]

_CHUNK = 10_000
#: The kind whose ratings are responses to a field.
QUESTIONNAIRE = "questionnaire"
#: Keys that are looked up together.
_AT_ONCE = 1 << 17
#: Keys between the lowest and the highest that a table may have however few keys there are.
_SPAN = 1_000_000


def good(rows: QuerySet[Judgment], stage: Stage) -> QuerySet[Judgment]:
    """Judgments whose work counts: neither rejected nor in quarantine, and no person has to decide about it.

    Few assignments do not count, so the database looks them up once instead of joining every row.
    """
    return rows.exclude(assignment__in=Assignment.objects.filter(not_counting(), stage=stage).values("pk"))


#: What is said of judgments of work that a person has to decide about; of other work its state is said.
LEFT_OUT = {HELD: "of_work_on_hold", WAITS: "waits_for_approval"}


def not_good(rows: QuerySet[Judgment], stage: Stage) -> dict[str, int]:
    """How many judgments `good` leaves out, by the reason: with it they are all there are."""
    aside = Assignment.objects.using(rows.db).filter(not_counting(), stage=stage)
    if not aside.exists():
        return {}
    reasons = rows.filter(assignment__in=aside.values("pk")).order_by().annotate(why=reason_of("assignment"))
    counts: dict[str, int] = dict(reasons.values_list("why").annotate(n=Count("pk")))
    return {LEFT_OUT.get(why, why): counts[why] for why in sorted(counts)}


def scale_of(stage: Stage) -> Scale:
    """The scale of the stage's options; 1 to 5 where they name none. Judgments are stored in its units."""
    if stage.kind == QUESTIONNAIRE:
        return scale_of_questionnaire(stage)
    return scale_of_options(stage.config if isinstance(stage.config, dict) else {})


def ratings_of_stage(
    stage: Stage, last: int | None = None, *, with_assignments: bool = False
) -> StageRatings:
    """All good judgments of a stage as columns, in two questions to the database; up to the key `last`."""
    if stage.kind == QUESTIONNAIRE:
        return ratings_of_questionnaire(stage, last, with_assignments=with_assignments)
    import numpy as np  # start-up does without numpy

    from metrics.agreement.data import Ratings

    stage_judgments = Judgment.objects.filter(stage=stage)
    names = ["pk", "candidate_id", "worker_id", "score", *(["assignment_id"] if with_assignments else [])]
    rows = (
        good(stage_judgments if last is None else stage_judgments.filter(pk__lte=last), stage)
        .order_by()
        .values_list(*names)
    )
    types = ["i2" if name == "score" else "i8" for name in names]
    columns = _in_order(integer_columns(rows, *types, narrow=True))
    judgments = columns.pop(0)
    # Each column of keys goes before the next is looked at: there may be millions.
    candidates, items = _codes_of(columns.pop(0))
    workers, who = _codes_of(columns.pop(0))
    scores = columns.pop(0).astype(np.int16, copy=False)
    assignments, of_assignment = _codes_of(columns.pop(0)) if with_assignments else (None, None)
    return StageRatings(
        Ratings(
            items,
            who,
            scores,
            _Units(candidates),
            names_of(workers.tolist()),
            scale_of(stage),
        ),
        judgments,
        candidates,
        workers,
        assignments,
        of_assignment,
    )


def _in_order(columns: "list[npt.NDArray[np.integer]]") -> "list[npt.NDArray[np.integer]]":
    """Columns in the order of the first, which has different numbers.

    The database reads a table as it lies a third faster than by an index, and judgments mostly lie in their
    order.
    """
    import numpy as np

    keys = columns[0]
    if not (keys[1:] < keys[:-1]).any():
        return columns
    order = np.argsort(keys)
    for place, column in enumerate(columns):
        columns[place] = column[order]
    return columns


def aspects_of_ratings(
    stage: Stage, judgments: "Keys", names: Sequence[str]
) -> "dict[str, npt.NDArray[np.float64]]":
    """What each of these judgments says of the aspects, in the order of `judgments`; nan where nothing.

    `judgments` are keys in their order. An aspect that no judgment speaks of is left out.
    """
    import numpy as np

    by_name = {name: np.full(len(judgments), np.nan) for name in names}
    if not by_name or not len(judgments):
        return {}
    rows = Judgment.objects.filter(stage=stage).exclude(aspects={}).order_by("pk")
    place_of = {key: place for place, key in enumerate(judgments.tolist())}
    for key, aspects in rows.values_list("pk", "aspects").iterator(chunk_size=_CHUNK):
        if (place := place_of.get(key)) is None or not isinstance(aspects, dict):
            continue
        for name, values in by_name.items():
            if isinstance(score := aspects.get(name), int):
                values[place] = score
    return {name: values for name, values in by_name.items() if not np.isnan(values).all()}


class _Units(Sequence[str]):
    """The units of candidates, made when they are asked for."""

    def __init__(self, candidates: "Keys") -> None:
        self._candidates = candidates

    def __len__(self) -> int:
        return len(self._candidates)

    @overload
    def __getitem__(self, code: int) -> str: ...
    @overload
    def __getitem__(self, code: slice) -> list[str]: ...
    def __getitem__(self, code: int | slice) -> str | list[str]:
        if isinstance(code, slice):
            return [of_candidate(key) for key in self._candidates[code].tolist()]
        return of_candidate(int(self._candidates[code]))


def _codes_of(keys: "npt.NDArray[np.integer]") -> "tuple[Keys, npt.NDArray[np.int32]]":
    """The different keys in their order, and for each key its place among them.

    Keys of one project lie close together, so that a table of all between them is mostly smaller than what
    sorting them takes.
    """
    import numpy as np

    low = int(keys.min()) if len(keys) else 0
    span = int(keys.max()) - low + 1 if len(keys) else 0
    if span > 2 * len(keys) + _SPAN:
        distinct, codes = np.unique(keys, return_inverse=True)
        return distinct, codes.astype(np.int32)
    occurs = np.zeros(span, dtype=np.bool_)
    for portion in _portions(keys):
        occurs[portion - low] = True
    places = np.cumsum(occurs, dtype=np.int32)
    places -= 1
    codes = np.empty(len(keys), dtype=np.int32)
    for portion, code in zip(_portions(keys), _portions(codes), strict=True):
        np.take(places, portion - low, out=code, mode="clip")
    return np.flatnonzero(occurs) + low, codes


def _portions(column: "npt.NDArray[np.integer]") -> "Iterator[npt.NDArray[np.integer]]":
    """Views of a column, so short that what is made of one is small."""
    return (column[start : start + _AT_ONCE] for start in range(0, len(column), _AT_ONCE))


def seconds_of_assignments(stage: Stage, assignments: "Keys") -> "npt.NDArray[np.float64]":
    """Active seconds of good assignments as the task page measured them, else from opening to sending.

    `assignments` are keys in their order; nan where nothing is known of one.
    """
    import numpy as np

    seconds = np.full(len(assignments), np.nan)
    measured = np.fromiter(((key, took) for key, _, took in _times(stage)), dtype="i8,f8")
    matching = measured[np.isin(measured["f0"], assignments)]
    seconds[np.searchsorted(assignments, matching["f0"])] = matching["f1"]
    return seconds


def times_of(stage: Stage) -> dict[int, list[float]]:
    """Seconds of each worker's good assignments."""
    times: dict[int, list[float]] = defaultdict(list)
    for _, worker, seconds in _times(stage):
        times[worker].append(seconds)
    return times


def _times(stage: Stage) -> Iterator[tuple[int, int, float]]:
    """(assignment, worker, seconds) of good work; moments are read only where nothing was measured."""
    rows = Assignment.objects.filter(stage=stage, state__in=Assignment.GOOD).annotate(
        active=Cast(KeyTextTransform("active_ms", "telemetry"), IntegerField())
    )
    unmeasured = []
    for pk, worker, ms in rows.values_list("pk", "worker_id", "active").iterator(chunk_size=_CHUNK):
        if ms and ms > 0:
            yield pk, worker, ms / 1000
        else:
            unmeasured.append(pk)
    for chunk in chunks_of(unmeasured):
        moments = rows.filter(pk__in=chunk).exclude(stored_at=None)
        for pk, worker, arrived, stored in moments.values_list("pk", "worker_id", "arrived_at", "stored_at"):
            assert stored is not None
            yield pk, worker, (stored - arrived).total_seconds()


@dataclass(frozen=True, slots=True)
class CandidateLabels:
    """What candidates are, one by one: their systems' names, their queries' keys and types ("" for none)."""

    systems: list[str]
    queries: list[str]
    types: list[str]


def about(stage: Stage, candidates: "Keys") -> CandidateLabels:
    """What these candidates of the stage's project are, in their order; shared words are kept once."""
    import numpy as np

    if not len(candidates):
        return CandidateLabels([], [], [])
    rows = Candidate.objects.filter(
        query__project=stage.project_id, pk__gte=int(candidates.min()), pk__lte=int(candidates.max())
    )
    keys, systems, queries = integer_columns(
        rows.order_by("pk").values_list("pk", "system_id", "query_id"), "i8", "i8", "i8", narrow=True
    )
    places = np.searchsorted(keys, candidates)
    names = dict(System.objects.filter(project=stage.project_id).values_list("pk", "name"))
    about_query: dict[int, tuple[str, str]] = {}
    types: dict[str, str] = {}
    columns = Query.objects.filter(project=stage.project_id).values_list("pk", "key", "type")
    for pk, key, kind in columns.iterator(chunk_size=_CHUNK):
        about_query[pk] = key, types.setdefault(kind, kind)
    labels = CandidateLabels([], [], [])
    for system, query in zip(systems[places].tolist(), queries[places].tolist(), strict=True):
        key, kind = about_query[query]
        labels.systems.append(names[system])
        labels.queries.append(key)
        labels.types.append(kind)
    return labels


def checks_of(stage: Stage, until: datetime | None = None) -> dict[int, tuple[int, int]]:
    """How many attention checks each worker answered and how many of them they failed; of work that counts.

    Added up by the database, which looks up the few assignments that do not count, as in `good`.
    """
    if stage.kind == QUESTIONNAIRE:
        return checks_of_questionnaire(stage, until)
    aside = Assignment.objects.filter(not_counting(), stage=stage).values("pk")
    rows = CheckAnswer.objects.filter(check_item__stage=stage).exclude(assignment__in=aside)
    if until is not None:
        rows = rows.filter(at__lte=until)
    rows_by_worker = rows.order_by().values_list("worker_id")
    counted = rows_by_worker.annotate(answered=Count("pk"), failed=Count("pk", filter=Q(passed=False)))
    return {worker: (answered, failed) for worker, answered, failed in counted}


def newer_than(stage: Stage, judgment: int) -> int:
    """How many good judgments came after this one."""
    if stage.kind == QUESTIONNAIRE:
        return good_responses(stage).filter(pk__gt=judgment).count()
    return good(Judgment.objects.filter(stage=stage, pk__gt=judgment), stage).count()


# Whether those who may judge were trained on the scale that they judge on.

_TRAINING = "judge-training"


def other_scale_in_training(stage: Stage, config: JudgingConfig) -> list[str]:
    """A sentence for each training that lets people into this stage and has another scale."""
    slugs = [
        str(rule["values"][0])
        for rule in stage.eligibility
        if rule.get("kind") == "passed" and rule.get("values")
    ]
    rows = Stage.objects.filter(project=stage.project_id, kind=_TRAINING, slug__in=slugs) if slugs else ()
    mine = config.rating_scale
    return [
        f"Judges learn a scale {theirs.description} in {training.title}, and judge on one {mine.description}."
        " Give both stages the same scale, and the training examples for it."
        for training in rows
        if (theirs := scale_of(training)) != mine
    ]


# What a stage's judgments are at a moment, in a few numbers under which derived figures are cached.


@dataclass(frozen=True, slots=True)
class Stamp:
    """Two equal stamps mean the same judgments that count and the same filters.

    `last` is the key of the newest judgment, `count` how many there are, whether they count or not; `spoilt`
    and `spoilt_sum` tell which assignments do not count; `run` is the filter run in force, 0 for none, and
    `remade` how often it was made again.
    """

    last: int
    count: int
    spoilt: int
    spoilt_sum: int
    run: int
    remade: int = 0

    def __str__(self) -> str:
        return f"{self.last}-{self.count}-{self.spoilt}-{self.spoilt_sum}-{self.run}{self.again}"

    @property
    def again(self) -> str:
        """Words that tell a run that was made again from what it was before."""
        return f" again {self.remade}" if self.remade else ""


def stamp_of(stage: Stage) -> Stamp:
    """The stamp of a stage's judgments now, in three questions that indexes answer."""
    rows: QuerySet[Judgment] | QuerySet[UnitResponse] = (
        UnitResponse.objects.filter(stage=stage)
        if stage.kind == QUESTIONNAIRE
        else Judgment.objects.filter(stage=stage)
    )
    figures = rows.aggregate(last=Max("pk"), count=Count("pk"))
    spoilt = Assignment.objects.filter(not_counting(), stage=stage).aggregate(
        count=Count("pk"), sum=Sum("pk")
    )
    runs = FilterRun.objects.in_force().filter(stage=stage)
    run, remade = runs.values_list("pk", "summary__remade").first() or (0, 0)
    return Stamp(
        last=figures["last"] or 0,
        count=figures["count"],
        spoilt=spoilt["count"],
        spoilt_sum=spoilt["sum"] or 0,
        run=run,
        remade=remade or 0,
    )
