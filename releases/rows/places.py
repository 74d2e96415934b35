"""At which of several sources an answer or a rating was given."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from crowd.models import StageSource
from releases.rows.scope import Scope


def has_sources(scope: Scope) -> bool:
    """Whether some stage of the project asked people at several places."""
    return StageSource.objects.using(scope.using).filter(stage__project=scope.project).exists()


def source_rows_of(
    scope: Scope, rows: "QuerySet[Any]", *, prefix: str, size: int, of: str = "query_id"
) -> Iterator[list[tuple[Any, ...]]]:
    """Batches of id, stage, pseudonym, what the row is about, source and panel, in the order of keys."""
    several = StageSource.objects.using(scope.using).filter(stage=OuterRef("stage"))
    columns = rows.filter(Exists(several)).order_by("pk")
    read = columns.values_list(
        "pk", "stage__slug", "worker_id", of, "worker__endpoint__name", "worker__endpoint__protocol"
    ).iterator(size)
    while batch := list(islice(read, size)):
        names = scope.people.names(row[2] for row in batch)
        yield [
            (f"{prefix}{pk}", stage, names[worker], about, source, panel)
            for pk, stage, worker, about, source, panel in batch
        ]
