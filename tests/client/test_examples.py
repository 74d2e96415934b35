"""The files of `examples/` that use the client, as they are committed."""

import re

import nbformat

from tests.client.notebook import NOTEBOOK, text_of
from tests.repository import ROOT


def test_the_notebook_is_kept_without_traces_of_who_ran_it():
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 40_000
    assert set(re.findall(r"127\.0\.0\.1:(\d+)", text)) == {"8000"}
    assert not any(trace in text for trace in (str(ROOT), "/tmp/", "Traceback", "image/png"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert cell.get("execution_count") is None
        assert len(text_of(cell).splitlines()) <= 15
        assert all(each["output_type"] in ("stream", "execute_result") for each in cell.get("outputs", []))


def test_the_script_is_short():
    assert len((ROOT / "examples" / "api_study.py").read_text(encoding="utf-8").splitlines()) <= 40
