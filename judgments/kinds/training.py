"""Training for judges: examples with known scores, and feedback until the right one is chosen.

It is a qualification test too: first choices count, and those with enough right ones get into the group that
judging stages can ask for. What was chosen first is kept by our page, out of reach of the worker's browser.
"""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from annotation.importing.records import quoted
from crowd.kinds import HitTerms, Listing, Page, ParsedForm, PendingUnit, SimpleKind, StageConfig
from crowd.models import Assignment, Claim, Stage, Worker
from crowd.services.drafts import REMEMBERED
from crowd.services.groups import let_pass
from crowd.simulation.profiles import Profile
from judgments.kinds.judging import read_score, shown_scale, wrong_score
from judgments.kinds.judging_config import Lesson, TrainingConfig, accepted_steps, training_config
from judgments.selectors.judging import trained

_LESSON = "lesson:"
_FIRST = "first"


class JudgeTraining(SimpleKind):
    """Units are `lesson:N`, the examples of the options; `stage.redundancy` people may do them."""

    name = "judge-training"
    label = "Training for judges: examples with feedback, and who may judge"
    config = TrainingConfig
    suggested: ClassVar[Mapping[str, Any]] = {
        "title": "Training for judges",
        "reward": "0.50",
        "redundancy": 200,
        "units_per_hit": 3,
        "expected_minutes": 3.0,
    }

    def listing(self, terms: HitTerms) -> Listing:
        """Examples to learn from."""
        examples = terms.count("one example", "examples")
        return Listing(
            f"Learn to judge answers{terms.time}",
            f"{examples[:1].upper()}{examples[1:]} with feedback. Those who do well at first may take the "
            "judging HITs. Paid either way.",
            "judging, reading, training",
        )

    def planned_units(self, config: StageConfig) -> int | None:
        """One unit per example."""
        return len(config.lessons) if isinstance(config, TrainingConfig) else None

    def pending(self, stage: Stage) -> Iterator[PendingUnit]:
        """Examples that fewer people did than are let in."""
        good = Claim.objects.filter(stage=stage, assignment__state__in=Assignment.GOOD)
        done = Counter(good.values_list("unit", flat=True))
        for number in range(len(training_config(stage).lessons)):
            unit = f"{_LESSON}{number}"
            if done[unit] < stage.redundancy:
                yield PendingUnit(unit, stage.redundancy - done[unit])

    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        """The example as judges see an answer."""
        config, lesson = training_config(stage), _lesson(stage, unit)
        return Page(
            "judgments/judging.html",
            {
                "passages": [{"text": lesson.passage}] if lesson.passage else (),
                "question": lesson.question,
                "predicted": lesson.answer,
                "correct": [lesson.correct] if lesson.correct else (),
                "asked": config.question,
                **shown_scale(config),
                "accepted": [config.rating_scale.text(step) for step in _accepted(config, lesson)],
                "reason": lesson.reason,
                "remembered": REMEMBERED + _FIRST,
            },
            config.instructions,
        )

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        """The score; a wrong one is explained and asked again, and the first one is remembered."""
        config, lesson = training_config(stage), _lesson(stage, unit)
        scale, right = config.rating_scale, _accepted(config, lesson)
        chosen = read_score(form.get("score", ""), config, scale)
        if chosen is None:
            return ParsedForm(errors={"score": wrong_score(form.get("score", ""), config, scale)})
        first = read_score(form.get(REMEMBERED + _FIRST, ""), config, scale)
        first = chosen if first is None else first
        remember = {_FIRST: scale.text(first)}
        if chosen not in right:
            words = f"Not quite. {lesson.reason} Please choose again; you are paid for this either way."
            return ParsedForm(errors={"score": words}, remember=remember)
        response = {
            "first": scale.number(first),
            "right_at_first": first in right,
            "score": scale.number(chosen),
        }
        return ParsedForm(response, remember=remember)

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Nothing to add: the assignment has it."""

    def settle(self, stage: Stage) -> dict[str, Any]:
        """Those who did all examples and chose enough of them right at first get into the group."""
        config = training_config(stage)
        needed = passing(config)
        done = [each for each in trained(stage) if each.done >= len(config.lessons)]
        passed = [each.worker for each in done if each.right_at_first >= needed]
        new = let_pass(stage, Worker.objects.filter(pk__in=passed).order_by("pk"))
        return {"done": len(done), "passed": len(passed), "new": new}

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """Question and answer of the example."""
        lessons = {unit: _lesson(stage, unit) for unit in units}
        return {unit: f"{quoted(each.question)}: {quoted(each.answer)}" for unit, each in lessons.items()}

    def simulate(self, stage: Stage, unit: str, profile: Profile, rng: random.Random) -> Mapping[str, str]:
        """A score that is right."""
        config = training_config(stage)
        return {"score": config.rating_scale.text(rng.choice(_accepted(config, _lesson(stage, unit))))}


def passing(config: TrainingConfig) -> int:
    """How many first choices must be right; the share is rounded up."""
    return math.ceil(config.pass_share * len(config.lessons) - 1e-9)


def _accepted(config: TrainingConfig, lesson: Lesson) -> list[int]:
    """The scores that are right, in units of the scale."""
    return accepted_steps(lesson.accepted, config.rating_scale)


def _lesson(stage: Stage, unit: str) -> Lesson:
    return training_config(stage).lessons[int(unit.removeprefix(_LESSON))]
