"""What pages ask about evaluations."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from core.jobs.models import Job
from core.projects.models import Project
from crowd.models import Stage
from evaluations.models import Evaluation, ExternalScores
from evaluations.score_fields import can_score, questionnaires_of
from judgments.questionnaire.config import questionnaire_config
from releases.models import Release
from releases.tables import ELSEWHERE

State = Evaluation.State


def evaluations_of(project: Project) -> QuerySet[Evaluation]:
    """A project's evaluations without their reports."""
    return _order_newest(Evaluation.objects.filter(release__project=project))


def evaluations_in(projects: QuerySet[Project]) -> QuerySet[Evaluation]:
    """The evaluations of several projects, without their reports."""
    return _order_newest(Evaluation.objects.filter(release__project__in=projects))


def _order_newest(rows: QuerySet[Evaluation]) -> QuerySet[Evaluation]:
    return (
        rows.select_related("release__project", "created_by")
        .defer("report", "files", "release__manifest", "release__options")
        .order_by("-pk")
    )


def releases_to_evaluate(project: Project) -> QuerySet[Release]:
    """Ready releases, newest first."""
    return Release.objects.filter(project=project, state=Release.State.READY).order_by("-pk")


def stages_of(release: Release) -> dict[str, str]:
    """Stages that judged the answers of a release, with their titles, as its manifest says.

    The newest one that has scores is first: it is what an evaluation takes where no stage is named.
    """
    stages = release.manifest.get("stages")
    titles = {
        str(each["stage"]): str(each.get("title") or each["stage"])
        for each in (stages if isinstance(stages, list) else ())
        if isinstance(each, Mapping) and each.get("stage")
    }
    empty = _stages_without_scores(release)
    newest_first = list(reversed(titles))
    by_slug = {slug: titles[slug] for slug in sorted(newest_first, key=empty.__contains__)}
    return {ELSEWHERE: "Imported scores"} if release.imported and not by_slug else by_slug


def score_fields_of(release: Release) -> dict[tuple[str, str], str]:
    """Fields of questionnaires in a release that can be human scores, by stage and name, in words."""
    slugs = questionnaires_of(release.manifest)
    stages = Stage.objects.filter(project=release.project_id, slug__in=slugs).order_by("-pk") if slugs else []
    return {
        (stage.slug, each.name): f"{stage.title}: {each.label}"
        for stage in stages
        for each in questionnaire_config(stage).fields
        if can_score(each)
    }


def _stages_without_scores(release: Release) -> set[str]:
    """Stages of which the filters kept no judgment of an answer that is in the release."""
    steps = release.manifest.get("steps")
    return {
        str(each["what"]).removeprefix("judgments of ")
        for each in (steps if isinstance(steps, list) else ())
        if isinstance(each, Mapping) and each.get("step") == "kept" and not each.get("after")
    }


def rows_of(release: Release, table: str) -> int:
    """How many rows a table of a release has."""
    tables = release.manifest.get("tables")
    for each in tables if isinstance(tables, list) else ():
        if isinstance(each, Mapping) and each.get("name") == table:
            counts: Any = each.get("rows")
            return sum(counts.values()) if isinstance(counts, Mapping) else 0
    return 0


def job_of(evaluation: Evaluation) -> Job | None:
    """The job that computes it."""
    return Job.objects.filter(pk=evaluation.job).first() if evaluation.job is not None else None


def external_of(release: Release) -> QuerySet[ExternalScores]:
    """Columns of scores from elsewhere that were kept, without their values."""
    return (
        ExternalScores.objects.filter(release=release, kept=True)
        .select_related("created_by")
        .defer("body")
        .order_by("name")
    )


_STATES = {
    Evaluation.State.PLANNED: "Waiting",
    Evaluation.State.RUNNING: "Running",
    Evaluation.State.READY: "Ready",
    Evaluation.State.FAILED: "Failed",
    Evaluation.State.CANCELLED: "Cancelled",
}


def state_of(evaluation: Evaluation) -> str:
    """Its state in a word."""
    return _STATES[Evaluation.State(evaluation.state)]


def name_of(evaluation: Evaluation) -> str:
    """How it is called where there is no title."""
    return evaluation.title or f"Evaluation {evaluation.number} of release {evaluation.release.version}"
