"""Which form a file has, by what stands in it, and its examples."""

from collections.abc import Iterator
from pathlib import Path

from metrics.learned.extra import needed
from metrics.learned.kpqa.examples import Example
from metrics.learned.kpqa.reading import squad
from metrics.learned.kpqa.reading.dropped import Dropped


def form_of(path: Path) -> str:
    """The name of a file's form."""
    return squad.FORM


def examples_of(path: Path, dropped: Dropped) -> Iterator[Example]:
    """The examples of a file, in its order; what became none is counted in `dropped`."""
    needed("Reading question answering sets")
    yield from squad.read(path, dropped)
