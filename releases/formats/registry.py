"""The formats of a release by name. A format is a module that is imported only when it is asked for."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from releases.source import Progress, Source

#: Rows by the path of a file within the format's folder, for files that have rows.
Written = dict[str, int]


class Format(Protocol):
    """What a module of a format has.

    A module that also has a true `BESIDE` may run in a thread beside others: it asks no database and leaves
    Python's lock alone for most of its time.
    """

    NAME: str

    def write(self, folder: Path, source: Source, progress: Progress) -> Written:
        """Write all files of the format into its own empty folder, in constant memory.

        `progress` takes rows done, rows in all and words; call it once per batch.
        """
        ...


#: Where each format is written; a release's folder has one folder per format, with the format's name.
FORMATS: Mapping[str, str] = {
    "jsonl": "releases.formats.jsonl",
    "csv": "releases.formats.csv_files",
    "parquet": "releases.formats.parquet",
    "msmarco": "releases.formats.msmarco",
    "dureader": "releases.formats.dureader",
    "mt-metrics-eval": "releases.formats.mteval",
}
#: In words for people who choose.
LABELS: Mapping[str, str] = {
    "jsonl": "JSON Lines",
    "csv": "CSV, safe to open with a spreadsheet",
    "parquet": "Parquet, for pandas and datasets",
    "msmarco": "MS MARCO v2.1, reference sets as one object per column",
    "dureader": "DuReader, reference sets as one question a line",
    "mt-metrics-eval": "mt-metrics-eval, human scores for tools that evaluate metrics",
}


def format_named(name: str) -> Format:
    """The module of a format; KeyError where there is none of this name."""
    return cast("Format", import_module(FORMATS[name]))
