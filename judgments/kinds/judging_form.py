"""Reading a judge's form: a score on the overall scale, one on that of each aspect, perhaps a comment."""

from collections.abc import Mapping
from typing import Any

from crowd.kinds import Parsed
from judgments.kinds.judging_config import JudgingConfig

LONGEST_COMMENT = 2000


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


def _score(value: str, points: int) -> int | None:
    return int(value) if value in {str(score) for score in range(1, points + 1)} else None
