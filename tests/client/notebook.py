"""The notebook of `examples/`: run against an installation, and written with what came of it.

    .venv/bin/python -m tests.client.notebook

runs it once more and keeps its outputs, without the traces of this machine.
"""

import os
import tempfile
from pathlib import Path
from unittest.mock import patch

import nbformat
from nbclient import NotebookClient

from tests.client.running import ClientInstallation
from tests.repository import ROOT

NOTEBOOK = ROOT / "examples" / "api_study.ipynb"
#: Kinds of output that are kept, the plainest first: a table is HTML and text.
KEPT = ("text/html", "text/plain")


def run_notebook(installation: ClientInstallation) -> nbformat.NotebookNode:
    """The notebook with the outputs of a run; raises CellExecutionError where a cell fails."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with patch.dict(os.environ, installation.environment()):
        runner = NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": NOTEBOOK.parent}}
        )
        return runner.execute()


def text_of(cell: nbformat.NotebookNode) -> str:
    """What a reader sees below a cell."""
    parts = [
        each.get("text") or each.get("data", {}).get("text/plain", "") for each in cell.get("outputs", [])
    ]
    return "".join(parts)


def shape_of(cell: nbformat.NotebookNode) -> list[str]:
    """What is the same in every run: which outputs there are, and how tables begin; lines break elsewhere."""
    shape = []
    for each in cell.get("outputs", []):
        if _is_kept(each):
            table = each.get("data", {}).get("text/plain", "")
            head, *_ = next(iter(table.splitlines()), "").split() or [""]
            shape += [each["output_type"], head]
    return shape


def clean(notebook: nbformat.NotebookNode) -> None:
    """Take out what only the run needed: counts, times, and bars that are gone."""
    for number, cell in enumerate(notebook.cells, start=1):
        cell["id"], cell["metadata"] = f"cell-{number}", {}
        if cell.cell_type != "code":
            continue
        cell["execution_count"] = None
        cell["outputs"] = [each for each in cell["outputs"] if _is_kept(each)]
        for each in cell["outputs"]:
            each.pop("execution_count", None)
            if "data" in each:
                each["metadata"] = {}
                each["data"] = {kind: each["data"][kind] for kind in KEPT if kind in each["data"]}
            if each["output_type"] == "execute_result":
                each["execution_count"] = None
    notebook["metadata"] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }


def _is_kept(output: nbformat.NotebookNode) -> bool:
    return output["output_type"] != "display_data" and output.get("name") != "stderr"


def main() -> None:
    """Run it, and write it."""
    with tempfile.TemporaryDirectory() as folder:
        installation = ClientInstallation(Path(folder))
        try:
            installation.start()
            notebook = run_notebook(installation)
        finally:
            installation.stop()
    clean(notebook)
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
