"""The table of a release that is named by its folder, or by project and version in the database."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from evaluations.errors import EvaluationError
from evaluations.tables.release_table import open_release
from evaluations.tables.rows import AnswerTable
from releases.errors import ReleaseError
from releases.models import Release
from releases.storage import fetched_folder


@contextmanager
def open_named_release(
    given: str, path: Path, *, stage: str, columns: Mapping[str, str] | None, scored: bool
) -> Iterator[AnswerTable]:
    """The table of the release in the folder `path`, or else of the one that `given` names."""
    with (
        _folder(given, path) as folder,
        open_release(folder, stage=stage, columns=columns, scored=scored) as table,
    ):
        yield table


@contextmanager
def _folder(given: str, path: Path) -> Iterator[Path]:
    """The folder of a release, on disk or out of its storage."""
    if path.is_dir():
        yield path
        return
    slug, _sign, version = given.replace("@", "/").partition("/")
    if path.suffix in {".csv", ".tsv", ".jsonl", ".json", ".gz", ".txt"} or "/" in version or not slug:
        raise EvaluationError(f"There is no file {given}.")

    try:
        release = _release(slug, version, given)
    except (DatabaseError, ImproperlyConfigured) as error:
        raise EvaluationError(
            f"There is no file or folder {given}, and no database in which to look for a release: {error}."
        ) from error
    try:
        with fetched_folder(release) as folder:
            yield folder
    except ReleaseError as error:
        raise EvaluationError(str(error)) from error


def _release(slug: str, version: str, given: str) -> Release:
    """The release of that version, or the newest one that is ready."""

    ready = Release.objects.select_related("project").filter(project__slug=slug, state=Release.State.READY)
    found = ready.filter(version=version) if version else ready
    release = found.order_by("-pk").first()
    if release is not None:
        return release
    versions = ", ".join(ready.order_by("pk").values_list("version", flat=True))
    if versions:
        raise EvaluationError(f"{slug} has no release {version!r}; there are {versions}.")
    raise EvaluationError(
        f"There is no file or folder {given}, and no project {slug!r} with a release. Give a file of "
        "answers, the folder of a release, or PROJECT/VERSION."
    )
