"""A table of human scores: its formats, which column holds what, and its rows, checked field by field."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from annotation.importing import records
from annotation.importing.records import Passage, normal, quoted
from core.files.cells import (
    AmbiguousNumberError,
    ColumnError,
    DecimalCommas,
    parse_flag,
    quote_names,
    which_of,
)
from core.files.json_objects import check_storable
from core.files.reading import NAMES, SHAPES, Reading, plain_name
from core.files.refusals import BadFieldError, FileRefusedError, RowCounts
from core.files.tables import FORMATS as READ_FORMATS
from core.files.tables import ColumnRules, Values, read_table, settle_format
from core.files.text_source import TextSource
from judgments.answer_files import LONGEST, LONGEST_SYSTEM, RowRefusedError
from judgments.models import System

_SCALE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|:|\.\.|\N{EN DASH}|to)\s*(-?\d+(?:\.\d+)?)\s*")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_BETWEEN_NUMBERS = re.compile(r"[\s;]+|,\s+")
_LISTS = "Write several ratings as [3, 4, 5] in every row."
#: Three numbers or more with nothing but commas between them.
_COMMAS = re.compile(r"[\d.]+(,[\d.]+){2,}")
#: How far a mean may be from the ratings that it was rounded from.
_ROUNDED = 0.051
_MOST_RATINGS = 10_000
_MOST_N = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale on which people judged; both ends belong to it."""

    low: float = 1.0
    high: float = 5.0

    def __str__(self) -> str:
        return f"{self.low:g}-{self.high:g}"


def scale_of(text: str) -> Scale:
    """A scale from `1-5`, `0-1` or `0-100`; ValueError, in words, for anything else."""
    match = _SCALE.fullmatch(text)
    if match is None:
        raise ValueError(f"The scale {text!r} is not of the form LOW-HIGH, such as 1-5 or 0-100.")
    scale = Scale(float(match[1]), float(match[2]))
    if scale.low >= scale.high:
        raise ValueError(f"The scale {text!r} ends before it begins. Write the lowest score first.")
    return scale


@dataclass(slots=True)
class ScoredRow:
    """One answer with its human score. `n` is None where the file does not say how many people judged.

    `simulated`: the file says that a program gave the score in place of a person.
    """

    line: int
    query_id: str
    query: str
    system: str
    answer: str
    mean: float
    n: int | None = None
    ratings: list[float] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    context: list[str] = field(default_factory=list)
    type: str = ""
    simulated: bool = False


def row_of(
    values: Mapping[str, Any], *, line: int, scale: Scale, commas: DecimalCommas | None = None
) -> ScoredRow:
    """A row from values by our names, or RowRefusedError."""
    try:
        check_storable(dict(values))
    except BadFieldError as error:
        raise RowRefusedError("line", str(error), "Take these characters out.") from error
    mean, ratings = _scores(values, scale, commas or DecimalCommas())
    return ScoredRow(
        line=line,
        query_id=_read_field("query_id", records.id_of, values.get("query_id"), "query id"),
        query=_query(values),
        system=_system(values.get("system")),
        answer=_answer(values.get("answer")),
        mean=mean,
        n=_count(values.get("n"), ratings),
        ratings=ratings,
        references=_texts("references", values),
        passages=[
            passage
            for value in several(values, "passages")
            for passage in _read_field("passages", records.passages_of, value)
        ],
        context=[
            normal(turn)
            for turn in _read_field("context", records.texts_of, values.get("context"), "earlier turns")
        ],
        type=_type(values.get("type")),
        simulated=_simulated(values.get("simulated")),
    )


def _read_field(name: str, read: Any, *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except BadFieldError as error:
        raise RowRefusedError(name, str(error), "Correct the value, or map another column.") from error


def _query(values: Mapping[str, Any]) -> str:
    value = values.get("query")
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise RowRefusedError("query", "The query is no text.", "Write the query's text.")
    text = normal("" if value is None else str(value))
    if not text:
        raise RowRefusedError("query", "The query is empty.", "Give the query's text in every row.")
    return text


def _system(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RowRefusedError("system", "The system's name is no text.", "Write its name as text.")
    name = normal(str(value))
    if len(name) > LONGEST_SYSTEM:
        raise RowRefusedError(
            "system",
            f"The system's name has {len(name):,} characters; at most {LONGEST_SYSTEM} are taken.",
            "Shorten it, or look whether another column holds the system.",
        )
    return System.PEOPLE if name.casefold() == System.PEOPLE else name


def _answer(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise RowRefusedError("answer", "The answer is no text.", "Write one text per row.")
    text = "" if value is None else str(value).strip()
    if not text:
        raise RowRefusedError(
            "answer",
            "The answer is empty.",
            "Leave the row out if there was none; if another column holds it, write it here.",
        )
    if len(text) > LONGEST:
        raise RowRefusedError(
            "answer",
            f"The answer has {len(text):,} characters; at most {LONGEST:,} are taken.",
            "Shorten it, or look whether another column holds the answer.",
        )
    return text


def _type(value: Any) -> str:
    """MS MARCO's class where it is one; other tables call other things a type, so they are passed over."""
    try:
        return records.type_of(value)
    except BadFieldError:
        return ""


def _simulated(value: Any) -> bool:
    """Whether a program gave the score; a value that is unclear refuses the row, so that no mark is lost."""
    flag = parse_flag(value)
    if flag is None:
        raise RowRefusedError(
            "simulated",
            f"{quoted(str(value))} is neither true nor false.",
            "Write true where a program gave the score in place of a person, else false.",
        )
    return flag


def _texts(name: str, values: Mapping[str, Any]) -> list[str]:
    texts = [
        str(text).strip()
        for value in several(values, name)
        for text in _read_field(name, records.texts_of, value, name)
    ]
    return list(dict.fromkeys(texts))


def _scores(values: Mapping[str, Any], scale: Scale, commas: DecimalCommas) -> tuple[float, list[float]]:
    """The mean as the file says it, or that of the ratings; and the single ratings, if the file has them."""
    ratings = [
        rating for value in several(values, "ratings") for rating in _numbers("ratings", value, scale, commas)
    ]
    score = _parted("score", values.get("score"))
    numbers = _numbers("score", score, scale, commas)
    if isinstance(score, list) and numbers:
        if ratings:
            raise RowRefusedError(
                "score",
                "The score is a list, and other columns hold ratings too.",
                "Map one of them to nothing: --column ratings= (empty).",
            )
        ratings, numbers = numbers, []
    if len(ratings) > _MOST_RATINGS:
        raise RowRefusedError(
            "ratings",
            f"There are {len(ratings):,} ratings of one answer.",
            f"At most {_MOST_RATINGS:,} are taken.",
        )
    if numbers:
        return numbers[0], ratings
    if ratings:
        return math.fsum(ratings) / len(ratings), ratings
    raise RowRefusedError(
        "score", "The row has no score.", "Leave the row out, or map the column of the score."
    )


def _numbers(name: str, value: Any, scale: Scale, commas: DecimalCommas) -> list[float]:
    """The scores of a cell: a number, a list of them, or a list as JSON or with spaces or semicolons."""
    value = _parted(name, value)
    elements = value if isinstance(value, list) else [value]
    return [_number(name, each, scale, commas) for each in elements if each is not None and each != ""]


def _parted(name: str, value: Any) -> Any:
    """The value of a cell, a list if it holds several. Beside 3,4,5 a cell 3,4 has two meanings."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text.strip("[]").replace(",", " ").split()
    if _DECIMAL_COMMA.fullmatch(text):
        return text
    if _COMMAS.fullmatch(text):
        raise RowRefusedError(
            name,
            f"{quoted(text)} is no number.",
            _LISTS,
        )
    parts = [part for part in _BETWEEN_NUMBERS.split(text) if part]
    return parts if len(parts) > 1 else text


def _number(name: str, value: Any, scale: Scale, commas: DecimalCommas) -> float:
    try:
        value = commas.point(value) if isinstance(value, str) else value
        number = math.nan if isinstance(value, bool | list | dict) else float(value)
    except AmbiguousNumberError as error:
        raise RowRefusedError(name, f"The score is ambiguous: {error}", _LISTS) from error
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, dict):
        raise RowRefusedError(
            name,
            f"A rating has the members {quote_names(value)}, and only numbers are taken.",
            "Write the values of the one that is meant as a list: [3, 4, 5].",
        )
    if not math.isfinite(number):
        raise RowRefusedError(
            name,
            f"The score {quoted(str(value))} is no number.",
            "Write a number, or look whether another column holds the score.",
        )
    if not scale.low <= number <= scale.high:
        raise RowRefusedError(
            name,
            f"The score {number:g} is not on the scale from {scale.low:g} to {scale.high:g}.",
            "If the scale is another, say so: --scale LOW-HIGH.",
        )
    return number


def _count(value: Any, ratings: list[float]) -> int | None:
    """How many people judged: as the file says, else the number of its ratings."""
    if value is None or value == "":
        return len(ratings) or None
    try:
        count = float(value) if not isinstance(value, bool | list | dict) else math.nan
    except (TypeError, ValueError):
        count = math.nan
    if not count.is_integer() or not 1 <= count <= _MOST_N:
        raise RowRefusedError(
            "n",
            f"The number of ratings {quoted(str(value))} is no whole number from 1 on.",
            "Correct it, or map the column to nothing: --column n= (empty).",
        )
    if ratings and len(ratings) != int(count):
        raise RowRefusedError(
            "n",
            f"The row says {int(count):,} ratings and has {len(ratings):,}.",
            "Correct one of them, or map the column to nothing: --column n= (empty).",
        )
    return int(count)


# How a table of human scores is read, and what it becomes.


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a table of human scores, and what the project that it becomes is called.

    `columns` names the columns of `FIELDS`. `systems` are the names of the systems of a file without a column
    for them, in the order in which a query's rows come.
    """

    format: str = "auto"
    encoding: str = ""
    #: Of a workbook; empty for the first one that holds data.
    sheet: str = ""
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    header: bool | None = None
    #: The row that names the columns; 0 for the first one that holds something.
    header_row: int = 0
    scale: Scale = field(default_factory=Scale)
    systems: tuple[str, ...] = ()
    slug: str = ""
    title: str = ""
    licence: str = ""
    language: str = "en"

    def reading(self) -> dict[str, Any]:
        """What decides how the file is read, ready for JSON: with it, the same file gives the same rows."""
        return {
            "columns": {name: list(theirs) for name, theirs in sorted(self.columns.items())},
            "header": self.header,
            "scale": [self.scale.low, self.scale.high],
            "systems": list(self.systems),
            # Not there where not named, as in what was stored before they could be.
            **({"sheet": self.sheet} if self.sheet else {}),
            **({"header_row": self.header_row} if self.header_row else {}),
        }


# Which column of a table of human scores holds what: as given, the rest by the names that people use.

#: Fields that one column holds, each with the names that are taken for it, the likeliest first.
ONE: dict[str, tuple[str, ...]] = {
    "query_id": ("query_id", *NAMES["question_id"]),
    "query": ("query", *NAMES["question"]),
    "system": NAMES["system"],
    "answer": (*NAMES["answer"], "text"),
    # People's by their name first. A `rating` is one person's, as `rating1` is.
    "score": tuple(
        sorted((name for name in NAMES["score"] if name != "rating"), key=lambda name: "human" not in name)
    ),
    "n": ("n", "n_ratings", "num_ratings", "n_judgments", "raters"),
    "type": NAMES["type"],
    "context": NAMES["context"],
    "simulated": NAMES["simulated"],
}
#: Fields that several columns may hold together, each with the shape of their names.
SEVERAL: dict[str, re.Pattern[str]] = {
    "references": SHAPES["references"],
    "passages": re.compile(r"(passages?|contexts?|paragraphs?|documents?)_?\d*"),
    "ratings": re.compile(f"rating|{SHAPES['ratings'].pattern}"),
}
FIELDS = (*ONE, *SEVERAL)
_BETWEEN = "/"


def mapped(columns: Iterable[str], named_columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Which column holds which field; the columns of a field of several are `references/1`, `references/2` …

    `named_columns` names the columns of a field; none or an empty name keeps the field from being looked for.
    ColumnError for a field that there is not, a column that the file has not, or two for a field of one.
    """
    header = [column.strip() for column in columns]
    by_field: dict[str, str] = {}
    for ours, theirs in named_columns.items():
        names = [name.strip() for name in theirs if name.strip()]
        if ours not in FIELDS:
            raise ColumnError(f"There is no field {ours!r}; there are: {', '.join(FIELDS)}.")
        if missing := [name for name in names if name not in header]:
            raise ColumnError(f"There is no column {missing[0]!r}; the file has: {quote_names(header)}.")
        if ours in ONE and len(names) > 1:
            raise ColumnError(f"The field {ours!r} takes one column, and {len(names)} are named.")
        by_field |= {_place(ours, number): name for number, name in enumerate(names, 1)}
    used = set(by_field.values())
    for ours, usual_names in ONE.items():
        likely = None if ours in named_columns else _likely(header, usual_names, used)
        if likely is not None:
            by_field[ours] = likely
            used.add(likely)
    for ours, shape in SEVERAL.items():
        if ours not in named_columns:
            fits = [name for name in header if name not in used and shape.fullmatch(plain_name(name))]
            by_field |= {_place(ours, number): name for number, name in enumerate(fits, 1)}
            used.update(fits)
    return by_field


def several(values: Mapping[str, object], field: str) -> list[object]:
    """The values of a field's columns, in their order."""
    start = f"{field}{_BETWEEN}"
    return [value for place, value in values.items() if place.startswith(start)]


def _likely(header: Sequence[str], usual_names: Sequence[str], used: set[str]) -> str | None:
    by_name = {plain_name(name): name for name in reversed(header) if name not in used}
    return next((by_name[name] for name in usual_names if name in by_name), None)


def _place(field: str, number: int) -> str:
    return field if field in ONE else f"{field}{_BETWEEN}{number}"


# Files of human scores in their formats, as a stream of rows.

FORMATS = {"auto": "find out from the file", **READ_FORMATS}
_KNOWN = {"references", "reference", "ratings", *chain.from_iterable(ONE.values())}
Given = Mapping[str, Sequence[str]]
#: Told of a row that cannot be taken: its line, the field, why, and what to do.
Refuse = Callable[[int, str, str, str], None]


@dataclass(slots=True)
class ScoreTable:
    """A file that gives rows. `mapping` says which column holds what; `unit` is what its numbers count."""

    source: TextSource
    format: str
    description: str
    unit: str
    columns: list[str]
    mapping: dict[str, str]
    values: Callable[[Callable[[int, str], None]], Values]
    reading: Callable[[RowCounts], Reading]
    #: Sentences about what the last reading met that may be meant otherwise.
    notes: Callable[[], list[str]]
    commas: DecimalCommas
    #: Lines of the last reading whose score is not the mean of the ratings beside it.
    unlike: list[int] = field(default_factory=list)

    def rows(self, scale: Scale, refuse: Refuse) -> Iterator[ScoredRow]:
        """All rows in the order of the file; what cannot be taken is refused."""

        def unread(line: int, reason: str) -> None:
            refuse(line, self.unit, reason, "")

        self.unlike = []
        for line, value in self.values(unread):
            try:
                row = row_of(value, line=line, scale=scale, commas=self.commas)
            except RowRefusedError as error:
                refuse(line, error.field, error.reason, error.remedy)
            else:
                if row.ratings and abs(row.mean - math.fsum(row.ratings) / len(row.ratings)) > _ROUNDED:
                    self.unlike.append(line)
                yield row

    def hints(self) -> list[str]:
        """What the last reading met that may be meant otherwise, in sentences."""
        notes = [*self.notes(), *self.commas.notes()]
        if not self.unlike:
            return notes
        return [
            f"Rows whose {self.named('score')} is not the mean of the single ratings beside it: "
            f"{len(self.unlike):,}, the first in {self.unit} {self.unlike[0]}. The score was taken. If it is "
            "a metric's, or one of the ratings, import the file under another name with --column score=.",
            *notes,
        ]

    def named(self, field: str) -> str:
        """A field for a message, with its column where that is called otherwise."""
        column = self.mapping.get(field, field)
        return field if column == field else f"{field} (column {column!r})"


class _ScoreColumns(ColumnRules):
    """Columns of human scores: the query, the answer, and a score or single ratings."""

    def __init__(self, named_columns: Given) -> None:
        self._given = named_columns
        self.named_columns = [name for theirs in named_columns.values() for name in theirs if name]

    def map(self, columns: Iterable[str]) -> dict[str, str]:
        """As given, the rest by the names that people use."""
        return mapped(columns, self._given)

    def map_members(self, members: Sequence[str]) -> dict[str, str]:
        """The same for an object, by its members as they are written."""
        names = {name.strip(): name for name in reversed(members)}
        present = {field: [name for name in theirs if name in names] for field, theirs in self._given.items()}
        return {ours: names[theirs] for ours, theirs in mapped(members, present).items()}

    def check(self, source: TextSource, columns: list[str], mapping: Mapping[str, str]) -> None:
        """FileRefusedError names the field that has no column."""
        has = f"{source.name} has {quote_names(columns)}."
        for ours, noun in (("query", "the query"), ("answer", "the answer")):
            if ours not in mapping:
                raise FileRefusedError(
                    f"Nothing holds {noun}. {has} Say which column does: --column {ours}=COLUMN."
                )
        if "score" not in mapping and not any(place.startswith("ratings/") for place in mapping):
            raise FileRefusedError(
                f"Nothing holds the human score. {has} Say which column does: --column score=COLUMN, or "
                "--column ratings=COLUMN for single ratings."
            )
        self._ask_for_score(source, columns)

    def _ask_for_score(self, source: TextSource, columns: Sequence[str]) -> None:
        """FileRefusedError where two columns may hold the human score: one of them may be a metric's."""
        if "score" in self._given:
            return
        numeric = [
            name
            for name in columns
            if plain_name(name) in NAMES["score"] and name.strip() not in self.named_columns
        ]
        likely = [name for name in numeric if "human" in plain_name(name)] or numeric
        if len(likely) > 1:
            remedy = f"Say which column does: --column score={likely[-1]}."
            raise FileRefusedError(f"{source.name}: {which_of('human score', likely, remedy)}")


def open_table(
    source: TextSource,
    *,
    format: str = "auto",
    named_columns: Given | None = None,
    header: bool | None = None,
    header_row: int = 0,
) -> ScoreTable:
    """The file as rows; FileRefusedError where it cannot be read or a field has no column.

    `named_columns` names the columns of fields, an empty list keeps one from being looked for. Without
    `header` the first row of a table, or `header_row`, names the columns, unless they are chosen by their
    numbers from 1.
    """
    format = settle_format(source, format, FORMATS, column_names=_KNOWN)
    rules = _ScoreColumns(named_columns or {})
    table = read_table(source, format=format, header=header, rules=rules, header_row=header_row)
    return ScoreTable(
        source,
        format,
        table.description,
        table.unit,
        table.columns,
        table.mapping,
        table.values,
        table.reading,
        table.notes,
        table.commas,
    )
