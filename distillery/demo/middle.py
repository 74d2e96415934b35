"""The campaign in the middle of its work: open stages, ties, flags, and things that wait for a person."""

import time
from dataclasses import dataclass, field

from core.projects.models import Project
from crowd.models import Stage
from crowd.services.stages import create_stage
from distillery.demo import answers, judging, owner
from distillery.demo.answers import CURATION, DISTILLATION, SCREENING, Part
from distillery.demo.owner import Scene
from distillery.demo.tally import waiting_in

TITLE = "More of the query log"
FIRST, LATER = "second-log.jsonl", "later-queries.jsonl"
BUDGET_CENTS, PART_CENTS = 60_00, 18_00
#: Queries that come in when the others are screened.
LATE = 4
#: How many people work on each part, and how many HITs each does at most; then nobody comes for a while.
SHIFTS = {"screening": (8, 1), "curation": (5, 2), "distillation": (8, 2)}
CROWD = sum(people for people, _ in SHIFTS.values())
SEED = 11


@dataclass
class Middle:
    """What waits in it; seconds that each stage took so far, by its primary key."""

    project: Project
    passages: int
    seconds: dict[int, float] = field(default_factory=dict)


def get_going(scene: Scene, lines: list[str]) -> Middle:
    """Open the parts of the pipeline one by one, and let some people come to each."""
    people, screen = scene.people, scene.screen
    project, passages = answers.begin(
        slug=f"more{people.suffix}",
        title=TITLE,
        owner=people.owner,
        guest=people.guest,
        budget_cents=BUDGET_CENTS,
    )
    found = Middle(project, passages)
    late = lines[:: len(lines) // LATE][:LATE]
    first = [line for line in lines if line not in late]
    answers.bring_in(project, first, name=FIRST, folder=scene.folder, owner=people.owner)
    _shift(SCREENING, scene, found, redundancy=2)
    _shift(CURATION, scene, found)
    distillation = _shift(DISTILLATION, scene, found, redundancy=3)
    owner.ask_one_again(distillation, owner=people.owner)
    owner.approve_answers(distillation, owner=people.owner, queries=1)
    _plan_judging(scene, project)
    answers.bring_in(project, late, name=LATER, folder=scene.folder, owner=people.owner)
    answers.bring_in_conversation(project, owner=people.owner)
    answers.go_on()
    screen.in_the_middle(waiting_in(project))
    return found


def _shift(part: Part, scene: Scene, found: Middle, **fields: int) -> Stage:
    size, hits_each = SHIFTS[part.kind]
    began = time.monotonic()
    with scene.screen.progress(f"Some editors of a second campaign: {part.kind}", None) as progress:
        stage = answers.open_part(
            part,
            project=found.project,
            endpoint=scene.endpoint,
            owner=scene.people.owner,
            budget_cents=PART_CENTS,
            **fields,
        )
        answers.work_on(
            stage,
            mix="moderate" if part.kind == "distillation" else part.mix,
            workers=scene.crowd(size),
            site=scene.site,
            progress=progress,
            seed=SEED,
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
        seed=SEED,
        actor=scene.people.owner,
    )
