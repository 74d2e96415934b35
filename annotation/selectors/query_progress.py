"""What people have said about queries so far: of some of them, or of all queries of a project at once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from django.db.models import Count, QuerySet

from annotation.models import Answer, PassageSelection, ScreeningVote
from core.bulk_rows import integer_columns
from core.projects.models import Project
from crowd.counted_work import counting, not_counting
from crowd.models import Assignment, Stage

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Keys = npt.NDArray[np.integer[Any]]

Row = TypeVar("Row")
_Found = QuerySet[ScreeningVote] | QuerySet[PassageSelection] | QuerySet[Answer]
#: Rows of a file that are in memory together, and how many of them are counted as a page of a table is.
_AT_ONCE, _FEW = 1_000, 3_000


@dataclass(frozen=True, slots=True)
class Progress:
    """What people have said about a query so far, as far as it counts."""

    votes: int = 0
    selections: int = 0
    answers: int = 0


NOTHING = Progress()


def progress(queries: Iterable[int]) -> dict[int, Progress]:
    """Progress of these queries, by three statements; queries without any are missing."""
    query_ids = list(queries)
    that_count = counting("assignment")
    votes = _counts(ScreeningVote.objects.filter(that_count, query__in=query_ids))
    selections = _counts(PassageSelection.objects.filter(that_count, query__in=query_ids))
    answers = _counts(Answer.objects.filter(that_count, query__in=query_ids, state__in=Answer.COUNTED))
    return {
        pk: Progress(votes.get(pk, 0), selections.get(pk, 0), answers.get(pk, 0))
        for pk in votes.keys() | selections.keys() | answers.keys()
    }


def _counts(work: _Found) -> dict[int, int]:
    return dict(work.order_by().values_list("query").annotate(n=Count("pk")))


def with_progress(
    project: Project, rows: Iterable[Row], key: Callable[[Row], int]
) -> Iterator[tuple[list[Row], list[Progress]]]:
    """Rows of queries in lists, each with their progress.

    A few are counted one list at a time, many all together: a question for each thousand of them would join
    every vote with its assignment and stage.
    """
    rest = iter(rows)
    first = list(islice(rest, _FEW + 1))
    if len(first) <= _FEW:
        for start in range(0, len(first), _AT_ONCE):
            batch = first[start : start + _AT_ONCE]
            done = progress(map(key, batch))
            yield batch, [done.get(key(row), NOTHING) for row in batch]
        return
    counted = _ProjectProgress(project)
    rest = chain(first, rest)
    while batch := list(islice(rest, _AT_ONCE)):
        yield batch, counted.of([key(row) for row in batch])


class _ProjectProgress:
    """Progress of all queries of a project, by six statements."""

    def __init__(self, project: Project) -> None:
        stages = list(Stage.objects.filter(project=project).values_list("pk", flat=True))
        aside = Assignment.objects.filter(not_counting(), stage__in=stages).values("pk")
        kinds: tuple[_Found, ...] = (
            ScreeningVote.objects.filter(stage__in=stages),
            PassageSelection.objects.filter(stage__in=stages),
            Answer.objects.filter(stage__in=stages, state__in=Answer.COUNTED),
        )
        self._columns = [_count(rows, aside) for rows in kinds]

    def of(self, queries: Sequence[int]) -> list[Progress]:
        """Of these queries, in their order."""
        columns = []
        for keys, counts in self._columns:
            if len(keys):
                at = keys.searchsorted(queries).clip(max=len(keys) - 1)
                columns.append((counts[at] * (keys[at] == queries)).tolist())
            else:
                columns.append([0] * len(queries))
        return list(map(Progress, *columns))


def _count(rows: _Found, aside: "QuerySet[Any]") -> "tuple[Keys, Keys]":
    """Keys of queries in their order, and how many of the rows about each are of work that counts.

    All are counted, which needs an index alone, and the few whose work is set aside are taken off.
    """
    keys, counts = _by_query(rows)
    few, too_many = _by_query(rows.filter(assignment__in=aside))
    if len(keys) and len(few):
        # Of work that came in between there may be a query that is not among the first.
        at = keys.searchsorted(few).clip(max=len(keys) - 1)
        counts[at] -= too_many * (keys[at] == few)
    return keys, counts.clip(min=0)


def _by_query(rows: _Found) -> "tuple[Keys, Keys]":
    counted: Any = rows.order_by("query").values_list("query").annotate(n=Count("pk"))
    keys, counts = integer_columns(counted, "i8", "i8")
    return keys, counts
