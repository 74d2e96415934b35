"""One answer of a table, and what a table of answers is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from metrics.texts import Answers

#: Answers that are in memory at a time.
CHUNK = 4096


@dataclass(slots=True)
class Row:
    """An answer as its table has it; `line` is where it stands there.

    `human` is the mean human score, nan where there is none; `ratings` are the single ratings behind it as
    far as they are known, each with its rater. `labels` are opinions of the references, parallel to them.
    `external` are scores that other tools gave, in the order in which they were asked for.
    """

    line: int
    answer: str
    references: list[str]
    question: str = ""
    question_id: str = ""
    id: str = ""
    system: str = ""
    type: str = ""
    label: str = ""
    labels: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    human: float = nan
    ratings: list[tuple[str, float]] = field(default_factory=list)
    external: tuple[float, ...] = ()


class Answered(Protocol):
    """A table of answers that can be read from its start any number of times.

    `has` are the fields that it has, by the names of docs/evaluate.md; `external` the names of scores of
    other tools. `title` says what was read. `alpha` is the agreement of the people before and after filters,
    where it is known, and `scale` the lowest and highest score that they could give.
    """

    title: str
    has: frozenset[str]
    external: Sequence[str]
    scale: tuple[float, float] | None
    alpha: tuple[float | None, float | None] | None
    notes: list[str]

    def rows(self) -> Iterator[Row]:
        """All rows in their order; EvaluationError where one cannot be read."""
        ...


def chunks_of(
    table: Answered, systems: Callable[[int, int], Sequence[str]] | None = None, size: int = CHUNK
) -> "Iterator[Answers]":
    """All rows as answers to be scored, some thousands at a time.

    `systems` gives the names of the systems of the rows between two numbers, where corpus scores of each
    system are wanted and the table itself does not say whose answers they are.
    """
    from metrics.texts import Answers  # noqa: PLC0415  # numpy comes with it

    labels = bool(table.has & {"label", "labels"})
    done = 0
    for some in batches(table.rows(), size):
        yield Answers(
            [row.answer for row in some],
            [row.references for row in some],
            [row.question for row in some] if "question" in table.has else None,
            [row.label for row in some] if labels else None,
            [row.labels for row in some] if labels else None,
            [row.entities for row in some] if "entities" in table.has else None,
            systems(done, done + len(some)) if systems else None,
        )
        done += len(some)


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Rows in lists of a size; the last one may be shorter."""
    each = iter(rows)
    while some := list(islice(each, size)):
        yield some
