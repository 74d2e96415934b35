"""What a plot is: rows of data, a Vega-Lite specification without them, and what it says in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart before it is drawn.

    `rows` are records of plain values (one per mark or class), with the same names in each; `spec` is
    Vega-Lite JSON that names no data and no colours; `says` is a sentence for those who do not see it, and
    `signature` names the method, its parameters and the version. `table` says the same in fewer rows where
    there is a mark for each of many answers; `key` names the plot among others of its page.
    """

    title: str
    says: str
    rows: Sequence[Mapping[str, Any]]
    spec: Mapping[str, Any]
    signature: str = ""
    key: str = ""
    table: Sequence[Mapping[str, Any]] = ()

    @property
    def columns(self) -> list[str]:
        """Names of the data's fields, in the order of the first row."""
        return list(self.rows[0]) if self.rows else []

    @property
    def twin(self) -> Sequence[Mapping[str, Any]]:
        """The rows of the table that stands beside the plot."""
        return self.table or self.rows
