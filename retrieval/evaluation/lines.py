"""Text files a line at a time, plain or gzip, and their faults."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from core.files.compression import packing_of
from core.files.numbered_lines import LONGEST_LINE
from core.files.refusals import Fault
from retrieval.errors import FileRefusedError

#: Faults that are listed before reading stops.
MOST_FAULTS = 20
_CODECS = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"), (b"PK\x03\x04", "a zip file"))


class Faults:
    """What is wrong with one file. It is not read at all if anything is."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.found: list[Fault] = []

    def add(self, line: int, field: str, what: str, remedy: str) -> None:
        """Note a fault; FileRefusedError once there are too many."""
        self.found.append(Fault(line, field, what, remedy))
        if len(self.found) >= MOST_FAULTS:
            raise FileRefusedError(self.name, self.found, more=True, done="read")

    def stop(self, line: int, what: str, remedy: str) -> FileRefusedError:
        """The error for a file that cannot be read any further."""
        self.found.append(Fault(line, "", what, remedy))
        return FileRefusedError(self.name, self.found, done="read")

    def check(self) -> None:
        """FileRefusedError if there is any."""
        if self.found:
            raise FileRefusedError(self.name, self.found, done="read")


def lines(path: Path, faults: Faults) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not blank, without line ends and byte order mark."""
    try:
        with path.open("rb") as raw:
            yield from _lines(raw, faults)
    except OSError as error:
        raise faults.stop(1, f"it cannot be read: {error.strerror}", "Name a file that is there.") from error


def _lines(raw: IO[bytes], faults: Faults) -> Iterator[tuple[int, str]]:
    head = raw.read(4)
    raw.seek(0)
    for magic, what in _CODECS:
        if head.startswith(magic):
            raise faults.stop(1, f"this is {what}, not UTF-8 text", "Save it as UTF-8, plain or gzip.")
    source: IO[bytes] = gzip.GzipFile(fileobj=raw) if packing_of(head) == "gzip" else raw  # type: ignore[assignment]
    number = 0
    while True:
        number += 1
        try:
            line = source.readline(LONGEST_LINE + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise faults.stop(number, f"the gzip data is damaged ({error})", "Compress it again.") from error
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise faults.stop(
                number, f"the line is longer than {LONGEST_LINE // 1_000_000} MB", "Look at the file."
            )
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            text = line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            what = f"byte {error.start + 1} ({line[error.start]:#04x}) is no UTF-8"
            faults.add(number, "", what, "Save the file as UTF-8.")
            continue
        if "\0" in text:
            faults.add(number, "", "there is a NUL character", "Take it out.")
        elif text.strip():
            yield number, text


def cells(line: str) -> list[str]:
    """Columns of a line with tabs, or, where there is no tab, with blanks between them."""
    if "\t" in line:
        return [cell.strip() for cell in line.split("\t")]
    return line.split()


def shown(text: str, most: int = 40) -> str:
    """The beginning of a text in quotes, for a message."""
    return repr(text if len(text) <= most else text[:most] + "…")
