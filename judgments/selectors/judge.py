"""One judge: what they said and how fast, their checks, their record over projects that one may see."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, IntegerField, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from core.projects.models import Project
from crowd.models import Assignment, Stage, Worker
from judgments.models import CheckAnswer, FilterRun, Judgment, Verdict
from judgments.rules.histograms import score_classes
from judgments.selectors.live import live
from judgments.selectors.ratings import good, scale_of

#: Upper ends of the classes of time, in seconds of one HIT.
_CLASSES = (5, 10, 20, 40, 60, 120, 300)
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class TimePlot:
    """Time across, scores down from the highest: how many judgments of every combination."""

    classes: list[str]
    rows: list[tuple[float | int | str, list[int]]]


@dataclass(frozen=True, slots=True)
class Share:
    """A score or class of scores: how often this judge gave it, and all together, in percent of their own."""

    score: float | int | str
    count: int
    mine: float
    crowd: float


@dataclass(frozen=True, slots=True)
class ProjectRecord:
    """What somebody did in one project."""

    project: Project
    judgments: int
    removed: int
    presented: int
    failed: int
    rejected: int


def time_plot(stage: Stage, worker: Worker) -> TimePlot | None:
    """Seconds of the HIT against the score; None where there are no judgments. Of the newest 20,000."""
    active = Cast(KeyTextTransform("active_ms", "assignment__telemetry"), IntegerField())
    rows = (
        good(Judgment.objects.filter(stage=stage, worker=worker), stage)
        .order_by("-pk")
        .annotate(active=active)
        .values_list("score", "active", "assignment__arrived_at", "assignment__stored_at")[:_MOST]
    )
    counts: Counter[tuple[int, int]] = Counter()
    for score, ms, arrived, stored in rows:
        seconds = ms / 1000 if ms else (stored - arrived).total_seconds() if stored else None
        if seconds is not None:
            counts[score, sum(seconds > high for high in _CLASSES)] += 1
    if not counts:
        return None
    names = [f"≤ {high} s" if high < 60 else f"≤ {high // 60} min" for high in _CLASSES]
    names.append(f"> {_CLASSES[-1] // 60} min")
    table: list[tuple[float | int | str, list[int]]] = [
        (each.name, [sum(counts[step, column] for step in each.steps) for column in range(len(names))])
        for each in reversed(score_classes(scale_of(stage)))
    ]
    return TimePlot(names, table)


def histogram(stage: Stage, worker: Worker) -> list[Share]:
    """This judge's scores beside everybody's; of a long scale in classes."""
    scale = scale_of(stage)
    given = good(Judgment.objects.filter(stage=stage, worker=worker), stage)
    mine = dict(given.order_by().values_list("score").annotate(n=Count("pk")))
    crowd = dict(zip(scale.scores, (count for _, count in live(stage).histogram), strict=True))
    my_total, total = sum(mine.values()) or 1, sum(crowd.values()) or 1
    found = []
    for each in score_classes(scale):
        own, all_of_it = (sum(counts.get(step, 0) for step in each.steps) for counts in (mine, crowd))
        found.append(Share(each.name, own, 100 * own / my_total, 100 * all_of_it / total))
    return found


def check_answers(stage: Stage, worker: Worker) -> Any:
    """Their answers to attention checks, newest first."""
    rows = CheckAnswer.objects.filter(check_item__stage=stage, worker=worker)
    return rows.select_related("check_item__query", "assignment").order_by("-pk")


def verdicts(stage: Stage, worker: Worker) -> list[Verdict]:
    """What the filters in force say about this judge as a whole."""
    runs = FilterRun.objects.in_force().filter(stage=stage)
    rows = Verdict.objects.filter(run__in=runs, worker=worker, judgment=None)
    return list(rows.order_by("pk"))


def judgments_of(stage: Stage, worker: Worker) -> Any:
    """What they judged, newest first, with the verdict of the run in force about each as `verdict`."""
    rows = good(Judgment.objects.filter(stage=stage, worker=worker), stage)
    return rows.select_related("candidate__query", "candidate__system").order_by("-pk")


def with_verdicts(stage: Stage, rows: Sequence[Judgment]) -> list[tuple[Judgment, Verdict | None]]:
    """Judgments with what the filters in force say of each."""
    found = Verdict.objects.filter(
        run__in=FilterRun.objects.in_force().filter(stage=stage),
        removes=True,
        judgment__in=[row.pk for row in rows],
    )
    by_judgment = {verdict.judgment_id: verdict for verdict in found}
    return [(row, by_judgment.get(row.pk)) for row in rows]


def record(worker: Worker, projects: Any) -> list[ProjectRecord]:
    """Their judging in these projects, in five questions however many there are."""
    keys = list(projects.values_list("pk", flat=True))
    judged = _by_project(
        Judgment.objects.filter(worker=worker, assignment__state__in=Assignment.GOOD), "stage"
    )
    removed = _by_project(
        Verdict.objects.filter(
            worker=worker, removes=True, judgment__isnull=False, run__in=FilterRun.objects.in_force()
        ),
        "run__stage",
    )
    answers = CheckAnswer.objects.filter(worker=worker, assignment__state__in=Assignment.GOOD)
    checks = {
        project: (presented, failed)
        for project, presented, failed in answers.order_by()
        .values_list("check_item__stage__project")
        .annotate(presented=Count("pk"), failed=Count("pk", filter=Q(passed=False)))
    }
    rejected = _by_project(
        Assignment.objects.filter(worker=worker, state=Assignment.State.REJECTED, stage__kind="judging"),
        "stage",
    )
    seen = [key for key in keys if key in judged or key in checks or key in rejected]
    known = Project.objects.in_bulk(seen)
    return [
        ProjectRecord(
            known[key],
            judged.get(key, 0),
            removed.get(key, 0),
            *checks.get(key, (0, 0)),
            rejected.get(key, 0),
        )
        for key in sorted(seen, key=lambda key: -judged.get(key, 0))
    ]


def _by_project(rows: Any, stage: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(f"{stage}__project").annotate(n=Count("pk")))
