"""The finished campaign's release, from privacy check to publication, and its evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.urls import reverse

from core.projects.models import Project
from evaluations.plans import EvaluationPlan
from evaluations.report.parts import read_report
from evaluations.services import evaluate_here, show_evaluation
from releases import storage
from releases.models import PrivacyFinding, Release
from releases.options import Options
from releases.privacy.check import HAS_TEXT, accept_findings, check_project, redact_findings
from releases.services.full_release import build_here
from releases.services.planning import plan_release, show_release

# The evaluation of the finished campaign's release: which metric agrees with its simulated judges.

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
    show_evaluation(evaluation=done, actor=owner)
    report = read_report(done.report)
    return EvaluationSummary(
        number=done.number,
        metrics=sorted(report.metrics),
        answers=report.n.scored,
        best=done.best,
        pearson=done.best_value,
        url=f"{site}{reverse('leaderboards:page', args=[project.slug, release.version])}",
    )


NOTES = "The first release: reference answers to queries of a small log, and human scores of two systems."
REDACTED = "A system made this up; it may still be somebody's."
ACCEPTED = "Texts of two open textbooks and of simulated people: nobody real can be told from them."


#: Answers to the questions of the data card. That about an ethics board stays open: none looked at it.
CARD = {
    "summary": "Reference answers to queries about two open textbooks, written by several people each, and "
    "scores from 1 to 5 of two systems' answers. Everybody in it is simulated.",
    "authors": "Demo lab",
    "purpose": "To show what a release of Distillery holds. It is not for training or evaluating systems: "
    "simulated workers wrote and judged everything.",
    "source": "Headings and key terms of two open textbooks, and a few queries made up.",
    "population": "Nobody's: no person typed these queries into a search box.",
    "passages": "Two OpenStax textbooks, Rice University, under CC BY 4.0; annotation/sample/ATTRIBUTION.md "
    "names them.",
    "people": "Scripts with habits: most read, some hurry, some answer without reading.",
    "consent": "Scripts were told nothing.",
    "sensitive": "None is known. A rule keeps queries with e-mail addresses from being seen.",
    "limits": "Simulated people know the truth up to chance mistakes; their agreement says nothing of real "
    "people.",
    "maintenance": "Nobody: every demonstration makes it anew.",
}


@dataclass(frozen=True)
class ReleaseSummary:
    """A release, where its files lie, and the digest of its manifest."""

    version: str
    path: str
    digest: str
    content: str
    files: int
    bytes: int
    findings: int
    url: str


def publish(
    project: Project, *, owner: User, site: str, notes: str = NOTES, card: Mapping[str, str] = CARD
) -> ReleaseSummary:
    """Look for personal data, decide about it, build, and show the release to everybody."""
    check_project(project=project, actor=owner)
    findings = PrivacyFinding.objects.filter(project=project, state=PrivacyFinding.State.OPEN)
    decided = redact_findings(findings=findings.filter(HAS_TEXT), reason=REDACTED, actor=owner)
    decided += accept_findings(findings=findings, reason=ACCEPTED, actor=owner)
    release = plan_release(project=project, notes=notes, options=Options(answers=dict(card)), actor=owner)
    release, _ = build_here(release, actor=owner)
    show_release(release=release, actor=owner)
    return ReleaseSummary(
        version=release.version,
        path=str(storage.folder_of(release) or ""),
        digest=release.digest,
        content=release.content,
        files=release.files.count(),
        bytes=release.bytes,
        findings=decided,
        url=f"{site}{reverse('public_releases:page', args=[project.slug, release.version])}",
    )
