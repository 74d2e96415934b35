"""Workbooks of spreadsheets (.xlsx, .xlsm, .xlsb, .xls, .ods) as rows of text.

    workbook = open_workbook(Path("queries.xlsx"))
    workbook.sheets                 ["Read me", "Queries"]
    workbook.sheet                  "Queries": the first one with data, or the one that was asked for
    for number, cells in workbook.rows(): ...
    workbook.place(12)              "sheet 'Queries', row 12"

A workbook may unpack to anything, so it is read by a program of its own under a limit of memory and time
(`core.files.confinement`), once; its rows then lie in a temporary file, and reading them again costs little.
Whatever goes wrong there is a WorkbookError in a sentence.
"""

import marshal
import tempfile
import weakref
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from core.files.confinement import MEGABYTES, SECONDS, EndedError, frames

_ZIP, _OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
#: First bytes that a workbook can have.
MAGIC = (_ZIP, _OLD)
#: Bytes that a workbook may unpack to.
UNPACKED = 512 * 2**20
_ENTRIES, _DIRECTORY = 5000, 2**22
_PARTS = ("xl/workbook.", "content.xml")
_PROGRAM = Path(__file__).with_name("workbook_program.py")
#: What zipfile raises for what it cannot read; NotImplementedError is its word for a compression it lacks.
_NO_ZIP = (zipfile.BadZipFile, ValueError, NotImplementedError)
_SAVE_AS_CSV = "Save the sheet as CSV (UTF-8) and give that file."


class WorkbookError(ValueError):
    """Why a workbook is not taken, with a remedy; the sentence begins with the name of the file."""


def is_workbook(path: Path) -> bool:
    """Whether a file is a workbook by what it holds; another zip file is none."""
    try:
        with path.open("rb") as file:
            head = file.read(8)
        if head == _OLD:
            return True
        if not head.startswith(_ZIP):
            return False
        with zipfile.ZipFile(path) as archive:
            return any(each.filename.startswith(_PARTS) for each in archive.infolist())
    except (OSError, *_NO_ZIP):
        return False


def open_workbook(path: Path, *, name: str = "", sheet: str = "") -> "Workbook":
    """A workbook with one of its sheets read; without `sheet`, the first visible one that holds data."""
    return Workbook(path, name or path.name, sheet)


class Workbook:
    """The rows of one sheet, which can be read any number of times; `sheets` are the names of all."""

    def __init__(self, path: Path, name: str, sheet: str) -> None:
        self.name = name
        _check_size(path, name)
        self._spool: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed when this object goes
        weakref.finalize(self, self._spool.close)
        about, self._end = _read(path, name, sheet, self._spool)
        self.sheets: list[str] = about["sheets"]
        self.sheet: str = about["sheet"]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Rows that hold something, with their numbers in the sheet; all have the same number of cells."""
        at = 0
        while at < self._end:
            self._spool.seek(at)
            batch = marshal.load(self._spool)  # noqa: S302  # what we wrote
            at = self._spool.tell()
            yield from batch

    def place(self, row: int) -> str:
        """Where a row is, for messages."""
        return f"sheet {self.sheet!r}, row {row}"


def _check_size(path: Path, name: str) -> None:
    """What the directory of a zip file says is enough to refuse most bombs before anything is unpacked."""
    with path.open("rb") as file:
        if not file.read(4).startswith(_ZIP):
            return
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except _NO_ZIP as error:
        raise WorkbookError(f"{name} is damaged: {str(error)[:200]}. Save it again.") from error
    if not any(each.filename.startswith(_PARTS) for each in entries):
        raise WorkbookError(f"{name} is a zip file that holds no workbook. Take the file out of it.")
    unpacked = sum(each.file_size for each in entries)
    if len(entries) > _ENTRIES or unpacked > UNPACKED:
        what = f"unpacks to {unpacked / 2**20:,.0f} MiB in {len(entries):,} parts"
        raise WorkbookError(f"{name} {what}; at most {UNPACKED // 2**20} MiB are read. {_SAVE_AS_CSV}")


def _read(path: Path, name: str, sheet: str, spool: IO[bytes]) -> tuple[dict[str, Any], int]:
    """What the workbook holds; the rows of its sheet go into `spool`, up to the place that is given."""
    reading = frames(_PROGRAM, str(path), sheet)
    try:
        about: dict[str, Any] = next(reading)
        for batch in reading:
            if batch:
                marshal.dump(batch, spool)
    except EndedError as ended:
        if "No module named 'python_calamine'" in ended.message:
            why = "is a workbook, and python-calamine is not installed"
        elif ended.spent:
            why = f"takes more than {MEGABYTES} MiB of memory or {SECONDS} seconds to read"
        else:
            why = "cannot be read: it is damaged, or of a kind not known here"
        raise WorkbookError(f"{name} {why}. {_SAVE_AS_CSV}") from ended
    if why := about.get("error", ""):
        raise WorkbookError(f"{name} cannot be read: {why}. {_SAVE_AS_CSV}")
    if "missing" in about:
        names = ", ".join(map(repr, about["sheets"][:20]))
        raise WorkbookError(f"{name} has no sheet {about['missing']!r}; there are {names}.")
    if about["formula"]:
        raise WorkbookError(
            f"{name}, sheet {about['sheet']!r}: the cell {about['formula']} is a formula without a value. "
            "Open the workbook in a spreadsheet program and save it: it then holds the values."
        )
    return about, spool.tell()
