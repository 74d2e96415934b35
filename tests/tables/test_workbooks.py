"""Workbooks: what their cells say, where faults are, and that none can take the memory of who opens it."""

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from core.files.workbooks import WorkbookError, is_workbook, open_workbook
from tests.memory import measured
from tests.workbooks import DATE, MOMENT, Formula, write_workbook

_MIB = 2**20


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cells = ["Größe", 3.0, 0.1 + 0.2, 1e20, 1e-7, (45000, DATE), (45000.5, MOMENT), True, None, "=1+1\nnext"]
    return write_workbook(
        tmp_path_factory.mktemp("workbooks") / "a.xlsx",
        {"Notes": [], "Data": {3: [None, *"abcdefghij"], 5: [None, *cells]}, "More": [["x"]]},
    )


def test_cells_are_written_as_a_person_reads_them(path: Path) -> None:
    workbook = open_workbook(path)

    assert workbook.sheets == ["Notes", "Data", "More"]
    assert workbook.sheet == "Data"
    written = ["Größe", "3", "0.3", "100000000000000000000", "0.0000001", "2023-03-15"]
    assert list(workbook.rows()) == [
        (3, list("abcdefghij")),
        (5, [*written, "2023-03-15 12:00:00", "TRUE", "", "=1+1\nnext"]),
    ]
    assert workbook.place(5) == "sheet 'Data', row 5"


def test_rows_can_be_read_again_and_in_between(path: Path) -> None:
    workbook = open_workbook(path)
    first = workbook.rows()
    next(first)

    assert [number for number, _cells in workbook.rows()] == [3, 5]
    assert next(first)[0] == 5


def test_a_sheet_is_chosen_by_its_name(path: Path) -> None:
    assert list(open_workbook(path, sheet="More").rows()) == [(1, ["x"])]
    assert list(open_workbook(path, sheet="Notes").rows()) == []
    with pytest.raises(WorkbookError, match=r"a.xlsx has no sheet 'Nope'; there are 'Notes', 'Data', 'More'"):
        open_workbook(path, sheet="Nope")


def test_a_formula_that_was_never_computed_is_no_empty_cell(tmp_path: Path) -> None:
    """Programs that write workbooks leave formulas to the spreadsheet that opens them."""
    computed = [Formula("<v>3</v>"), Formula("<v></v>", ' t="str"')]
    path = write_workbook(tmp_path / "a.xlsx", {"One": [["n", "m"], computed], "A & B": [["n"], [Formula()]]})
    assert list(open_workbook(path).rows()) == [(1, ["n", "m"]), (2, ["3", ""])]
    for formula in (Formula(), Formula("<v/>"), Formula("<v></v>", ' s="1"')):
        write_workbook(path, {"One": [["n"], [1]], "A & B": [["n"], [formula]]})
        with pytest.raises(WorkbookError, match=r"sheet 'A & B': the cell A2 is a formula without a value"):
            open_workbook(path, sheet="A & B")


def test_a_workbook_is_known_by_what_it_holds(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xlsx"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("queries.csv", "a,b")
    text = tmp_path / "text.xlsx"
    text.write_text("a,b")

    assert is_workbook(path)
    assert not is_workbook(other)
    assert not is_workbook(text)
    assert not is_workbook(tmp_path / "nothing")
    with pytest.raises(
        WorkbookError, match=r"is a zip file that holds no workbook\. Take the file out of it\."
    ):
        open_workbook(other)


def test_damage_is_said(path: Path, tmp_path: Path) -> None:
    cut, noise = tmp_path / "cut.xlsx", tmp_path / "noise.xls"
    cut.write_bytes(path.read_bytes()[:1500])
    noise.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00\x17" * 3000)

    for damaged in (cut, noise):
        with pytest.raises(WorkbookError, match=rf"^{damaged.name} .*damaged"):
            open_workbook(damaged)


def _sparse(path: Path) -> Path:
    """Two cells in opposite corners: a table of seventeen thousand million cells."""
    return write_workbook(path, {"S": {1: ["a"], 1_048_576: [None] * 16_383 + ["z"]}})


def _fat(path: Path) -> Path:
    """One text of a megabyte in 300 rows; zipped it is half a megabyte."""
    return write_workbook(path, (["a" * 1_000_000] for _ in range(300)))


def _claimed(path: Path) -> Path:
    """A workbook with a part of 520 MiB of zeros beside it."""
    write_workbook(path, [["a"]])
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/media/image.bin", "w") as part,
    ):
        for _ in range(520):
            part.write(bytes(_MIB))
    return path


_OPEN = """
import sys, pathlib
from core.files.workbooks import WorkbookError, open_workbook
try:
    open_workbook(pathlib.Path(sys.argv[1]))
except WorkbookError as error:
    print(error)
"""


@pytest.mark.long
@pytest.mark.only_on("linux")
@pytest.mark.parametrize("bomb", [_sparse, _fat, _claimed])
def test_a_bomb_is_refused_and_memory_stays_small(bomb: Callable[[Path], Path], tmp_path: Path) -> None:
    path = bomb(tmp_path / "bomb.xlsx")
    assert path.stat().st_size < _MIB

    found = measured(_OPEN, path)

    assert re.match(r"bomb.xlsx .* MiB.* Save the sheet as CSV", found.said)
    assert max(found.own, found.children) < 300
