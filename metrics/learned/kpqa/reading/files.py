"""Files of data as bytes, plain or compressed by gzip, and what a file that cannot be read is told."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from metrics.errors import MetricError

_GZIP, _MARK = b"\x1f\x8b", b"\xef\xbb\xbf"


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file after gzip and after a byte order mark; MetricError where they cannot be read."""
    try:
        with path.open("rb") as plain:
            if plain.read(2) == _GZIP:
                plain.seek(0)
                with gzip.open(plain, "rb") as file:
                    yield _after_mark(cast("IO[bytes]", file))
            else:
                plain.seek(0)
                yield _after_mark(plain)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise MetricError(f"{path} is no whole gzip file: {error}. Fetch it again.") from error
    except OSError as error:
        raise MetricError(f"{path} cannot be read: {error.strerror or error}.") from error


def _after_mark(file: IO[bytes]) -> IO[bytes]:
    if file.read(len(_MARK)) != _MARK:
        file.seek(0)
    return file
