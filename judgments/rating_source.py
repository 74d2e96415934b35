"""A file of ratings: which column holds what, the ratings one by one, and texts of ratings as values."""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from operator import itemgetter
from pathlib import Path

from core.files.cells import AmbiguousNumberError, with_point
from core.files.reading import NAMES, SHAPES, Reading, plain_name
from core.files.refusals import FileRefusedError, RowCounts
from core.files.sheets import Sheet, open_sheet
from core.files.text_source import TextSource
from metrics.agreement.scale import Scale

REQUIRED = ("item", "worker", "score")
GROUPS = ("system", "type", "simulated")
COLUMNS = (*REQUIRED, "order", "submitted_at", "check", "expected", *GROUPS, "seconds")
#: The item of a release's table of ratings is its candidate; the table has these columns, too.
RELEASED, STAGE, ASPECTS = "candidate_id", "stage", "aspects"
#: Of kept ratings: which filter of single responses has run.
RESPONSE_FILTER = "response_filter"
#: Columns of aspects are kept under this and their name, which may be that of a field of ours.
ASPECT = "aspect "
#: Rows by which a table is known to have a column per rater.
_LOOK = 20


@dataclass(frozen=True, slots=True)
class RatingSource:
    """A readable file and in which of its columns each field is; `raters` are columns of a rater each.

    A rating is then a cell of theirs, its worker is the name of the column, and empty cells are none.
    """

    sheet: Sheet
    places: Mapping[str, int]
    raters: Sequence[int] = ()

    @property
    def fields(self) -> list[str]:
        """What the texts of a record are, in their order."""
        return [*self.places, *(("worker", "score") if self.raters else ())]

    def records(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Ratings with the numbers of their lines: a text for each of the fields."""
        if not self.raters:
            pick = itemgetter(*self.places.values())
            yield from ((line, pick(cells)) for line, cells in self.sheet.rows())
            return
        for line, cells in self.sheet.rows():
            shared = [cells[place] for place in self.places.values()]
            for place in self.raters:
                if cells[place].strip():
                    yield line, (*shared, self.sheet.columns[place], cells[place])

    def error(self, why: str, *, record: int = -1) -> Exception:
        """An error in the file, or in the line of a record; records are counted from 0."""
        line = next(islice(self.records(), record, None))[0] if record >= 0 else 0
        return self.sheet.error(why, line=line)

    def reading(self, rows: RowCounts) -> Reading:
        """How it was read; raters' columns are its `ratings`."""
        names = self.sheet.columns
        columns = {field: [names[place]] for field, place in self.places.items() if ASPECT not in field}
        for field, place in self.places.items():
            if field.startswith(ASPECT):
                columns.setdefault(ASPECTS, []).append(names[place])
        if self.raters:
            columns["ratings"] = [names[place] for place in self.raters]
        return self.sheet.reading(columns, rows)

    def others_for(self, field: str) -> str:
        """Columns with a name for a field that another column holds, in a sentence behind a blank."""
        used = {*self.places.values(), *self.raters}
        others = [
            name
            for place, name in enumerate(self.sheet.columns)
            if place not in used and plain_name(name) in (field, *NAMES.get(field, ()))
        ]
        if not others:
            return ""
        return f" If it is in {' or '.join(map(short, others))}: write all into one column."

    def notes(self) -> list[str]:
        """Sentences about what may be meant otherwise."""
        notes = [*self.sheet.notes(), *self.sheet.doubts("say what it is: --encoding NAME")]
        if self.raters:
            notes.append(
                "The table has a column per rater, and each of their cells that is not empty is a rating."
            )
        return notes


def rating_source(
    path: Path,
    *,
    columns: Mapping[str, str],
    aspects: Sequence[str] = (),
    encoding: str = "",
    sheet: str = "",
    header_row: int = 0,
) -> RatingSource:
    """The file with its columns found: as `columns` says by our fields, by our names, else by usual ones.

    `aspects` are further columns. `sheet` names one of a workbook, which otherwise gives its first with data,
    and `header_row` the one that names the columns.
    """
    for field in columns:
        if field not in COLUMNS:
            raise FileRefusedError(f"There is no field {field!r} to map; there are {', '.join(COLUMNS)}.")
    known_names = {*COLUMNS, *(name for field in COLUMNS for name in NAMES.get(field, ())), STAGE, ASPECTS}
    known_names |= {plain_name(name) for name in (*columns.values(), *aspects)}
    file = TextSource(path, name=str(path), encoding=encoding, sheet=sheet)
    table = open_sheet(file, column_names=known_names, header_row=header_row)
    names = [plain_name(name) for name in table.columns]
    places = {}
    for field in COLUMNS:
        called = (columns[field],) if field in columns else (field, *NAMES.get(field, ()))
        named_elsewhere = [] if field in columns else [*columns.values(), *aspects]
        remedy = f"Say which one: --column {field}=NAME."
        place = table.find_column(field, called, remedy=remedy, excluded=named_elsewhere)
        if place is not None:
            places[field] = place
        elif field in columns:
            raise _missing(table, field, columns[field])
    raters: list[int] = []
    if "item" in places and not {"worker", "score"} & (places.keys() | columns.keys()):
        raters = _raters(table, names, {*places.values()})
        if twice := [place for place in raters if [names[each] for each in raters].count(names[place]) > 1]:
            raise table.error(
                f"two columns are named {short(table.columns[twice[0]])}, and each has the ratings of one "
                "person. Rename one.",
                line=table.header_row,
            )
    missing = [field for field in REQUIRED if field not in places and not (raters and field != "item")]
    if missing:
        raise _missing(table, missing[0], columns.get(missing[0], missing[0]))
    if names[places["item"]] == RELEASED and "item" not in columns:
        places |= {name: names.index(name) for name in (STAGE, ASPECTS) if name in names}
    if RESPONSE_FILTER in names:
        places[RESPONSE_FILTER] = names.index(RESPONSE_FILTER)
    for name in aspects:
        if plain_name(name) not in names:
            raise table.error(
                f"there is no column {name!r} for an aspect; there are {_quoted(table.columns)}.",
                line=table.header_row,
            )
        places[ASPECT + name] = names.index(plain_name(name))
    return RatingSource(table, places, raters)


def _raters(table: Sheet, names: list[str], used: Collection[int]) -> list[int]:
    """Columns with a rater each: those named so, else all others where they hold nothing but numbers."""
    others = [place for place, name in enumerate(names) if name and place not in used]
    named = [place for place in others if SHAPES["ratings"].fullmatch(names[place])]
    if len(named) > 1:
        return named
    values = [cells[place].strip() for _line, cells in islice(table.rows(), _LOOK) for place in others]
    numbers = [number(text) is not None for text in values if text]
    return others if len(others) > 1 and numbers and all(numbers) else []


def _missing(table: Sheet, field: str, theirs: str) -> Exception:
    remedy = (
        " It looks as if the file had no header line; add one."
        if any(read_integer(name) is not None for name in table.columns)
        else f" Say which one holds it: --column {field}=NAME."
    )
    return table.error(
        f"there is no column {theirs!r} for the {field}; there are {_quoted(table.columns)}.{remedy}",
        line=table.header_row,
    )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(short, names[:30]))


def short(text: str) -> str:
    """A text in quotation marks for a message, not too long."""
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


# Texts of ratings as values: exact numbers, times, and what an attention check accepts.

_LONGEST = 1000
_NO = {"", "0", "0.0", "no", "n", "false", "f", "none", "null", "nan"}
_WHOLE = re.compile(r"[+-]?[0-9]+([.,]0*)?")
_EXACT = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_BOUND = re.compile(r"(<=|>=|≤|≥)\s*([+-]?[0-9]+(?:\.[0-9]+)?)")
_RANGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:-|\N{EN DASH}|\.\.)\s*([0-9]+(?:\.[0-9]+)?)")
_BETWEEN = re.compile(r"[\s|/;,]+")


def means_yes(text: str) -> bool:
    """Whether a text marks its row: anything but nothing, 0, no, false and the like."""
    return text.casefold() not in _NO


def read_integer(text: str) -> int | None:
    """The whole number that a text is (`3`, `3.0`), or None."""
    return int(re.split("[.,]", text)[0]) if _WHOLE.fullmatch(text) and len(text) < _LONGEST else None


def exact(text: str) -> Fraction | None:
    """The decimal number that a text is (`3`, `2.5`, `2,5`), or None."""
    try:
        plain = with_point(text).rstrip(".,")
    except AmbiguousNumberError:
        return None
    return Fraction(plain) if _EXACT.fullmatch(plain) and len(plain) < _LONGEST else None


def number(text: str) -> float | None:
    """The finite number that a text is, or None."""
    try:
        value = float(with_point(text))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def times(texts: list[str]) -> list[float | None]:
    """Seconds since 1970 for each ISO 8601 time, None for other texts."""
    import pandas as pd  # takes seconds to import

    moments = pd.to_datetime(pd.Series(texts, dtype=object), utc=True, format="ISO8601", errors="coerce")
    return [None if pd.isna(time) else time.timestamp() for time in moments]


def is_range(text: str) -> bool:
    """Whether a text is a range of scores, such as 80-100 or >=80, on whichever scale."""
    return bool(_BOUND.fullmatch(text) or _RANGE.fullmatch(text))


def accepted_scores(text: str, scale: Scale) -> set[int]:
    """The scores, in units of the scale, that an attention check accepts; none for a text that says none."""
    every = scale.scores
    if bound := _BOUND.fullmatch(text):
        limit = Fraction(bound[2]) / scale.unit
        below = bound[1] in {"<=", "≤"}
        return {step for step in every if (step <= limit if below else step >= limit)}
    if span := _RANGE.fullmatch(text):
        low, high = Fraction(span[1]) / scale.unit, Fraction(span[2]) / scale.unit
        return {step for step in every if low <= step <= high}
    values = [exact(part) for part in _BETWEEN.split(text) if part]
    steps = {None if value is None else scale.step_of(value) for value in values}
    return set() if None in steps else {step for step in steps if step is not None}
