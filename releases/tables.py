"""The tables of a release: names, columns with their meaning, and rows that come in batches.

Every format is written from these, and the data card and the Croissant description name them, so that a
column is described in one place. Rows are tuples in the order of the columns. Workers have pseudonyms in all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from core.projects.models import Project
    from releases.models import Release

Row = tuple[Any, ...]
#: Rows, some thousands at a time, in an order that is always the same.
Batches = Iterator[list[Row]]
#: The stage of scores that were collected elsewhere.
ELSEWHERE = "imported"


class Kind(StrEnum):
    """What a column holds. All but `TEXT`, `INTEGER`, `NUMBER` and `FLAG` are lists; None is "not known"."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    INTEGERS = "integers"
    NAMES = "names"
    TURNS = "turns"
    PASSAGES = "passages"
    ANSWERS = "answers"
    ENTITIES = "entities"
    RATINGS = "ratings"
    ASPECTS = "aspects"
    PARTS = "parts"


#: Fields of the records in columns of these kinds: name and kind.
RECORDS: dict[Kind, tuple[tuple[str, Kind], ...]] = {
    Kind.TURNS: (("text", Kind.TEXT), ("answer", Kind.TEXT)),
    Kind.PASSAGES: (
        ("passage_id", Kind.TEXT),
        ("title", Kind.TEXT),
        ("url", Kind.TEXT),
        ("text", Kind.TEXT),
    ),
    Kind.ENTITIES: (("start", Kind.INTEGER), ("end", Kind.INTEGER), ("text", Kind.TEXT)),
    Kind.ANSWERS: (
        ("answer_id", Kind.TEXT),
        ("worker", Kind.TEXT),
        ("text", Kind.TEXT),
        ("opinion", Kind.TEXT),
        ("entities", Kind.ENTITIES),
        ("simulated", Kind.FLAG),
    ),
    Kind.RATINGS: (("worker", Kind.TEXT), ("score", Kind.NUMBER)),  # imported ones may be fractions
    Kind.ASPECTS: (("name", Kind.TEXT), ("score", Kind.INTEGER)),
    Kind.PARTS: (("name", Kind.TEXT), ("value", Kind.NUMBER)),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column with its meaning, in a sentence for its readers."""

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table. Each has the column `split`; a file holds the rows of one split."""

    name: str
    title: str
    meaning: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def place(self, column: str) -> int:
        """Where a column is in a row."""
        return self.names.index(column)


class RowBlock(Protocol):
    """Some rows of a table as columns; `releases.blocks` makes them, which needs numpy and Arrow."""

    @property
    def table(self) -> Table:
        """Whose rows these are."""

    def __len__(self) -> int: ...

    def counts(self, name: str, /) -> Mapping[Any, int]:
        """How many rows have each value of a column."""

    def batches(self, *, lists: bool = True) -> Iterator[list[Row]]:
        """The rows, some at a time; without `lists` columns of them are None."""

    def lines(self) -> Mapping[str, tuple[memoryview, int, int]]:
        """The rows as JSON Lines by split: their bytes, how many there are, and the longest of them."""


@dataclass(frozen=True, slots=True)
class FilledTable:
    """A table with its rows; `batches` begins again with each call.

    `parts`, where a table has it, gives the same rows, all or some of them as blocks of columns.
    """

    table: Table
    batches: Callable[[], Batches]
    parts: "Callable[[], Iterator[list[Row] | RowBlock]] | None" = None


_QUERY = Column("query_id", Kind.TEXT, "Id of the query.")
_SPLIT = Column(
    "split", Kind.TEXT, "train, validation or test; no two splits share a conversation or passage."
)
_CANDIDATE = Column("candidate_id", Kind.TEXT, "Id of the system's answer.")
_SYSTEM = Column("system", Kind.TEXT, "Name of the system that gave the answer.")
_STAGE = Column("stage", Kind.TEXT, "Stage of the campaign in which people judged.")

REFERENCES = Table(
    "references",
    "Reference sets",
    "One row per query: the passages that everybody read, and what each person answered.",
    (
        _QUERY,
        Column("query", Kind.TEXT, "The query as it was asked."),
        Column("context", Kind.TURNS, "Earlier turns of the conversation, oldest first."),
        Column("type", Kind.TEXT, "MS MARCO's class of the answer, empty where unknown."),
        Column("yes_no", Kind.FLAG, "The answer is yes, no or depends."),
        Column("weight", Kind.NUMBER, "1 / probability of being in the sample."),
        Column("stratum", Kind.TEXT, "Stratum of the sample."),
        Column("passages", Kind.PASSAGES, "The curated passages in the order in which they were shown."),
        Column("answers", Kind.ANSWERS, "The reference answers, one per person."),
        _SPLIT,
    ),
)
ANSWERS = Table(
    "answers",
    "Answers",
    "One row per answer that a person wrote and that was accepted or brought in, also those held out as "
    "candidates.",
    (
        Column("answer_id", Kind.TEXT, "Id of the answer."),
        _QUERY,
        Column("worker", Kind.TEXT, "Pseudonym of its writer, keyed to this project."),
        Column("answer", Kind.TEXT, "The answer in the person's own words."),
        Column("opinion", Kind.TEXT, "Yes, No or Depends for yes-no queries, else empty."),
        Column("entities", Kind.ENTITIES, "Names that the writer marked in the answer, in characters."),
        Column("approved", Kind.FLAG, "A reviewer looked at it and approved it."),
        Column("flags", Kind.NAMES, "What the checks noticed about it, by name; empty: nothing."),
        Column("held_out", Kind.FLAG, "It is no reference but a candidate of the system human."),
        Column(
            "kind",
            Kind.TEXT,
            "Kind of the stage it was written in: distillation, or continuation for the next message of a "
            "dialogue, which never was a reference.",
        ),
        Column("simulated", Kind.FLAG, "A program wrote it in place of a person."),
        _SPLIT,
    ),
)
CANDIDATES = Table(
    "candidates",
    "Candidates",
    "One row per answer of a system.",
    (
        _CANDIDATE,
        _QUERY,
        _SYSTEM,
        Column("people", Kind.FLAG, "The system is people: an answer that was held out."),
        Column("answer", Kind.TEXT, "The system's answer."),
        Column("opinion", Kind.TEXT, "Yes, No or Depends where the system said so."),
        Column(
            "aside", Kind.TEXT, "Why nobody judged it: exact, empty or withdrawn; empty where it is judged."
        ),
        Column("simulated", Kind.FLAG, "It was held out and a program wrote it in place of a person."),
        _SPLIT,
    ),
)
SCORES = Table(
    "scores",
    "Human scores",
    "One row per candidate and stage: what people said about it, after filters.",
    (
        _STAGE,
        _CANDIDATE,
        _QUERY,
        _SYSTEM,
        Column("n_raw", Kind.INTEGER, "Ratings before filters."),
        Column("n_kept", Kind.INTEGER, "Ratings after filters."),
        Column("mean", Kind.NUMBER, "Mean of the kept ratings."),
        Column("sd", Kind.NUMBER, "Their sample standard deviation; not known below two."),
        Column("median", Kind.NUMBER, "Their median."),
        Column("trimmed", Kind.NUMBER, "Their mean without the lowest and highest 20 %."),
        Column("adjusted", Kind.NUMBER, "Mean without workers' biases (ITU-T P.913, 12.6)."),
        Column("kept", Kind.RATINGS, "The kept ratings."),
        Column(
            "simulated", Kind.FLAG, "A program gave at least one of the kept ratings in place of a person."
        ),
        _SPLIT,
    ),
)
RATINGS = Table(
    "ratings",
    "Ratings",
    "One row per rating of an answer that is in the release, with what the filters decided about it; none is "
    "left out because of its value.",
    (
        Column("rating_id", Kind.TEXT, "Id of the rating; ratings are in the order of submission."),
        _STAGE,
        _CANDIDATE,
        _QUERY,
        _SYSTEM,
        Column("worker", Kind.TEXT, "Pseudonym of the judge, keyed to this project."),
        Column("score", Kind.NUMBER, "The score, on the scale that the manifest names for the stage."),
        Column("aspects", Kind.ASPECTS, "Scores of further aspects."),
        Column("kept", Kind.FLAG, "It counts: no filter removed it."),
        Column("rule", Kind.TEXT, "The filter that removed it, empty where it is kept."),
        Column("reason", Kind.TEXT, "Why, in words."),
        Column("simulated", Kind.FLAG, "A program gave it in place of a person."),
        _SPLIT,
    ),
)
RETRIEVAL = Table(
    "retrieval",
    "How passages were found",
    "One row per candidate passage of a query, also those that nobody chose: who ranked it, how, and where "
    "it stood. Texts of curated passages are in `references`.",
    (
        _QUERY,
        Column("passage_id", Kind.TEXT, "Id of the passage, as in `references`."),
        Column("rank", Kind.INTEGER, "Its place among the query's candidates, 1 is the best."),
        Column("position", Kind.INTEGER, "Its place in the curated set, from 1; not known: not in it."),
        Column("origin", Kind.TEXT, "imported, or index: and the corpus in which it was found."),
        Column("folded_into", Kind.TEXT, "Id of the better ranked passage that it repeats; empty: shown."),
        Column(
            "probability",
            Kind.NUMBER,
            "Probability of being shown to editors; below 1 where it was drawn from below the cut.",
        ),
        Column("score", Kind.NUMBER, "The ranker's score; it compares within one query only."),
        Column("ranker", Kind.TEXT, "Who ranked it, such as balanced or bm25; empty where it was imported."),
        Column("search_rank", Kind.INTEGER, "Where it stood in the whole ranking."),
        Column("found_at", Kind.INTEGER, "Where the index had it by BM25, before it was ranked anew."),
        Column("parts", Kind.PARTS, "What its score is made of, as the ranker compared it, before weights."),
        Column("raw", Kind.PARTS, "The same before it was made comparable within the query."),
        Column("parameters", Kind.TEXT, "Options of the ranker, as JSON."),
        Column("generation", Kind.TEXT, "Which state of index and word network answered, as JSON."),
        _SPLIT,
    ),
)
SOURCES = Table(
    "sources",
    "Where it came from",
    "One row per answer and rating of a stage that asked people at several places: at which of them it was "
    "given. A release without such a stage has no such table.",
    (
        Column("row_id", Kind.TEXT, "answer_id of a row of `answers`, or rating_id of a row of `ratings`."),
        _STAGE,
        Column("worker", Kind.TEXT, "Pseudonym of the person, keyed to this project."),
        Column("source", Kind.TEXT, "Short name of the marketplace, link or panel."),
        Column("panel", Kind.TEXT, "What it is: mturk (a marketplace), link (study links), or a panel."),
        _SPLIT,
    ),
)
RESPONSES = Table(
    "responses",
    "Responses to questionnaires",
    "One row per field that a person answered about a unit, or about a part of it. What was asked is in "
    "`questionnaires/STAGE/fields.json`. A release without such a stage has no such table.",
    (
        Column(
            "response_id",
            Kind.TEXT,
            "Id of the response with the field; responses are in the order of submission.",
        ),
        _STAGE,
        Column("unit", Kind.TEXT, "Key of what was shown: a question with its systems, or the id of a row."),
        _QUERY,
        Column(
            "candidate_id", Kind.TEXT, "Id of the answer, of a pair of the one that the person saw first."
        ),
        Column("second_id", Kind.TEXT, "Of a pair the id of the answer that the person saw second."),
        Column("system", Kind.TEXT, "System of the answer, of a pair of the one that the person saw first."),
        Column("second_system", Kind.TEXT, "Of a pair the system of the answer that the person saw second."),
        Column("field", Kind.TEXT, "Name of the field."),
        Column("part", Kind.TEXT, "Number of the sentence, nugget or turn; of a citation sentence.passage."),
        Column("value", Kind.TEXT, "The value as JSON; of a pair the name of the system that was chosen."),
        Column("worker", Kind.TEXT, "Pseudonym of the person, keyed to this project."),
        Column("prefilled", Kind.FLAG, "The person was shown a value to begin with."),
        Column("simulated", Kind.FLAG, "A program gave it in place of a person."),
        _SPLIT,
    ),
)
TABLES = (REFERENCES, ANSWERS, CANDIDATES, SCORES, RATINGS, RETRIEVAL, SOURCES, RESPONSES)
#: The last column of `answers`, `ratings` and `responses` where people agreed to a text; else there is none.
CONSENT = Column(
    "consent",
    Kind.TEXT,
    "Language and version of the consent text to which the person had agreed, such as en-2; not known: they "
    "were shown none.",
)
#: A further column of all three where stages have their texts in several languages; other releases have none.
LANGUAGE = Column(
    "language",
    Kind.TEXT,
    "In which language the person read the stage's instructions, question and labels; not known: the stage "
    "had them in one.",
)
#: A further column of `ratings` where comments were brought in and there are any; other releases have none.
COMMENT = Column("comment", Kind.TEXT, "What the judge wrote beside the score; empty: nothing.")
#: Tables that a release without rows for them does not name.
OPTIONAL = frozenset({SOURCES.name, RESPONSES.name})


def with_comments(table: Table) -> Table:
    """The table with the column `comment` behind the others."""
    return replace(table, columns=(*table.columns, COMMENT))


def with_consent(table: Table) -> Table:
    """The table with the column `consent` behind the others."""
    return replace(table, columns=(*table.columns, CONSENT))


def with_language(table: Table) -> Table:
    """The table with the column `language` behind the others."""
    return replace(table, columns=(*table.columns, LANGUAGE))


SPLITS = ("train", "validation", "test")

Item = TypeVar("Item")


def some_of(rows: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of `size` rows; the last one is shorter."""
    source = iter(rows)
    while batch := list(islice(source, size)):
        yield batch


# What a format is written from: tables with their rows, and how far the work is.


@dataclass(frozen=True, slots=True)
class Source:
    """A release while it is built: its tables by name, each of which can be read again and again.

    Rows come in batches of plain values: texts, numbers, truths, None; columns that are lists hold
    dictionaries with the fields of `tables.RECORDS`. `rows` are the rows of each table by split, `parameters`
    what the manifest says about how the release was made. `lines` is a folder with TABLE-SPLIT.jsonl of all
    tables where they are written already, `longest` the bytes of each table's longest line. While the tables
    are read, they come one after the other.
    """

    project: "Project"
    release: "Release"
    tables: Mapping[str, FilledTable]
    parameters: Mapping[str, Any]
    rows: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    lines: Path | None = None
    longest: Mapping[str, int] = field(default_factory=dict)

    def splits(self, table: str) -> tuple[str, ...]:
        """The splits in which a table has rows; `train` alone where it has none at all."""
        filled = tuple(split for split in SPLITS if self.rows.get(table, {}).get(split))
        return filled or SPLITS[:1]

    @property
    def filled(self) -> tuple[FilledTable, ...]:
        """The tables that have rows; an empty table has no files."""
        return tuple(each for name, each in self.tables.items() if any(self.rows.get(name, {}).values()))


def by_split(filled: FilledTable) -> Iterator[dict[str, list[Row]]]:
    """A table's batches, each taken apart by split; splits without rows in a batch are missing."""
    place = filled.table.place("split")
    for batch in filled.batches():
        parts: dict[str, list[Row]] = {}
        for row in batch:
            parts.setdefault(row[place], []).append(row)
        yield parts
