"""Comparing a rendered contract with its committed file, or writing it."""

import difflib
import os
from pathlib import Path

import pytest

from tests.repository import ROOT

FOLDER = Path(__file__).parent / "snapshots"
#: Set by `python -m tests.contracts.write`.
WRITE = "WRITE_CONTRACTS"
_MOST_LINES = 200


def check_snapshot(name: str, text: str) -> None:
    """Fail with a diff unless the file `name`.txt holds `text`."""
    _check(FOLDER / f"{name}.txt", name, text)


def check_document(path: str, text: str) -> None:
    """The same of a file that people outside read, below the root of the repository."""
    _check(ROOT / path, path, text)


def _check(path: Path, name: str, text: str) -> None:
    if os.environ.get(WRITE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    committed = path.read_text(encoding="utf-8") if path.exists() else ""
    if committed == text:
        return
    lines = list(
        difflib.unified_diff(committed.splitlines(), text.splitlines(), path.name, "now", n=2, lineterm="")
    )
    left_out = len(lines) - _MOST_LINES
    shown = lines[:_MOST_LINES] + ([f"… and {left_out} more lines"] if left_out > 0 else [])
    pytest.fail(
        "\n".join(
            [
                f"The contract {name} is no longer what its snapshot says:",
                *shown,
                "",
                "If code only moved or got another name, this is a fault of the move. If the change is meant,"
                " run `make contracts` and commit the difference.",
            ]
        ),
        pytrace=False,
    )


def list_snapshots(folder: str) -> set[str]:
    """Names of the committed files in a folder below `snapshots`."""
    return {path.stem for path in (FOLDER / folder).glob("*.txt")}
