"""A leaderboard as the lines of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluations.reporting.cells import NOTHING, Cell, Line, Notes
from evaluations.reporting.numbers import short, whole

if TYPE_CHECKING:
    from evaluations.leaderboard import Board, Entry


@dataclass(frozen=True, slots=True)
class Head:
    """A heading that sorts: its address, and how the column is sorted now, if it is."""

    label: str
    address: str
    sorted: str
    number: bool


def lines_of(entries: "Sequence[Entry]", board: "Board") -> tuple[list[Line], list[str]]:
    """A line per system, `small` its rank, and one on how each metric agrees with people; then the notes."""
    notes = Notes()
    lines = [
        Line(
            each.system,
            [
                Cell(NOTHING if each.answers is None else whole(each.answers)),
                notes.figure(each.human, 2),
                *(_metric(each, metric.name, notes) for metric in board.metrics),
            ],
            "" if each.rank is None else str(each.rank),
            "inferred" if each.inferred else "",
        )
        for each in entries
    ]
    agreement = [notes.figure(each.agreement) for each in board.metrics]
    lines.append(Line("Agreement with people", [Cell(""), Cell(""), *agreement], "", "apart"))
    return lines, list(notes.reasons)


def _metric(entry: "Entry", name: str, notes: Notes) -> Cell:
    cell, corpus = notes.figure(entry.means[name]), entry.corpus[name].value
    return Cell(cell.text, f"corpus {short(corpus)}" if corpus is not None else "", cell.note, cell.why)
