"""Tables as templates draw them: texts of cells, and notes on why a figure is missing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluations.reporting.numbers import between, probability, short, whole
from evaluations.reporting.reader import Value, number, value

NOTHING = "\u2013"


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell: `small` under it; `note` is the number of a note that says `why`."""

    text: str
    small: str = ""
    note: int = 0
    why: str = ""
    words: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its name, what stands under the name, and its cells; `look` is `apart` after a group."""

    name: str
    cells: Sequence[Cell]
    small: str = ""
    look: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; the first heading is that of the names."""

    caption: str
    headings: Sequence[str]
    lines: Sequence[Line]

    @property
    def heads(self) -> list[tuple[str, bool]]:
        """The headings, and whether words stand below each."""
        wordy = [each.words for each in self.lines[0].cells] if self.lines else []
        return list(zip(self.headings, [True, *wordy], strict=False))

    def __bool__(self) -> bool:
        return bool(self.lines)


@dataclass(eq=False)
class Notes:
    """Why figures are missing: one note for each reason, numbered from 1 in the order of the page."""

    reasons: dict[str, int] = field(default_factory=dict)

    def figure(self, found: Value, places: int = 3) -> Cell:
        """The figure with its interval, or a dash and a note."""
        if found.value is None:
            return self.missing(found.reason)
        ends = found.low is not None and found.high is not None
        small = between(found.low or 0.0, found.high or 0.0, places) if ends else ""
        return Cell(short(found.value, places), small)

    def missing(self, reason: str) -> Cell:
        """A dash that leads to the note with the reason."""
        why = reason.strip().rstrip(".") or "it was not calculated"
        return Cell(NOTHING, note=self.reasons.setdefault(why, len(self.reasons) + 1), why=why)

    def plain(self, given: Any, reason: str = "") -> Cell:
        """A number, a share or a text of the report as it is."""
        if isinstance(given, bool):
            return Cell("yes" if given else "no", words=True)
        found = number(given)
        if found is not None:
            return Cell(whole(found) if found.is_integer() else short(found))
        if isinstance(given, Mapping):
            return self.figure(value({"it": given}, "it"))
        if given is None or given == "":
            return self.missing(reason) if reason else Cell(NOTHING)
        return Cell(str(given), words=True)


def records(caption: str, rows: Iterable[Mapping[str, Any]]) -> Table:
    """The table of a plot: a line per record, the first field as its name."""
    listed = list(rows)
    if not listed:
        return Table(caption, (), ())
    first, *others = listed[0]
    counted = {name for name in listed[0] if all(_is_whole(row.get(name)) for row in listed)}

    def cell(name: str, given: Any) -> Cell:
        return _cell(name, given, counted=name in counted)

    lines = [
        Line(cell(first, row[first]).text, [cell(name, row.get(name)) for name in others]) for row in listed
    ]
    return Table(caption, [each[:1].upper() + each[1:] for each in (first, *others)], lines)


def _cell(name: str, given: Any, *, counted: bool) -> Cell:
    found = number(given)
    if found is None:
        return Cell(NOTHING if given is None else str(given), words=isinstance(given, str))
    if name == "p" or name.startswith("p ") or name.endswith(" p"):
        return Cell(probability(found))
    return Cell(whole(found) if counted else short(found))


def _is_whole(given: Any) -> bool:
    found = number(given)
    return found is None or found.is_integer()
