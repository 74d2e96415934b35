"""Options of correctness judging (paper 002, section 4.2 and figure 6; paper 004, section 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from crowd.kinds import StageConfig, config_of
from crowd.models import Stage
from crowd.study.schema import Words
from crowd.texts import LANGUAGES, InstructionTexts, Language, Texts, check_number, in_languages
from judgments.rating_source import accepted_scores, exact, is_range
from metrics.agreement.scale import Scale

# Options that say on which scale people score: the same for judging and for the training of judges.
#
# Scores are stored in whole units of the scale (`metrics.agreement.scale.Scale`). An opened stage
# never changes them.

#: Figure 6 of paper 002.
LABELS = ("completely wrong", "vital error", "ambiguous", "minor error", "completely correct")
#: Numbers to choose from that still find their place on a phone; more scores are given with a slider.
MOST_CHOICES = 11

Label = Annotated[str, Field(min_length=1, max_length=120)]
Labels = Annotated[tuple[Label, ...], Field(min_length=2, max_length=7)]
ScaleLabels = Annotated[
    Labels,
    Field(
        description="Two to seven labels from the lowest score, which is 1: one for each score. With a "
        "slider or numbers the first and the last one are those of the ends."
    ),
]
ScaleKind = Annotated[
    Literal["labels", "halves", "slider", "numbers"],
    Words(
        {
            "labels": "A label for each score: 1 to 5, with five labels",
            "halves": "The same with half points between: 1, 1.5, 2 …",
            "slider": "A slider, 0 to 100 or between ends of your own",
            "numbers": "Numbers to choose from, between ends of your own",
        }
    ),
    Field(
        description="What judges choose from; an opened stage keeps it. Numbers are side by side, at most "
        f"{MOST_CHOICES}; for more scores take a slider."
    ),
]
_END = Field(ge=-10_000, le=10_000, allow_inf_nan=False)
ScaleLeast = Annotated[float, _END, Field(title="Lowest score", description="Of a slider or numbers.")]
ScaleMost = Annotated[float, _END, Field(title="Highest score", description="Of a slider or numbers.")]


def _refuse_any(step: Any) -> Any:
    if isinstance(step, str) and step.strip().casefold() == "any":
        raise ValueError(
            "a stage keeps scores exactly, in whole steps. Write the finest step that you want to tell "
            "apart, such as 0.1 for 0 to 100; filter and evaluate read files with any number"
        )
    return step


ScaleStep = Annotated[
    float,
    Field(
        ge=0.01,
        le=10_000,
        allow_inf_nan=False,
        title="Step between scores",
        description="Of a slider or numbers: such as 1, 5 or 0.5. 0 to 100 in steps of 0.1 is the finest.",
    ),
    BeforeValidator(_refuse_any),
]
LEAST, MOST, STEP = 0.0, 100.0, 1.0


def _readable(text: int | float | str) -> int | float | str:
    """A number as such also where a form sends it as text; ranges stay as they are."""
    if not isinstance(text, str):
        return text
    number = exact(text.strip())
    if number is None and not is_range(text.strip()):
        raise ValueError("this is neither a number nor a range such as 80-100 or >=80")
    if number is None:
        return text.strip()
    return int(number) if number.denominator == 1 else float(number)


#: Scores that are right: numbers, and for long scales ranges such as "80-100", ">=80" or "<=20".
Accepted = Annotated[
    tuple[Annotated[int | float | str, AfterValidator(_readable)], ...], Field(min_length=1, max_length=12)
]


@dataclass(frozen=True, slots=True)
class Choice:
    """A score as the form sends it, with its label, which may be empty."""

    score: str
    label: str


def scale_of_options(options: Mapping[str, Any]) -> Scale:
    """The scale that a stage's options describe, 1 to 5 where they name none; ValueError in words."""
    labels = options.get("labels") or LABELS
    match options.get("scale", "labels"):
        case "slider" | "numbers":
            ends = (options.get("scale_least", LEAST), options.get("scale_most", MOST))
            step = _fraction(options.get("scale_step", STEP))
            return Scale.of(_fraction(ends[0]), _fraction(ends[1]), step)
        case "halves":
            return Scale.of(1, len(labels), Fraction(1, 2))
        case _:
            return Scale(1, len(labels))


def _fraction(number: float) -> Fraction:
    """The decimal number that somebody wrote, not the one that a computer keeps for it."""
    return Fraction(repr(number))


def fitting_scale(options: Mapping[str, Any]) -> Scale:
    """The scale; ValueError in words where the options do not fit together."""
    kind = options["scale"]
    moved = (options["scale_least"], options["scale_most"], options["scale_step"]) != (LEAST, MOST, STEP)
    if kind in ("labels", "halves") and moved:
        raise ValueError(
            "scale_least, scale_most and scale_step belong to a slider or to numbers: say so in scale, or "
            "take them out"
        )
    try:
        scale = scale_of_options(options)
    except ValueError as error:
        raise ValueError(f"scale: {error}") from error
    if kind == "numbers" and len(scale.scores) > MOST_CHOICES:
        raise ValueError(
            f"scale: {len(scale.scores):,} numbers are too many to choose from; at most {MOST_CHOICES} are "
            'shown side by side. Take larger steps, or scale = "slider"'
        )
    return scale


def accepted_steps(accepted: Sequence[float | str], scale: Scale) -> list[int]:
    """The scores in units, from the lowest; ValueError, in words, for what is none of the scale."""
    all_steps: set[int] = set()
    for each in accepted:
        steps = accepted_scores(each if isinstance(each, str) else repr(each), scale)
        if not steps:
            raise ValueError(f"a score that is not on the scale {scale.description}: {each}")
        all_steps |= steps
    return sorted(all_steps)


def choices_of(kind: str, labels: Sequence[str], scale: Scale) -> list[Choice]:
    """What judges choose from, each with its label; those between labels have none."""
    texts = [scale.text(step) for step in scale.scores]
    if kind == "halves":
        return [Choice(text, labels[at // 2] if at % 2 == 0 else "") for at, text in enumerate(texts)]
    if len(labels) == len(texts):
        return [Choice(text, label) for text, label in zip(texts, labels, strict=True)]
    return [Choice(text, "") for text in texts]


def labels_by_score(kind: str, labels: Sequence[str], scale: Scale) -> dict[str, str]:
    """The labels by the scores that they belong to, as these are written; of a slider those of the ends."""
    choices = choices_of(kind, labels, scale) if kind != "slider" else []
    named = {choice.score: choice.label for choice in choices if choice.label}
    return named or {scale.text(scale.low): labels[0], scale.text(scale.high): labels[-1]}


_INSTRUCTIONS = (
    "Read everything that is shown, then say how correct the predicted answer is. A program or a person gave "
    "it; it may use other words than a correct answer and still be completely correct."
)
_INSTRUCTION = "This line is here to see whether the answers are read. Please choose {score} for it."


class Part(BaseModel):
    """A table inside the options; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Aspect(Part):
    """A further question about the same answer, asked after the overall one."""

    name: str = Field(
        min_length=1, max_length=40, pattern=r"^[a-z][a-z0-9_-]*$", description="Names it in the data."
    )
    question: str = Field(min_length=1, max_length=300, description="What judges read.")
    labels: Labels = Field(default=LABELS, description="Its scale, from the lowest score, which is 1.")


class AspectTexts(Texts):
    """A further question in one more language."""

    question: str = Field(default="", max_length=300, description="What judges read.")
    labels: tuple[Label, ...] = Field(default=(), max_length=7, description="Its labels.")


class ScaleTexts(InstructionTexts):
    """Question and scale in one more language."""

    question: str = Field(default="", max_length=300, description="The overall question.")
    labels: tuple[Label, ...] = Field(default=(), max_length=7, description="The labels, in their order.")


class JudgingTexts(ScaleTexts):
    """What judges read, in one more language."""

    aspects: Mapping[str, AspectTexts] = Field(
        default_factory=dict, description="Further questions by name: question, and labels."
    )

    def worded_options(self, config: BaseModel) -> dict[str, Any]:
        """With the further questions that this language has."""
        assert isinstance(config, JudgingConfig)
        aspects = tuple(
            each.model_copy(update={name: text for name, text in self.aspects[each.name] if text})
            if each.name in self.aspects
            else each
            for each in config.aspects
        )
        return super().worded_options(config) | {"aspects": aspects}

    def lacking(self, config: BaseModel) -> list[str]:
        """With what is missing of further questions."""
        assert isinstance(config, JudgingConfig)
        none = AspectTexts()
        return super().lacking(config) + [
            f"{name} of {each.name}"
            for each in config.aspects
            for name, text in self.aspects.get(each.name, none)
            if not text
        ]


class Gold(Part):
    """An attention check that a researcher wrote: an answer to a query, and the scores that pass."""

    query: str = Field(min_length=1, max_length=200, description="The key of the query.")
    text: str = Field(min_length=1, max_length=5000, description="What is shown as the answer.")
    accepted: Accepted = Field(
        description='The scores that pass; on long scales also ranges such as "80-100" or ">=80".'
    )
    reason: str = Field(default="", max_length=300, description="Why these.")


class JudgingConfig(StageConfig):
    """What judges see and are asked, which attention checks are made, and how many judgments are enough."""

    instructions: str = Field(
        default=_INSTRUCTIONS,
        max_length=4000,
        description="Shown with the instructions, above all answers of a HIT.",
    )
    question: str = Field(
        default="How correct is the predicted answer?",
        min_length=1,
        max_length=300,
        description="The overall question, which comes first and on its own.",
    )
    wording: Literal["question", "dialogue"] = Field(
        default="question",
        description="What the page calls what is judged: an answer to a question, or a response to the last "
        "message of a dialogue.",
    )
    scale: ScaleKind = "labels"
    labels: ScaleLabels = LABELS
    scale_least: ScaleLeast = LEAST
    scale_most: ScaleMost = MOST
    scale_step: ScaleStep = STEP
    aspects: tuple[Aspect, ...] = Field(
        default=(),
        max_length=6,
        description="Further questions after the overall one: name, question, and labels for another scale.",
    )
    comment: bool = Field(default=False, description="Offer a field for a comment, which may stay empty.")
    systems: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(
        default=(),
        max_length=100,
        description="Names of the systems whose answers are judged; none means all of the project.",
    )
    passages: bool = Field(default=True, description="Show the curated passages of the query.")
    context: bool = Field(default=True, description="Show the earlier turns of the conversation.")
    reference: Literal["central", "one", "all", "none"] = Field(
        default="central",
        description="Correct answers that judges see, always accepted ones, and the same for all judges: "
        "central, the one that shares most words with the others, and all of them on demand; one, drawn by "
        "the seed; all of them; or none.",
    )
    shared_queries: int = Field(
        default=0,
        ge=0,
        le=50,
        description="Queries, chosen by the seed, all of whose answers each judge gets besides their own; "
        "agreement between all judges can then be measured on them.",
    )
    foreign_checks: int = Field(
        default=6,
        ge=0,
        le=200,
        description="Attention checks that show an answer to another query. Checks are made only if the "
        "stage has checks_per_hit.",
    )
    reference_checks: int = Field(
        default=6, ge=0, le=200, description="Attention checks that show a reference as the predicted answer."
    )
    instruction_checks: int = Field(
        default=0, ge=0, le=200, description="Attention checks whose answer says which score to choose."
    )
    instruction: str = Field(
        default=_INSTRUCTION,
        max_length=300,
        description="What such a check says; {score} is replaced by the score.",
    )
    gold: tuple[Gold, ...] = Field(
        default=(),
        max_length=200,
        description="Attention checks that you write: query, text, accepted scores, reason.",
    )
    redundancy_mode: Literal["fixed", "precision", "decision"] = Field(
        default="fixed",
        description="When an answer has enough judgments: fixed, as many as the stage's redundancy; "
        "precision, when the mean is known to half_width; decision, when it is clear on which side of "
        "threshold the mean lies.",
    )
    least_judgments: int = Field(
        default=5,
        ge=2,
        le=100,
        description="Modes precision and decision: fewest judgments of an answer.",
    )
    most_judgments: int = Field(
        default=15, ge=2, le=100, description="Modes precision and decision: most judgments of an answer."
    )
    half_width: float = Field(
        default=0.8,
        ge=0.05,
        le=10_000,
        description="Mode precision: half the width of the 95 % interval of the mean, in points of the "
        "scale; at most half of it.",
    )
    threshold: float = Field(
        default=3.5,
        allow_inf_nan=False,
        description="Mode decision: the mean from which an answer counts as correct, a number of the scale.",
    )
    target_alpha: float = Field(
        default=0.4,
        ge=-1,
        le=1,
        description="Krippendorff's alpha that you hope for; members get a notice when it is lower.",
    )

    languages: Mapping[Language, JudgingTexts] = in_languages()

    asked_options: ClassVar[tuple[str, ...]] = ("scale", "labels", "scale_least", "scale_most", "scale_step")
    advanced: ClassVar[frozenset[str]] = frozenset(
        {
            "wording", "scale_least", "scale_most", "scale_step", "aspects", "comment", "passages", "context",
            "reference", "shared_queries", "target_alpha", "foreign_checks", "reference_checks",
            "instruction_checks", "instruction", "gold", "redundancy_mode", "least_judgments",
            "most_judgments", "half_width", "threshold",
        }
    )  # fmt: skip

    @field_validator("instruction")
    @classmethod
    def _says_the_score(cls, text: str) -> str:
        if "{score}" not in text:
            raise ValueError("it does not say where {score} goes")
        return text

    @model_validator(mode="after")
    def _fits_together(self) -> "JudgingConfig":
        names = [aspect.name for aspect in self.aspects]
        if len(set(names)) < len(names) or RESERVED.intersection(names):
            raise ValueError("aspects need names of their own, other than score and comment")
        scale = fitting_scale(self.__dict__)
        self._check_languages()
        for gold in self.gold:
            try:
                accepted_steps(gold.accepted, scale)
            except ValueError as error:
                raise ValueError(f"gold of {gold.query} accepts {error}") from error
        if self.most_judgments < self.least_judgments:
            raise ValueError("most_judgments is below least_judgments")
        low, high = scale.ends
        if self.scale in ("labels", "halves"):
            return self
        if self.redundancy_mode == "precision" and self.half_width > (high - low) / 2:
            raise ValueError(f"half_width is more than half of the scale {scale.description}")
        if self.redundancy_mode == "decision" and not low <= self.threshold <= high:
            raise ValueError(f"threshold is not on the scale {scale.description}")
        return self

    def _check_languages(self) -> None:
        by_name = {each.name: each for each in self.aspects}
        for language, texts in self.languages.items():
            check_number((language, "labels"), texts.labels, self.labels)
            for name, aspect in texts.aspects.items():
                path = (language, "aspects", name)
                if name not in by_name:
                    raise PydanticCustomError(
                        "wrong-value",
                        "the stage has no aspect {name}: {known}",
                        {
                            "name": repr(name),
                            "known": f"it has {', '.join(by_name)}" if by_name else "it has none",
                            "within": (LANGUAGES, *path),
                        },
                    )
                check_number((*path, "labels"), aspect.labels, by_name[name].labels)

    @property
    def rating_scale(self) -> Scale:
        """The overall scale; scores are stored in its units."""
        return scale_of_options(self.__dict__)

    @property
    def low(self) -> tuple[int, ...]:
        """Scores that a wrong answer may get, in units: the lower two fifths, 1 and 2 of five."""
        scores = self.rating_scale.scores
        return tuple(scores[: max(1, len(scores) * 2 // 5)])

    @property
    def high(self) -> tuple[int, ...]:
        """Scores that a right answer may get, in units: as many as `low`, from above; 4 and 5 of five."""
        return tuple(self.rating_scale.scores[-len(self.low) :])


#: Fields of the form that are no aspects.
RESERVED = frozenset({"score", "comment"})


def judging_config(stage: Stage) -> JudgingConfig:
    """The stage's options, typed."""
    config = config_of(stage)
    assert isinstance(config, JudgingConfig)
    return config


# Options of a training for judges, which is a qualification test too.

_TRAINING_INSTRUCTIONS = (
    "These are examples to learn the scale by. Read each one and choose a score. Where it is not the one we "
    "mean, you read why and choose again. You are paid for this whatever you chose first."
)


class Lesson(Part):
    """One example: what is shown, the scores that are right, and why."""

    question: str = Field(min_length=1, max_length=2000, description="The question.")
    answer: str = Field(min_length=1, max_length=5000, description="The predicted answer.")
    correct: str = Field(default="", max_length=5000, description="The correct answer.")
    passage: str = Field(default="", max_length=20_000, description="The passage.")
    accepted: Accepted = Field(
        description='The scores that are right; on long scales also ranges such as "80-100" or ">=80".'
    )
    reason: str = Field(min_length=1, max_length=500, description="Why; who chose another score reads it.")


class TrainingConfig(StageConfig):
    """What future judges learn from, and how many first choices must be right to pass."""

    instructions: str = Field(
        default=_TRAINING_INSTRUCTIONS, max_length=4000, description="What is shown above the examples."
    )
    question: str = Field(
        default="How correct is the predicted answer?",
        min_length=1,
        max_length=300,
        description="The question about each example, the same as in the judging stage.",
    )
    scale: ScaleKind = "labels"
    labels: ScaleLabels = LABELS
    scale_least: ScaleLeast = LEAST
    scale_most: ScaleMost = MOST
    scale_step: ScaleStep = STEP
    lessons: tuple[Lesson, ...] = Field(
        min_length=1,
        max_length=50,
        description="The examples: question, answer, correct, passage, accepted scores, reason. Set the "
        "stage's units_per_hit to their number, so that each judge gets all of them.",
    )
    pass_share: float = Field(
        default=0.75,
        ge=0,
        le=1,
        description="Share of the examples that must be right at the first choice. Who passes may do the "
        "stages that ask for it by a rule of the kind passed.",
    )
    languages: Mapping[Language, ScaleTexts] = in_languages()

    @model_validator(mode="after")
    def _on_the_scale(self) -> "TrainingConfig":
        scale = fitting_scale(self.__dict__)
        for language, texts in self.languages.items():
            check_number((language, "labels"), texts.labels, self.labels)
        for number, lesson in enumerate(self.lessons, 1):
            try:
                accepted_steps(lesson.accepted, scale)
            except ValueError as error:
                raise ValueError(f"example {number} accepts {error}") from error
        return self

    @property
    def rating_scale(self) -> Scale:
        """The scale, the same as that of the judging stage."""
        return scale_of_options(self.__dict__)


def training_config(stage: Stage) -> TrainingConfig:
    """The stage's options, typed."""
    config = config_of(stage)
    assert isinstance(config, TrainingConfig)
    return config
