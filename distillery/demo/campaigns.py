"""The demonstration's two campaigns over a query log: a finished one, and one in the middle of its work.

Where the pipeline waits for a person, the owner decides, each time with a reason.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.models import Answer, AnswerFlag, Query
from annotation.services import curation, review_decisions
from annotation.units import simulated_truth
from core.projects.models import Project
from crowd.models import Assignment, Endpoint, Stage
from crowd.services import review
from crowd.services.review import MOST_AT_ONCE, approve_chosen
from crowd.services.stages import close_stage, create_stage
from crowd.simulation.accounts import Account
from distillery.demo import answers, judging
from distillery.demo.answers import CURATION, DISTILLATION, SCREENING, Part
from distillery.demo.judging import EvaluationSummary, JudgingSummary, ReleaseSummary
from distillery.demo.people import People
from distillery.demo.screen import Screen, waiting_in
from judgments.services.filter_runs import Preview


@dataclass(frozen=True)
class Scene:
    """Where campaigns run: the people, the marketplace, the crowd, the address, the folder, the terminal."""

    people: People
    endpoint: Endpoint
    workers: Iterator[Account]
    site: str
    folder: Path
    screen: Screen

    def crowd(self, size: int) -> list[Account]:
        """So many people who have worked on nothing here."""
        return list(islice(self.workers, size))


# What the owner decides


def decide_ties(project: Project, *, owner: User) -> tuple[int, int]:
    """Read every query whose editors were of two minds; how many came in, and how many stay out."""
    came_in = stay_out = 0
    for query in Query.objects.filter(project=project, status=Query.Status.TIED).order_by("pk"):
        truth = simulated_truth(query.extra)
        if truth.get("kind") == "informational" and truth.get("answerable") == "yes":
            curation.accept_query(query=query, actor=owner, reason="One passage can settle it.")
            came_in += 1
        else:
            curation.exclude_query(query=query, actor=owner, reason="No short passage settles it.")
            stay_out += 1
    return came_in, stay_out


def turn_down_two(distillation: Stage, *, owner: User) -> int:
    """Reject the answer with the most flags and exclude the next; others are asked in their place."""
    flagged = (
        _undecided(distillation)
        .filter(Exists(AnswerFlag.objects.filter(answer=OuterRef("pk"))))
        .annotate(flags_in_all=Count("flags"))
        .order_by("-flags_in_all", "pk")
    )
    worst = list(flagged[:2])
    if worst:
        review.reject(
            assignment=worst[0].assignment, actor=owner, reason="This is a passage pasted as it stands."
        )
    for answer in worst[1:]:
        review_decisions.exclude(
            answer=answer, actor=owner, seen=answer.state, reason="This is not about the question."
        )
    return len(worst)


def ask_one_again(distillation: Stage, *, owner: User) -> bool:
    """Ask the author of a flagged answer to write it in words of their own.

    False where there is no second one with flags, which is left for whoever tries the review.
    """
    flagged = Exists(AnswerFlag.objects.filter(answer=OuterRef("pk")))
    found = list(_undecided(distillation).filter(flagged).order_by("pk")[:2])
    if len(found) < 2:
        return False
    again = found[0]
    review_decisions.ask_rewrite(
        answer=again, actor=owner, seen=again.state, reason="Please use words of your own."
    )
    return True


def approve_answers(distillation: Stage, *, owner: User, queries: int | None = None) -> None:
    """Approve the answers without flags query by query; without a limit, those with flags, too."""
    unread = Answer.objects.filter(stage=distillation, query=OuterRef("pk"), state=Answer.State.UNDECIDED)
    mine = Query.objects.filter(Exists(unread), project=distillation.project_id)
    for query in mine.order_by("pk")[:queries]:
        review_decisions.approve_unflagged(stage=distillation, query=query, actor=owner)
    if queries is None:
        for answer in _undecided(distillation):
            review_decisions.approve(answer=answer, actor=owner, seen=answer.state)


def pay(stage: Stage, *, owner: User) -> None:
    """Approve all work that waits for it, but that of answers which still wait for a reviewer."""
    waiting = Assignment.objects.filter(stage=stage, state=Assignment.State.SUBMITTED)
    unread = Answer.objects.filter(assignment=OuterRef("pk"), state=Answer.State.UNDECIDED)
    rows = list(waiting.exclude(Exists(unread)).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(rows), MOST_AT_ONCE):
        approve_chosen(stage=stage, chosen=rows[start : start + MOST_AT_ONCE], actor=owner)


def _undecided(distillation: Stage) -> QuerySet[Answer]:
    return Answer.objects.filter(stage=distillation, state=Answer.State.UNDECIDED).select_related(
        "stage__project", "worker", "query", "assignment__stage__endpoint", "assignment__hit"
    )


# The finished campaign: from a query log to a published release, with everything decided and paid.

TITLE = "Answers from two open textbooks"
FIRST_LOG = "first-log.jsonl"
BUDGET_CENTS = 150_00
PART_CENTS = 60_00
#: Who works on each part: nobody on two of them. The last are asked in place of who was turned down.
SCREENERS, CURATORS, EDITORS, LATER_EDITORS = 8, 6, 12, 6
CROWD = SCREENERS + CURATORS + EDITORS + LATER_EDITORS + judging.JUDGES + judging.LATER_JUDGES


@dataclass
class CampaignResult:
    """What the campaign left; seconds that each stage took, by its primary key."""

    project: Project
    passages: int
    seconds: dict[int, float] = field(default_factory=dict)
    judged: JudgingSummary | None = None
    filters: dict[str, Any] = field(default_factory=dict)
    release: ReleaseSummary | None = None
    evaluation: EvaluationSummary | None = None


def finish_campaign(scene: Scene, lines: list[str]) -> CampaignResult:
    """All of it, from the import of queries to the evaluation of the release."""
    people, screen = scene.people, scene.screen
    project, passages = answers.begin(
        slug=f"answers{people.suffix}",
        title=TITLE,
        owner=people.owner,
        guest=people.guest,
        budget_cents=BUDGET_CENTS,
    )
    done = CampaignResult(project, passages)
    queries = answers.bring_in(project, lines, name=FIRST_LOG, folder=scene.folder, owner=people.owner)
    screen.done(f"{queries} queries imported, {passages} passages of two textbooks indexed")
    stages = _references(scene, done)
    stages.append(_scores(scene, done))
    for stage in stages:
        close_stage(stage=stage, actor=people.owner, why="Everything is in and decided.")
    answers.go_on()
    done.release = judging.publish(project, owner=people.owner, site=scene.site)
    screen.published(done.release)
    version = done.release.version
    done.evaluation = judging.evaluate(project, version, owner=people.owner, site=scene.site)
    screen.evaluated(done.evaluation)
    return done


def _references(scene: Scene, done: CampaignResult) -> list[Stage]:
    """Screening, curation, distillation and their review."""
    chief = scene.people.owner
    screening = _part(SCREENING, SCREENERS, scene, done)
    pay(screening, owner=chief)
    answers.go_on()
    came_in, stay_out = decide_ties(done.project, owner=chief)
    scene.screen.decided(came_in, stay_out)
    curation = _part(CURATION, CURATORS, scene, done)
    distillation = _part(DISTILLATION, EDITORS, scene, done)
    began = time.monotonic()
    turn_down_two(distillation, owner=chief)
    with scene.screen.progress("Others write in place of who was turned down", None) as progress:
        answers.work_on(
            distillation,
            mix="diligent",
            workers=scene.crowd(LATER_EDITORS),
            site=scene.site,
            progress=progress,
            seed=answers.SEED + 1,
        )
    approve_answers(distillation, owner=chief)
    pay(distillation, owner=chief)
    answers.go_on()
    done.seconds[distillation.pk] += time.monotonic() - began
    scene.screen.reviewed(answers.summarise(done.project, done.passages))
    return [screening, curation, distillation]


def _part(part: Part, size: int, scene: Scene, done: CampaignResult) -> Stage:
    began = time.monotonic()
    with scene.screen.progress(f"Simulated editors: {part.kind}", None) as progress:
        stage = answers.open_part(
            part,
            project=done.project,
            endpoint=scene.endpoint,
            owner=scene.people.owner,
            budget_cents=PART_CENTS,
        )
        answers.work_on(stage, mix=part.mix, workers=scene.crowd(size), site=scene.site, progress=progress)
    done.seconds[stage.pk] = time.monotonic() - began
    scene.screen.part(part, answers.summarise(done.project, done.passages))
    return stage


def _scores(scene: Scene, done: CampaignResult) -> Stage:
    """KPQA's protocol: answers of two systems, ten judges each, filters, others asked again, the report."""
    chief, screen = scene.people.owner, scene.screen
    began = time.monotonic()
    screen.imported(judging.bring_in(done.project, owner=chief, file=scene.folder / "systems.jsonl"))
    stage = judging.open_judging(done.project, endpoint=scene.endpoint, owner=chief)
    _judge(stage, judging.JUDGES, scene, seed=judging.SEED)
    looked, hits = judging.filter_and_top_up(stage, owner=chief)
    screen.filtered(looked, hits)
    _judge(stage, judging.LATER_JUDGES, scene, seed=judging.SEED + 1)
    report = judging.filter_again(stage, owner=chief)
    pay(stage, owner=chief)
    answers.go_on()
    done.seconds[stage.pk] = time.monotonic() - began
    done.judged = judging.summarise(stage, topped_up=hits, report=report)
    done.filters = _filters(looked, hits, done.judged)
    screen.judged(done.judged)
    return stage


def _judge(stage: Stage, size: int, scene: Scene, *, seed: int) -> None:
    """A moderate crowd does what is on offer; some of them do not read."""
    with scene.screen.progress("Simulated judges", None) as progress:
        answers.work_on(
            stage,
            mix=judging.MIX,
            workers=scene.crowd(size),
            site=scene.site,
            progress=progress,
            seed=seed,
        )


def _filters(looked: Preview, hits: int, judged: JudgingSummary) -> dict[str, Any]:
    """What the filters did: at the first look, and in the end."""
    return {
        "recipe": judging.RECIPE,
        "first_removed_judges": looked.removed_workers,
        "first_removed_judgments": looked.removed_ratings,
        "answers_below_target": looked.missing.answers,
        "topped_up_hits": hits,
        "removed_judges": judged.removed_judges,
        "judgments": judged.judgments,
    }


# A second campaign, left in the middle of its work: open stages, ties, flags, tasks that wait for a person.

OPEN_TITLE = "More of the query log"
OPEN_FIRST, OPEN_LATER = "second-log.jsonl", "later-queries.jsonl"
OPEN_BUDGET_CENTS, OPEN_PART_CENTS = 60_00, 18_00
#: Queries that come in when the others are screened.
LATE = 4
#: How many people work on each part, and how many HITs each does at most; then nobody comes for a while.
SHIFTS = {"screening": (8, 1), "curation": (5, 2), "distillation": (8, 2)}
OPEN_CROWD = sum(people for people, _ in SHIFTS.values())
OPEN_SEED = 11


@dataclass
class OpenCampaign:
    """The campaign and what waits in it; seconds that each stage took so far, by its primary key."""

    project: Project
    passages: int
    seconds: dict[int, float] = field(default_factory=dict)


def start_campaign(scene: Scene, lines: list[str]) -> OpenCampaign:
    """Open the parts of the pipeline one by one, and let some people come to each."""
    people, screen = scene.people, scene.screen
    project, passages = answers.begin(
        slug=f"more{people.suffix}",
        title=OPEN_TITLE,
        owner=people.owner,
        guest=people.guest,
        budget_cents=OPEN_BUDGET_CENTS,
    )
    found = OpenCampaign(project, passages)
    late = lines[:: len(lines) // LATE][:LATE]
    first = [line for line in lines if line not in late]
    answers.bring_in(project, first, name=OPEN_FIRST, folder=scene.folder, owner=people.owner)
    _shift(SCREENING, scene, found, redundancy=2)
    _shift(CURATION, scene, found)
    distillation = _shift(DISTILLATION, scene, found, redundancy=3)
    ask_one_again(distillation, owner=people.owner)
    approve_answers(distillation, owner=people.owner, queries=1)
    _plan_judging(scene, project)
    answers.bring_in(project, late, name=OPEN_LATER, folder=scene.folder, owner=people.owner)
    answers.bring_in_conversation(project, owner=people.owner)
    answers.go_on()
    screen.in_the_middle(waiting_in(project))
    return found


def _shift(part: Part, scene: Scene, found: OpenCampaign, **fields: int) -> Stage:
    size, hits_each = SHIFTS[part.kind]
    began = time.monotonic()
    with scene.screen.progress(f"Some editors of a second campaign: {part.kind}", None) as progress:
        stage = answers.open_part(
            part,
            project=found.project,
            endpoint=scene.endpoint,
            owner=scene.people.owner,
            budget_cents=OPEN_PART_CENTS,
            **fields,
        )
        answers.work_on(
            stage,
            mix="moderate" if part.kind == "distillation" else part.mix,
            workers=scene.crowd(size),
            site=scene.site,
            progress=progress,
            seed=OPEN_SEED,
            hits_each=hits_each,
            copy_pasters=1 if part.kind == "distillation" else 0,
        )
    found.seconds[stage.pk] = time.monotonic() - began
    return stage


def _plan_judging(scene: Scene, project: Project) -> None:
    """The last stage as a draft, to see what one looks like before it is opened."""
    create_stage(
        project=project,
        slug="judging",
        title="How correct are the answers?",
        kind="judging",
        endpoint=scene.endpoint,
        task_title="How correct are these answers?",
        task_description="Read what a textbook says, then say how correct each answer is.",
        reward_cents=judging.REWARD_CENTS,
        redundancy=judging.REDUNDANCY,
        units_per_hit=judging.UNITS_PER_HIT,
        checks_per_hit=judging.CHECKS_PER_HIT,
        seed=OPEN_SEED,
        actor=scene.people.owner,
    )
