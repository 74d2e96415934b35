"""The finished campaign's last stage: people judge the answers of two systems, as KPQA's authors had it done.

Answers come in by the file that a user has, ten judges give each a score, filters find those who did not
read, others are asked in their place, and the honest report says how good the result is.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef

import judgments
from annotation.models import Answer, HeldOutWorker, Query
from core.jobs.models import OPEN_STATES
from core.projects.models import Project
from crowd.models import Endpoint, Stage
from crowd.services.stages import create_stage, open_stage
from crowd.services.tick import tick
from distillery.demo.answers import go_on
from judgments.models import AgreementReport, FilterRun, Judgment
from judgments.selectors.candidates import systems
from judgments.services import filter_runs, reports
from judgments.services.candidates import human_candidates
from judgments.services.imports import import_candidates

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
_REPORT_SECONDS = 60.0


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
    """Apply the filters after a look at what they would do, and ask others; the look, and the new HITs."""
    seen = filter_runs.preview(stage, RECIPE, {})
    filter_runs.apply(stage=stage, recipe=RECIPE, parameters={}, actor=owner, seen=seen.seen)
    offer = seen.missing.offer
    if not offer.hits:
        return seen, 0
    hits = filter_runs.top_up(stage=stage, most_cents=offer.total_cents, actor=owner)
    tick()
    return seen, hits


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
