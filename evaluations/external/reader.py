"""A file of scores, matched with the candidates of a release: all of it, or none."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evaluations.errors import EvaluationError
from evaluations.external.candidates import SEVERAL, Candidates
from evaluations.tables.sheet import Sheet, open_sheet

#: Names of columns that people use, by what they mean here.
_NAMES = {
    "candidate_id": ("candidate_id", "candidate", "answer_id", "id"),
    "query_id": ("query_id", "question_id", "query", "qid"),
    "system": ("system", "system_name", "model"),
}
_SCORE = ("score", "scores", "value")
_LONGEST_ID = 200


def read(path: Path, *, name: str, candidates: Candidates, column: str = "") -> dict[str, float]:
    """Values by candidate id, out of a file by `candidate_id`, or by `query_id` and `system`.

    `name` is what the file was called. Raises EvaluationError with file, line, field and remedy for the
    first thing that is wrong: an unknown or repeated candidate, a value that is no number.
    """
    known = [each for names in _NAMES.values() for each in names]
    try:
        sheet = open_sheet(path, known=[*known, *_SCORE, column])
        return _read(sheet, name, candidates, column)
    except EvaluationError as error:
        raise EvaluationError(str(error).replace(str(path), name)) from error


def _read(sheet: Sheet, name: str, candidates: Candidates, column: str) -> dict[str, float]:
    places = {field: _place(sheet.columns, names) for field, names in _NAMES.items()}
    at = _finder(places, candidates, name)
    score = _score_place(sheet.columns, column, places, name)
    values: dict[str, float] = {}
    for line, cells in sheet.rows():
        where = f"{name}, {sheet.unit} {line}"
        candidate = at(cells, where)
        value = _number(cells[score], f"{where}, {sheet.columns[score]}", comma=sheet.comma)
        if value is None:
            continue
        if candidate in values:
            raise EvaluationError(
                f"{where}: candidate {candidate} has a score already. Give one line for each candidate."
            )
        values[candidate] = value
    if not values:
        raise EvaluationError(f"{name} has no scores in the column {sheet.columns[score]!r}.")
    return values


def _place(columns: Sequence[str], names: Sequence[str]) -> int | None:
    plain = [each.strip().casefold() for each in columns]
    return next((plain.index(each) for each in names if each in plain), None)


def _finder(
    places: dict[str, int | None], candidates: Candidates, name: str
) -> Callable[[Sequence[Any], str], str]:
    """How a row names its candidate: the id of a row's candidate, given its cells and where it stands."""
    own, query, system = places["candidate_id"], places["query_id"], places["system"]
    if own is not None:
        place = own

        def by_id(cells: Sequence[Any], where: str) -> str:
            given = _text(cells[place])
            if given not in candidates.ids:
                raise EvaluationError(
                    f"{where}, candidate_id: the release has no candidate {given!r}. Its ids stand in the "
                    "release's table candidates."
                )
            return given

        return by_id
    if query is None or system is None:
        raise EvaluationError(
            f"{name} names no candidates. It needs a column candidate_id, or the columns query_id and system."
        )
    first, second = query, system

    def by_system(cells: Sequence[Any], where: str) -> str:
        key = (_text(cells[first]), _text(cells[second]))
        found = candidates.by_system.get(key)
        if found is None:
            raise EvaluationError(
                f"{where}, query_id and system: the release has no answer of {key[1]!r} to query {key[0]!r}."
            )
        if found == SEVERAL:
            raise EvaluationError(
                f"{where}, query_id and system: {key[1]!r} has several answers to query {key[0]!r}. Name "
                "candidates by candidate_id instead."
            )
        return found

    return by_system


def _score_place(columns: Sequence[str], wanted: str, places: dict[str, int | None], name: str) -> int:
    plain = [each.strip().casefold() for each in columns]
    there = ", ".join(each[:60] for each in columns[:30])
    if wanted:
        if wanted.strip().casefold() not in plain:
            raise EvaluationError(f"{name} has no column {wanted!r}; it has {there}.")
        return plain.index(wanted.strip().casefold())
    named = _place(columns, _SCORE)
    if named is not None:
        return named
    others = [at for at in range(len(columns)) if at not in places.values()]
    if len(others) == 1:
        return others[0]
    raise EvaluationError(f"{name}: which column holds the scores? Name one of {there}.")


def _text(cell: Any) -> str:
    return str(cell).strip()[:_LONGEST_ID] if cell is not None else ""


def _number(cell: Any, where: str, *, comma: bool) -> float | None:
    """The number in a cell; None where it is empty, so that the candidate lacks a score."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    text = cell.strip() if isinstance(cell, str) else cell
    if comma and isinstance(text, str) and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    try:
        value = math.nan if isinstance(text, bool) else float(text)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise EvaluationError(
            f"{where}: {str(cell)[:60]!r} is no number. Write one such as 0.731, or leave the cell empty."
        )
    return value
