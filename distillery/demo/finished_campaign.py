"""The finished campaign: from a query log to a published release, with everything decided and paid."""

import time
from dataclasses import dataclass, field
from typing import Any

from core.projects.models import Project
from crowd.models import Stage
from crowd.services.stages import close_stage
from distillery.demo import answers, judging, owner, publication
from distillery.demo.answers import CURATION, DISTILLATION, SCREENING, Part
from distillery.demo.judging import JudgingSummary
from distillery.demo.owner import Scene
from distillery.demo.publication import EvaluationSummary, ReleaseSummary
from judgments.services.filter_runs import Preview

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


def finish(scene: Scene, lines: list[str]) -> CampaignResult:
    """All of it."""
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
    done.release = publication.publish(project, owner=people.owner, site=scene.site)
    screen.published(done.release)
    version = done.release.version
    done.evaluation = publication.evaluate(project, version, owner=people.owner, site=scene.site)
    screen.evaluated(done.evaluation)
    return done


def _references(scene: Scene, done: CampaignResult) -> list[Stage]:
    """Screening, curation, distillation and their review."""
    chief = scene.people.owner
    screening = _part(SCREENING, SCREENERS, scene, done)
    owner.pay(screening, owner=chief)
    answers.go_on()
    came_in, stay_out = owner.decide_ties(done.project, owner=chief)
    scene.screen.decided(came_in, stay_out)
    curation = _part(CURATION, CURATORS, scene, done)
    distillation = _part(DISTILLATION, EDITORS, scene, done)
    began = time.monotonic()
    owner.turn_down_two(distillation, owner=chief)
    with scene.screen.progress("Others write in place of who was turned down", None) as progress:
        answers.work_on(
            distillation,
            mix="diligent",
            workers=scene.crowd(LATER_EDITORS),
            site=scene.site,
            progress=progress,
            seed=answers.SEED + 1,
        )
    owner.approve_answers(distillation, owner=chief)
    owner.pay(distillation, owner=chief)
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
    owner.pay(stage, owner=chief)
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
