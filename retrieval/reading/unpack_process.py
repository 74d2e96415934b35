"""Files of passages whose format a library unpacks, read by a confined program (`core.files.confinement`)."""

import json
from collections.abc import Iterator
from pathlib import Path

from core.files.confinement import MEGABYTES, EndedError, frames
from core.files.faults import Fault
from retrieval.reading.passage_source import PassageSource
from retrieval.reading.row import Row

_PROGRAM = Path(__file__).with_name("program.py")


def rows_apart(file: PassageSource) -> Iterator[Row]:
    """What `rows_here` gives, from a program whose end is a fault of the file and nothing more."""
    what = {
        "path": str(file.path),
        "format": file.format,
        "name": file.name,
        "longest_text": file.longest_text,
        "columns": dict(file.layout.columns),
    }
    read = 0
    try:
        for frame in frames(_PROGRAM, json.dumps(what)):
            file.bytes_done = frame["done"]
            file.columns, file.mapping = frame["columns"], frame["mapping"]
            file.faults.extend(Fault(*fault) for fault in frame["faults"])
            read += len(frame["rows"])
            yield from map(Row._make, frame["rows"])
            if frame["refused"]:
                raise file.refused(more=frame["more"])
    except EndedError as ended:
        what_happened = f"reading on takes more than {MEGABYTES} MiB of memory"
        remedy = "Look whether a text is longer than a passage is, or write the file as JSONL."
        if not ended.spent:
            what_happened, remedy = "the data is damaged here", "Write the file again."
        raise file.stop(read + 1, "", what_happened, remedy) from ended
