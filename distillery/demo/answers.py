"""The demonstration's main job: real queries through screening, curation and distillation, by a crowd."""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Sum

from annotation import sample
from annotation.models import Answer, AnswerFlag, Query
from annotation.services import reviewing
from annotation.services.importing import import_queries
from crowd.kinds import kind_of
from crowd.models import Assignment, Endpoint, LedgerEntry, Stage
from crowd.services import review
from crowd.services.chosen import MOST_AT_ONCE, approve_chosen
from crowd.services.stages import create_stage, open_stage
from crowd.services.tick import tick
from crowd.simulation.accounts import Account
from crowd.simulation.profiles import crowd_of
from crowd.simulation.run import Crowd
from projects.models import Project
from projects.services import create_project
from retrieval.reading import open_passages
from retrieval.services.corpora import add_passages, create_corpus
from retrieval.services.indexing import build_index

FOLDER = Path(sample.__file__).parent
TITLE = "Answers from two open textbooks"
BUDGET_CENTS = 100_00
#: With the judging that follows.
PROJECT_CENTS = 180_00
#: Queries that come in when the others are done, and wait for screening.
LATER = 4
SEED = 7
#: Rounds of publishing, collecting and paying until nothing is left to do, at most.
_ROUNDS = 40


@dataclass(frozen=True)
class Part:
    """One stage of the pipeline: its options, and who works on it."""

    kind: str
    title: str
    fields: dict[str, Any]
    mix: str
    people: int


PARTS = (
    Part(
        "screening",
        "Is it a query that a short passage settles?",
        {
            "reward_cents": 12,
            "redundancy": 2,
            "units_per_hit": 5,
            "checks_per_hit": 1,
            "hold_failed_checks": True,
            "config": {
                "tolerated_sensitive": 1,
                "tolerated_adult": 1,
                "checks": {"youtube": "navigational", "cheap flights to lisbon": "transactional"},
            },
        },
        "diligent",
        10,
    ),
    Part(
        "curation",
        "Which passages answer the query?",
        {"reward_cents": 14, "redundancy": 1, "config": {"candidates": 8}},
        "diligent",
        6,
    ),
    Part(
        "distillation",
        "Answer a question in your own words",
        {"reward_cents": 25, "redundancy": 5, "approve_at_once": False, "config": {"hold_out": 1}},
        "moderate",
        14,
    ),
)
PEOPLE = sum(part.people for part in PARTS)


@dataclass(frozen=True)
class AnswersSummary:
    """What became of the queries, and of the answers to them."""

    project: str
    passages: int
    queries: dict[str, int]
    assignments: dict[str, int]
    answers: int
    flagged: int
    states: dict[str, int]
    reserved_cents: int
    spent_rewards_cents: int
    spent_fees_cents: int


def begin(
    *, owner: User, suffix: str, later: Path, scores: Mapping[str, Mapping[str, int]]
) -> tuple[Project, int, int]:
    """A project with the sample's passages, indexed, and its queries but the last; how many of both.

    The lines of the last few queries go to the file `later`. `scores` are what simulated judges find true of
    systems' answers, by query and system.
    """
    project = create_project(slug=f"answers{suffix}", title=TITLE, owner=owner, budget_cents=PROJECT_CENTS)
    corpus = create_corpus(
        project=project,
        slug="textbooks",
        title="Two OpenStax textbooks",
        licence="CC BY 4.0",
        attribution="OpenStax, Rice University; see annotation/sample/ATTRIBUTION.md",
        actor=owner,
    )
    passages = add_passages(corpus=corpus, file=open_passages(FOLDER / "passages.jsonl"), actor=owner)
    build_index(corpus=corpus)
    text = (FOLDER / "queries.jsonl").read_text(encoding="utf-8")
    lines = [_with_scores(json.loads(line), scores) for line in text.splitlines()]
    # Every tenth or so, so that those who come later are of all kinds.
    chosen = lines[:: len(lines) // LATER][:LATER]
    later.write_text("".join(chosen), encoding="utf-8")
    first = later.with_name("first-log.jsonl")
    first.write_text("".join(line for line in lines if line not in chosen), encoding="utf-8")
    report = import_queries(project=project, path=first, name="textbook-queries.jsonl", actor=owner)
    return project, passages, int(report["stored"])


def _with_scores(row: dict[str, Any], scores: Mapping[str, Mapping[str, int]]) -> str:
    """The line of a query, with what is true of systems' answers to it."""
    row["truth"] = {**row["truth"], "scores": scores.get(row["id"], {})}
    return json.dumps(row, ensure_ascii=False) + "\n"


def do_part(
    part: Part,
    *,
    project: Project,
    endpoint: Endpoint,
    owner: User,
    workers: list[Account],
    site: str,
    progress: Callable[[int], None],
) -> Stage:
    """Open one stage of the pipeline and let a crowd do it, through the pages that people use."""
    stage = create_stage(
        project=project,
        slug=part.kind,
        title=part.title,
        kind=part.kind,
        endpoint=endpoint,
        task_title=part.title,
        task_description="Texts from two textbooks; every page says what to do.",
        task_keywords="reading, questions, textbooks",
        budget_cents=BUDGET_CENTS,
        seed=SEED,
        actor=owner,
        **part.fields,
    )
    open_stage(stage=stage, actor=owner)
    crowd = Crowd(
        stage,
        crowd_of(part.mix, part.people, seed=SEED),
        workers,
        seed=SEED,
        site=site,
        threads=4,
        fast=True,
    )
    crowd.run(progress=lambda running: progress(running.summary.outcomes["submitted"]), settle_s=20.0)
    kind_of(stage).settle(stage)
    return stage


def look_over(distillation: Stage, *, owner: User) -> None:
    """What a reviewer does on a first morning: approve, ask for a rewrite, exclude, reject."""
    flagged = list(
        Answer.objects.filter(stage=distillation, state=Answer.State.UNDECIDED)
        .filter(Exists(AnswerFlag.objects.filter(answer=OuterRef("pk"))))
        .select_related("stage__project", "worker", "query", "assignment__stage__endpoint", "assignment__hit")
        .annotate(flags_in_all=Count("flags"))
        .order_by("-flags_in_all", "pk")[:3]
    )
    decisions: list[Callable[[Answer], object]] = [
        lambda answer: review.reject(
            assignment=answer.assignment, actor=owner, reason="This is a passage pasted as it stands."
        ),
        lambda answer: reviewing.exclude(
            answer=answer, actor=owner, seen=answer.state, reason="This is not about the question."
        ),
        lambda answer: reviewing.ask_rewrite(
            answer=answer, actor=owner, seen=answer.state, reason="Please use words of your own."
        ),
    ]
    for answer, decide in zip(flagged, decisions, strict=False):
        decide(answer)
    for query in Query.objects.filter(project=distillation.project_id, status="answered").order_by("pk")[:4]:
        reviewing.approve_unflagged(stage=distillation, query=query, actor=owner)
    good = Answer.objects.filter(stage=distillation, state=Answer.State.APPROVED)
    approve_chosen(
        stage=distillation,
        chosen=list(good.values_list("assignment_id", flat=True)[:MOST_AT_ONCE]),
        actor=owner,
    )


def come_later(project: Project, *, file: Path, owner: User) -> None:
    """A few queries more, and the rounds that put on offer what is wanted now."""
    import_queries(project=project, path=file, name="later-queries.jsonl", actor=owner)
    for _ in itertools.takewhile(lambda _: not tick().idle, range(_ROUNDS)):
        pass


def summarise(project: Project, passages: int) -> AnswersSummary:
    """The project in numbers."""
    answers = Answer.objects.filter(query__project=project)
    flags = AnswerFlag.objects.filter(answer=OuterRef("pk"))
    queries = Query.objects.filter(project=project).values_list("status")
    states = answers.values_list("state").annotate(number=Count("pk"))
    good = Assignment.objects.filter(stage__project=project, state__in=Assignment.GOOD)
    spent = LedgerEntry.objects.filter(stage__project=project, kind=LedgerEntry.Kind.SPEND)
    money = spent.aggregate(rewards=Sum("cents", default=0), fees=Sum("fee_cents", default=0))
    reserved = Stage.objects.filter(project=project).aggregate(cents=Sum("reserved_cents", default=0))
    return AnswersSummary(
        project=project.slug,
        passages=passages,
        queries=dict(queries.annotate(number=Count("pk")).order_by()),
        assignments=dict(good.values_list("stage__slug").annotate(number=Count("pk")).order_by()),
        answers=answers.count(),
        flagged=answers.filter(Exists(flags)).count(),
        states=dict(states.order_by()),
        reserved_cents=reserved["cents"],
        spent_rewards_cents=money["rewards"],
        spent_fees_cents=money["fees"],
    )
