"""The kinds of stages of this app: judging, and the training of judges.

Judging: people say how correct the answers of systems are (paper 002, section 4.2; paper 004, section 2).
With one unit per HIT its protocol is that of KPQA; with many, attention checks and shared queries it is the
survey of ADEM. `docs/judging.md` has both.

Training: examples with known scores, and feedback until the right one is chosen. It is a qualification test
too: first choices count, and those with enough right ones get into the group that judging stages can ask for.
What was chosen first is kept by our page, out of reach of the worker's browser.
"""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext

from annotation.importing.records import quoted
from annotation.units import distil_scope, judge_scope, known_scale, known_score
from core.projects.models import Project
from crowd.kinds import HitTerms, Listing, Page, ParsedForm, PendingUnit, Profile, SimpleKind, StageConfig
from crowd.models import Assignment, Claim, Stage, Worker
from crowd.services.groups import let_pass
from crowd.services.responses import REMEMBERED
from judgments.judging_config import (
    Choice,
    JudgingConfig,
    Lesson,
    TrainingConfig,
    accepted_steps,
    choices_of,
    judging_config,
    training_config,
)
from judgments.models import AttentionCheck, Candidate
from judgments.rating_source import exact
from judgments.selectors.candidates import reference_texts
from judgments.selectors.judging import (
    JudgedItem,
    candidates_of,
    not_asked_about,
    pending_of_stage,
    queries_of,
    read_judged_items,
    shared_queries,
    system_choices,
    texts_of,
    trained,
    without_correct_answer,
)
from judgments.selectors.ratings import other_scale_in_training
from judgments.selectors.scores import random_scores_caution
from judgments.services import reports
from judgments.services.candidates import human_candidates, refresh_exact
from judgments.services.filter_runs import reconsider_run
from judgments.services.judging import ensure_checks, in_units, keep_references, record_judgments
from judgments.units import candidate_of, check_of, is_check, of_candidate, of_check
from judgments.word_overlap import nearest
from metrics.agreement.scale import Scale

#: Standard deviation of attentive people's scores around what they mean, in points of a scale of 1 to 5.
_NOISE = 0.5
_POINTS = 4


def simulated_judgment(stage: Stage, unit: str, profile: Profile, rng: random.Random) -> dict[str, str]:
    """Fields of the form. Who fails checks or chooses at random does so by their profile, not here."""
    config = judging_config(stage)
    if is_check(unit):
        return _fields(config, _meant(unit, config.rating_scale), rng)
    truth = true_score(candidate_of(unit), config)
    low, high = config.rating_scale.ends
    strayed = (profile.bias + rng.gauss(0.0, _NOISE)) * (high - low) / _POINTS
    return _fields(config, truth + strayed, rng)


def _meant(unit: str, scale: Scale) -> float:
    """The most decided of the scores that a check accepts: 1 of 1 and 2, 5 of 4 and 5."""
    check = AttentionCheck.objects.get(pk=check_of(unit))
    choose = max if check.source == AttentionCheck.Source.REFERENCE else min
    return float(scale.number(choose(check.accepted)))


def true_score(candidate: int, config: JudgingConfig) -> float:
    """The truth of a candidate, on the stage's scale.

    The column `truth` of the query's file may have it, as `scores` by the system's name, on the ends that its
    `scale` names, or else on those of the stage. Otherwise it is how much the answer shares with the
    reference that is most like it.
    """
    row = Candidate.objects.select_related("query", "system").get(pk=candidate)
    low, high = config.rating_scale.ends
    score = known_score(row.query.extra, row.system.name)
    if score is None:
        references = reference_texts([row.query_id])[row.query_id]
        return low + (high - low) * nearest(row.text, references)
    least, most = known_scale(row.query.extra) or (low, high)
    if (least, most) != (low, high):
        score = low + (high - low) * (score - least) / (most - least)
    return min(float(high), max(float(low), score))


def _fields(config: JudgingConfig, score: float, rng: random.Random) -> dict[str, str]:
    scale = config.rating_scale
    low, high = scale.ends
    fields = {"score": scale.text(scale.nearest(score))}
    for aspect in config.aspects:
        fields[aspect.name] = _aspect(aspect.labels, (score - low) / (high - low), rng)
    return fields | ({"comment": ""} if config.comment else {})


def _aspect(labels: Sequence[str], share: float, rng: random.Random) -> str:
    """A score that goes along with the overall one, with more noise."""
    points = len(labels)
    meant = 1 + share * (points - 1) + rng.gauss(0.0, 2 * _NOISE)
    return str(round(min(float(points), max(1.0, meant))))


class Judging(SimpleKind):
    """Units are `candidate:PK` of answers that are not set aside, and `check:PK` for attention checks."""

    name = "judging"
    label = "Judging: how correct are systems' answers?"
    config = JudgingConfig
    suggested: ClassVar[Mapping[str, Any]] = {
        "title": "Judging",
        "reward": "0.15",
        "redundancy": 10,
        "expected_minutes": 0.7,
    }

    def listing(self, terms: HitTerms) -> Listing:
        """Answers to judge; with shared queries the terms alone do not say how many they are."""
        config = terms.config if isinstance(terms.config, JudgingConfig) else None
        if config and config.wording == "dialogue":
            return Listing(
                f"Judge responses in dialogues{terms.time}",
                "Each time, read a dialogue and a response to its last message, then choose a score: "
                f"“{config.question}”",
                "judging, reading, dialogue",
            )
        several = "answers" if config and config.shared_queries else terms.count("an answer", "answers")
        passage = "a short passage, " if config is None or config.passages else ""
        question = config.question if config else JudgingConfig.model_fields["question"].default
        one = several == "an answer"
        return Listing(
            f"Judge {several} to {'a question' if one else 'questions'}{terms.time}",
            f"{'Read' if one else 'Each time, read'} {passage}a question and an answer to it, then choose "
            f"a score: “{question}”",
            "judging, reading, answers",
        )

    def choices(self, project: Project) -> Mapping[str, Mapping[str, str]]:
        """The systems of the project, with how many answers of each there are to judge."""
        return {"systems": system_choices(project)}

    def left_out(self, stage: Stage) -> Mapping[str, int]:
        """Answers of systems that nobody is asked about."""
        return not_asked_about(stage, judging_config(stage))

    def cautions(self, stage: Stage) -> Sequence[str]:
        """Answers beside which judges would see no correct one; judges who were trained on another scale."""
        config = judging_config(stage)
        return [*without_correct_answer(stage, config), *other_scale_in_training(stage, config)]

    def prepare(self, stage: Stage) -> None:
        """Continuations are candidates; answers that equal a reference written since are not paid for."""
        if Stage.objects.filter(project=stage.project_id, kind="continuation").exists():
            human_candidates(stage.project)
        refresh_exact(stage.project)

    def pending(self, stage: Stage) -> Iterator[PendingUnit]:
        """Answers with fewer judgments that count than are wanted; shared ones come with all others."""
        config = judging_config(stage)
        for candidate, n in pending_of_stage(stage, config):
            yield PendingUnit(of_candidate(candidate), n)

    def checks(self, stage: Stage) -> list[str]:
        """One unit per attention check, which are made when they are first asked for."""
        return [of_check(check) for check in ensure_checks(stage, judging_config(stage))]

    def overlap(self, stage: Stage) -> list[str]:
        """All answers to the shared queries."""
        config = judging_config(stage)
        shared = shared_queries(stage, config)
        return [of_candidate(pk) for pk in candidates_of(stage, config, shared)] if shared else []

    def together(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """Answers to one query."""
        return {unit: str(query) for unit, query in queries_of(units).items()}

    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        """Passages, question, predicted and correct answer, then the scale; nothing about the system."""
        return self.pages(stage, [unit], seed)[unit]

    def pages(self, stage: Stage, units: Sequence[str], seed: int) -> Mapping[str, Page]:
        """Passages, question, predicted and correct answer, then the scale; nothing about the system."""
        config = judging_config(stage)
        judged_items = read_judged_items(stage, units, config, seed)
        return {
            unit: Page(
                "judgments/judging.html",
                _context(judged_items[unit], config) | {"language": stage.project.language},
                config.instructions,
            )
            for unit in units
        }

    def freeze(self, stage: Stage, units: Sequence[str]) -> None:
        """The correct answers of these units' queries stay as they are for all their judges."""
        keep_references(stage, queries_of(units).values(), judging_config(stage))

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        """The scores, on the stage's scales."""
        return read_judgment(judging_config(stage), form)

    def passes(self, stage: Stage, unit: str, response: Any) -> bool:
        """The score is one of those that the check accepts."""
        accepted = AttentionCheck.objects.values_list("accepted", flat=True)
        score = in_units(response["score"], judging_config(stage).rating_scale)
        return score in accepted.get(pk=check_of(unit))

    def scopes(self, stage: Stage, unit: str) -> list[str]:
        """Who wrote an answer to the query judges none of them."""
        return sorted(self.all_scopes(stage, [unit]))

    def scopes_by_unit(self, stage: Stage, units: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Who wrote an answer to a query judges none to it."""
        return {unit: [judge_scope(query)] for unit, query in queries_of(units).items()}

    def marks(self, stage: Stage, unit: str) -> list[str]:
        """Who judged an answer has read correct ones, and writes none to the query."""
        return sorted(self.all_marks(stage, [unit]))

    def all_marks(self, stage: Stage, units: Sequence[str]) -> set[str]:
        """Who judged answers to the queries writes none."""
        return {distil_scope(query) for query in queries_of(units).values()}

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Keep the judgment, or the answer to a check."""
        record_judgments(assignment=assignment, responses={unit: response})

    def record_all(self, assignment: Assignment, responses: Mapping[str, Any]) -> None:
        """Keep the judgments and the answers to checks."""
        record_judgments(assignment=assignment, responses=responses)

    def simulate(self, stage: Stage, unit: str, profile: Profile, rng: random.Random) -> Mapping[str, str]:
        """What somebody who read everything chooses."""
        return simulated_judgment(stage, unit, profile, rng)

    def simulated_caution(self, stage: Stage) -> str:
        """What to say of a stage whose simulated judges knew no truth."""
        return random_scores_caution(stage)

    def settle(self, stage: Stage) -> dict[str, Any]:
        """Nothing is decided without a person; the report on agreement is kept from growing old."""
        return {"report": "asked for"} if reports.keep_fresh(stage) else {}

    def reconsider(self, stage: Stage, changed: Mapping[int, str]) -> None:
        """The filters in force decide again where they saw work that began or ceased to count."""
        reconsider_run(stage, changed)

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """The query and the answer, cut."""
        return texts_of(units)


def _context(judged_item: JudgedItem, config: JudgingConfig) -> dict[str, Any]:
    """What the template shows of one answer."""
    return {
        "turns": judged_item.material.turns if config.context else (),
        "passages": judged_item.material.passages if config.passages else (),
        "question": judged_item.material.query.text,
        "predicted": judged_item.text,
        "correct": judged_item.correct,
        "others": judged_item.others,
        "asked": config.question,
        "dialogue": config.wording == "dialogue",
        **shown_scale(config),
        "aspects": [(each.name, each.question, _numbered(each.labels)) for each in config.aspects],
        "comment": config.comment,
        "longest_comment": LONGEST_COMMENT,
    }


def _numbered(labels: Sequence[str]) -> list[Choice]:
    """Scores of a further question, with their labels."""
    return [Choice(str(score), label) for score, label in enumerate(labels, 1)]


# Reading a judge's form: a score on the overall scale, one on that of each aspect, perhaps a comment.

ScaleOptions = JudgingConfig | TrainingConfig
LONGEST_COMMENT = 2000
_LONGEST_SHOWN = 20
#: Labels that stand side by side on a phone: how many, and how many characters they and their words have.
_MOST_IN_A_ROW, _LONGEST_IN_A_ROW, _LONGEST_WORD = 5, 24, 11


def read_judgment(config: JudgingConfig, form: Mapping[str, str]) -> ParsedForm:
    """The response {score, aspects, comment?}, or errors by field."""
    errors: dict[str, str] = {}
    scale = config.rating_scale
    score = read_score(form.get("score", ""), config, scale)
    if score is None:
        errors["score"] = wrong_score(form.get("score", ""), config, scale)
    aspects: dict[str, int] = {}
    for aspect in config.aspects:
        aspect_score = _score(form.get(aspect.name, ""), len(aspect.labels))
        if aspect_score is None:
            errors[aspect.name] = gettext("Choose a score for “%(question)s”") % {"question": aspect.question}
        else:
            aspects[aspect.name] = aspect_score
    response: dict[str, Any] = {"score": None if score is None else scale.number(score), "aspects": aspects}
    if config.comment:
        comment = form.get("comment", "").strip()
        if len(comment) > LONGEST_COMMENT:
            errors["comment"] = gettext(
                "Your comment has %(comment)s characters; at most %(longest_comment)s "
                "fit. Shorten it, please."
            ) % {"comment": intcomma(len(comment)), "longest_comment": intcomma(LONGEST_COMMENT)}
        response["comment"] = comment
    return ParsedForm(errors=errors) if errors else ParsedForm(response)


def read_score(text: str, config: ScaleOptions, scale: Scale) -> int | None:
    """The score that somebody chose, moved to or typed, in units of the scale; None for any other text."""
    if config.scale != "slider":
        return next((step for step in scale.scores if scale.text(step) == text), None)
    value = exact(text.strip())
    return None if value is None else scale.step_of(value)


def wrong_score(text: str, config: ScaleOptions, scale: Scale) -> str:
    """What to do, for somebody who gave no score, or one that is none of the scale."""
    low, high = scale.text(scale.low), scale.text(scale.high)
    if config.scale != "slider":
        return gettext("Choose a score from %(low)s, %(worst)s, to %(high)s, %(best)s.") % {
            "low": low,
            "worst": config.labels[0],
            "high": high,
            "best": config.labels[-1],
        }
    if not text.strip():
        return gettext(
            "You gave no score yet. Move the slider, or type a number from %(low)s, "
            "%(worst)s, to %(high)s, %(best)s."
        ) % {"low": low, "worst": config.labels[0], "high": high, "best": config.labels[-1]}
    excerpt = text.strip()[:_LONGEST_SHOWN]
    sentence = (
        gettext("“%(excerpt)s” is no score from %(low)s to %(high)s.")
        if scale.step == 1
        else gettext("“%(excerpt)s” is no score from %(low)s to %(high)s in steps of %(step)s.")
    )
    parts = {"excerpt": excerpt, "low": low, "high": high, "step": f"{scale.step:g}"}
    return f"{sentence % parts} " + gettext("Move the slider, or type another number.")


def shown_scale(config: ScaleOptions) -> dict[str, Any]:
    """What the template needs to show the overall scale."""
    scale = config.rating_scale
    texts = [scale.text(step) for step in scale.scores]
    ends = [Choice(texts[0], config.labels[0]), Choice(texts[-1], config.labels[-1])]
    if config.scale == "slider":
        middle = texts[len(texts) // 2]
        return {"slider": {"ends": ends, "step": f"{scale.step:g}", "middle": middle}}
    choices = choices_of(config.scale, config.labels, scale)
    all_labelled, halves = all(choice.label for choice in choices), config.scale == "halves"
    return {
        "labels": choices,
        "in_a_row": fit_in_a_row(config.labels) and (all_labelled or halves),
        "layout": f"halves of-{len(config.labels)}" if halves else "" if all_labelled else "numbers",
        "ends": () if all_labelled or halves else ends,
    }


def fit_in_a_row(labels: Sequence[str]) -> bool:
    """Whether the labels of a scale are short enough to stand side by side."""
    return len(labels) <= _MOST_IN_A_ROW and all(
        len(label) <= _LONGEST_IN_A_ROW and all(len(word) <= _LONGEST_WORD for word in label.split())
        for label in labels
    )


def _score(value: str, points: int) -> int | None:
    return int(value) if value in {str(score) for score in range(1, points + 1)} else None


_LESSON = "lesson:"
#: What is remembered of the first choice.
FIRST = "first"


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
        return pending_lessons(stage, _lesson_units(stage))

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
                "remembered": REMEMBERED + FIRST,
            },
            config.instructions,
        )

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        """The score; a wrong one is explained and asked again, and the first one is remembered."""
        config, lesson = training_config(stage), _lesson(stage, unit)
        scale, right = config.rating_scale, _accepted(config, lesson)
        score = read_score(form.get("score", ""), config, scale)
        if score is None:
            return ParsedForm(errors={"score": wrong_score(form.get("score", ""), config, scale)})
        first = read_score(form.get(REMEMBERED + FIRST, ""), config, scale)
        first = score if first is None else first
        remember = {FIRST: scale.text(first)}
        if score not in right:
            return ParsedForm(errors={"score": choose_again(lesson.reason)}, remember=remember)
        response = {
            "first": scale.number(first),
            "right_at_first": first in right,
            "score": scale.number(score),
        }
        return ParsedForm(response, remember=remember)

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Nothing to add: the assignment has it."""

    def settle(self, stage: Stage) -> dict[str, Any]:
        """Those who did all examples and chose enough of them right at first get into the group."""
        config = training_config(stage)
        return admit(stage, len(config.lessons), config.pass_share)

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """Question and answer of the example."""
        lessons = {unit: _lesson(stage, unit) for unit in units}
        return {unit: f"{quoted(each.question)}: {quoted(each.answer)}" for unit, each in lessons.items()}

    def simulate(self, stage: Stage, unit: str, profile: Profile, rng: random.Random) -> Mapping[str, str]:
        """A score that is right."""
        config = training_config(stage)
        return {"score": config.rating_scale.text(rng.choice(_accepted(config, _lesson(stage, unit))))}


# What every training does, also that of a questionnaire.


def pending_lessons(stage: Stage, units: Sequence[str]) -> Iterator[PendingUnit]:
    """Lessons that fewer people did than are let in."""
    good = Claim.objects.filter(stage=stage, assignment__state__in=Assignment.GOOD)
    done = Counter(good.values_list("unit", flat=True))
    for unit in units:
        if done[unit] < stage.redundancy:
            yield PendingUnit(unit, stage.redundancy - done[unit])


def choose_again(reason: str) -> str:
    """What somebody reads whose choice was not the right one."""
    return gettext("Not quite. %(reason)s Please choose again; you are paid for this either way.") % {
        "reason": reason
    }


def admit(stage: Stage, lessons: int, pass_share: float) -> dict[str, Any]:
    """Let those into the group who did all lessons and had enough of them right at first."""
    needed = passing(lessons, pass_share)
    done = [each for each in trained(stage) if each.done >= lessons]
    passed = [each.worker for each in done if each.right_at_first >= needed]
    new = let_pass(stage, Worker.objects.filter(pk__in=passed).order_by("pk"))
    return {"done": len(done), "passed": len(passed), "new": new}


def passing(lessons: int, pass_share: float) -> int:
    """How many lessons must be right at first; the share is rounded up."""
    # .28 of 25 is 7, but as binary fractions a hair more.
    return math.ceil(pass_share * lessons - 1e-9)


def _accepted(config: TrainingConfig, lesson: Lesson) -> list[int]:
    """The scores that are right, in units of the scale."""
    return accepted_steps(lesson.accepted, config.rating_scale)


def _lesson_units(stage: Stage) -> list[str]:
    return [f"{_LESSON}{number}" for number in range(len(training_config(stage).lessons))]


def _lesson(stage: Stage, unit: str) -> Lesson:
    return training_config(stage).lessons[int(unit.removeprefix(_LESSON))]
