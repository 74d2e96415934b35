"""Reads one sheet of a workbook: a program of its own (`confinement.py`), started by `workbooks.py`.

The first frame is what the workbook holds, the others are rows, some hundred at a time.
"""

import posixpath
import re
import sys
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from core.files.confinement import OUT_OF_MEMORY, confine, write

_BATCH = 500
_EXACT = 15  # digits that a spreadsheet keeps and shows
_LONG = 10**21
_FORMULA = re.compile(rb"<(\w+:)?f[ />]")
_BLOCK, _LONGEST_MARK = 2**20, 32
Rows = Iterator[tuple[int, list[str]]]


def main(path: str, sheet_name: str) -> None:
    """Write what the workbook holds, then the rows of the wanted sheet, or of the first that has any."""
    confine()
    import python_calamine  # under the limit

    try:
        workbook = python_calamine.CalamineWorkbook.from_path(path)
        sheets = workbook.sheets_metadata
        names = [each.name for each in sheets if each.typ == python_calamine.SheetTypeEnum.WorkSheet]
        visible = python_calamine.SheetVisibleEnum.Visible
        hidden = {each.name for each in sheets if each.visible != visible}
        if sheet_name and sheet_name not in names:
            write({"sheets": names, "missing": sheet_name})
            return
        name, sheet = _choose_sheet(
            workbook, [sheet_name] if sheet_name else sorted(names, key=hidden.__contains__)
        )
        write({"sheets": names, "sheet": name, "formula": _formula_without_value(path, name)})
        batch: list[tuple[int, list[str]]] = []
        for row in _rows(sheet):
            batch.append(row)
            if len(batch) == _BATCH:
                write(batch)
                batch = []
        write(batch)
    except python_calamine.PasswordError:
        write({"error": "it is protected by a password"})
    except python_calamine.CalamineError as error:
        write({"error": f"it is damaged ({str(error)[:200]})"})


def _choose_sheet(workbook: Any, names: list[str]) -> tuple[str, Any]:
    """The first of the sheets that holds something, else the first."""
    first = None
    for name in names:
        sheet = workbook.get_sheet_by_name(name)
        if sheet.start is not None:
            return name, sheet
        first = first or (name, sheet)
        del sheet
    return first or ("", None)


def _rows(sheet: Any) -> Rows:
    """Rows that hold something with their numbers in the sheet; all have the same number of cells."""
    if sheet is None or sheet.start is None:
        return
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = [value if isinstance(value, str) else written(value) for value in row]
        if any(cells):
            yield number, cells


def _formula_without_value(path: str, name: str) -> str:
    """The first cell of a sheet of .xlsx with a formula that no program has worked out; it reads as empty.

    The empty text that a formula may give has a type.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            sheets = ElementTree.parse(archive.open("xl/workbook.xml")).iterfind(".//{*}sheet")  # noqa: S314 - confined
            key = next(
                value
                for sheet in sheets
                if sheet.get("name") == name
                for at, value in sheet.items()
                if at.endswith("}id")
            )
            parts = ElementTree.parse(archive.open("xl/_rels/workbook.xml.rels")).getroot()  # noqa: S314 - confined
            target = next(part.get("Target", "") for part in parts if part.get("Id") == key)
            place = posixpath.join("/xl", target)[1:]
            with archive.open(place) as part:
                if not _has_formulas(part):
                    return ""
            rows = ElementTree.Element("rows")
            with archive.open(place) as part:
                for event, element in ElementTree.iterparse(part, ("start", "end")):  # noqa: S314 - confined
                    if event == "start":
                        rows = element if element.tag.endswith("}sheetData") else rows
                    elif element.tag.endswith("}row"):
                        rows.clear()  # they are kept otherwise
                    elif element.tag.endswith("}c") and _has_no_value(element):
                        return str(element.get("r", ""))
    except (KeyError, StopIteration, ElementTree.ParseError, zipfile.BadZipFile):
        pass  # not .xlsx
    return ""


def _has_formulas(part: IO[bytes]) -> bool:
    """Most sheets have none, and looking for their marks is faster than reading their XML."""
    end = b""
    while block := part.read(_BLOCK):
        if _FORMULA.search(end + block):
            return True
        end = block[-_LONGEST_MARK:]
    return False


def _has_no_value(cell: ElementTree.Element) -> bool:
    return bool(cell.find("{*}f") is not None and not cell.findtext("{*}v") and cell.get("t") != "str")


def written(value: Any) -> str:
    """A value as a person reads it in the sheet: 3 for 3.0, 0.3 for 0.30000000000000004, ISO for times."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, datetime):
        day = value.replace(microsecond=0)
        return day.date().isoformat() if day.time() == time() else day.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return "" if value is None else str(value)


def _number(value: float) -> str:
    if value.is_integer() and abs(value) < _LONG:
        return str(int(value)) if abs(value) < 10**_EXACT else f"{Decimal(f'{value:.{_EXACT}g}'):f}"
    text = f"{value:.{_EXACT}g}"
    return f"{Decimal(text):f}" if "e-" in text and abs(value) > 1 / _LONG else text


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
        write(None)
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
