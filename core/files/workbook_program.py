"""Reads one sheet of a workbook: a program of its own (`confinement.py`), started by `workbooks.py`.

The first frame is what the workbook holds, the others are rows, some hundred at a time.
"""

import re
import sys
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from defusedxml import ElementTree

from core.files.confinement import OUT_OF_MEMORY, confine, write

_BATCH = 500
_EXACT = 15  # digits that a spreadsheet keeps and shows
_LONG = 10**21
_PIECE = 1 << 20
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
#: A cell up to its end. A text that was computed and is empty is a value: its cell has the type "str".
_UNCOMPUTED = re.compile(
    rb'<c r="([A-Z]+[0-9]+)"(?![^>]*t="str")[^>]*><f(?:[^>]*/>|[^>]*>[^<]*</f>)(?:<v\s*/>|<v></v>)?$'
)
Rows = Iterator[tuple[int, list[str]]]


def main(path: str, wanted: str) -> None:
    """Write what the workbook holds, then the rows of the wanted sheet, or of the first that has any."""
    confine()
    import python_calamine  # under the limit

    try:
        workbook = python_calamine.CalamineWorkbook.from_path(path)
        sheets = workbook.sheets_metadata
        names = [each.name for each in sheets if each.typ == python_calamine.SheetTypeEnum.WorkSheet]
        visible = python_calamine.SheetVisibleEnum.Visible
        hidden = {each.name for each in sheets if each.visible != visible}
        if wanted and wanted not in names:
            write({"sheets": names, "missing": wanted})
            return
        name, sheet = _chosen(workbook, [wanted] if wanted else sorted(names, key=hidden.__contains__))
        write({"sheets": names, "sheet": name, "formula": _uncomputed_formula(path, name)})
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


def _chosen(workbook: Any, names: list[str]) -> tuple[str, Any]:
    """The first of the sheets that holds something, else the first."""
    first = None
    for name in names:
        sheet = workbook.get_sheet_by_name(name)
        if sheet.start is not None:
            return name, sheet
        first = first or (name, sheet)
        del sheet
    return first or ("", None)


def _uncomputed_formula(path: str, name: str) -> str:
    """The first cell of a sheet of .xlsx with a formula and no value, which is read as an empty cell."""
    if not zipfile.is_zipfile(path):
        return ""
    with zipfile.ZipFile(path) as archive:
        if "xl/workbook.xml" not in archive.namelist():
            return ""
        sheets = ElementTree.fromstring(archive.read("xl/workbook.xml"), forbid_dtd=True).iter(
            f"{_MAIN}sheet"
        )
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"), forbid_dtd=True)
        targets = {each.get("Id"): each.get("Target", "") for each in links}
        target = next((targets.get(each.get(_LINK), "") for each in sheets if each.get("name") == name), "")
        part = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
        if part not in archive.namelist():
            return ""
        rest = b""
        with archive.open(part) as xml:
            while piece := xml.read(_PIECE):
                *cells, rest = (rest + piece).split(b"</c>")
                for cell in cells:
                    if b"<f" in cell and (found := _UNCOMPUTED.search(cell)):
                        return found[1].decode("ascii", "replace")
    return ""


def _rows(sheet: Any) -> Rows:
    """Rows that hold something with their numbers in the sheet; all have the same number of cells."""
    if sheet is None or sheet.start is None:
        return
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = [value if isinstance(value, str) else written(value) for value in row]
        if any(cells):
            yield number, cells


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
