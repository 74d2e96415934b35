"""What this app tells about a project: its first step, a step of the overview, judges, rows of agreement."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Max, QuerySet
from django.urls import reverse

from core.projects.models import Project
from crowd.desk.agreement import Row, SourceAgreement
from crowd.desk.overview import Count, FirstStep, OverviewPart, Step
from crowd.models import Stage, Worker
from crowd.selectors.people import WorkerFigures
from judgments.judging_config import judging_config
from judgments.models import AgreementReport, Candidate, FilterRun, System
from judgments.selectors.judges import histogram, judges, time_plot
from judgments.selectors.scores import count_judged_queries
from web.nav import MATCHES, Match

# What this app says on a project's overview: queries all of whose answers are judged.


def find_systems(projects: QuerySet[Project], text: str) -> Iterable[Match]:
    """Systems by their names, the newest first."""
    systems = System.objects.filter(name__icontains=text, project__in=projects).select_related("project")
    for system in systems.order_by("-pk")[: MATCHES + 1]:
        address = reverse("judgments:system", args=[system.project.slug, system.pk])
        yield Match(system.name, system.project.title, address)


def count_systems(project: Project) -> int:
    """Systems whose answers a project has, people's held-out answers too."""
    return System.objects.filter(project=project).count()


def say(project: Project, entered: int | None) -> OverviewPart:
    """The step "judged". Queries without an answer of a system wait for somebody to import one."""
    counts = count_judged_queries(project)
    if counts is None:
        return OverviewPart()
    systems = reverse("judgments:systems", args=[project.slug])
    came = max(entered or 0, counts.queries)
    step = Step(
        "Judged: all answers of systems scored",
        came,
        (
            Count("passed", "came through", counts.scored, systems),
            Count("waiting", "waiting", counts.queries - counts.scored, systems),
            Count("undecided", "without an answer of a system", came - counts.queries, systems),
        ),
    )
    return OverviewPart((step,))


# What this app knows of people for the project's table of workers, and its part of a worker's page.

KIND = "judging"
#: Kinds of stages that have judges.
KINDS_OF_JUDGES = (KIND, "questionnaire")


def judge_figures(stage: Stage) -> Mapping[int, WorkerFigures]:
    """Kappa, attention checks, what filters removed, and flags of everybody who judged in a stage."""
    return {
        row.worker: WorkerFigures(
            ratings=row.ratings,
            kappa=row.kappa,
            kappa_n=row.kappa_n,
            presented=row.presented,
            failed=row.failed,
            removed=row.removed,
            flags=row.flags,
        )
        for row in judges(stage)
    }


def stamp(stages: Sequence[Stage]) -> object:
    """The filter runs in force."""
    runs = FilterRun.objects.in_force().filter(stage__in=stages)
    return tuple(runs.order_by("pk").values_list("pk", flat=True))


def plots(project: Project, worker: Worker) -> Mapping[str, Any] | None:
    """Scores beside the crowd's and time against score, by judging stage; None where they judged nowhere."""
    stages = Stage.objects.filter(project=project, kind=KIND, assignments__worker=worker).distinct()
    stage_plots = [
        {"stage": stage, "plot": plot, "histogram": histogram(stage, worker)}
        for stage in stages.select_related("endpoint", "project").order_by("pk")
        if (plot := time_plot(stage, worker)) is not None
    ]
    return {"judged": stage_plots} if stage_plots else None


KINDS = ("judging",)
_NONE = "no report was made yet"


# Rows of judging stages for the project's page of agreement, from their stored reports.
#
# "After" is after removing workers. What removing single responses does to alpha is inflated by its own
# choice; the stage's report says by how much, and a row here does not repeat it.


def rows_of(stages: Sequence[Stage], _: bool) -> Mapping[int, Row]:
    """One row per stage in two questions; nothing is worked out here."""
    newest = (
        AgreementReport.objects.filter(stage__in=stages).order_by().values("stage").annotate(last=Max("pk"))
    )
    reports = dict(
        AgreementReport.objects.filter(pk__in=[row["last"] for row in newest]).values_list("stage", "report")
    )
    return {stage.pk: _row(stage, reports.get(stage.pk)) for stage in stages}


def _row(stage: Stage, report: Any) -> Row:
    address = reverse("judgments:agreement", args=[stage.project.slug, stage.slug])
    measure = "Scores: interval alpha"
    if not isinstance(report, dict) or not report.get("n_ratings"):
        return Row(measure, None, None, None, None, 0, "answers", address, _NONE)
    before, after = report["alpha"]["before"], report["alpha"].get("after_workers") or {}
    removed = bool(after.get("removes"))
    low, high = (after if removed else before).get("ci") or (None, None)
    signatures = report.get("signatures", {})
    return Row(
        measure,
        before.get("interval"),
        after.get("interval") if removed else None,
        low,
        high,
        report["n_items"],
        "answers",
        address,
        _note(before, after if removed else {}),
        " ".join(filter(None, (signatures.get("alpha"), signatures.get("ci"), signatures.get("filter")))),
        judging_config(stage).target_alpha,
        tuple(_source_agreement(row) for row in report.get("sources", ())),
    )


def _source_agreement(row: Mapping[str, Any]) -> SourceAgreement:
    low, high = row.get("ci") or (None, None)
    reason = str(row.get("reason", {}).get("alpha", ""))
    return SourceAgreement(row["source"], row["n_ratings"], row["n_workers"], row["alpha"], low, high, reason)


def _note(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Why there is no number, or what the filters' alpha is without what they learnt from the same data."""
    crossed = after.get("cross_fitted")
    if crossed is not None:
        return f"{crossed:.2f} cross-fitted"
    return str((before.get("reason") or {}).get("interval", ""))


# What a new project needs of this app.


def _judges_answers(_: Project, kinds: frozenset[str]) -> bool:
    return "judging" in kinds


def _done(project: Project) -> bool:
    return Candidate.objects.filter(system__project=project).exists()


STEPS = (
    FirstStep(
        "systems",
        "Import systems' answers",
        "A line per answer, with the query and the system that gave it.",
        "judgments:import_new",
        done=_done,
        applies=_judges_answers,
        position=30,
    ),
)
