"""A file as a table of answers: which column holds what, and its rows."""

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from core.files.cells import DecimalCommas
from core.files.reading import NAMES, SHAPES, Reading, plain_name
from core.files.refusals import RowCounts
from evaluations.answer_table import AspectRating, Row
from evaluations.errors import EvaluationError
from evaluations.file_cells import (
    AnswerSheet,
    Cells,
    ValueRefusedError,
    flag_of,
    number_of,
    open_sheet,
    opinions_of,
    ratings_of,
    text_of,
    texts_of,
)
from evaluations.single_ratings import SingleRatings, find_single_ratings

#: Our fields that have another name in what is said of a reading.
ROLES = {"scores": "score", "label": "opinion"}
#: Fields that one column holds, each with the names that are taken for it, the likeliest first.
ONE: dict[str, tuple[str, ...]] = {
    field: NAMES[ROLES.get(field, field)]
    for field in (
        "question",
        "answer",
        "scores",
        "system",
        "type",
        "label",
        "entities",
        "question_id",
        "response_filter",
        "simulated",
        "id",
        "worker",
    )
}
#: Fields that several columns may hold together, each with the shape of their names.
SEVERAL: dict[str, re.Pattern[str]] = {
    "references": SHAPES["references"],
    "labels": re.compile(r"labels|(reference|ref)_(labels?|opinions?)_?\d*|(label|opinion)_?\d+"),
    "ratings": SHAPES["ratings"],
}
#: Fields of one column whose empty cells are looked for in other columns with names of theirs.
_FILLED = ("question", "answer", "system", "question_id")
FIELDS = (*ONE, *SEVERAL)
#: Names of ours for one of several columns: reference1, score2, label3.
_NUMBERED = {"reference": "references", "score": "ratings", "rating": "ratings", "label": "labels"}
_SHORT = {"score": "scores", "reference": "references", "rater": "worker", "opinion": "label"}
_TYPED = re.compile(r"(reference|score|rating|label)(\d+)")
_DIGITS = re.compile(r"(\d+)$")
#: What the rater of a column rating2 said of an aspect: aspect_topicality_2.
_ASPECT = re.compile(r"aspect_(?P<name>.*[^\d_])_?(?P<number>\d+)")


@dataclass(frozen=True, slots=True)
class Places:
    """Places of columns, from 0: of fields of one column, and of fields of several in their order."""

    one: Mapping[str, int]
    several: Mapping[str, tuple[int, ...]]
    external: Mapping[str, int]
    #: Fields that were found by name and not given.
    guessed: frozenset[str]
    #: Further columns with names of a field that was found by name.
    further: Mapping[str, tuple[int, ...]]


def places_of(
    columns: Sequence[str],
    columns_of_fields: Mapping[str, str],
    external: Sequence[str],
    *,
    name: str,
    head: str,
    scored: bool,
) -> Places:
    """Where each field is. `columns_of_fields` maps fields to columns; an empty name turns a field off.

    EvaluationError for a field or column that there is not, for two columns of one name where it matters, and
    for two that may hold the human scores, where the table is `scored`.
    """
    header = _Header(columns, name, head)
    by_field = _place_fields(header, columns_of_fields)
    used = {place for places in by_field.values() for place in places}
    others: dict[str, int] = {}
    for each in external:
        others[each] = header.place(each, f"--external {each}")
        if others[each] in used:
            raise EvaluationError(f"--external {each}: the column {each!r} is given to a field as well.")
    used |= set(others.values())
    one = {field: places[0] for field, places in by_field.items() if field in ONE and places}
    several = {field: tuple(places) for field, places in by_field.items() if field in SEVERAL and places}
    guessed = set()
    for field, names in ONE.items():
        if field in by_field or not (matches := header.find_named(names, used)):
            continue
        one[field] = header.scores(matches, ask=scored) if field == "scores" else matches[0]
        used.add(one[field])
        guessed.add(field)
    for field, shape in SEVERAL.items():
        if field not in by_field and (fits := header.fitting(shape, used)):
            several[field] = fits
            used |= set(fits)
            guessed.add(field)
    further = {field: header.find_named(ONE[field], used) for field in _FILLED if field in guessed}
    return Places(
        one, several, others, frozenset(guessed), {key: each for key, each in further.items() if each}
    )


class _Header:
    """The names of a file's columns, as people mean them: case, blanks and hyphens make no difference."""

    def __init__(self, columns: Sequence[str], name: str, head: str) -> None:
        self.columns = [each.strip() for each in columns]
        self.plain = [plain_name(each) for each in self.columns]
        self.name, self.head = name, head

    def place(self, column: str, option: str) -> int:
        """The column of a name that was given; as it is written, else whatever its case."""
        name = column.strip()
        matches = [place for place, each in enumerate(self.columns) if each == name]
        matches = matches or [place for place, each in enumerate(self.plain) if each == plain_name(name)]
        if not matches:
            raise EvaluationError(
                f"{self.name}: {option}: there is no column {name!r}; there are {list_columns(self.columns)}."
            )
        self._single(matches)
        return matches[0]

    def find_named(self, names: Sequence[str], used: set[int]) -> tuple[int, ...]:
        """Columns with one of the names, in the order of the names."""
        places = [
            [place for place, each in enumerate(self.plain) if each == name and place not in used]
            for name in names
        ]
        for each in places:
            self._single(each)
        return tuple(each[0] for each in places if each)

    def scores(self, places: Sequence[int], *, ask: bool) -> int:
        """The column of the human scores: the only one, or the only one that is people's by its name."""
        likely = [place for place in places if "human" in self.plain[place]] or places
        if ask and len(likely) > 1:
            names = [self.columns[place] for place in likely]
            raise EvaluationError(
                f"{self.head}: the columns {' and '.join(map(repr, names))} may hold the human "
                f"scores. Say which one does: --column scores={names[-1]}. One with scores of a metric is "
                f"named apart: --external {names[0]}."
            )
        return likely[0]

    def fitting(self, shape: re.Pattern[str], used: set[int]) -> tuple[int, ...]:
        """Columns whose names have a shape, in the order of the numbers at their ends."""
        matches = [
            place for place, each in enumerate(self.plain) if place not in used and shape.fullmatch(each)
        ]
        for place in matches:
            self._single([other for other in matches if self.plain[other] == self.plain[place]])
        return tuple(sorted(matches, key=self._number))

    def _number(self, place: int) -> tuple[int, int]:
        number = _DIGITS.search(self.plain[place])
        return (int(number[1]) if number else -1, place)

    def _single(self, places: list[int]) -> None:
        if len(places) > 1:
            column = self.columns[places[0]][:60]
            raise EvaluationError(
                f"{self.head}: two columns are named {column!r}. Rename one, for "
                "example to reference2; which one is meant cannot be told."
            )


def _place_fields(header: _Header, columns: Mapping[str, str]) -> dict[str, list[int]]:
    by_field: dict[str, list[int]] = {}
    owners: dict[int, str] = {}
    for option, theirs in columns.items():
        field = _field(option)
        places = by_field.setdefault(field, [])
        for column in _columns(header, field, theirs):
            place = header.place(column, f"--column {option}={theirs}")
            if place in owners:
                raise EvaluationError(f"--column {option}={theirs}: that column is {owners[place]} already.")
            owners[place] = option
            places.append(place)
    return by_field


def _field(text: str) -> str:
    name = plain_name(text)
    typed = _TYPED.fullmatch(name)
    name = _NUMBERED[typed[1]] if typed else _SHORT.get(name, name)
    if name not in FIELDS:
        raise EvaluationError(
            f"--column {text}=…: there is no field {text!r}; there are {', '.join(FIELDS)}, reference1, "
            "reference2 … and score1, score2 …."
        )
    return name


def _columns(header: _Header, field: str, theirs: str) -> Iterable[str]:
    """Several columns may be given with commas between them, unless a column has that very name."""
    if not theirs.strip():
        return ()
    if field in ONE or theirs.strip() in header.columns:
        return (theirs,)
    return [each for each in theirs.split(",") if each.strip()]


def list_columns(columns: Sequence[str]) -> str:
    """Names of columns for a message."""
    first_names = ", ".join(repr(each[:60]) for each in columns[:30])
    return f"{first_names} and {len(columns) - 30} more" if len(columns) > 30 else first_names


_KNOWN = ("reference", "references", "reference1", "score1", "labels")
#: How far a mean may be from the ratings that it was rounded from.
_ROUNDED = 0.051
#: Rows that are looked at to find out what a column holds.
_LOOK = 200
#: What is in names of columns of single ratings.
_RATER = re.compile(r"rat(er|ing)|annotat|judge|judgment|worker|assessor|coder|expert")
#: Fields that are texts, beside the answer.
_TEXTS = frozenset({"question", "question_id", "id", "system", "type", "label", "response_filter", "worker"})
T = TypeVar("T")


class FileTable:
    """A CSV, TSV, JSONL or JSON file of answers; every pass reads the file again."""

    alpha: tuple[float | None, float | None] | None = None

    def __init__(
        self,
        sheet: AnswerSheet,
        places: Places,
        *,
        external: Sequence[str],
        lower_better: Sequence[str] = (),
        scale: tuple[float, float] | None,
        scored: bool,
        response_filter: str | None = None,
    ) -> None:
        self._scored = scored
        self._response_filter = response_filter
        self._texts = [
            (field, place, field != "question") for field, place in places.one.items() if field in _TEXTS
        ]
        self.sheet, self.places, self.scale = sheet, places, scale
        self.title, self.unit = Path(sheet.name).name, sheet.unit
        self.description = f"{self.title}, {sheet.description}"
        self.external: Sequence[str] = tuple(external)
        self.has = frozenset([*places.one, *places.several])
        if response_filter is not None:
            self.has |= {"response_filter"}
        self.no_ratings = ""
        self._single_ratings: SingleRatings | None = None
        #: By field and whether its own cell is filled: a line where another column with its name is.
        self._elsewhere: dict[str, dict[bool, int]] = {}
        self._read_further: dict[str, set[int]] = {}
        self._counts: RowCounts | None = None
        self._signs = [-1.0 if name in lower_better else 1.0 for name in external]
        self.notes: list[str] = [
            f"{name}: lower values are better, so they are taken with the opposite sign."
            for name in lower_better
        ]

    def rows(self) -> Iterator[Row]:
        """All answers: rows that are not empty, several ratings of an answer as one row."""
        single, used, unlike = self._find_single_ratings(), 0, []
        for row, _cells in self._rows_but({*single.merged, *single.repeats}):
            used += 1
            single.complete(row)
            if row.line in single.answers:
                row.human = _mean(row.ratings)
            elif row.ratings and abs(row.human - _mean(row.ratings)) > _ROUNDED:
                unlike.append(row.line)
            yield row
        if self._counts is None:
            merged, repeats = len(single.merged), len(single.repeats)
            self._counts = RowCounts(used + merged + repeats, used=used, merged=merged, repeats=repeats)
            self.notes += [
                *single.notes,
                *self._further_notes(),
                *self._notes_of(unlike),
                *self.sheet.notes(),
            ]

    def _rows_but(self, left_out: Container[int]) -> Iterator[tuple[Row, Cells]]:
        """Rows as they are in the file, with their cells, without some lines."""
        answer = self.places.one.get("answer")
        for line, cells in self.sheet.rows():
            if line not in left_out and ((answer is not None and cells[answer]) or not _blank(cells)):
                yield self._row(line, cells), cells

    def _find_single_ratings(self) -> SingleRatings:
        """The rows of each answer; where scores are not looked at, only a column of raters makes several.

        Most tables have none, so question, system and answer are compared as they are written, before a row
        is read any further.
        """
        if self._single_ratings is None:
            once = self._lines_of_single_rows() if self._scored or "worker" in self.has else None
            self._single_ratings = (
                SingleRatings()
                if once is None
                else find_single_ratings(partial(self._rows_but, once), self.has, self._refuse)
            )
        return self._single_ratings

    def _lines_of_single_rows(self) -> set[int] | None:
        """Lines whose question, system and answer no other line has; None where all lines are such."""
        first: dict[int, int] = {}
        several: set[int] = set()
        for line, text in self._written():
            if (earlier := first.setdefault(hash(text), line)) != line:
                several |= {line, earlier}
        return set(first.values()) - several if several else None

    def _written(self) -> Iterator[tuple[int, str]]:
        """Question, system and answer of each line as it has them, whichever of their columns has them."""
        one = self.places.one
        fields = ("question_id" if "question_id" in one else "question", "system", "answer")
        places = [(one[field], *self.places.further.get(field, ())) for field in fields if field in one]
        for line, cells in self.sheet.rows():
            filled = (next((cells[at] for at in each if cells[at]), "") for each in places)
            yield line, "\0".join(" ".join(str(value).split()) for value in filled)

    def _refuse(self, line: int, why: str) -> NoReturn:
        raise self.sheet.error(why, line=line)

    @property
    def reading(self) -> Reading:
        """What the file was read as; its rows are counted once all of them were read."""
        names = self.sheet.columns
        places = {field: [place] for field, place in self.places.one.items()}
        for field, further in self._read_further.items():
            places[field] += sorted(further)
        places |= {field: list(each) for field, each in self.places.several.items()}
        if not self._scored:
            places = {field: each for field, each in places.items() if field not in ("scores", "ratings")}
        if self.external:
            places["external"] = [self.places.external[each] for each in self.external]
        columns = {
            ROLES.get(field, field): [names[place] for place in each] for field, each in places.items()
        }
        return self.sheet.reading(columns, self._counts)

    def aspect_ratings(self) -> Iterator[AspectRating]:
        """The single ratings of each answer with what columns such as aspect_topicality_2 say beside rating2;
        nothing where there are no such columns.

        EvaluationError for an aspect without a score that it is beside.
        """
        aspects = self._aspect_places()
        if not aspects:
            return
        single = self._find_single_ratings()
        for line, cells in self.sheet.rows():
            if _blank(cells) or line in single.repeats:
                continue
            read = _Reader(self.sheet, line, cells)
            for rating, places in aspects.items():
                score = read.number(rating)
                numbers = {name: read.number(place) for name, place in places.items()}
                ratings = {name: value for name, value in numbers.items() if not math.isnan(value)}
                if ratings and math.isnan(score):
                    raise self.sheet.error(
                        f"there is a score of {next(iter(ratings))} and none in "
                        f"{self.sheet.columns[rating]!r}, the same person's. Give both or none.",
                        line=line,
                    )
                if not math.isnan(score):
                    yield str(single.merged.get(line, line)), self.sheet.columns[rating], score, ratings

    def _aspect_places(self) -> dict[int, dict[str, int]]:
        """Columns of aspects by the aspect's name, for the column of ratings with the same number."""
        plain = [plain_name(each) for each in self.sheet.columns]
        matches = {place: fits for place, each in enumerate(plain) if (fits := _ASPECT.fullmatch(each))}
        if not matches:
            return {}
        ratings = {
            number[1]: place
            for place in self.places.several.get("ratings", ())
            if (number := _DIGITS.search(plain[place]))
        }
        aspects: dict[int, dict[str, int]] = {place: {} for place in ratings.values()}
        for place, fits in matches.items():
            if fits["number"] not in ratings:
                raise EvaluationError(
                    f"{self.sheet.head}: the column {self.sheet.columns[place]!r} is beside no "
                    f"column rating{fits['number']}. Name both by the same number."
                )
            aspects[ratings[fits["number"]]][fits["name"].replace("_", " ")] = place
        return aspects

    def column(self, field: str) -> str:
        """The name of a field's first column, for messages."""
        place = self.places.one.get(field)
        if place is None:
            place = self.places.several[field][0]
        return self.sheet.columns[place]

    def _row(self, line: int, cells: Cells) -> Row:
        one = self.places.one
        read = _Reader(self.sheet, line, cells)
        references, labels = self._references(read)
        row = Row(line, read.text(one["answer"]) if "answer" in one else "", references, labels=labels)
        row.response_filter = self._response_filter or ""
        for field, place, strip in self._texts:
            text = read.text(place)
            setattr(row, field, text.strip() if strip else text)
        for field, places in self.places.further.items():
            self._fill(row, read, field, places)
        if "simulated" in one:
            row.simulated = read.value(one["simulated"], flag_of)
        if "entities" in one:
            row.entities = [text for text, _ in read.value(one["entities"], _entities)]
        if self._scored:
            self._scores(row, read)
        if self.external:
            values = (read.number(self.places.external[each]) for each in self.external)
            row.external = tuple(sign * value for sign, value in zip(self._signs, values, strict=True))
        return row

    def _fill(self, row: Row, read: "_Reader", field: str, places: Sequence[int]) -> None:
        """A field that is empty, from another column with a name of it, where never both are filled."""
        filled = [place for place in places if not _blank([read.cells[place]])]
        if not filled:
            return
        own = bool(getattr(row, field).strip())
        lines = self._elsewhere.setdefault(field, {})
        lines.setdefault(own, row.line)
        if len(lines) > 1 or (not own and len(filled) > 1):
            names = " or ".join(
                repr(self.sheet.columns[place]) for place in (self.places.one[field], *filled)
            )
            where = f", and in {self.sheet.unit} {lines[True]} it is not" if True in lines else ""
            raise self.sheet.error(
                f"the column {self.column(field)!r} is empty while another one with a name for the {field} "
                f"is filled{where}. Say which one of {names} holds it: --column {field}=NAME.",
                line=lines[False],
            )
        if not own:
            setattr(row, field, read.text(filled[0]))
            self._read_further.setdefault(field, set()).add(filled[0])

    def _notes_of(self, unlike: list[int]) -> list[str]:
        """The note on lines whose score is not the mean of their ratings: it may be one of them."""
        if not unlike:
            return []
        several = ",".join(self.sheet.columns[at] for at in self.places.several.get("ratings", ()))
        score = self.column("scores")
        return [
            f"Rows whose human score, {score!r}, is not the mean of the single ratings beside it: "
            f"{len(unlike):,}, the first in {self.sheet.unit} {unlike[0]}. If it is one of them: --column "
            f"scores= --column ratings={score},{several}. If it is a metric's: --column scores= --external "
            f"{score}."
        ]

    def _further_notes(self) -> list[str]:
        names = self.sheet.columns
        return [
            f"Where {self.column(field)!r} is empty, the {field} was read from "
            f"{' or '.join(repr(names[place]) for place in sorted(places))}."
            for field, places in self._read_further.items()
        ]

    def _references(self, read: "_Reader") -> tuple[list[str], list[str]]:
        """References that are not empty, and their opinions."""
        places = self.places.several.get("references", ())
        if "labels" not in self.has:
            plain = [read.cells[place] for place in places]
            if all(isinstance(each, str) and "[" not in each for each in plain):
                texts = [each for each in plain if each and not each.isspace()]
                return texts, [""] * len(texts) if "label" in self.has else []
        cells = [read.value(place, texts_of) for place in places]
        opinions = [
            opinion
            for place in self.places.several.get("labels", ())
            for opinion in read.value(place, opinions_of)
        ]
        every = [pair for texts in cells for pair in texts]
        if any(opinions):
            if len(opinions) != len(every):
                raise self.sheet.error(
                    f"{len(opinions)} labels for {len(every)} references. Name one opinion, which may be "
                    "empty, for every reference.",
                    line=read.line,
                )
            every = [(text, own or opinion) for (text, own), opinion in zip(every, opinions, strict=True)]
        every = [pair for pair in every if pair[0].strip()]
        return [text for text, _ in every], [opinion for _, opinion in every]

    def _scores(self, row: Row, read: "_Reader") -> None:
        place = self.places.one.get("scores")
        for each in self.places.several.get("ratings", ()):
            several = read.value(each, lambda value: ratings_of(value, self.sheet.commas))
            if several is None:
                number = read.number(each)
                several = [] if math.isnan(number) else [(self.sheet.columns[each], number)]
            row.ratings.extend(several)
        if place is not None:
            listed_ones = read.value(place, lambda value: ratings_of(value, self.sheet.commas))
            if listed_ones is None:
                row.human = read.number(place)
            else:
                row.ratings = row.ratings or listed_ones
        if math.isnan(row.human) and row.ratings:
            row.human = _mean(row.ratings)
        if self.scale is not None:
            low, high = self.scale
            for score in (row.human, *(score for _, score in row.ratings)):
                if not (math.isnan(score) or low <= score <= high):
                    raise self.sheet.error(
                        f"the score {score:g} is not on the scale from {low:g} to {high:g}. If the scale is "
                        "another, say so: --scale LOW-HIGH.",
                        line=read.line,
                    )


def _mean(ratings: Sequence[tuple[str, float]]) -> float:
    return math.fsum(score for _, score in ratings) / len(ratings) if ratings else math.nan


def _blank(cells: Cells) -> bool:
    return all(each is None or (isinstance(each, str) and not each.strip()) for each in cells)


class _Reader:
    """The cells of a row by their places; EvaluationError names line and column of one that is wrong."""

    __slots__ = ("cells", "line", "sheet")

    def __init__(self, sheet: AnswerSheet, line: int, cells: Cells) -> None:
        self.sheet, self.line, self.cells = sheet, line, cells

    def text(self, place: int) -> str:
        value = self.cells[place]
        return value if isinstance(value, str) else self.value(place, text_of)

    def number(self, place: int) -> float:
        """The number, nan where there is none."""
        number = self.value(place, lambda value: number_of(value, self.sheet.commas))
        return math.nan if number is None else number

    def value(self, place: int, read: Callable[[Any], T]) -> T:
        try:
            return read(self.cells[place])
        except ValueRefusedError as error:
            raise self.sheet.error(
                f"column {self.sheet.columns[place]!r}: {error}. Correct the cell, or name another column: "
                "--column FIELD=COLUMN.",
                line=self.line,
            ) from error


def _entities(value: Any) -> list[tuple[str, str]]:
    """A list, or texts with bars or semicolons between them."""
    if isinstance(value, str) and not value.strip().startswith("["):
        value = value.replace(";", "|").split("|")
    return [(text.strip(), opinion) for text, opinion in texts_of(value) if text.strip()]


def open_table(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    encoding: str = "",
    sheet: str = "",
    header_row: int = 0,
    quotes: bool = True,
    external: Sequence[str] = (),
    lower_better: Sequence[str] = (),
    scale: tuple[float, float] | None = None,
    scored: bool | None = None,
    response_filter: str | None = None,
) -> FileTable:
    """The file with its columns. `scored`: it must have human scores; False: they are not even looked at.
    `response_filter` names the filter that has been over its single ratings, "none" for none, where no column
    says so. Of the columns in `external`, those in `lower_better` are better the lower they are.

    EvaluationError, with file, line, column and remedy, for everything that cannot be read.
    """
    field_columns = dict(columns or {})
    if strange := [name for name in lower_better if name not in external]:
        raise EvaluationError(f"--lower-better {strange[0]}: name the column with --external as well.")
    header_names = [
        *_KNOWN,
        *field_columns.values(),
        *external,
        *(each for names in ONE.values() for each in names),
    ]
    rows = open_sheet(
        path, header_names=header_names, encoding=encoding, sheet=sheet, header_row=header_row, quotes=quotes
    )
    head = list(islice(rows.rows(), _LOOK))
    places = places_of(
        rows.columns, field_columns, external, name=rows.name, head=rows.head, scored=scored is not False
    )
    check = _Check(rows, places, field_columns, head)
    check.everything(scored=bool(scored))
    if not head:
        raise EvaluationError(f"{rows.name} has a header but no rows under it.")
    if response_filter is not None and "response_filter" in places.one:
        raise EvaluationError(
            f"{rows.name}: --response-filter {response_filter}: the column "
            f"{rows.columns[places.one['response_filter']]!r} says which filter it was. Leave the option "
            "out, or the column: --column response_filter=."
        )
    table = FileTable(
        rows,
        places,
        external=external,
        lower_better=lower_better,
        scale=scale,
        scored=scored is not False,
        response_filter=response_filter,
    )
    if scored is not False and (ratings := check.looks_like_ratings()):
        every = ",".join([*(rows.columns[place] for place in places.several.get("ratings", ())), *ratings])
        table.notes.append(
            f"Columns that may hold single ratings and are not read: {', '.join(ratings)}. If they do: "
            f"--column ratings={every}."
        )
    return table


class _Check:
    """Whether the columns that are needed are there; messages name those that could be meant."""

    def __init__(
        self,
        sheet: AnswerSheet,
        places: Places,
        field_columns: Mapping[str, str],
        head: list[tuple[int, Cells]],
    ) -> None:
        self.sheet, self.places, self.field_columns, self.head = sheet, places, field_columns, head

    def everything(self, *, scored: bool) -> None:
        if not (scored and self.places.external):
            if "answer" not in self.places.one:
                raise self._missing("the answers (candidates)", "answer")
            if "references" not in self.places.several:
                raise self._missing("the references", "references")
        has_scores = "scores" in self.places.one or "ratings" in self.places.several
        numbers = self._numbers()
        unscored = [place for place in numbers if self._seems_score(place)]
        if scored and not has_scores:
            raise self._missing("the human scores", "scores", numbers)
        if unscored and not has_scores:
            column = self.sheet.columns[unscored[0]]
            raise EvaluationError(
                f"{self.sheet.name}: the column {column!r} would be a reference, but holds nothing but "
                "numbers, and no column is named scores. If it holds the human scores: "
                f"--column scores={column}. If it is a reference: --column references={self._references()}."
            )

    def _references(self) -> str:
        return ",".join(self.sheet.columns[place] for place in self.places.several["references"])

    def _numbers(self) -> list[int]:
        """Columns that hold nothing but numbers as far as was looked, those that nobody gave."""
        used = {*self.places.one.values(), *self.places.external.values()}
        used |= {
            place
            for field, places in self.places.several.items()
            if field not in self.places.guessed
            for place in places
        }
        places = [place for place in range(len(self.sheet.columns)) if place not in used]
        return [place for place in places if self._only_numbers(place)]

    def _seems_score(self, place: int) -> bool:
        """A further reference of nothing but numbers, while the first one and the answers hold texts."""
        references = self.places.several.get("references", ())
        first = references[0] if references else None
        return (
            place in references
            and place != first
            and not self._only_numbers(first if first is not None else place)
            and not self._only_numbers(self.places.one["answer"])
        )

    def _only_numbers(self, place: int) -> bool:
        any_number, commas = False, DecimalCommas(apply=self.sheet.commas.apply)
        for _line, cells in self.head:
            value = cells[place]
            if isinstance(value, list | dict | bool):
                return False
            try:
                any_number |= number_of(value, commas) is not None
            except ValueRefusedError:
                return False
        return any_number

    def _missing(self, what: str, field: str, likely: Sequence[int] = ()) -> EvaluationError:
        column_names = list_columns(self.sheet.columns)
        name = self.sheet.name
        if likely:
            columns = [self.sheet.columns[place] for place in likely]
            meant = f"The column {columns[-1]!r} holds nothing but numbers. If these are they:"
            several = ""
            if len(columns) > 1:
                numeric = list_columns(columns)
                meant = f"The columns {numeric} hold nothing but numbers. If one of them holds them:"
                several = f" If these are single ratings: --column ratings={','.join(columns)}."
            return EvaluationError(
                f"{name}: no column holds {what}; there are {column_names}. {meant} --column "
                f"{field}={columns[-1]}.{several}"
            )
        if not self.places.one and not self.places.several:
            return EvaluationError(
                f"{self.sheet.head}: none of the columns {column_names} has a name that is known. If the "
                "file has no header line, add one: question, answer, reference1, scores. Else say which "
                f"column holds what: --column answer=NAME --column references=NAME.{self._other_sheets()}"
            )
        scores = [self.sheet.columns[place] for place in self._numbers()]
        elsewhere = (
            f" If they were scored elsewhere, their scores need no texts: --external {','.join(scores)}."
            if scores and "scores" in self.places.one
            else ""
        )
        return EvaluationError(
            f"{name}: no column holds {what}; there are {column_names}. Say which one does: --column "
            f"{field}=NAME.{elsewhere}"
        )

    def _other_sheets(self) -> str:
        workbook = self.sheet.source.workbook
        if workbook is None or len(workbook.sheets) < 2:
            return ""
        others = [each for each in workbook.sheets if each != workbook.sheet]
        return f" This was the sheet {workbook.sheet!r}; the others are {list_columns(others)}: --sheet NAME."

    def looks_like_ratings(self) -> list[str]:
        """Columns of numbers that are not read and named after people who rate."""
        if "ratings" not in self.places.guessed | ({"ratings"} - set(self.places.several)):
            return []
        used = {place for places in self.places.several.values() for place in places}
        return [
            self.sheet.columns[place]
            for place in self._numbers()
            if place not in used and _RATER.search(plain_name(self.sheet.columns[place]))
        ]
