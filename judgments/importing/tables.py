"""CSV and TSV of answers: the rows of `core.files.csv_tables` with other columns."""

from collections.abc import Callable, Iterator
from typing import Any

from core.files.columns import ColumnError, map_columns, quote_names
from core.files.csv_tables import BLANK, DelimitedTable, Row
from core.files.refusals import FileRefusedError
from judgments.importing.rows import NAMES


class AnswerTable(DelimitedTable):
    """Rows of a table as values by our names.

    The first row is a header, unless columns are chosen by their numbers from 1, or `header` says otherwise.
    """

    def find_columns(
        self, row: Row, given: dict[str, str], header: bool | None
    ) -> tuple[bool, list[str], dict[str, str]]:
        """Whether the first row is a header, the columns' names, and which of them holds which field."""
        names = [name.strip() for name in row]
        numbers = [str(number) for number in range(1, len(row) + 1)]
        if header is None:
            chosen = [theirs for theirs in given.values() if theirs]
            header = not chosen or any(theirs in names for theirs in chosen)
        if header and len(set(names)) < len(names):
            raise FileRefusedError(
                f"{self.source.name}, line 1: two columns have one name: {quote_names(names)}."
            )
        there = names if header else numbers
        try:
            return header, there, map_columns(there, given, NAMES)
        except ColumnError as error:
            raise FileRefusedError(f"{self.source.name}, line 1: {error}") from error

    def values(self, refuse: Callable[[int, str], None]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The rows, each with the number of its line."""
        places = tuple(self.places.items())
        for rows, numbers in self.rows(refuse):
            for row, line in zip(rows, numbers, strict=True):
                if len(row) == self.width:
                    yield line, {ours: row[place] for ours, place in places}
                elif row not in BLANK:
                    hint = " Quote a text that has the separator in it." if len(row) > self.width else ""
                    refuse(line, f"The line has {len(row)} columns instead of {self.width}.{hint}")
