"""The end of the finished campaign: people judge two systems' answers, a release is published and evaluated.

Judging goes as KPQA's authors had it done. Answers come in by the file that a user has, ten judges give each
a score, filters find those who did not read, others are asked in their place, and the honest report says how
good the result is.
"""

import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.urls import reverse

import judgments
from annotation.models import Answer, HeldOutWorker, Query
from core.jobs.models import OPEN_STATES
from core.projects.models import Project
from crowd.models import Endpoint, Hit, Stage
from crowd.services.publication import quote
from crowd.services.stages import create_stage, open_stage
from crowd.services.tick import tick
from distillery.demo.answers import go_on
from evaluations.plans import EvaluationPlan
from evaluations.report.model import read_report
from evaluations.services import evaluate_here, show_evaluation
from judgments.models import AgreementReport, FilterRun, Judgment
from judgments.selectors.candidates import systems
from judgments.services import filter_runs, reports
from judgments.services.candidates import human_candidates
from judgments.services.filter_decisions import FilteringError
from judgments.services.imports import import_candidates
from releases import storage
from releases.build import build_here
from releases.models import PrivacyFinding, Release
from releases.options import Options
from releases.privacy import HAS_TEXT, accept_findings, check_project, redact_findings
from releases.services import plan_release, show_release

#: Answers of two made-up systems to queries of `annotation/sample`, in our own words (CC0 1.0): `sample-a` is
#: good, `sample-b` is weaker (wrong, partial and irrelevant answers); a few are copies of what editors of the
#: demonstration write. `truth` is how correct each is, from 1 to 5, for simulated judges.
FILE = Path(judgments.__file__).with_name("sample") / "candidates.jsonl"
MADE_UP = " Questions? Write to economics-desk@example.org."
SYSTEMS = ("sample-a", "sample-b")
RECIPE = "default"
#: Queries whose answers are judged; the file has more, for those who want to go on.
QUERIES = 16
REDUNDANCY, UNITS_PER_HIT, CHECKS_PER_HIT, REWARD_CENTS = 10, 11, 4, 125
BUDGET_CENTS = 90_00
SEED = 7
#: Judges of the first round, and those who are asked in place of whom the filters removed.
JUDGES, LATER_JUDGES, MIX = 20, 12, "moderate"
_REPORT_SECONDS = _TOP_UP_SECONDS = 60.0


@dataclass(frozen=True)
class JudgingSummary:
    """What was judged, what the filters did, and how good the scores are; undefined figures are None."""

    stage: str
    candidates: dict[str, int]
    set_aside: int
    judgments: int
    judges: int
    removed_judges: int
    topped_up: int
    alpha_before: float | None
    alpha_after: float | None
    alpha_cross_fitted: float | None
    reliability: float | None
    means: dict[str, float]


def bring_in(project: Project, *, owner: User, file: Path) -> dict[str, Any]:
    """Import what two systems say to queries that have references by now; the report of the import.

    The lines go to `file` first. One system made up an e-mail address, as systems do: the privacy check has
    something to find, and one copied a reference, which nobody needs to judge. Answers of people that were
    held out become a third system.
    """
    answered = Query.objects.filter(project=project, status=Query.Status.ANSWERED).order_by("pk")
    wanted = set(answered.values_list("key", flat=True)[:QUERIES])
    lines = FILE.read_text(encoding="utf-8").splitlines(keepends=True)
    chosen = [json.loads(line) for line in lines if json.loads(line)["query_id"] in wanted]
    chosen[0]["answer"] = _written_by_people(project, chosen[0]["query_id"])
    chosen[-1]["answer"] += MADE_UP
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in chosen)
    file.write_text(text, encoding="utf-8")
    report = import_candidates(project=project, path=file, actor=owner)
    human_candidates(project, actor=owner)
    return report


def _written_by_people(project: Project, query: str) -> str:
    held_out = HeldOutWorker.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    answers = Answer.objects.filter(query__project=project, query__key=query, state=Answer.State.APPROVED)
    return str(answers.exclude(Exists(held_out)).order_by("pk").values_list("text", flat=True)[0])


def truths() -> dict[str, dict[str, int]]:
    """What simulated judges who read find true of the systems' answers: a score per system, by query."""
    found: dict[str, dict[str, int]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["query_id"], {})[row["system"]] = row["truth"]
    return found


def open_judging(project: Project, *, endpoint: Endpoint, owner: User) -> Stage:
    """The judging stage, open: ten judges for each answer."""
    stage = create_stage(
        project=project,
        slug="judging",
        title="How correct are the answers?",
        kind="judging",
        endpoint=endpoint,
        task_title="How correct are these answers?",
        task_description="Read what a textbook says, then say how correct each answer is.",
        task_keywords="reading, answers, judging",
        reward_cents=REWARD_CENTS,
        redundancy=REDUNDANCY,
        units_per_hit=UNITS_PER_HIT,
        checks_per_hit=CHECKS_PER_HIT,
        config={"systems": list(SYSTEMS)},
        budget_cents=BUDGET_CENTS,
        seed=SEED,
        actor=owner,
    )
    open_stage(stage=stage, actor=owner)
    return stage


def filter_and_top_up(stage: Stage, *, owner: User) -> tuple[filter_runs.Preview, int]:
    """Apply the filters after a look at what they would do, and ask others; the look, and the new HITs.

    The server's own rounds top up as well, so HITs count whichever process planned them.
    """
    before = Hit.objects.filter(stage=stage).count()
    seen = filter_runs.preview(stage, RECIPE, {})
    filter_runs.apply(stage=stage, recipe=RECIPE, parameters={}, actor=owner, seen=seen.seen)
    deadline = time.monotonic() + _TOP_UP_SECONDS
    while (offer := quote(stage)).hits and offer.affordable and time.monotonic() < deadline:
        with contextlib.suppress(FilteringError):
            filter_runs.top_up(stage=stage, most_cents=offer.total_cents, actor=owner)
        tick()
    return seen, Hit.objects.filter(stage=stage).count() - before


def filter_again(stage: Stage, *, owner: User) -> dict[str, Any]:
    """The same filters over all judgments, those of the second round as well; the honest report of it."""
    filter_runs.apply(stage=stage, recipe=RECIPE, parameters={}, actor=owner)
    go_on()
    job = reports.ask(stage=stage)
    deadline = time.monotonic() + _REPORT_SECONDS
    while job.state in OPEN_STATES and time.monotonic() < deadline:
        time.sleep(0.1)
        job.refresh_from_db()
    row = AgreementReport.objects.filter(stage=stage).order_by("-pk").first()
    return dict(row.report) if row else {}


def summarise(stage: Stage, *, topped_up: int, report: dict[str, Any]) -> JudgingSummary:
    """The stage in numbers."""
    run = FilterRun.objects.in_force().get(stage=stage)
    found = systems(stage.project)
    alpha = report.get("alpha", {})
    return JudgingSummary(
        stage=f"{stage.project.slug}/{stage.slug}",
        candidates={each.system.name: each.to_judge for each in found if each.system.name in SYSTEMS},
        set_aside=sum(each.exact for each in found),
        judgments=Judgment.objects.filter(stage=stage).count(),
        judges=Judgment.objects.filter(stage=stage).values("worker").distinct().count(),
        removed_judges=run.summary["counts"]["removed_workers"],
        topped_up=topped_up,
        alpha_before=alpha.get("before", {}).get("interval"),
        alpha_after=alpha.get("after_workers", {}).get("interval"),
        alpha_cross_fitted=alpha.get("after_workers", {}).get("cross_fitted"),
        reliability=report.get("reliability", {}).get("spearman_brown"),
        means={each.system.name: round(each.mean, 2) for each in found if each.mean is not None},
    )


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
