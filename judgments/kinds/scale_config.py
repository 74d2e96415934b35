"""Options that say on which scale people score: the same for judging and for the training of judges.

Scores are stored in whole units of the scale (`metrics.agreement.scale.Scale`). An opened stage
never changes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from crowd.study.values import Words
from judgments.importing.rating_fields import accepted_scores, exact, is_range
from metrics.agreement.scale import Scale

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
        description="What judges choose from; an opened stage keeps it. Numbers stand side by side, at most "
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
    found: set[int] = set()
    for each in accepted:
        steps = accepted_scores(each if isinstance(each, str) else repr(each), scale)
        if not steps:
            raise ValueError(f"a score that is not on the scale {scale.description}: {each}")
        found |= steps
    return sorted(found)


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
