"""Rows of numbers in a model's card, such as one for each epoch of its training: as tables and as lines."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MOST_TABLES, _MOST_ROWS, _MOST_COLUMNS = 6, 500, 16
#: Where lists of rows are looked for.
_DEEPEST = 3
#: Columns that are drawn, by the last word of their names: what is drawn together has one scale.
_DRAWN = (("loss",), ("f1", "precision", "recall", "pearson", "spearman"))
_LOOKS = 6
WIDTH, HEIGHT = 600.0, 200.0


@dataclass(frozen=True, slots=True)
class Line:
    """A column as a line: its points in the units of the drawing, and its ends in words."""

    name: str
    points: str
    look: int
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Columns with one scale from `low` to `high`."""

    lines: Sequence[Line]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class History:
    """Rows of a card under its own names."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @property
    def charts(self) -> list[Chart]:
        """What of it is worth a drawing: losses together, and shares together."""
        return [chart for words in _DRAWN if (chart := self._chart(words)) is not None]

    def _chart(self, words: Sequence[str]) -> Chart | None:
        columns = {
            name: [row[place] for row in self.rows]
            for place, name in enumerate(self.columns)
            if name.replace("_", " ").split()[-1] in words
        }
        columns = {
            name: values for name, values in columns.items() if all(_is_number(each) for each in values)
        }
        if len(self.rows) < 2 or not columns:
            return None
        every = [value for values in columns.values() for value in values]
        low, high = min(every), max(every)
        step = WIDTH / (len(self.rows) - 1)

        def points(values: Sequence[float]) -> str:
            heights = [HEIGHT * (1 - (value - low) / ((high - low) or 1)) for value in values]
            return " ".join(f"{at * step:.1f},{height:.1f}" for at, height in enumerate(heights))

        shown = list(columns.items())[:_LOOKS]
        lines = [
            Line(name, points(values), look, values[0], values[-1])
            for look, (name, values) in enumerate(shown, 1)
        ]
        return Chart(lines, low, high)


def histories(card: Mapping[str, Any]) -> list[History]:
    """Every list of rows of a card, as far as it fits a page; what can be drawn comes first."""
    found = []
    for path, rows in _lists(card):
        flat = [_flat(row) for row in rows[:_MOST_ROWS]]
        columns = list(dict.fromkeys(name for row in flat for name in row))[:_MOST_COLUMNS]
        if columns:
            values = [[_rounded(row.get(name)) for name in columns] for row in flat]
            found.append(History(" ".join(path).replace("_", " "), columns, values))
    return sorted(found, key=lambda each: not each.charts)[:_MOST_TABLES]


def _lists(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    if isinstance(value, Mapping) and len(path) < _DEEPEST:
        for name, each in value.items():
            yield from _lists(each, (*path, str(name)))
    elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        yield path, value


def _flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """A row with the names of what is in it one after another."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        whole = f"{before} {name}".strip().replace("_", " ")
        if isinstance(value, Mapping) and not before:
            found |= _flat(value, whole)
        elif isinstance(value, str | int | float):
            found[whole] = value
    return found


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
