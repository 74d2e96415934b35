"""Options of a training for judges, which is a qualification test too."""

from pydantic import Field, model_validator

from crowd.kinds import StageConfig, config_of
from crowd.models import Stage
from judgments.kinds.judging_config import Part
from judgments.kinds.scale_config import (
    LABELS,
    LEAST,
    MOST,
    STEP,
    Accepted,
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
        default=_INSTRUCTIONS, max_length=4000, description="What stands above the examples."
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
        "stage's units_per_hit to their number, so that everybody gets all of them.",
    )
    pass_share: float = Field(
        default=0.75,
        ge=0,
        le=1,
        description="Share of the examples that must be right at the first choice. Who passes may do the "
        "stages that ask for it by a rule of the kind passed.",
    )

    @model_validator(mode="after")
    def _on_the_scale(self) -> "TrainingConfig":
        scale = fitting_scale(self.__dict__)
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
