"""Files of both clients: digests, partial downloads and their locks."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

import httpx

try:
    import fcntl
except ImportError:  # Windows: two downloads of one file into one folder are not kept apart there
    fcntl = None  # type: ignore[assignment]

#: Bytes in memory at a time.
PIECE = 1 << 18
#: Told how many bytes of a file are there.
Count = Callable[[int], None]


def digest_of(file: Path) -> str:
    """SHA-256 of a file, in constant memory."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def is_whole(response: httpx.Response, size: int) -> bool:
    """Whether a part was refused because nothing is missing."""
    return str(response.headers.get("Content-Range", "")).rpartition("/")[2] == str(size)


@contextmanager
def part_of(place: Path) -> Iterator[Path]:
    """Where the beginning of a file is kept: `NAME.part`, which a later download resumes.

    While another download works on that one, this gets a name of its own, and leaves nothing behind.
    """
    half = place.with_name(f"{place.name}.part")
    lock_file = _hold(half)
    if lock_file is None:
        half = place.with_name(f"{place.name}.{uuid4().hex[:12]}.part")
    try:
        yield half
    finally:
        if half.exists() and (lock_file is None or not half.stat().st_size):
            half.unlink()
        if lock_file is not None:
            lock_file.close()


def _hold(half: Path) -> IO[bytes] | None:
    """The file, locked until it is closed; None where another download has it."""
    while True:
        opened = half.open("ab")
        if fcntl is None:
            return opened
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if half.exists() and os.path.samestat(os.fstat(opened.fileno()), half.stat()):
                return opened
        except OSError:
            opened.close()
            return None
        opened.close()  # the other one was just done with it
