"""Files of data as bytes, plain or compressed by gzip."""

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
    """The bytes of a file without gzip and byte order mark; MetricError where they cannot be read."""
    try:
        with path.open("rb") as plain:
            if _begins(plain, _GZIP):
                plain.seek(0)
                with gzip.open(plain, "rb") as file:
                    _begins(file, _MARK)
                    yield cast("IO[bytes]", file)
            else:
                _begins(plain, _MARK)
                yield plain
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise MetricError(f"{path} is no whole gzip file: {error} Fetch it again.") from error
    except IsADirectoryError as error:
        raise MetricError(f"{path} is a folder. Name the files in it.") from error
    except OSError as error:
        raise MetricError(f"{path} cannot be read: {error.strerror or error}.") from error


def _begins(file: IO[bytes] | gzip.GzipFile, with_what: bytes) -> bool:
    """Whether a file begins so; it is read on after that, or else from its begin."""
    found = file.read(len(with_what)) == with_what
    if not found:
        file.seek(0)
    return found
