"""The correct answers that the judges of a stage see, kept so that all of them see the same."""

from collections.abc import Iterable

from crowd.models import Stage
from judgments.kinds.judging_config import judging_config
from judgments.models import ShownReferences
from judgments.selectors.judge_view import references_shown

_AT_ONCE = 1000


def keep_references(stage: Stage, queries: Iterable[int]) -> None:
    """Keep what judges of these queries see; what was kept before stays, whatever was accepted since."""
    config = judging_config(stage)
    if config.reference == "none":
        return
    kept = set(ShownReferences.objects.filter(stage=stage).values_list("query", flat=True))
    new = sorted(set(queries).difference(kept))
    for start in range(0, len(new), _AT_ONCE):
        found = references_shown(stage, new[start : start + _AT_ONCE], config, stage.seed)
        ShownReferences.objects.bulk_create(
            (ShownReferences(stage=stage, query_id=query, texts=texts) for query, texts in found.items()),
            ignore_conflicts=True,
        )
