"""What every reader of passages is given: the file, how it is to be read, where its faults go."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

from core.files.refusals import Fault
from core.files.workbooks import Workbook
from retrieval.errors import FileRefusedError

# One passage, or one document, of a file.


class Row(NamedTuple):
    """Texts are as they stand in the file; `line` is its line, or its record in files without lines."""

    line: int
    key: str
    text: str
    title: str
    url: str
    page: str
    start: int | None
    end: int | None


#: Faults that are listed before reading stops.
MOST_FAULTS = 20
#: Longest text of a passage in characters.
LONGEST_TEXT = 200_000


@dataclass(frozen=True)
class Layout:
    """How a person says that a file is to be read, where it is not to be found out.

    `columns` are names of columns by our fields: "" for one that the file does not have, and for `id`
    that passages are numbered. Delimiter of a CSV file, encoding of text, sheet of a workbook: "" says
    that it is to be found out.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str = ""
    delimiter: str = ""
    sheet: str = ""

    @property
    def numbers_rows(self) -> bool:
        """Whether ids are the numbers of the rows."""
        return self.columns.get("id") == ""


#: Everything is found out.
FOUND_OUT = Layout()


@dataclass
class PassageSource:
    """What is known of a file that is read, and what is wrong with it: refused lines gather in `faults`.

    `bytes_done` of `bytes_total` say how far reading has come. `columns` are those of the file and `mapping`
    says which of them holds which field, as soon as the first row is read. `longest_text` is in characters:
    documents that are to be split may be longer than a passage. `name` is what faults call the file.
    """

    long_remedy: ClassVar[str] = "Cut the page into passages."

    path: Path
    format: str
    faults: list[Fault]
    bytes_total: int
    bytes_done: int = 0
    longest_text: int = LONGEST_TEXT
    name: str = ""
    layout: Layout = FOUND_OUT
    encoding: str = "utf-8"
    encoding_said: str = ""
    delimiter: str = ""
    columns: list[str] = field(default_factory=list)
    mapping: dict[str, str] = field(default_factory=dict)
    workbook: Workbook | None = None

    @property
    def unit(self) -> str:
        """What faults are numbered by: line or record."""
        if self.workbook is not None:
            return f"sheet {self.workbook.sheet!r}, row"
        return "record" if self.format in ("car", "parquet") else "line"

    def fault(self, number: int, field: str, what: str, remedy: str) -> None:
        """Note what is wrong."""
        self.faults.append(Fault(number, field, what, remedy, self.unit))

    def refused(self, *, more: bool = False) -> FileRefusedError:
        """The error with all faults."""
        return FileRefusedError(self.name or self.path.name, self.faults, more=more)

    def stop(self, number: int, field: str, what: str, remedy: str) -> FileRefusedError:
        """The error for a file that cannot be read any further."""
        self.fault(number, field, what, remedy)
        return self.refused()

    def stop_if_too_many(self) -> None:
        """Raise the error with all faults when the list is full."""
        if len(self.faults) >= MOST_FAULTS:
            raise self.refused(more=True)
