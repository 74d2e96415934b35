"""Workbooks made for tests: as much of .xlsx as a spreadsheet writes, and bombs."""

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

#: Styles of cells: a number shown as a date, and as a date with time.
DATE, MOMENT = 1, 2
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


class Formula(NamedTuple):
    """A cell with a formula: the XML of its value, and attributes such as its type."""

    value: str = ""
    about: str = ""


Rows = Iterable[Sequence[object]] | Mapping[int, Sequence[object]]


def write_workbook(path: Path, sheets: Mapping[str, Rows] | Rows) -> Path:
    """A workbook; rows from 1, or as a mapping numbers them. (45000, DATE) is a number with a style."""
    if not (isinstance(sheets, Mapping) and all(isinstance(name, str) for name in sheets)):
        sheets = {"Sheet1": sheets}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        numbers = range(1, len(sheets) + 1)
        archive.writestr("[Content_Types].xml", _types(numbers))
        archive.writestr("_rels/.rels", _relations([("rId1", "officeDocument", "xl/workbook.xml")]))
        parts = [(f"rId{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in numbers]
        archive.writestr("xl/_rels/workbook.xml.rels", _relations([*parts, ("rIds", "styles", "styles.xml")]))
        named = "".join(
            f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1)
        )
        archive.writestr(
            "xl/workbook.xml", f'<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets>{named}</sheets></workbook>'
        )
        archive.writestr(
            "xl/styles.xml",
            f'<styleSheet {_MAIN}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/></cellXfs>'
            "</styleSheet>",
        )
        for n, rows in enumerate(sheets.values(), 1):
            numbered = rows.items() if isinstance(rows, Mapping) else enumerate(rows, 1)
            with archive.open(f"xl/worksheets/sheet{n}.xml", "w") as part:
                part.write(f"<worksheet {_MAIN}><sheetData>".encode())
                for number, row in numbered:
                    part.write(_row(number, row).encode())
                part.write(b"</sheetData></worksheet>")
    return path


def _types(numbers: Iterable[int]) -> str:
    parts = {"workbook.xml": "sheet.main", "styles.xml": "styles"}
    parts |= {f"worksheets/sheet{n}.xml": "worksheet" for n in numbers}
    named = "".join(
        f'<Override PartName="/xl/{part}" ContentType="{_TYPE}.{kind}+xml"/>' for part, kind in parts.items()
    )
    default = "application/vnd.openxmlformats-package.relationships+xml"
    return (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType="{default}"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{named}</Types>'
    )


def _relations(rows: Iterable[tuple[str, str, str]]) -> str:
    named = "".join(
        f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"/>' for key, kind, target in rows
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{named}</Relationships>'


def _row(number: int, row: Sequence[object]) -> str:
    cells = "".join(_cell(f"{_letters(at)}{number}", value) for at, value in enumerate(row, 1))
    return f'<row r="{number}">{cells}</row>'


def _cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, Formula):
        return f'<c r="{place}"{value.about}><f>1+2</f>{value.value}</c>'
    if isinstance(value, tuple):
        return f'<c r="{place}" s="{value[1]}"><v>{value[0]}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
