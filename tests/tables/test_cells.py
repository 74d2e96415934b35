"""Cells of files for spreadsheets: no text is run as a formula, and each can be had back."""

import pyarrow
import pytest

from releases.formats.delimited import _guarded
from tables.cells import cell, unguarded

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
    "a\n@x": "a\n'@x",
    "one\n- two\n- three": "one\n- two\n- three",
    "well ;-) a=b": "well ;-) a=b",
    "it's": "it's",
    "'quoted'": "'quoted'",
    "": "",
}


@pytest.mark.parametrize("text", CELLS)
def test_what_would_run_gets_an_apostrophe_and_the_rest_does_not(text: str) -> None:
    assert cell(text) == CELLS[text]


@pytest.mark.parametrize("text", CELLS)
def test_the_text_can_be_had_back(text: str) -> None:
    assert unguarded(cell(text)) == text


def test_the_tables_of_releases_guard_alike() -> None:
    assert _guarded(pyarrow.array(list(CELLS))).to_pylist() == list(CELLS.values())
