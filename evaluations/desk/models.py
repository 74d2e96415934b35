"""The models of learned metrics: a list, and a page of each with its training."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from evaluations import model_shelf
from evaluations.desk.evaluations import FOLDER, TAB
from evaluations.model_shelf import ModelEntry
from web.access import for_members
from web.pages import show

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
        return [chart for endings in _DRAWN if (chart := self._chart(endings)) is not None]

    def _chart(self, endings: Sequence[str]) -> Chart | None:
        columns = {
            name: [row[place] for row in self.rows]
            for place, name in enumerate(self.columns)
            if name.replace("_", " ").split()[-1] in endings
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

        columns_shown = list(columns.items())[:_LOOKS]
        lines = [
            Line(name, points(values), look, values[0], values[-1])
            for look, (name, values) in enumerate(columns_shown, 1)
        ]
        return Chart(lines, low, high)


def histories(card: Mapping[str, Any]) -> list[History]:
    """Every list of rows of a card, as far as it fits a page; what can be drawn comes first."""
    tables = []
    for path, rows in _lists(card):
        flat = [_flat(row) for row in rows[:_MOST_ROWS]]
        columns = list(dict.fromkeys(name for row in flat for name in row))[:_MOST_COLUMNS]
        if columns:
            values = [[_rounded(row.get(name)) for name in columns] for row in flat]
            tables.append(History(" ".join(path).replace("_", " "), columns, values))
    return sorted(tables, key=lambda each: not each.charts)[:_MOST_TABLES]


def _lists(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    if isinstance(value, Mapping) and len(path) < _DEEPEST:
        for name, each in value.items():
            yield from _lists(each, (*path, str(name)))
    elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        yield path, value


def _flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """A row with the names of what is in it one after another."""
    cells: dict[str, Any] = {}
    for name, value in row.items():
        path = f"{before} {name}".strip().replace("_", " ")
        if isinstance(value, Mapping) and not before:
            cells |= _flat(value, path)
        elif isinstance(value, str | int | float):
            cells[path] = value
    return cells


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


Facts = Sequence[tuple[tuple[str, ...], Any]]
_MOST_NAMES = 3


@require_safe
@for_members
def listing(request: HttpRequest, user: User) -> HttpResponse:
    """All models in METRIC_MODELS."""

    rows = [{"model": each, **_summary(each)} for each in model_shelf.shelf()]
    return show(
        request,
        "models.html",
        folder=FOLDER,
        sidebar=TAB,
        rows=rows,
        encoder=_plain_name(settings.BERTSCORE_ENCODER),
        full=len(rows) == model_shelf.MOST,
    )


@require_safe
@for_members
def one(request: HttpRequest, user: User, *, name: str) -> HttpResponse:
    """The card of one; its files are compared with it only where that is asked for."""

    pass

    model = model_shelf.model_named(name)
    if model is None:
        raise Http404("There is no such model.")
    compared = "compare" in request.GET and not model.wrong and not model.bundle
    return show(
        request,
        "model.html",
        folder=FOLDER,
        sidebar=TAB,
        model=model,
        groups=_groups(model_shelf.facts(model.card)),
        histories=histories(model.card),
        box=f"-2 -2 {WIDTH + 4:g} {HEIGHT + 4:g}",
        compared=compared,
        damage=model_shelf.damage(model) if compared else "",
    )


def _groups(facts: Facts) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Facts under the first of the keys that lead to them, those of a single key together and first."""
    groups: dict[str, list[tuple[str, Any]]] = {"": []}
    for path, fact in facts:
        group, names = (path[0], path[1:]) if len(path) > 1 else ("", path)
        groups.setdefault(group, []).append((" ".join(names).replace("_", " "), fact))
    return [(group.replace("_", " "), lines) for group, lines in groups.items() if lines]


def _plain_name(encoder: str) -> str:
    """An encoder's name, of a folder the last part."""
    return encoder.rstrip("/").rsplit("/", 1)[-1] if encoder.startswith("/") else encoder


def _summary(model: "ModelEntry") -> dict[str, str]:
    """What the table says of a model, as far as its card does."""

    card_facts = [(path, fact) for path, fact in model_shelf.facts(model.card) if "paper" not in path]

    def first(*endings: str, within: str = "") -> str:
        """The first fact that one of these names lead to, of those below `within`."""
        matches = (
            value
            for word in endings
            for path, value in card_facts
            if word in path and (not within or within in path)
        )
        value = next(matches, "")
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    return {
        "encoder": _plain_name(first("name", "kind", within="encoder") or first("encoder")),
        "data": _data(model.card) or first("source", "sources", "title", within="data"),
        "f1": first("f1", within="best") or first("f1"),
        "pearson": first("pearson", within="test") or first("pearson"),
        "when": first("made", "made_at", "trained_at", "date")[:10] or model.when,
    }


def _data(card: Mapping[str, Any]) -> str:
    """The names of the files that it was trained on."""
    data = card.get("data")
    files = data.get("files") if isinstance(data, Mapping) else None
    rows = [each for each in files if isinstance(each, Mapping)] if isinstance(files, list) else []
    names = [str(each["name"]) for each in rows if each.get("name")]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
