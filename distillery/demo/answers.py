"""Real queries through screening, curation and distillation, by a crowd: what both campaigns are made of."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Sum

import annotation
from annotation.models import Answer, AnswerFlag, Query
from annotation.services.importing import Options, import_queries
from core.projects.models import Membership, Project
from core.projects.services import create_project, set_role
from crowd.kinds import kind_of
from crowd.models import Assignment, Endpoint, LedgerEntry, Stage
from crowd.services.stages import create_stage, open_stage
from crowd.services.tick import tick
from crowd.simulation.accounts import Account
from crowd.simulation.answers import PROFILES, crowd_of
from crowd.simulation.run import Crowd
from retrieval.passage_files import open_passages
from retrieval.services.corpora import add_passages, create_corpus
from retrieval.services.indexing import build_index
from retrieval.services.networks import build_network

FOLDER = Path(annotation.__file__).parent / "sample"
LICENCE = "CC-BY-4.0"
#: Five turns about money and banks: our own questions, under CC0.
CONVERSATION = "conversation.jsonl"
SEED = 7
#: People who are simulated at the same moment, each by a thread.
THREADS = 4
#: Rounds of publishing, collecting and paying until nothing is left to do, at most.
_ROUNDS = 40

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Part:
    """One stage of the pipeline: its options, and who works on it."""

    kind: str
    title: str
    fields: dict[str, Any]
    mix: str


SCREENING = Part(
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
)
CURATION = Part(
    "curation",
    "Which passages answer the query?",
    {"reward_cents": 14, "redundancy": 1, "config": {"candidates": 8}},
    "diligent",
)
DISTILLATION = Part(
    "distillation",
    "Answer a question in your own words",
    {"reward_cents": 25, "redundancy": 4, "approve_at_once": False, "config": {"hold_out": 1}},
    "moderate",
)


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


def lines_of_log(scores: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The sample's queries as lines of a log.

    `scores` are what is true of systems' answers, by query and system.
    """
    rows = [json.loads(line) for line in (FOLDER / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["truth"] |= {"scores": scores.get(row["id"], {}), "scale": [1, 5]}
    return [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]


def begin(*, slug: str, title: str, owner: User, guest: User, budget_cents: int) -> tuple[Project, int]:
    """A project with the sample's passages, their index and word network; how many passages these are."""
    project = create_project(slug=slug, title=title, owner=owner, licence=LICENCE, budget_cents=budget_cents)
    set_role(project=project, user=guest, role=Membership.Role.VIEWER, actor=owner)
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
    build_network(corpus=corpus)
    return project, passages


def bring_in(project: Project, lines: Sequence[str], *, name: str, folder: Path, owner: User) -> int:
    """Import lines of a query log by way of a file; how many were stored."""
    file = folder / name
    file.write_text("".join(lines), encoding="utf-8")
    return int(import_queries(project=project, path=file, name=name, actor=owner)["stored"])


def bring_in_conversation(project: Project, *, owner: User) -> int:
    """Import the sample's conversation, which needs no screening; how many turns were stored."""
    accepted = Options(start_at="curation")
    report = import_queries(project=project, path=FOLDER / CONVERSATION, options=accepted, actor=owner)
    return int(report["stored"])


def open_part(
    part: Part, *, project: Project, endpoint: Endpoint, owner: User, budget_cents: int, **fields: Any
) -> Stage:
    """Make one stage of the pipeline, with `fields` in place of the part's own, and open it."""
    stage = create_stage(
        project=project,
        slug=part.kind,
        title=part.title,
        kind=part.kind,
        endpoint=endpoint,
        task_title=part.title,
        task_description="Texts from two textbooks; every page says what to do.",
        task_keywords="reading, questions, textbooks",
        budget_cents=budget_cents,
        seed=SEED,
        actor=owner,
        **{**part.fields, **fields},
    )
    open_stage(stage=stage, actor=owner)
    return stage


def work_on(
    stage: Stage,
    *,
    mix: str,
    workers: Sequence[Account],
    site: str,
    progress: Progress,
    seed: int = SEED,
    hits_each: int | None = None,
    copy_pasters: int = 0,
) -> None:
    """Let a crowd do what is on offer, through the pages that people use, until it is collected and paid.

    `copy_pasters` of the workers paste passages whatever the mix is, so that there are flags for certain.
    A worker who leaves gives the HIT back: otherwise it would be theirs for an hour.
    """
    crowd = crowd_of(mix, len(workers) - copy_pasters, seed=seed)
    crowd += [PROFILES["copy-paster"]] * copy_pasters
    profiles = [replace(each, leaves=0.0, returns=max(each.leaves, each.returns)) for each in crowd]
    running_crowd = Crowd(
        stage,
        profiles,
        workers,
        seed=seed,
        site=site,
        threads=THREADS,
        fast=True,
        drafts=False,
        hits_each=hits_each,
    )
    running_crowd.run(progress=lambda running: progress(running.summary.outcomes["submitted"]), settle_s=20.0)
    kind_of(stage).settle(stage)


def go_on() -> None:
    """Rounds of publishing, collecting and paying until nothing is left to do."""
    for _ in takewhile(lambda _: not tick().idle, range(_ROUNDS)):
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
