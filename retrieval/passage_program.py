"""Reads a file of passages, in a process of its own (`core.files.confinement`) that `passage_files` starts.

Every frame holds rows, and what has become known of the file since the one before.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # gives back, and takes no more than it is asked for
    os.environ["OPENBLAS_NUM_THREADS"] = "1"

from core.files.confinement import OUT_OF_MEMORY, confine, write
from retrieval.errors import FileRefusedError
from retrieval.passage_files import PassageFile
from retrieval.passage_formats import Layout, Row

_ROWS, _CHARACTERS = 500, 2**20


def main(arguments: str) -> None:
    """Write the rows of a file, and its faults."""
    what: dict[str, Any] = json.loads(arguments)
    path = Path(what["path"])
    confine()
    file = PassageFile(path, what["format"], [], path.stat().st_size, name=what["name"])
    file.longest_text, file.layout = what["longest_text"], Layout(columns=what["columns"])
    frame = _Frames(file)
    try:
        for row in file.rows_here():
            frame.add(row)
    except FileRefusedError as error:
        frame.write(refused=True, more=error.more)
    except MemoryError:
        frame.write()
        raise
    else:
        frame.write()


class _Frames:
    """Rows that wait, and how many faults were told before."""

    def __init__(self, file: PassageFile) -> None:
        self._file, self._told = file, 0
        self._rows: list[Row] = []
        self._characters = 0

    def add(self, row: Row) -> None:
        """One more."""
        self._rows.append(row)
        self._characters += len(row.text)
        if len(self._rows) == _ROWS or self._characters > _CHARACTERS:
            self.write()

    def write(self, *, refused: bool = False, more: bool = False) -> None:
        """All that waits."""
        faults = self._file.faults[self._told :]
        write(
            {
                "rows": list(map(tuple, self._rows)),
                "faults": [(each.line, each.field, each.what, each.remedy, each.unit) for each in faults],
                "done": self._file.bytes_done,
                "columns": self._file.columns,
                "mapping": self._file.mapping,
                "refused": refused,
                "more": more,
            }
        )
        self._told += len(faults)
        self._rows, self._characters = [], 0


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
        write(None)
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
