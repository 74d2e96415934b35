"""What a benchmark of retrieval needs around it: Django, files of judged sets, memory of the process."""

import json
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def setup() -> None:
    """Django on the database of this run."""
    import django  # noqa: PLC0415  # most benchmarks never need it

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
    django.setup()


def lines(path: Path) -> Iterator[Any]:  # JSON
    """Records of a JSONL file."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def peak() -> float:
    """Most memory that this process ever had, in MB; what its parent had does not count."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
