"""Options of correctness judging (paper 002, section 4.2 and figure 6; paper 004, section 2)."""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from crowd.kinds import StageConfig, config_of
from crowd.models import Stage
from judgments.kinds.scale_config import (
    LABELS,
    LEAST,
    MOST,
    STEP,
    Accepted,
    Labels,
    ScaleKind,
    ScaleLabels,
    ScaleLeast,
    ScaleMost,
    ScaleStep,
    accepted_steps,
    fitting_scale,
    scale_of_options,
)
from metrics.agreement.scale import Scale

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
        description="The overall question, which stands first and on its own.",
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
        description="Queries, chosen by the seed, all of whose answers everybody judges besides their own; "
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
        description="What such a check says; {score} stands for the score.",
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

    asked: ClassVar[tuple[str, ...]] = ("scale", "labels", "scale_least", "scale_most", "scale_step")
    advanced: ClassVar[frozenset[str]] = frozenset(
        {
            "comment", "foreign_checks", "reference_checks", "instruction_checks", "instruction", "gold",
            "redundancy_mode", "least_judgments", "most_judgments", "half_width", "threshold",
        }
    )  # fmt: skip

    @field_validator("instruction")
    @classmethod
    def _says_the_score(cls, text: str) -> str:
        if "{score}" not in text:
            raise ValueError("it does not say where {score} stands")
        return text

    @model_validator(mode="after")
    def _fits_together(self) -> "JudgingConfig":
        names = [aspect.name for aspect in self.aspects]
        if len(set(names)) < len(names) or RESERVED.intersection(names):
            raise ValueError("aspects need names of their own, other than score and comment")
        scale = fitting_scale(self.__dict__)
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
