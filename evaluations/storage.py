"""Where the files of an evaluation are kept: on the shelf of releases, beside the release.

Files are put there first and the row is made ready after, so that a job that is killed in between leaves no
ready evaluation; the next attempt puts its files in their place.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings

from core.files.atomic import scratch_dir
from core.storage import inside
from evaluations.models import Evaluation
from releases.storage import shelf

#: What an evaluation offers, in the order of its page; the last three only where they were asked for.
FILES = (
    "report.html",
    "report.json",
    "scores.csv",
    "table.tex",
    "reference-curve.csv",
    "differences.csv",
    "sweep.csv",
)


def keep(evaluation: Evaluation, folder: Path) -> list[dict[str, Any]]:
    """Put the files of a folder where they are kept, in place of those of an earlier attempt; their list."""
    entries = [_describe_file(folder / name) for name in FILES if (folder / name).is_file()]
    shelf().keep(_name(evaluation), folder, move=True)
    return entries


def open_at(evaluation: Evaluation, name: str) -> BinaryIO:
    """A file to read and to seek; FileNotFoundError where there is none."""
    try:
        return shelf().open(_name(evaluation), name)
    except (ValueError, IsADirectoryError, NotADirectoryError) as error:
        raise FileNotFoundError(name) from error


def forget(evaluation: Evaluation) -> None:
    """Remove the files of one that never was ready."""
    if evaluation.state != Evaluation.State.READY:
        shelf().forget(_name(evaluation))


@contextmanager
def workroom() -> Iterator[Path]:
    """An empty folder to write in, removed at the end whatever happens."""
    with scratch_dir(Path(settings.DATA_DIR) / "building", "evaluation-") as scratch:
        folder = scratch / "report"
        folder.mkdir()
        yield folder


def _describe_file(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest}


def _name(evaluation: Evaluation) -> str:
    release = evaluation.release
    return inside(f"{release.project.slug}/{release.version}-evaluation-{evaluation.number}").as_posix()
