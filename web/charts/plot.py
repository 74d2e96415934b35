"""Plots: data, a Vega-Lite specification without them, words, room for names; and bars without a library."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import altair
    import altair as alt

# Charts of Altair as plain specifications.


def specified(chart: "altair.TopLevelMixin") -> dict[str, Any]:
    """What the chart says without data, configuration and schema, which the drawing adds."""
    given: dict[str, Any] = chart.to_dict(validate=True)
    for layer in given.get("layer", ()):
        layer.pop("data", None)
    return {name: value for name, value in given.items() if name not in ("$schema", "config", "data")}


# Names of metrics and systems beside a plot: room for them in every font, and the whole of a cut one.

#: Pixels after which a name is cut with an ellipsis, in the font that the server measures with.
LIMIT = 150
#: Ems of a character in DejaVu Sans, the widest of the fonts that take Arial's place.
_WIDE, _CAPITAL, _USUAL, _SLIM, _FULL = 0.97, 0.74, 0.63, 0.37, 1.0
_WIDE_LETTERS = frozenset("mwMWQO@%&+=<>~…—")
_SLIM_LETTERS = frozenset("iljtfrIJ.,;:'|!/\\()[] ")
_SIZE = 12
#: Between a name and its axis, and around the whole drawing, which a name may fill (`web.charts.renderer`).
_TICK, _PADDING = 7, 12
_WIDER = 1.2  # than what was measured
_FIRST_OF_EAST_ASIA = "\u1100"
_CUT = re.compile(r"<text([^>]*)>([^<]*)…</text>")


def width_of(name: str) -> float:
    """Pixels that a name takes at most."""
    return _SIZE * sum(map(_ems, name))


def axis_of_names(names: Iterable[str], *, limit: int = LIMIT, **options: Any) -> "alt.Axis":
    """An axis with names whose margin is wide enough where the reader's font is wider than the server's."""
    import altair as alt

    longest = max(map(width_of, names), default=0)
    room = _TICK + round(min(longest, limit * _WIDER)) - _PADDING
    return alt.Axis(labelLimit=limit, minExtent=max(room, 0), **options)


def with_whole_names(svg: str, names: Iterable[str]) -> str:
    """The drawing in which a name that is cut shows all of it under the pointer."""
    known = list(dict.fromkeys(names))

    def whole(found: re.Match[str]) -> str:
        start = unescape(found[2])
        meant = [name for name in known if len(name) > len(start) and name.startswith(start)]
        if not meant:
            return found[0]
        title = escape(" · ".join(meant), quote=False)
        return f'<text pointer-events="all"{found[1]}>{found[2]}…<title>{title}</title></text>'

    return _CUT.sub(whole, svg)


def _ems(character: str) -> float:
    if character >= _FIRST_OF_EAST_ASIA and character != "…":
        return _FULL
    if character in _WIDE_LETTERS:
        return _WIDE
    if character in _SLIM_LETTERS:
        return _SLIM
    return _CAPITAL if character.isupper() else _USUAL


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


# Bars that a page draws without a library; the table beside them says the same in figures.

HEIGHT, STEP, WIDTH = 120, 10, 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a bar; `name` is its colour, a class of the style sheets."""

    name: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar(Generic[T]):
    """The bar of a `subject`, such as an hour or a day: parts from the ground up, empty ones left out."""

    subject: T
    x: int
    parts: tuple[BarPart, ...]


@dataclass(frozen=True, slots=True)
class BarChart(Generic[T]):
    """Bars in a box of `width` by `height` units; one of `highest` is as high as the box."""

    bars: list[Bar[T]]
    width: int
    highest: float
    height: int = HEIGHT

    @property
    def scale(self) -> float:
        """Units for 1."""
        return HEIGHT / self.highest if self.highest else 0


def stack_bars(
    rows: Iterable[tuple[T, dict[str, float]]], *, highest: float | None = None, fewest: int = 0
) -> BarChart[T]:
    """A bar for each subject with its parts by name, from the ground up.

    Without `highest` the highest bar fills the box. The box has place for `fewest` bars at least.
    """
    subjects = list(rows)
    if highest is None:
        highest = max((sum(parts.values()) for _, parts in subjects), default=0)
    chart: BarChart[T] = BarChart([], max(len(subjects), fewest) * STEP, highest)
    for number, (subject, parts) in enumerate(subjects):
        chart.bars.append(Bar(subject, number * STEP + (STEP - WIDTH) // 2, _stack(parts, chart.scale)))
    return chart


def _stack(parts: dict[str, float], scale: float) -> tuple[BarPart, ...]:
    found, ground = [], float(HEIGHT)
    for name, value in parts.items():
        height = round(value * scale, 2)
        ground = round(ground - height, 2)
        if height:
            found.append(BarPart(name, ground, height))
    return tuple(found)
