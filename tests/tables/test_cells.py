"""Cells of files for spreadsheets: no text is run as a formula, and each can be had back."""

import csv
import io

import pyarrow
from hypothesis import given, settings
from hypothesis import strategies as st

from core.files.cells import cell, unguarded
from releases.formats.csv_files import _guarded
from tests.scale import limit_cases

#: A text, and the cell that it becomes.
CELLS = {
    "=1+1": "'=1+1",
    "-2+3": "'-2+3",
    "@sum": "'@sum",
    "\tx": "'\tx",
    "\n=1+1": "'\n'=1+1",
    " \r\n =1+1": "' \r\n '=1+1",
    "\uff1d1+1": "'\uff1d1+1",
    "\uff20x": "'\uff20x",
    "\ufeff=1+1": "'\ufeff=1+1",
    "a;=HYPERLINK(1)": "a;'=HYPERLINK(1)",
    "a; +1+cmd|x": "a; '+1+cmd|x",
    "a\t=1+1": "a\t'=1+1",
    "\t=1+1": "'\t'=1+1",
    "a\t- b": "a\t- b",
    "a\n@x": "a\n'@x",
    "one\n- two\n- three": "one\n- two\n- three",
    "well ;-) a=b": "well ;-) a=b",
    "'=1+1": "''=1+1",
    "''\uff1d1+1": "'''\uff1d1+1",
    "'\tx": "''\tx",
    "a;'=1": "a;''=1",
    "\n'\uff0b1": "\n''\uff0b1",
    "it's": "it's",
    "'quoted'": "'quoted'",
    "": "",
}


def test_what_would_run_gets_an_apostrophe_and_the_text_can_be_had_back() -> None:
    for text, expected in CELLS.items():
        assert cell(text) == expected
        assert unguarded(expected) == text
    assert _guarded(pyarrow.array(list(CELLS))).to_pylist() == list(CELLS.values())


def through_csv(texts: list[str]) -> list[str]:
    """The texts after a file was written and read."""
    file = io.StringIO(newline="")
    csv.writer(file).writerows([cell(text), "beside"] for text in texts)
    return [unguarded(row[0]) for row in csv.reader(io.StringIO(file.getvalue(), newline=""))]


@settings(max_examples=limit_cases(300), deadline=None, derandomize=True)
@given(st.text(alphabet="=+-@\uff1d\uff0b\uff0d\uff20';\n\r\t \ufeff\u200b\",a1(", max_size=12))
def test_every_text_comes_back_from_a_csv_file_and_begins_no_formula(text: str) -> None:
    assert through_csv([text, text]) == [text, text]
    assert cell(text).lstrip(" \n\ufeff\u200b")[:1] not in {*"=+-@\uff1d\uff0b\uff0d\uff20"}
    assert _guarded(pyarrow.array([text])).to_pylist() == [cell(text)]
