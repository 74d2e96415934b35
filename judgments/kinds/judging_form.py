"""Reading a judge's form: a score on the overall scale, one on that of each aspect, perhaps a comment."""

from collections.abc import Mapping, Sequence
from typing import Any

from crowd.kinds import ParsedForm
from judgments.importing.rating_fields import exact
from judgments.kinds.judging_config import Choice, JudgingConfig, TrainingConfig, choices_of
from metrics.agreement.scale import Scale

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
        chosen = _score(form.get(aspect.name, ""), len(aspect.labels))
        if chosen is None:
            errors[aspect.name] = f"Choose a score for “{aspect.question}”"
        else:
            aspects[aspect.name] = chosen
    response: dict[str, Any] = {"score": None if score is None else scale.number(score), "aspects": aspects}
    if config.comment:
        comment = form.get("comment", "").strip()
        if len(comment) > LONGEST_COMMENT:
            errors["comment"] = (
                f"Your comment has {len(comment):,} characters; at most {LONGEST_COMMENT:,} fit. "
                "Shorten it, please."
            )
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
        return f"Choose a score from {low}, {config.labels[0]}, to {high}, {config.labels[-1]}."
    if not text.strip():
        return (
            f"You gave no score yet. Move the slider, or type a number from {low}, {config.labels[0]}, to "
            f"{high}, {config.labels[-1]}."
        )
    shown = text.strip()[:_LONGEST_SHOWN]
    return f"“{shown}” is no score {scale.description}. Move the slider, or type another number."


def shown_scale(config: ScaleOptions) -> dict[str, Any]:
    """What the template needs to show the overall scale."""
    scale = config.rating_scale
    texts = [scale.text(step) for step in scale.scores]
    ends = [Choice(texts[0], config.labels[0]), Choice(texts[-1], config.labels[-1])]
    if config.scale == "slider":
        middle = texts[len(texts) // 2]
        return {"slider": {"ends": ends, "step": f"{scale.step:g}", "middle": middle}}
    choices = choices_of(config.scale, config.labels, scale)
    whole, halves = all(choice.label for choice in choices), config.scale == "halves"
    return {
        "labels": choices,
        "in_a_row": fit_in_a_row(config.labels) and (whole or halves),
        "layout": f"halves of-{len(config.labels)}" if halves else "" if whole else "numbers",
        "ends": () if whole or halves else ends,
    }


def fit_in_a_row(labels: Sequence[str]) -> bool:
    """Whether the labels of a scale are short enough to stand side by side."""
    return len(labels) <= _MOST_IN_A_ROW and all(
        len(label) <= _LONGEST_IN_A_ROW and all(len(word) <= _LONGEST_WORD for word in label.split())
        for label in labels
    )


def _score(value: str, points: int) -> int | None:
    return int(value) if value in {str(score) for score in range(1, points + 1)} else None
