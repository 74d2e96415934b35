"""Tables of answers, row by row: the reader of `core.files.sheets`, with the remedies of `evaluate`."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.files import sheets
from core.files.reading import plain_name
from core.files.refusals import FileRefusedError
from core.files.tables import DELIMITERS
from core.files.text_source import Limits, TextSource
from evaluations.errors import EvaluationError

_PARQUET = b"PAR1"
Cells = list[Any]


class AnswerSheet(sheets.Sheet):
    """CSV, TSV or a sheet of a workbook."""

    quotes_remedy = " If quotation marks mean nothing here: --no-quotes."

    @property
    def name(self) -> str:
        """The file, as it was named."""
        return self.source.name

    @property
    def comma(self) -> bool:
        """Whether a decimal comma is possible."""
        return self.delimiter != ","

    @property
    def description(self) -> str:
        """The format in words."""
        if workbook := self.source.workbook:
            return f"a workbook, sheet {workbook.sheet!r}"
        return f"{DELIMITERS.get(self.delimiter, repr(self.delimiter))}-separated, {self.source.encoding}"

    def error(self, why: str, *, line: int = 0, column: str = "") -> Exception:
        """An error in this file."""
        return EvaluationError(str(super().error(why, line=line, column=column)))

    def refuse(self, line: int, reason: str, /) -> None:
        """The same for a line that is no text, with the option that helps."""
        if "NUL byte" in reason:
            reason = f"{reason} If the file is UTF-16 without a mark: --encoding utf-16-le."
        if reason.endswith("name its encoding."):
            reason = f"{reason.removesuffix('.')}: --encoding latin-1."
        super().refuse(line, reason)

    def rows(self) -> Iterator[tuple[int, Cells]]:
        """Rows that are not blank; EvaluationError where the file cannot be read on."""
        with _refusals():
            yield from super().rows()


class AnswerObjects(AnswerSheet, sheets.ObjectSheet):
    """JSON lines, or the records of one document; cells as JSON has them."""

    @property
    def comma(self) -> bool:
        """JSON has numbers of its own."""
        return False

    @property
    def description(self) -> str:
        """The format in words."""
        return f"{'JSONL' if self.lines else 'JSON'}, {self.source.encoding}"

    def rows(self) -> Iterator[tuple[int, Cells]]:
        """A cell for every column, None where the object has no such member."""
        with _refusals():
            for line, value in self.objects():
                yield line, [value.get(column) for column in self.columns]


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except FileRefusedError as error:
        raise EvaluationError(str(error)) from error


def open_sheet(
    path: Path, *, known: Collection[str], encoding: str = "", sheet: str = "", quotes: bool = True
) -> AnswerSheet:
    """The file by what it holds; its name decides nothing. `known` are names that its header may have, and
    `sheet` is the one of a workbook (the first with data).

    EvaluationError says in a sentence why it cannot be read.
    """
    name = str(path)
    if not path.exists():
        raise EvaluationError(f"There is no file {name}.")
    if path.is_dir():
        raise EvaluationError(f"{name} is a folder, not a file.")
    with path.open("rb") as file:
        if file.read(len(_PARQUET)) == _PARQUET:
            raise EvaluationError(f"{name} is a Parquet file. Write it as CSV or JSONL, then give that file.")
    names = {plain_name(each) for each in known}
    with _refusals():
        # Scores are computed from these texts: an encoding is named, or a mark says it, never guessed.
        source = TextSource(
            path, name=name, encoding=encoding or "utf-8", sheet=sheet, limits=Limits(expansion=2000)
        )
        lines = sheets.holds_json_lines(source, names)
        if lines is None:
            return AnswerSheet(source, known=names, quotes=quotes)
        return AnswerObjects(source, lines=lines)
