"""Scores of a release's candidates that a metric elsewhere gave: read from a file, matched, kept."""

import gzip
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.files.cells import AmbiguousNumberError, DecimalCommas
from core.projects.services import record
from evaluations.errors import EvaluationError
from evaluations.file_cells import AnswerSheet, open_sheet
from evaluations.models import Evaluation, ExternalScores
from metrics.catalogue import MAKERS
from releases.models import Release
from releases.storage import fetched_folder, files_of, formats_of, records
from releases.tables import CANDIDATES

#: A query and a system that more than one candidate belongs to.
SEVERAL = ""


@dataclass(slots=True)
class Candidates:
    """Ids of candidates, and the candidate of a query and a system; `SEVERAL` where there are several."""

    ids: set[str] = field(default_factory=set)
    by_system: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, record: Mapping[str, Any]) -> None:
        """One row of the table of candidates."""
        candidate = str(record["candidate_id"])
        key = (str(record["query_id"]), str(record["system"]))
        self.ids.add(candidate)
        self.by_system[key] = SEVERAL if key in self.by_system else candidate


def candidates_of(release: Release) -> Candidates:
    """All candidates of a release; EvaluationError where it has none or cannot be read."""
    formats = formats_of(release.manifest)
    files = files_of(release.manifest, formats[0], CANDIDATES.name) if formats else []
    if not files:
        raise EvaluationError(f"Release {release.version} has no candidates that can be read.")
    candidates = Candidates()
    with fetched_folder(release) as folder:
        _fill(candidates, records(folder, formats[0], files))
    return candidates


def _fill(candidates: Candidates, rows: Iterable[Mapping[str, Any]]) -> None:
    for row in rows:
        candidates.add(row)


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
    names_of_fields = [each for names in _NAMES.values() for each in names]
    try:
        sheet = open_sheet(path, header_names=[*names_of_fields, *_SCORE, column])
        return _read(sheet, name, candidates, column)
    except EvaluationError as error:
        raise EvaluationError(str(error).replace(str(path), name)) from error


def _read(sheet: AnswerSheet, name: str, candidates: Candidates, column: str) -> dict[str, float]:
    places = {field: _place(sheet.columns, names) for field, names in _NAMES.items()}
    at = _finder(places, candidates, name)
    score = _score_place(sheet.columns, column, places, name)
    values: dict[str, float] = {}
    for line, cells in sheet.rows():
        where = f"{name}, {sheet.unit} {line}"
        candidate = at(cells, where)
        value = _number(cells[score], f"{where}, {sheet.columns[score]}", sheet.commas)
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
    """How a row names its candidate: the id of a row's candidate, given its cells and where it is."""
    own, query, system = places["candidate_id"], places["query_id"], places["system"]
    if own is not None:
        place = own

        def by_id(cells: Sequence[Any], where: str) -> str:
            candidate_id = _text(cells[place])
            if candidate_id not in candidates.ids:
                raise EvaluationError(
                    f"{where}, candidate_id: the release has no candidate {candidate_id!r}. Its ids stand in "
                    "the release's table candidates."
                )
            return candidate_id

        return by_id
    if query is None or system is None:
        raise EvaluationError(
            f"{name} names no candidates. It needs a column candidate_id, or the columns query_id and system."
        )
    first, second = query, system

    def by_system(cells: Sequence[Any], where: str) -> str:
        key = (_text(cells[first]), _text(cells[second]))
        candidate_id = candidates.by_system.get(key)
        if candidate_id is None:
            raise EvaluationError(
                f"{where}, query_id and system: the release has no answer of {key[1]!r} to query {key[0]!r}."
            )
        if candidate_id == SEVERAL:
            raise EvaluationError(
                f"{where}, query_id and system: {key[1]!r} has several answers to query {key[0]!r}. Name "
                "candidates by candidate_id instead."
            )
        return candidate_id

    return by_system


def _score_place(columns: Sequence[str], column: str, places: dict[str, int | None], name: str) -> int:
    plain = [each.strip().casefold() for each in columns]
    column_names = ", ".join(each[:60] for each in columns[:30])
    if column:
        if column.strip().casefold() not in plain:
            raise EvaluationError(f"{name} has no column {column!r}; it has {column_names}.")
        return plain.index(column.strip().casefold())
    named = _place(columns, _SCORE)
    if named is not None:
        return named
    others = [at for at in range(len(columns)) if at not in places.values()]
    if len(others) == 1:
        return others[0]
    raise EvaluationError(f"{name}: which column holds the scores? Name one of {column_names}.")


def _text(cell: Any) -> str:
    return str(cell).strip()[:_LONGEST_ID] if cell is not None else ""


def _number(cell: Any, where: str, commas: DecimalCommas) -> float | None:
    """The number in a cell; None where it is empty, so that the candidate lacks a score."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    try:
        text = commas.point(cell) if isinstance(cell, str) else cell
        value = math.nan if isinstance(text, bool) else float(text)
    except AmbiguousNumberError as error:
        raise EvaluationError(f"{where}: {error}") from error
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise EvaluationError(
            f"{where}: {str(cell)[:60]!r} is no number. Write one such as 0.731, or leave the cell empty."
        )
    return value


#: One that nobody looked at a second time goes after so long.
_WAITS = timedelta(days=1)


def look(
    *,
    release: Release,
    path: Path,
    file_name: str,
    name: str,
    direction: str,
    says: str = "",
    column: str = "",
    actor: Any,
) -> ExternalScores:
    """Read a file and put its column aside until somebody keeps it; EvaluationError where it is wrong.

    Nothing is stored of a file with a mistake in it.
    """
    candidates = candidates_of(release)
    _refuse_taken(release, name)
    values = read(path, name=file_name, candidates=candidates, column=column)
    ExternalScores.objects.filter(kept=False, created_at__lt=timezone.now() - _WAITS).delete()
    return ExternalScores.objects.create(
        release=release,
        name=name,
        direction=direction,
        says=says.strip(),
        body=packed(values),
        count=len(values),
        missing=len(candidates.ids) - len(values),
        low=min(values.values()),
        high=max(values.values()),
        file_name=file_name[:200],
        digest=_digest(path),
        created_by=actor,
        created_at=timezone.now(),
    )


@transaction.atomic
def keep(*, scores: ExternalScores, actor: Any) -> None:
    """From now on evaluations of the release may use it."""
    _refuse_taken(scores.release, scores.name, but=scores.pk)
    try:
        with transaction.atomic():
            changed = ExternalScores.objects.filter(pk=scores.pk, kept=False).update(kept=True)
    except IntegrityError as error:
        raise EvaluationError(_describe_clash(scores.release, scores.name)) from error
    if not changed:
        raise EvaluationError("These scores are kept already.")
    _note(scores, "external.kept", actor)


@transaction.atomic
def remove(*, scores: ExternalScores, actor: Any) -> None:
    """Take a column away; evaluations that are finished keep its values in their files."""
    open_ones = Evaluation.objects.filter(release=scores.release, state__in=Evaluation.OPEN)
    for plan in open_ones.values_list("plan", flat=True):
        if any(each.get("name") == scores.name for each in plan.get("external", ())):
            raise EvaluationError(
                f"An evaluation that is being computed uses {scores.name}. Wait for its end."
            )
    was_kept = scores.kept
    ExternalScores.objects.filter(pk=scores.pk).delete()
    if was_kept:
        _note(scores, "external.removed", actor)


def packed(values: Mapping[str, float]) -> bytes:
    """Values by candidate, in the order of the ids, as gzipped lines; the same values give the same bytes."""
    lines = "".join(f"{json.dumps([key, values[key]])}\n" for key in sorted(values))
    return gzip.compress(lines.encode(), mtime=0)


def values_of(scores: ExternalScores) -> dict[str, float]:
    """Values by candidate, turned where lower ones are better, so that higher is always better."""
    body = ExternalScores.objects.values_list("body", flat=True).get(pk=scores.pk)
    turn = -1.0 if scores.direction == ExternalScores.Direction.LOWER else 1.0
    return {key: turn * value for key, value in _lines(gzip.decompress(bytes(body)))}


def _lines(text: bytes) -> Iterable[tuple[str, float]]:
    for line in text.splitlines():
        key, value = json.loads(line)
        yield str(key), float(value)


def _refuse_taken(release: Release, name: str, *, but: int = 0) -> None:
    if ExternalScores.objects.filter(release=release, name=name, kept=True).exclude(pk=but).exists():
        raise EvaluationError(_describe_clash(release, name))
    if name in MAKERS:
        raise EvaluationError(f"{name} is the name of a metric that is computed here. Choose another name.")


def _describe_clash(release: Release, name: str) -> str:
    return (
        f"Release {release.version} has scores called {name} already. Choose another name, or remove those."
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _note(scores: ExternalScores, action: str, actor: Any) -> None:
    record(
        project=scores.release.project,
        action=action,
        subject=f"{scores.release.version} {scores.name}",
        actor=actor,
        details={"release": scores.release_id, "name": scores.name, "digest": scores.digest},
    )
