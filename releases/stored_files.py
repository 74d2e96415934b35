"""The files of a kept release as a folder, wherever they are kept."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.storage.shelves import inside
from releases import storage
from releases.errors import ReleaseError
from releases.manifest import MANIFEST, SUMS
from releases.models import Release


@contextmanager
def fetched(release: Release) -> Iterator[Path]:
    """A folder with all files of a release: where they lie, or a copy that is gone afterwards.

    ReleaseError where they are not there.
    """
    place = storage.folder_of(release)
    if place is not None:
        yield place
        return
    with storage.workroom() as folder:
        for path in [*release.files.values_list("path", flat=True), MANIFEST, SUMS]:
            target = folder / inside(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with storage.open_at(release, path) as file, target.open("wb") as copy:
                    shutil.copyfileobj(file, copy)
            except FileNotFoundError as error:
                raise ReleaseError(
                    f"The files of {release.project.slug} {release.version} are no longer in storage."
                ) from error
        yield folder
