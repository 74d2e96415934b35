"""A table of ratings as columns: one rating a row, or a column per rater (docs/quality.md).

Of every chunk of rows only codes stay, so that memory does not grow with the length of the texts. Scores,
checks and groups are judged once per distinct text. Where something is wrong, the file is read again to name
the line.
"""

import dataclasses
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from core.files.cells import AmbiguousNumberError
from core.files.refusals import RowCounts
from judgments.rating_source import (
    ASPECT,
    ASPECTS,
    GROUPS,
    REQUIRED,
    RESPONSE_FILTER,
    STAGE,
    RatingSource,
    accepted_scores,
    exact,
    means_yes,
    number,
    rating_source,
    read_integer,
    short,
    times,
)
from metrics.agreement.data import RatingGroups, Ratings
from metrics.agreement.filters import Checks
from metrics.agreement.scale import MOST_SCORES, Scale, gcd

_MANIFEST = "manifest.json"
_LARGEST = 1 << 24
CHUNK = 1 << 16
_MOST_OF_ASPECT = MOST_SCORES - 1
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RatingsTable:
    """What a file of ratings holds: ratings in the order of submission, without those of attention checks.

    `seconds` (nan for unknown) and the codes of `groups` have an entry for each rating, `checks` for each
    worker; they are None, or missing, where the file has no such column. `notes` are sentences about how
    scores were read. `aspects` have a number for each rating (nan for none), whole ones. `response_filters`
    have been applied before, as the file says.
    """

    ratings: Ratings
    checks: Checks | None
    seconds: npt.NDArray[np.float64] | None
    groups: dict[str, RatingGroups]
    source: RatingSource
    n_checks: int
    counts: RowCounts
    notes: tuple[str, ...] = ()
    aspects: Mapping[str, npt.NDArray[np.float64]] = dataclasses.field(default_factory=dict)
    response_filters: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class _Column:
    """One column: each row's code, and the distinct texts that the codes stand for."""

    name: str
    codes: Codes
    texts: list[str]

    def mapped(self, values: list[float]) -> npt.NDArray[np.float64]:
        return np.asarray(values, dtype=np.float64)[self.codes]


def read_ratings(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    scale: Scale | None = None,
    continuous: bool = False,
    encoding: str = "",
    sheet: str = "",
    header_row: int = 0,
    stage: str = "",
    aspects: Sequence[str] = (),
) -> RatingsTable:
    """Reads a file of ratings. `columns` says which column holds what, where the names differ from ours.
    `continuous` takes any number between the ends of the scale, as sliders give them.

    The table of ratings that a release has is known by its columns; where it has several stages, `stage` says
    which one is meant, and its aspects are read. Of other files `aspects` name the columns with one each.
    Without a `scale` its manifest names the stage's, where it lies beside the file or a folder above it; else
    scores go from 1 to 5.

    FileRefusedError, with file, line, field and remedy, for everything that cannot be read as a rating.
    """
    source = rating_source(
        path,
        columns=columns or {},
        aspects=aspects,
        encoding=encoding,
        sheet=sheet,
        header_row=header_row,
    )
    read = _read(source)
    stages = read.pop(STAGE, None)
    named = released_scale(path, stage or _only(stages)) if scale is None and stages is not None else None
    table = _Table(source, read, scale or named or Scale(), continuous=continuous)
    if named is not None and named != Scale():
        table.notes.append(f"The scale, {named.description}, is the one that the release's manifest names.")
    if stages is not None:
        table.take_stage(stages, stage)
    elif stage:
        raise source.error("it is no table of ratings of a release: it has no stages. Leave out --stage.")
    if not table.filled.any():
        raise source.error("it has a header but no ratings under it.")
    return table.read_ratings()


def _only(column: _Column) -> str:
    """The only text of a column; nothing where there are several."""
    texts = {column.texts[code] for code in np.unique(column.codes)} - {""}
    return texts.pop() if len(texts) == 1 else ""


def _read(source: RatingSource) -> dict[str, _Column]:
    fields = source.fields
    tables = [defaultdict[str, int](count().__next__) for _ in fields]
    codes: list[list[Codes]] = [[np.empty(0, dtype=np.int64)] for _ in fields]
    records = source.records()
    while chunk := [texts for _line, texts in islice(records, CHUNK)]:
        for table, parts, texts in zip(tables, codes, zip(*chunk, strict=True), strict=True):
            parts.append(np.fromiter(map(table.__getitem__, texts), np.int64))
    return {
        field: _stripped(field, np.concatenate(parts), list(table))
        for field, table, parts in zip(fields, tables, codes, strict=True)
    }


def _stripped(name: str, codes: Codes, texts: list[str]) -> _Column:
    """The column without white space around its texts; texts that then are the same get one code."""
    bare = [text.strip() for text in texts]
    if bare == texts:
        return _Column(name, codes, texts)
    table: dict[str, int] = {}
    merged = [table.setdefault(text, len(table)) for text in bare]
    return _Column(name, np.asarray(merged, dtype=np.int64)[codes], list(table))


class _Table:
    """From columns of texts to ratings, checks, times and groups."""

    def __init__(
        self, source: RatingSource, columns: dict[str, _Column], scale: Scale, *, continuous: bool = False
    ) -> None:
        self.source, self.columns, self.scale, self.continuous = source, columns, scale, continuous
        self.notes: list[str] = []
        #: Spreadsheets end their tables with rows of empty cells; these are no ratings.
        self.filled = np.zeros(len(columns["item"].codes), dtype=np.bool_)
        for field in REQUIRED:
            self.filled |= np.array([bool(text) for text in columns[field].texts], dtype=np.bool_)[
                columns[field].codes
            ]
        if empty := int((~self.filled).sum()):
            self.notes.append(f"Rows without item, worker and score, left out: {empty:,}.")

    def take_stage(self, column: _Column, stage: str) -> None:
        """Leave out what people said in other stages; FileRefusedError where one must be chosen."""
        stages = {column.texts[code] for code in np.unique(column.codes[self.filled])}
        named = ", ".join(sorted(stages))
        if stage and stage not in stages:
            raise self.source.error(f"it has no stage {stage!r}; there are: {named}.")
        if not stage and len(stages) > 1:
            raise self.source.error(
                f"it has ratings of {len(stages)} stages, which are not one table: {named}. "
                "Say which: --stage NAME."
            )
        if stage:
            of_stage = np.array([text == stage for text in column.texts], dtype=np.bool_)[column.codes]
            elsewhere = int((self.filled & ~of_stage).sum())
            self.filled &= of_stage
            if elsewhere:
                self.notes.append(f"Ratings of other stages, left out: {elsewhere:,}.")

    def read_ratings(self) -> RatingsTable:
        item, worker = self.columns["item"], self.columns["worker"]
        self.refuse(
            worker,
            [not text for text in worker.texts],
            "the worker is empty",
            f"Every rating needs one.{self.source.others_for('worker')}",
        )
        is_check = self.is_check() & self.filled
        scores = self.scores(is_check)
        self.refuse(
            item,
            [not text for text in item.texts],
            "the item is empty",
            f"Every rating needs one.{self.source.others_for('item')}",
            ~is_check,
        )
        rated = np.flatnonzero(~is_check & self.filled)
        if not len(rated):
            raise self.source.error("every row is an attention check; there are no ratings.")
        n_checks, n_read = int(is_check.sum()), len(self.filled)
        filters = self.response_filters(rated)
        rows = self.in_order(self.first_of_same(rated))
        items, item_names = _renumbered(item, rows)
        ratings = Ratings(
            items.astype(np.int32),
            worker.codes[rows].astype(np.int32),
            scores[rows].astype(np.int16),
            item_names,
            worker.texts,
            self.scale,
        )
        seconds = self.seconds()
        return RatingsTable(
            ratings,
            self.checks(is_check, scores),
            None if seconds is None else seconds[rows],
            self.groups(rows),
            self.source,
            n_checks,
            RowCounts(
                rows_read=n_read,
                used=len(rows) + n_checks,
                repeats=len(rated) - len(rows),
                refused=n_read - len(rated) - n_checks,
            ),
            (*self.source.notes(), *self.notes),
            self.aspects(rows),
            filters,
        )

    def response_filters(self, rows: Codes) -> tuple[str, ...]:
        """Filters of single responses that these rows are behind; a warning says so."""
        if RESPONSE_FILTER not in self.columns:
            return ()
        filters = sorted({*_renumbered(self.columns[RESPONSE_FILTER], rows)[1]} - {"", "none"})
        if filters:
            self.notes.append(
                f"A response filter has run before on these ratings: {'; '.join(filters)}. After it even "
                "noise agrees: these figures say nothing about how far people agree."
            )
        return tuple(filters)

    def refuse(
        self,
        column: _Column,
        wrong: list[bool],
        what: str | Callable[[str], str],
        remedy: str,
        among: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Names the first row whose text is wrong, and how many there are."""
        if not any(wrong):
            return
        bad = np.asarray(wrong)[column.codes] & self.filled
        if among is not None:
            bad &= among
        rows = np.flatnonzero(bad)
        if not len(rows):
            return
        text = column.texts[column.codes[rows[0]]]
        finding = what if isinstance(what, str) else what(text)
        more = f" Rows with this fault: {len(rows):,}." if len(rows) > 1 else ""
        raise self.source.error(f"{finding}. {remedy}{more}", record=int(rows[0]))

    def is_check(self) -> npt.NDArray[np.bool_]:
        if "check" in self.columns:
            check = self.columns["check"]
            marked = np.array([means_yes(text) for text in check.texts])[check.codes]
            if "expected" not in self.columns and marked.any():
                raise self.source.error(
                    "rows are marked as attention checks, but no column says which answers are accepted. Add "
                    "a column 'expected', or name it: --column expected=NAME."
                )
            return cast("npt.NDArray[np.bool_]", marked)
        if "expected" in self.columns:
            expected = self.columns["expected"]
            return np.array([bool(text) for text in expected.texts])[expected.codes]
        return np.zeros(len(self.columns["item"].codes), dtype=np.bool_)

    def scores(self, is_check: npt.NDArray[np.bool_]) -> Codes:
        """The score of every row in units; below the scale where a check was left unanswered."""
        column = self.columns["score"]
        texts, unclear = self._with_points(column.texts)
        self.refuse(
            column,
            [text in unclear for text in column.texts],
            lambda text: f"the score is ambiguous: {unclear[text].rstrip('.')}",
            "Correct the cell.",
        )
        values = [exact(text) for text in texts]
        if self.continuous:
            self.scale, values = self.fitted(values)
        scale = self.scale
        steps = [None if value is None else scale.step_of(value) for value in values]
        self.refuse(
            column,
            [not text for text in column.texts],
            "the score is empty",
            f"Leave the row out.{self.source.others_for('score')}",
            ~is_check,
        )
        self.refuse(
            column,
            [bool(text) and value is None for text, value in zip(column.texts, values, strict=True)],
            lambda text: f"the score {short(text)} is not a number",
            f"Scores are numbers {scale.description}.",
        )
        self.refuse(
            column,
            [value is not None and step is None for value, step in zip(values, steps, strict=True)],
            lambda text: f"the score {short(text)} is not on the scale {scale.description}",
            "If the scale is another, say so: --scale LOW-HIGH, or LOW:HIGH:STEP such as 1:5:0.5 or "
            "0:100:any.",
        )
        none = scale.low - 1
        return np.array([none if step is None else step for step in steps], dtype=np.int64)[column.codes]

    def _with_points(self, texts: list[str]) -> tuple[list[str], dict[str, str]]:
        """Texts of numbers with decimal points, and why this cannot be said of some."""
        pointed, unclear = list(texts), dict[str, str]()
        for place, text in enumerate(texts):
            try:
                pointed[place] = self.source.sheet.commas.point(text)
            except AmbiguousNumberError as error:
                unclear[text] = str(error)
        return pointed, unclear

    def fitted(self, values: list[Fraction | None]) -> tuple[Scale, list[Fraction | None]]:
        """The scale with steps as fine as its scores, and the scores; where that is finer than a thousandth
        of the scale, the scores to the nearest of a thousand steps, which is told."""
        low, high = (end * self.scale.unit for end in (self.scale.low, self.scale.high))
        step = self.scale.unit
        for value in values:
            if value is not None and low <= value <= high:
                step = gcd(step, value) if value else step
        steps = MOST_SCORES - 1
        if (high - low) / step <= steps:
            return Scale.of(low, high, step), values
        step = (high - low) / steps
        near = [
            value if value is None or not low <= value <= high else low + round((value - low) / step) * step
            for value in values
        ]
        moved = sum(one != other for one, other in zip(values, near, strict=True))
        self.notes.append(
            f"Scores are finer than a thousandth of the scale: {moved:,} different ones were taken to the "
            f"nearest {float(step):g}."
        )
        return Scale.of(low, high, step), near

    def checks(self, is_check: npt.NDArray[np.bool_], scores: Codes) -> Checks | None:
        """Checks shown and failed per worker; one without an answer was shown and is not failed."""

        if not is_check.any():
            return None
        column, scale = self.columns["expected"], self.scale
        accepted = [accepted_scores(text, scale) for text in column.texts]
        self.refuse(
            column,
            [not each for each in accepted],
            lambda text: f"the expected answer {short(text)} of an attention check names no score",
            "Write it as 2, 1|2, 1-2, <=2 or >=4.",
            is_check,
        )
        allowed = np.zeros((len(accepted), scale.size + 1), dtype=np.bool_)
        allowed[:, 0] = True
        for code, each in enumerate(accepted):
            allowed[code, [value - scale.low + 1 for value in each]] = True
        rows = np.flatnonzero(is_check)
        failed = ~allowed[column.codes[rows], scores[rows] - scale.low + 1]
        workers, size = self.columns["worker"].codes[rows], len(self.columns["worker"].texts)
        return Checks(
            np.bincount(workers, minlength=size).astype(np.int64),
            np.bincount(workers[failed], minlength=size).astype(np.int64),
        )

    def first_of_same(self, rows: Codes) -> Codes:
        """The rows without those of which an earlier one says the same in every column that is read."""
        keys = np.zeros(len(rows), dtype=np.int64)
        for column in self.columns.values():
            pairs = keys * len(column.texts) + column.codes[rows]
            _, first, keys = np.unique(pairs, return_index=True, return_inverse=True)
        return cast("Codes", rows[np.sort(first)])

    def in_order(self, rows: Codes) -> Codes:
        """The rows in the order of submission: by `order`, else by `submitted_at`, else as they stand."""
        if "order" in self.columns:
            column = self.columns["order"]
            values = [number(text) for text in column.texts]
            fault, remedy = "is not a number", "Leave the column out to keep the order of the rows."
        elif "submitted_at" in self.columns:
            column = self.columns["submitted_at"]
            values = times(column.texts)
            fault, remedy = "is not a time", "Write times as 2026-03-01T12:30:00Z."
        else:
            return rows
        among = np.zeros(len(column.codes), dtype=np.bool_)
        among[rows] = True
        self.refuse(
            column,
            [value is None for value in values],
            lambda text: f"the {column.name} {short(text)} {fault}",
            remedy,
            among,
        )
        keys = column.mapped([value if value is not None else 0.0 for value in values])[rows]
        return rows if (keys[1:] >= keys[:-1]).all() else rows[np.argsort(keys, kind="stable")]

    def seconds(self) -> npt.NDArray[np.float64] | None:
        if "seconds" not in self.columns:
            return None
        column = self.columns["seconds"]
        values = [number(text) for text in column.texts]
        self.refuse(
            column,
            [
                bool(text) and (value is None or value < 0)
                for text, value in zip(column.texts, values, strict=True)
            ],
            lambda text: f"the seconds {short(text)} are not a number of seconds",
            "Leave it empty where the time is not known.",
        )
        return column.mapped([float("nan") if value is None else value for value in values])

    def aspects(self, rows: Codes) -> dict[str, npt.NDArray[np.float64]]:
        """What each row says of the aspects; those of which no row says anything are left out."""
        by_name: dict[str, npt.NDArray[np.float64]] = {}
        if ASPECTS in self.columns:
            column = self.columns[ASPECTS]
            each = [_aspects_in(text) for text in column.texts]
            self.refuse(
                column,
                [pairs is None for pairs in each],
                lambda text: f"the aspects {short(text)} cannot be read",
                'Write them as [{"name": "topicality", "score": 3}] or {"topicality": 3}, in whole numbers.',
            )
            for name in sorted({name for pairs in each for name in pairs or ()}):
                by_name[name] = column.mapped([(pairs or {}).get(name, np.nan) for pairs in each])
        for key, column in self.columns.items():
            if not key.startswith(ASPECT):
                continue
            values = [read_integer(text) for text in column.texts]
            self.refuse(
                column,
                [
                    bool(text) and not _is_score(value)
                    for text, value in zip(column.texts, values, strict=True)
                ],
                lambda text, key=key: f"the score {short(text)} of the {key} is not a whole number",  # type: ignore[misc]
                f"Scores of aspects are whole numbers, at most {_MOST_OF_ASPECT:,}, or empty.",
            )
            by_name[key.removeprefix(ASPECT)] = column.mapped([np.nan if v is None else v for v in values])
        by_name = {name: values[rows] for name, values in by_name.items()}
        return {name: values for name, values in by_name.items() if not np.isnan(values).all()}

    def groups(self, rows: Codes) -> dict[str, RatingGroups]:
        by_name = {}
        for name in GROUPS:
            if name in self.columns:
                codes, names = _renumbered(self.columns[name], rows)
                by_name[name] = RatingGroups(codes.astype(np.int32), [text or "(none)" for text in names])
        return by_name


def _renumbered(column: _Column, rows: Codes) -> tuple[Codes, list[str]]:
    """Codes of some rows, and the names that occur in them, in the order of the file."""
    codes = column.codes[rows]
    used = np.zeros(len(column.texts), dtype=np.bool_)
    used[codes] = True
    if used.all():
        return codes, column.texts
    return (np.cumsum(used) - 1)[codes], [column.texts[code] for code in np.flatnonzero(used)]


def _is_score(value: object) -> bool:
    """Whether it is a whole number that an aspect may have."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_OF_ASPECT


def _aspects_in(text: str) -> dict[str, int] | None:
    """Scores by the aspect's name from a cell of a release; None for what is none."""
    try:
        document = json.loads(text) if text else {}
        pairs = document if isinstance(document, dict) else {each["name"]: each["score"] for each in document}
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    return pairs if all(isinstance(name, str) and _is_score(pairs[name]) for name in pairs) else None


def released_scale(file: Path, stage: str) -> Scale | None:
    """The stage's scale, if the file lies in a release whose manifest names it; None for anything else."""
    for folder in (file.parent, file.parent.parent):
        manifest = folder / _MANIFEST
        if manifest.is_file() and manifest.stat().st_size <= _LARGEST:
            return _scale_in(manifest, stage)
    return None


def _scale_in(manifest: Path, stage: str) -> Scale | None:
    try:
        stages = json.loads(manifest.read_text(encoding="utf-8"))["stages"]
        scale = next(each["scale"] for each in stages if each["stage"] == stage)
        return Scale.of(*(Fraction(repr(scale[name])) for name in ("least", "most", "step")))
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        return None
