"""Answers with references and human scores out of files and releases, as rows, a chunk at a time."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from metrics.texts import Answers


#: Answers that are in memory at a time.
CHUNK = 4096
#: What rows are named that have no system, in a table that names systems.
NO_SYSTEM = "(no system)"


#: Answer, rater, overall score, and scores of the aspects that the rater was asked about, by their names.
AspectRating = tuple[str, str, float, dict[str, float]]


@dataclass(slots=True)
class Row:
    """An answer as its table has it; `line` is its line there.

    `human` is the mean human score, nan where there is none; `ratings` are the single ratings behind it as
    far as they are known, each with its rater. `labels` are opinions of the references, parallel to them.
    `external` are scores that other tools gave, in the order in which they were asked for. `response_filter`
    names the filter that has taken single ratings out of `ratings` for being far from the others.
    `simulated`: a program gave its human score, or wrote it, in place of a person.
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
    response_filter: str = ""
    simulated: bool = False


def simulation_of(table: "AnswerTable") -> Mapping[str, Any] | None:
    """What programs did in place of people in a table (`tables.simulation`); None where it does not say."""
    found: Mapping[str, Any] | None = getattr(table, "simulated", None)
    return found


class AnswerTable(Protocol):
    """A table of answers that can be read from its start any number of times.

    `title` says what was read, `description` how, `unit` what the numbers of its rows count. `has` are the
    fields that it has, by the names of docs/evaluate.md, `external` the names of scores of other tools.
    `scale` is the lowest and highest score that people could give, and `alpha` their agreement before and
    after filters, where known. `no_ratings` says why there are no single ratings to take a ceiling from,
    where that is known. `notes` are sentences for the reader about what was chosen.
    """

    title: str
    description: str
    unit: str
    has: frozenset[str]
    external: Sequence[str]
    scale: tuple[float, float] | None
    alpha: tuple[float | None, float | None] | None
    no_ratings: str
    notes: list[str]

    def rows(self) -> Iterator[Row]:
        """All rows in their order; EvaluationError where one cannot be read."""
        ...


@runtime_checkable
class AspectTable(Protocol):
    """A table that may know what raters said of aspects beside the overall score."""

    def aspect_ratings(self) -> Iterator[AspectRating]:
        """Single ratings with their aspects, in their order; none where no rater was asked about any."""
        ...


def chunks_of(
    table: AnswerTable, systems: Callable[[int, int], Sequence[str]] | None = None, size: int = CHUNK
) -> "Iterator[Answers]":
    """All rows as answers to be scored, some thousands at a time.

    `systems` gives the names of the systems of the rows between two numbers, where they are known better than
    from the rows themselves.
    """
    done = 0
    for some in batches(table.rows(), size):
        yield answers_of(table.has, some, systems(done, done + len(some)) if systems else None)
        done += len(some)


def answers_of(has: Container[str], some: Sequence[Row], systems: Sequence[str] | None = None) -> "Answers":
    """Rows of a table that `has` these fields as answers to be scored."""

    labels = "label" in has or "labels" in has
    if systems is None and "system" in has:
        systems = [row.system or NO_SYSTEM for row in some]
    from metrics.texts import Answers  # numpy, not needed to look at a table

    return Answers(
        candidates=[row.answer for row in some],
        references=[row.references for row in some],
        questions=[row.question for row in some] if "question" in has else None,
        labels=[row.label for row in some] if labels else None,
        reference_labels=[row.labels for row in some] if labels else None,
        entities=[row.entities for row in some] if "entities" in has else None,
        systems=systems,
    )


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Rows in lists of a size; the last one may be shorter."""
    each = iter(rows)
    while some := list(islice(each, size)):
        yield some


#: Tables whose rows people write or give, with the words for them.
_WORDS = {"answers": "answers", "ratings": "ratings", "scores": "human scores"}


def simulated_of(manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """Rows that programs made, by table, with the sentence that warns of them; None where people did it all.

    A release from before rows were counted says only that programs took part.
    """
    if not manifest.get("simulated"):
        return None
    given = manifest.get("simulated_rows")
    counted = given if isinstance(given, Mapping) else {}
    rows = {name: dict(counted[name]) for name in _WORDS if isinstance(counted.get(name), Mapping)}
    return {"what": _sentence(rows), "rows": rows}


def simulated_rows(count: int, total: int) -> dict[str, Any] | None:
    """The same of a plain table, of whose rows a column says so."""
    if not count:
        return None
    rows = {"rows": {"simulated": count, "of": total}}
    return {"what": _sentence(rows), "rows": rows}


def _sentence(rows: Mapping[str, Mapping[str, int]]) -> str:
    parts = [
        f"{each['simulated']:,} of {each['of']:,} {_WORDS.get(name, name)}" for name, each in rows.items()
    ]
    what = f": {', '.join(parts)}" if parts else ""
    return (
        f"SIMULATED DATA: programs took part in place of people{what}. "
        "These figures say nothing about people; do not use them as evidence."
    )
