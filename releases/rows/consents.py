"""To which version of the consent text the person behind each row had agreed."""

from collections.abc import Callable
from typing import Any

from crowd.selectors.consents import AgreedTexts
from releases.rows.scope import Scope
from releases.tables import Batches

#: An id is a letter and the primary key of the row it stands for.
_PREFIX = 1


def rows_with_consent(
    scope: Scope, rows: Callable[[Scope], Batches], model: Any, agreed: Callable[[], AgreedTexts]
) -> Batches:
    """The rows of a table whose first column is its id, each with one value more; one statement per batch."""
    texts = agreed()
    for batch in rows(scope):
        keys = [int(row[0][_PREFIX:]) for row in batch]
        known = _consents(scope, model, keys, texts)
        yield [(*row, known.get(key)) for row, key in zip(batch, keys, strict=True)]


def _consents(scope: Scope, model: Any, keys: list[int], texts: AgreedTexts) -> dict[int, str | None]:
    """Keys of one batch are in order, so a range finds them without a list of thousands."""
    between = model.objects.using(scope.using).filter(
        pk__gte=min(keys), pk__lte=max(keys), assignment__stage__project=scope.project
    )
    columns = between.values_list(
        "pk",
        "assignment__stage_id",
        "assignment__external_id",
        "assignment__worker__external_id",
        "assignment__arrived_at",
    )
    return {
        pk: texts.version(stage=stage, submission=submission, worker=worker, at=at)
        for pk, stage, submission, worker, at in columns.iterator()
    }
