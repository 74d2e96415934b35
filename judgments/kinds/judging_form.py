"""Reading a judge's form: a score on the overall scale, one on that of each aspect, perhaps a comment."""

from collections.abc import Mapping, Sequence
from typing import Any

from crowd.kinds import Parsed
from judgments.kinds.judging_config import JudgingConfig

LONGEST_COMMENT = 2000
#: Labels that stand side by side on a phone: how many, and how many characters they and their words have.
_MOST_IN_A_ROW, _LONGEST_IN_A_ROW, _LONGEST_WORD = 5, 24, 11


def read_judgment(config: JudgingConfig, form: Mapping[str, str]) -> Parsed:
    """The response {score, aspects, comment?}, or errors by field."""
    errors: dict[str, str] = {}
    score = _score(form.get("score", ""), config.points)
    if score is None:
        errors["score"] = (
            f"Choose a score from 1, {config.labels[0]}, to {config.points}, {config.labels[-1]}."
        )
    aspects: dict[str, int] = {}
    for aspect in config.aspects:
        chosen = _score(form.get(aspect.name, ""), len(aspect.labels))
        if chosen is None:
            errors[aspect.name] = f"Choose a score for “{aspect.question}”"
        else:
            aspects[aspect.name] = chosen
    response: dict[str, Any] = {"score": score, "aspects": aspects}
    if config.comment:
        comment = form.get("comment", "").strip()
        if len(comment) > LONGEST_COMMENT:
            errors["comment"] = (
                f"Your comment has {len(comment):,} characters; at most {LONGEST_COMMENT:,} fit. "
                "Shorten it, please."
            )
        response["comment"] = comment
    return Parsed(errors=errors) if errors else Parsed(response)


def fit_in_a_row(labels: Sequence[str]) -> bool:
    """Whether the labels of a scale are short enough to stand side by side."""
    return len(labels) <= _MOST_IN_A_ROW and all(
        len(label) <= _LONGEST_IN_A_ROW and all(len(word) <= _LONGEST_WORD for word in label.split())
        for label in labels
    )


def _score(value: str, points: int) -> int | None:
    return int(value) if value in {str(score) for score in range(1, points + 1)} else None
