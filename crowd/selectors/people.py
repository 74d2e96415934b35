"""The people who work on a project: how much, how fast, at what pay, how well, and what they agreed to."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from statistics import median, quantiles
from typing import Any

from django.db.models import Count, IntegerField, Max, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from core.extensions import parts_of
from core.projects.models import Project
from crowd.models import Assignment, Exclusion, HitUnit, PanelSubmission, Stage, Worker
from metrics.agreement.quotes import wilson
from people.models import ConsentText, Visit
from web.cache import cached

State = Assignment.State
#: Below so many units done nobody's figures are compared with others'.
ENOUGH = 20
_CHUNK = 5_000
_FAST = 1 / 3
_LEAST_CHECKS = 2


@dataclass(frozen=True, slots=True)
class WorkerFigures:
    """What an app above knows of a worker in a stage; shares 0 to 1.

    `presented` and `failed` are attention checks and take the place of what `crowd` counts for stages of its
    kind. `kappa` rests on `kappa_n` items. `removed` of `ratings` were removed by filters.
    """

    ratings: int = 0
    kappa: float | None = None
    kappa_n: int = 0
    presented: int = 0
    failed: int = 0
    removed: int = 0
    flags: tuple[str, ...] = ()


Judge = Callable[[Stage], Mapping[int, WorkerFigures]]
Stamp = Callable[[Sequence[Stage]], object]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Stages of a kind about whose people an app knows more: `figures_of` by worker, under the stamp `stamp`.

    The stamp has to change when filters do; that work changed is seen without it.
    """

    kind: str
    figures_of: Judge
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Pace:
    """Median and quarters of seconds of one HIT, and the median of what an hour pays, in cents."""

    seconds: float | None = None
    quarter: float | None = None
    three_quarters: float | None = None
    per_hour: int | None = None

    @classmethod
    def of(cls, seconds: Sequence[float], per_hour: Sequence[float]) -> "Pace":
        """From every HIT's seconds and pay."""
        if not seconds:
            return cls()
        quarters = quantiles(seconds, n=4) if len(seconds) > 1 else [None, None, None]
        return cls(median(seconds), quarters[0], quarters[2], int(median(per_hour)))


@dataclass(frozen=True, slots=True)
class InStage:
    """Somebody's work in one stage."""

    stage: int
    done: int
    units: int
    rejected: int
    held: int
    last: datetime | None
    pace: Pace
    presented: int
    failed: int
    figures: WorkerFigures | None
    flags: tuple[str, ...]

    @property
    def passed(self) -> int:
        """Attention checks that they passed."""
        return self.presented - self.failed


@dataclass(slots=True)
class Person:
    """Somebody's work in a project. Undefined figures are None.

    `units` are what their HITs that count asked about, by the stages' units per HIT. `kappa` is the mean over
    stages, weighted by the items it rests on.
    """

    worker: int
    name: str
    simulated: bool
    stages: list[InStage]
    done: int
    units: int
    rejected: int
    held: int
    last: datetime | None
    pace: Pace
    kappa: float | None
    kappa_n: int
    presented: int
    failed: int
    ratings: int
    removed: int
    flags: tuple[str, ...] = ()
    excluded: int = 0

    @property
    def enough(self) -> bool:
        """Enough was done to stand in an order with others."""
        return self.units >= ENOUGH

    @property
    def passed_interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval of the share of attention checks that they passed."""
        return wilson(self.presented - self.failed, self.presented)

    @property
    def passed_share(self) -> float | None:
        """Share of attention checks that they passed."""
        return 1 - self.failed / self.presented if self.presented else None

    @property
    def removed_share(self) -> float | None:
        """Share of their ratings that filters removed; None where nobody filters what they do."""
        return self.removed / self.ratings if self.ratings else None


def workers_of(stage: Stage, *, most: int, among: Collection[int] | None = None) -> list[Worker]:
    """The first so many who took work of a stage, or those of them who are `among` these, by their keys.

    Read from the index of a stage's work by worker, which is left as soon as there are enough.
    """
    took = Assignment.objects.filter(stage=stage).order_by("worker")
    if among is not None:
        took = took.filter(worker__in=among)
    keys = list(took.values_list("worker", flat=True).distinct()[:most])
    return list(Worker.objects.filter(pk__in=keys).order_by("pk"))


def people(project: Project) -> list[Person]:
    """Everybody who took work of a project, by key; where counting takes long, of a while ago.

    Exclusions are always of now. `flags` ask for a look; they decide nothing.
    """
    stages = list(Stage.objects.filter(project=project).order_by("pk"))
    above = [
        (source, [stage for stage in stages if stage.kind == source.kind]) for source in parts_of(Knowledge)
    ]
    stamps = tuple(source.stamp(mine_stages) for source, mine_stages in above if mine_stages)
    persons = cached(("people", project.pk, stamps), partial(_count_people, stages))
    excluded = dict(
        Exclusion.objects.filter(scope__in=[f"stage:{stage.pk}" for stage in stages])
        .values_list("worker")
        .annotate(n=Count("pk"))
    )
    return [
        replace(person, excluded=excluded[person.worker]) if person.worker in excluded else person
        for person in persons
    ]


def _count_people(stages: Sequence[Stage]) -> list[Person]:
    """Everybody's figures, in four questions and those of the apps above."""
    times, presented = _times(stages), _presented(stages)
    usual = {stage.pk: _usual(stage, times) for stage in stages}
    figures_by_stage = {
        stage.pk: source.figures_of(stage)
        for stage in stages
        for source in parts_of(Knowledge)
        if source.kind == stage.kind
    }
    by_key = {stage.pk: stage for stage in stages}
    rows: dict[int, list[InStage]] = {}
    for at, worker, done, rejected, on_hold, failed, last in _counts(stages):
        stage = by_key[at]
        above = figures_by_stage[at].get(worker) if at in figures_by_stage else None
        seconds = times.get((at, worker), [])
        checks = (above.presented, above.failed) if above else (presented.get((at, worker), 0), failed or 0)
        row = InStage(
            stage=at,
            done=done,
            units=done * stage.units_per_hit,
            rejected=rejected,
            held=on_hold,
            last=last,
            pace=Pace.of(seconds, [_pay(stage, each) for each in seconds]),
            presented=checks[0],
            failed=checks[1],
            figures=above,
            flags=above.flags if above else tuple(_flags(seconds, usual[at], *checks)),
        )
        rows.setdefault(worker, []).append(row)
    names = _names(rows)
    return [
        _person(worker, names[worker], stage_rows, times, by_key)
        for worker, stage_rows in sorted(rows.items())
    ]


def _counts(stages: Sequence[Stage]) -> Iterable[tuple[Any, ...]]:
    """(stage, worker, done, rejected, held, failed checks, last arrival), by stage."""
    good = Q(state__in=Assignment.GOOD)
    return (
        Assignment.objects.filter(stage__in=stages)
        .order_by("stage", "worker")
        .values_list("stage", "worker")
        .annotate(
            done=Count("pk", filter=good),
            rejected=Count("pk", filter=Q(state=State.REJECTED)),
            held=Count("pk", filter=Q(held=True, state=State.SUBMITTED)),
            failed=Sum("failed_checks", filter=good),
            last=Max("arrived_at"),
        )
    )


def _presented(stages: Sequence[Stage]) -> dict[tuple[int, int], int]:
    """How many attention checks everybody answered, where no app above counts them."""
    above = {source.kind for source in parts_of(Knowledge)}
    mine = [stage for stage in stages if stage.checks_per_hit and stage.kind not in above]
    rows = HitUnit.objects.filter(
        hit__stage__in=mine, role=HitUnit.Role.CHECK, hit__assignments__state__in=Assignment.GOOD
    )
    counts = rows.order_by().values_list("hit__stage", "hit__assignments__worker").annotate(n=Count("pk"))
    return {(stage, worker): n for stage, worker, n in counts}


def _times(stages: Sequence[Stage]) -> dict[tuple[int, int], list[float]]:
    """Seconds of good work: active time as the task page measured it, else from opening to sending."""
    rows = (
        Assignment.objects.filter(stage__in=stages, state__in=Assignment.GOOD)
        .exclude(stored_at=None)
        .order_by()
        .annotate(active=Cast(KeyTextTransform("active_ms", "telemetry"), IntegerField()))
        .values_list("stage_id", "worker_id", "active", "arrived_at", "stored_at")
    )
    times: dict[tuple[int, int], list[float]] = defaultdict(list)
    for stage, worker, ms, arrived, stored in rows.iterator(chunk_size=_CHUNK):
        assert stored is not None
        seconds = ms / 1000 if ms and ms > 0 else (stored - arrived).total_seconds()
        times[stage, worker].append(seconds)
    return times


def _usual(stage: Stage, times: Mapping[tuple[int, int], list[float]]) -> float | None:
    stage_seconds = [second for (at, _), seconds in times.items() if at == stage.pk for second in seconds]
    return median(stage_seconds) if stage_seconds else None


def _pay(stage: Stage, seconds: float) -> float:
    return stage.reward_cents * 3600 / max(1.0, seconds)


def _names(workers: Iterable[int]) -> dict[int, tuple[str, bool]]:
    worker_ids = list(workers)
    names: dict[int, tuple[str, bool]] = {}
    for start in range(0, len(worker_ids), _CHUNK):
        rows = Worker.objects.filter(pk__in=worker_ids[start : start + _CHUNK])
        columns = rows.values_list("pk", "external_id", "simulated")
        names |= {pk: (name, made_up) for pk, name, made_up in columns}
    return names


def _person(
    worker: int,
    name_and_origin: tuple[str, bool],
    rows: list[InStage],
    times: Mapping[tuple[int, int], list[float]],
    stages: Mapping[int, Stage],
) -> Person:
    every = [(row.stage, second) for row in rows for second in times.get((row.stage, worker), [])]
    figures = [row.figures for row in rows if row.figures]
    kappas = [(each.kappa, each.kappa_n) for each in figures if each.kappa is not None and each.kappa_n]
    kappa_n = sum(n for _, n in kappas)
    return Person(
        worker=worker,
        name=name_and_origin[0],
        simulated=name_and_origin[1],
        stages=rows,
        done=sum(row.done for row in rows),
        units=sum(row.units for row in rows),
        rejected=sum(row.rejected for row in rows),
        held=sum(row.held for row in rows),
        last=max((row.last for row in rows if row.last), default=None),
        pace=Pace.of([second for _, second in every], [_pay(stages[at], second) for at, second in every]),
        kappa=sum(kappa * n for kappa, n in kappas) / kappa_n if kappa_n else None,
        kappa_n=kappa_n,
        presented=sum(row.presented for row in rows),
        failed=sum(row.failed for row in rows),
        ratings=sum(each.ratings for each in figures),
        removed=sum(each.removed for each in figures),
        flags=tuple(dict.fromkeys(flag for row in rows for flag in row.flags)),
    )


def _flags(seconds: Sequence[float], usual: float | None, presented: int, failed: int) -> Iterable[str]:
    """What somebody should look at: a third of the usual time, or failed checks."""
    if usual and len(seconds) > 1 and median(seconds) < usual * _FAST:
        yield "very fast"
    if presented and failed >= _LEAST_CHECKS:
        yield "failed checks"


@dataclass(frozen=True, slots=True)
class Consent:
    """The text that a person agreed to before a piece of work, and when."""

    language: str
    version: int
    protocol_number: str
    at: datetime

    @property
    def label(self) -> str:
        """Language and version, such as `en 2`."""
        return f"{self.language} {self.version}"


def say_consents(rows: Iterable[Assignment]) -> None:
    """Give each row, read with its worker, `consent`: a `Consent` or None. Two questions for all rows."""
    assignments = list(rows)
    by_submission = {
        (submission.study.stage_id, submission.external_id): _consent(submission)
        for submission in PanelSubmission.objects.filter(
            study__stage__in={row.stage_id for row in assignments},
            external_id__in=[row.external_id for row in assignments],
            consented_at__isnull=False,
        ).select_related("study", "consent_text")
    }
    by_guest: dict[tuple[int, str], list[Consent]] = {}
    visits = Visit.objects.filter(
        guest__worker_id__in={row.worker.external_id for row in assignments},
        consented_at__isnull=False,
        consent_text__isnull=False,
    )
    for visit in visits.select_related("guest", "consent_text").order_by("consented_at"):
        assert visit.guest is not None
        key = (visit.guest.project_id or 0, visit.guest.worker_id)
        by_guest.setdefault(key, []).append(_consent(visit))
    projects = dict(
        Assignment.objects.filter(pk__in=[row.pk for row in assignments]).values_list("pk", "stage__project")
    )
    for row in assignments:
        mine = by_guest.get((projects.get(row.pk, 0), row.worker.external_id), [])
        before = [each for each in mine if each.at <= row.arrived_at]
        row.consent = (  # type: ignore[attr-defined]
            by_submission.get((row.stage_id, row.external_id))
            or (before[-1] if before else mine[0] if mine else None)
        )


def _consent(row: Visit | PanelSubmission) -> Consent:
    text = row.consent_text
    assert text is not None and row.consented_at is not None
    return Consent(text.language, text.version, text.protocol_number, row.consented_at)


def has_consents(project: Project, using: str) -> bool:
    """Whether anybody in the project agreed to a text, by a study link or at a panel."""
    visits = _visits(project, using)
    return visits.exists() or _submissions(project, using).exists()


def _visits(project: Project, using: str) -> "QuerySet[Visit]":
    return Visit.objects.using(using).filter(
        guest__project=project, consented_at__isnull=False, consent_text__isnull=False
    )


def _submissions(project: Project, using: str) -> "QuerySet[PanelSubmission]":
    return PanelSubmission.objects.using(using).filter(
        study__stage__project=project, consented_at__isnull=False, consent_text__isnull=False
    )


class AgreedTexts:
    """Everything that people of a project agreed to, read with two questions."""

    def __init__(self, project: Project, using: str) -> None:
        text = ("consent_text__language", "consent_text__version")
        submissions = _submissions(project, using).values_list("study__stage", "external_id", *text)
        self._by_submission = {
            (stage, name): f"{language}-{version}"
            for stage, name, language, version in submissions.iterator()
        }
        self._by_guest: dict[str, list[tuple[datetime, str]]] = {}
        visits = _visits(project, using).order_by("consented_at", "pk")
        for name, at, language, version in visits.values_list(
            "guest__worker_id", "consented_at", *text
        ).iterator():
            self._by_guest.setdefault(name, []).append((at, f"{language}-{version}"))

    def version(self, *, stage: int, submission: str, worker: str, at: datetime) -> str | None:
        """Language and version, such as `en-2`, agreed to when a piece of work began; None: no text was."""
        if stamped := self._by_submission.get((stage, submission)):
            return stamped
        mine = self._by_guest.get(worker, [])
        before = [version for agreed_at, version in mine if agreed_at <= at]
        return before[-1] if before else mine[0][1] if mine else None


@dataclass(frozen=True, slots=True)
class ConsentCount:
    """How many people who answered had agreed to a version of the text."""

    language: str
    version: int
    protocol_number: str
    people: int


def count_consents(project: Project) -> list[ConsentCount]:
    """People with answers in the project by the version that they agreed to last, and none of their names."""
    answered = Assignment.objects.filter(
        stage__project=project, stored_at__isnull=False, state__in=Assignment.GOOD
    )
    text_of: dict[tuple[str, str], int] = {}
    visits = Visit.objects.filter(
        guest__project=project,
        guest__worker_id__in=answered.values("worker__external_id"),
        consented_at__isnull=False,
        consent_text__isnull=False,
    )
    for name, text in visits.order_by("consented_at").values_list("guest__worker_id", "consent_text"):
        text_of["link", name] = text
    submissions = PanelSubmission.objects.filter(
        study__stage__project=project,
        external_id__in=answered.values("external_id"),
        consented_at__isnull=False,
        consent_text__isnull=False,
    )
    for name, text in submissions.order_by("consented_at").values_list("participant", "consent_text"):
        text_of["panel", name] = text
    counts = Counter(text_of.values())
    texts = ConsentText.objects.filter(pk__in=counts).order_by("language", "version")
    return [
        ConsentCount(text.language, text.version, text.protocol_number, counts[text.pk]) for text in texts
    ]
