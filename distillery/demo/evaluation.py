"""The evaluation of the finished campaign's release: which metric agrees with its simulated judges."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.urls import reverse

from core.projects.models import Project
from evaluations.plans import EvaluationPlan
from evaluations.report.parts import read_report
from evaluations.services import evaluate_here, show
from releases.models import Release

TITLE = "A few metrics beside simulated judges"
PLAN = EvaluationPlan(metrics=("bleu-1", "rouge-l", "chrf", "meteor"), replicates=500, draws=1_999)


@dataclass(frozen=True)
class EvaluationSummary:
    """An evaluation: its metrics, the best one with its Pearson correlation, and its public leaderboard."""

    number: int
    metrics: list[str]
    answers: int
    best: str
    pearson: float | None
    url: str


def evaluate(project: Project, version: str, *, owner: User, site: str) -> EvaluationSummary:
    """Evaluate a few metrics and show the leaderboard to everybody."""
    release = Release.objects.select_related("project").get(project=project, version=version)
    done = evaluate_here(release=release, plan=PLAN, title=TITLE, actor=owner)
    show(evaluation=done, actor=owner)
    report = read_report(done.report)
    return EvaluationSummary(
        number=done.number,
        metrics=sorted(report.metrics),
        answers=report.n.scored,
        best=done.best,
        pearson=done.best_value,
        url=f"{site}{reverse('leaderboards:page', args=[project.slug, release.version])}",
    )
