"""Answers of systems beside which judges would see no correct answer."""

from collections.abc import Sequence

from crowd.models import Stage
from judgments.kinds.judging_config import JudgingConfig
from judgments.selectors.judging import candidates_to_judge
from judgments.selectors.references import accepted_texts

_CHUNK = 2_000


def without_correct_answer(stage: Stage, config: JudgingConfig) -> Sequence[str]:
    """A caution where queries have no accepted reference: none came with them and none was approved."""
    if config.reference == "none":
        return ()
    queries = sorted(set(candidates_to_judge(stage, config).order_by().values_list("query", flat=True)))
    lacking = sum(
        not texts
        for start in range(0, len(queries), _CHUNK)
        for texts in accepted_texts(queries[start : start + _CHUNK]).values()
    )
    if not lacking:
        return ()
    some = "no query" if lacking == len(queries) else f"{lacking:,} of {len(queries):,} queries"
    have = "has an accepted one" if lacking == len(queries) else "have no accepted one"
    return (
        f"Judges are shown a correct answer, and {some} {have}: they would judge without it. "
        "Approve answers in the review first, or choose to show none.",
    )
