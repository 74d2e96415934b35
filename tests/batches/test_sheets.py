"""Tables as spreadsheets of all countries write them, and exact words about those that cannot be read."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from core.files.encodings import USUAL
from marketplace.forms.sheets import RESULTS, TASKS, SheetError
from tests.batches.making import sheet
from tests.workbooks import Rows, write_workbook


def book(folder: Path, sheets: Mapping[str, Rows]) -> bytes:
    return write_workbook(folder / "book.xlsx", sheets).read_bytes()


def read(data: str | bytes, **options: object) -> tuple[list[str], list[list[str]]]:
    found = sheet(data, **options)
    return found.columns, [row.cells for row in found.rows()]


EXPECTED = (["name", "note"], [["Zoë", "a, b"], ["Ümit", 'says "hi"\nand goes']])
TEXT = 'name,note\nZoë,"a, b"\nÜmit,"says ""hi""\nand goes"\n'


def test_one_table_in_many_hands(subtests):
    for data, said in [
        (TEXT.encode(), "UTF-8; cells separated by commas"),
        (TEXT.encode("utf-8-sig"), "UTF-8; cells separated by commas"),
        (TEXT.encode("utf-16"), "UTF-16; cells separated by commas"),
        (
            TEXT.encode("latin-1"),
            "Windows-1252 (Western Europe), a guess (99%); cells separated by commas",
        ),
        (
            'name;note\nZoë;"a, b"\nÜmit;"says ""hi""\nand goes"\n'.encode(),
            "UTF-8; cells separated by semicolons",
        ),
        (
            'name\tnote\nZoë\t"a, b"\nÜmit\t"says ""hi""\nand goes"\n'.encode(),
            "UTF-8; cells separated by tabs",
        ),
        (
            'sep=;\nname;note\nZoë;"a, b"\nÜmit;"says ""hi""\nand goes"\n'.encode(),
            "UTF-8; cells separated by semicolons",
        ),
        (
            'name,note,,\nZoë,"a, b",,\n\n,,,\nÜmit,"says ""hi""\nand goes",,'.encode(),
            "UTF-8; cells separated by commas",
        ),
    ]:
        with subtests.test(data=data, said=said):
            found = sheet(data)
            assert (found.columns, [row.cells for row in found.rows()]) == EXPECTED
            assert found.description == said


def test_line_ends_of_other_systems_are_the_same_rows(subtests):
    for end in ["\r\n", "\r"]:
        with subtests.test(end=end):
            columns, rows = read(f'a,b{end}1,"two{end}lines"{end}3,4{end}')
            assert columns == ["a", "b"]
            assert rows == [["1", "two\nlines"], ["3", "4"]]


def test_a_named_encoding_is_taken_at_its_word():
    assert read("名,b\n猫,1\n".encode("shift_jis"), encoding="shift_jis") == (["名", "b"], [["猫", "1"]])


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        (
            "",
            {},
            "t.csv is empty.",
        ),
        (
            "\n,\n",
            {},
            "t.csv: it is empty. Its first line must name the columns, the lines below hold the values.",
        ),
        ("a,b\n", {}, "t.csv: it has a head and no rows below it."),
        (
            "a,b\n1,2\n1,2,3\n",
            {},
            "t.csv, line 3: the row has 3 cells, the head has 2. A comma inside a cell needs quotation marks "
            "around the cell.",
        ),
        (
            "a;b\n1;2;3\n",
            {},
            "t.csv, line 2: the row has 3 cells, the head has 2. A semicolon inside a cell needs quotation "
            "marks around the cell.",
        ),
        (
            'a,b\n1,2\n"open,2\n3,4\n',
            {},
            "t.csv, line 3: a quotation mark opens here and never closes. Close it, or double it where it "
            "belongs to the text.",
        ),
        (
            'a,b\n"a"b,2\n',
            {},
            "t.csv, line 2: a quoted cell goes on after its closing mark. Quotation marks inside a cell are "
            'doubled (""), not written \\".',
        ),
        ("a,,b\n1,2,3\n", {}, "t.csv, line 1: column 2 has no name in the head."),
        ("a,b,a\n1,2,3\n", {}, "t.csv, line 1, column a: columns 1 and 3 have the same name. Rename one."),
        (
            "a,b\n1,bell\x07\n",
            {},
            "t.csv, line 2, column b: the cell has a character that no page can hold (U+0007). Take it out.",
        ),
        (
            "a\nZo\xeb\n".encode("latin-1"),
            {"encoding": "utf-8"},
            "t.csv, line 2: Byte 3 (0xEB) is not UTF-8. Save the file as UTF-8, or name its encoding.",
        ),
        (
            b"PK\x03\x04 and more",
            {},
            "t.csv is damaged: File is not a zip file. Save it again.",
        ),
        (
            ",".join(f"c{n}" for n in range(10_000)) + "\n1\n",
            {},
            "t.csv, line 1: it has 10,000 columns; at most 500 are taken. Leave out those that the template "
            "does not show.",
        ),
        (
            "a\n" + "x" * 70_000 + "\n",
            {},
            "t.csv, line 2, column a: the cell has 70,000 characters; a cell may have 65,535.",
        ),
        (
            'a\n"' + "x" * 140_000 + '"\n',
            {},
            "t.csv, line 2: a cell has more than 131,072 characters, or a quotation mark never closes.",
        ),
    ],
    ids=[
        "empty", "blank", "head-only", "too-many-cells", "too-few-cells", "open-quote", "after-quote",
        "nameless", "twice", "control", "not-utf8", "workbook", "ten-thousand-columns", "long-cell",
        "endless-cell",
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_line_column_and_remedy(data, options, sentence):
    with pytest.raises(SheetError) as refused:
        read(data, name="t.csv", **options)
    assert refused.value.message == sentence


def test_a_workbook_is_read_by_its_first_sheet_with_data_or_the_named_one(tmp_path):
    data = book(tmp_path, {"Notes": [], "Tasks": [["name", "n"], ["Zoë", 3]], "More": [["name"], ["Ümit"]]})
    found = sheet(data)
    assert (found.columns, [row.cells for row in found.rows()]) == (["name", "n"], [["Zoë", "3"]])
    assert found.description == "a workbook, sheet 'Tasks' of 3"
    assert read(data, sheet="More") == (["name"], [["Ümit"]])


def test_what_is_wrong_in_a_workbook_is_said_with_sheet_and_row(tmp_path):
    wide = sheet(book(tmp_path, {"Tasks": {1: ["a"], 4: ["1", "", "stray"]}}), name="t.xlsx")
    with pytest.raises(SheetError) as refused:
        list(wide.rows())
    assert refused.value.message == (
        "t.xlsx, sheet 'Tasks', row 4: cell 3 has a value, and the head names 1 column. Name its column in "
        "the first row, or empty the cell."
    )
    with pytest.raises(SheetError, match=r"t\.xlsx has no sheet 'Jobs'; there are 'Tasks'\."):
        sheet(book(tmp_path, {"Tasks": [["a"], ["1"]]}), name="t.xlsx", sheet="Jobs")


def test_an_encoding_that_nobody_named_is_found_out_and_called_a_guess(subtests):
    for encoding, text in [
        (
            "cp1250",
            "pytanie,liczba\nJakie są objawy cukrzycy?,1\nZażółć gęślą jaźń; boi się wężów.,2\n",
        ),
        ("shift_jis", "質問,数\nこの小説を書いたのは誰ですか,1\nその塔はいつ建てられましたか,2\n"),
    ]:
        with subtests.test(encoding=encoding, text=text):
            found = sheet(text.encode(encoding))
            assert [row.cells for row in found.rows()] == [line.split(",") for line in text.split("\n")[1:-1]]
            assert found.description.startswith(USUAL[encoding]) and "a guess" in found.description


def test_rows_know_their_lines_and_can_be_read_again():
    found = sheet('a,b\n"1\n2",x\n\n3,y\n')
    for _ in range(2):
        assert [(row.line, row.cells) for row in found.rows()] == [(2, ["1\n2", "x"]), (5, ["3", "y"])]
    with pytest.raises(SheetError, match=r"t\.csv is no workbook, so it has no sheet 'Jobs'"):
        sheet("a\n1\n", name="t.csv", sheet="Jobs")
    with pytest.raises(SheetError, match=r"t\.csv: 'rot13' is no encoding of text files"):
        sheet("a\n1\n", name="t.csv", encoding="rot13")


def test_more_rows_than_a_batch_has_are_refused_at_the_row_that_is_too_many():
    found = sheet("a\n" + "1\n" * (TASKS.rows + 1))
    with pytest.raises(SheetError, match=r"line 100002: it has more than 100,000 rows"):
        for _ in found.rows():
            pass


def test_results_that_come_back_may_be_wider_than_a_table_of_tasks():
    table = ",".join(f"c{n}" for n in range(1_000)) + "\n" + "," * 999 + "x\n"
    columns, rows = read(table, limits=RESULTS)
    assert len(columns) == 1_000
    assert rows[0][-1] == "x"


def test_cells_that_a_spreadsheet_left_out_at_the_end_are_empty_and_counted():
    """MTurk's own results have 163 cells under 165 names: Approve and Reject are not there yet."""
    table = sheet("a,b,c\n1,2,3\n4\n5,6\n", "t.csv")
    assert [row.cells for row in table.rows()] == [["1", "2", "3"], ["4", "", ""], ["5", "6", ""]]
    assert table.description.endswith("; 2 rows end before the head does: the missing cells are empty")
