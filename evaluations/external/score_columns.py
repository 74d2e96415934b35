"""Columns of scores in the database: all values of one in a single cell."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.projects.services import record
from evaluations.errors import EvaluationError
from evaluations.external.candidates import candidates_of
from evaluations.external.reader import read
from evaluations.models import Evaluation, ExternalScores
from releases.models import Release

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
    _refuse_taken(scores.release, scores.name)
    try:
        with transaction.atomic():
            changed = ExternalScores.objects.filter(pk=scores.pk, kept=False).update(kept=True)
    except IntegrityError as error:
        raise EvaluationError(_taken(scores.release, scores.name)) from error
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
    kept = scores.kept
    ExternalScores.objects.filter(pk=scores.pk).delete()
    if kept:
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


def _refuse_taken(release: Release, name: str) -> None:
    if ExternalScores.objects.filter(release=release, name=name, kept=True).exists():
        raise EvaluationError(_taken(release, name))
    from metrics.catalogue import MAKERS  # noqa: PLC0415 - the library of metrics, only here

    if name in MAKERS:
        raise EvaluationError(f"{name} is the name of a metric that is computed here. Choose another name.")


def _taken(release: Release, name: str) -> str:
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
