"""Charts: Vega-Lite specifications by Altair, drawn as SVG without a browser; bars that templates draw.

A `Plot` is data, a specification without them, words, and room for names. It is drawn in the colours of the
pages, for pages and for files. Those of a campaign are made here, those of evaluations in
`web.evaluation_charts`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from xml.etree.ElementTree import Element, tostring

from defusedxml import ElementTree as SafeTree

if TYPE_CHECKING:
    import altair
    import altair as alt


# Charts of Altair as plain specifications.


def specified(chart: "altair.TopLevelMixin") -> dict[str, Any]:
    """What the chart says without data, configuration and schema, which the drawing adds."""
    fields: dict[str, Any] = chart.to_dict(validate=False)  # Altair has looked at its parts as they were made
    for layer in fields.get("layer", ()):
        layer.pop("data", None)
    return {name: value for name, value in fields.items() if name not in ("$schema", "config", "data")}


# Names of metrics and systems beside a plot: room for them in every font, and the whole of a cut one.

#: Pixels after which a name is cut with an ellipsis, in the font that the server measures with.
LIMIT = 150
#: Ems of a character in DejaVu Sans, the widest of the fonts that take Arial's place.
_WIDE, _CAPITAL, _USUAL, _SLIM, _FULL = 0.97, 0.74, 0.63, 0.37, 1.0
_WIDE_LETTERS = frozenset("mwMWQO@%&+=<>~…—")
_SLIM_LETTERS = frozenset("iljtfrIJ.,;:'|!/\\()[] ")
_SIZE = 12
#: Between a name and its axis, and around the whole drawing, which a name may fill (`config`).
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
    distinct = list(dict.fromkeys(names))

    def spell_out(match: re.Match[str]) -> str:
        start = unescape(match[2])
        meant = [name for name in distinct if len(name) > len(start) and name.startswith(start)]
        if not meant:
            return match[0]
        title = escape(" · ".join(meant), quote=False)
        return f'<text pointer-events="all"{match[1]}>{match[2]}…<title>{title}</title></text>'

    return _CUT.sub(spell_out, svg)


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
        """The rows of the table beside the plot."""
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
    parts_drawn, ground = [], float(HEIGHT)
    for name, value in parts.items():
        height = round(value * scale, 2)
        ground = round(ground - height, 2)
        if height:
            parts_drawn.append(BarPart(name, ground, height))
    return tuple(parts_drawn)


# Colours and type of plots, the same as those of the pages they stand in (`static/tokens.css`).


class Look(StrEnum):
    """What a plot is drawn for; paper has a white ground and black type."""

    LIGHT = "light"
    DARK = "dark"
    PAPER = "paper"


#: Ink, quiet ink, lines, the main colour, the second one, the ground.
_COLOURS = {
    Look.LIGHT: ("#1c1917", "#57534e", "#e7e5e4", "#a34a0c", "#e2a336", None),
    Look.DARK: ("#f4f1ee", "#b7aea7", "#35302d", "#f0a15e", "#8d6025", None),
    Look.PAPER: ("#000000", "#333333", "#dddddd", "#a34a0c", "#e2a336", "#ffffff"),
}
#: Fonts of one width, for texts are measured on the server and shown with what the reader has.
_FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"


def config(look: Look) -> dict[str, Any]:
    """Vega-Lite's `config` of a look; of two categories the second one has the main colour."""
    ink, quiet, line, main, second, ground = _COLOURS[look]
    return {
        "background": ground,
        "font": _FONT,
        "padding": {"left": 12, "right": 12, "top": 5, "bottom": 5},
        "title": {"color": ink, "fontSize": 14, "fontWeight": 600, "anchor": "start"},
        "view": {"stroke": None},
        "axis": {
            "labelColor": quiet,
            "titleColor": quiet,
            "gridColor": line,
            "domainColor": quiet,
            "tickColor": quiet,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": 400,
        },
        "legend": {
            "labelColor": ink,
            "titleColor": quiet,
            "labelFontSize": 12,
            "orient": "top",
            "title": None,
        },
        "range": {"category": [second, main], "ordinal": [second, main]},
        "bar": {"color": main},
        "point": {"color": main, "filled": True, "opacity": 1},
        "circle": {"color": main},
        "rule": {"color": main},
        "line": {"color": main},
        "rect": {"color": main},
        "area": {"color": main},
        "text": {"color": ink},
        "style": {
            "ink": {"color": ink, "stroke": ink, "fill": ink},
            "inkline": {"color": ink, "stroke": ink},
        },
    }


def colours(look: Look) -> dict[str, str]:
    """The colours of a look by what they are for; the same names in every look."""
    names = ("ink", "quiet", "line", "main", "second")
    return {name: str(colour) for name, colour in zip(names, _COLOURS[look], strict=False)}


#: The Vega-Lite that draws; the specification names the same one.
VEGA_LITE = "6.4"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_KEPT = 128


def specification(plot: Plot, look: Look = Look.PAPER) -> dict[str, Any]:
    """The whole specification with its data, as Vega-Lite's editors open it."""
    return {
        "$schema": _SCHEMA,
        "title": plot.title,
        "description": plot.says,
        "usermeta": {"signature": plot.signature},
        "data": {"values": [dict(row) for row in plot.rows]},
        **plot.spec,
        "config": config(look),
    }


def svg(plot: Plot, look: Look = Look.PAPER, *, width: int = 0) -> str:
    """The plot as SVG, its axes as wide as its specification says or `width` pixels.

    On pages it has no title, for a heading is above it. The same data in the same look are drawn once.
    """
    fields = specification(plot, look)
    if look != Look.PAPER:
        del fields["title"]
    if width:
        fields["width"] = width
    drawing = _draw(json.dumps(fields, ensure_ascii=False, sort_keys=True, allow_nan=False))
    names = (value for row in plot.rows for value in row.values() if isinstance(value, str))
    return with_whole_names(drawing, names) if "…</text>" in drawing else drawing


@lru_cache(maxsize=_KEPT)
def _draw(specification: str) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE))


# Plots as part of a page: one drawing whose colours the page's style sheet sets for light and dark.

_COLOURED = ("fill", "stroke")
#: From so many dots of one look on they are written short.
_MANY = 50
_PLACE = re.compile(r"translate\((-?[\d.e-]+),(-?[\d.e-]+)\)")
_DISC = re.compile(r"M([\d.]+),0A\1,\1,0,1,1,-\1,0A\1,\1,0,1,1,\1,0")
#: What the page says once for all drawings, or what only a drawing in a file of its own needs.
_NEEDLESS = ("role", "class", "font-family", "pointer-events", "stroke-miterlimit", "version")


def inline(plot: Plot, *, width: int = 0) -> str:
    """The plot as an `svg` element without names of its own that a program would read out.

    It is in an element with a role and words. Colours are those of the light look, which
    `colour_rules` overrides by the page's properties.
    """
    root: Element = SafeTree.fromstring(svg(plot, Look.LIGHT, width=width))
    _strip(root)
    root.attrib |= {"aria-hidden": "true", "focusable": "false"}
    return tostring(root, encoding="unicode", short_empty_elements=False)


def colour_rules(within: str) -> str:
    """Style rules that give drawings the properties `--plot-ink`, `--plot-quiet` and so on of a page."""
    return "\n".join(
        f'{within} [{attribute}="{colour}"] {{ {attribute}: var(--plot-{name}); }}'
        for name, colour in colours(Look.LIGHT).items()
        for attribute in _COLOURED
    )


def _strip(element: Element) -> None:
    element.tag = str(element.tag).rpartition("}")[2]
    for name in list(element.attrib):
        if name in _NEEDLESS or name.startswith("aria-"):
            del element.attrib[name]
    if element.attrib.get("opacity") == "1":
        del element.attrib["opacity"]
    for child in list(element):
        if child.get("class") in ("background", "foreground") and child.get("stroke") is None:
            element.remove(child)
        else:
            _strip(child)
    _shorten(element)


def _shorten(group: Element) -> None:
    """Many discs that differ in nothing but their place become circles in a group with their look."""
    looks = {(each.get("d"), each.get("fill"), each.get("opacity")) for each in group}
    if len(group) < _MANY or len(looks) != 1:
        return
    disc, fill, opacity = looks.pop()
    radius = _DISC.fullmatch(disc or "")
    places = [_PLACE.fullmatch(each.get("transform") or "") for each in group]
    if radius is None or not all(places):
        return
    group.attrib |= {"fill": fill or "none", "fill-opacity": opacity or "1"}
    for each, place in zip(group, places, strict=True):
        each.tag = "circle"
        each.attrib.clear()
        if place is not None:
            x, y = (f"{float(number):.1f}" for number in place.groups())
            each.attrib |= {"cx": x, "cy": y, "r": f"{float(radius[1]):.1f}"}


# The charts of a campaign: what is drawn of which rows.

_WIDTH, _ROW = 460, 26
#: Names of bars that find their place side by side.
_MOST_LEVEL = 10
#: Letters that fit side by side over the width of a chart.
_MOST_LETTERS = 76
BEFORE, AFTER = "before filters", "after filters"

Rows = Sequence[Mapping[str, Any]]


def scores_by_system(rows: Rows, *, low: float, high: float, says: str, signature: str = "") -> Plot:
    """Mean human score per system with its interval.

    Rows: `system`, `step` (before or after filters), `mean`, `low`, `high` (None where there is no interval),
    `answers`. `low` and `high` are the ends of the scale.
    """
    import altair as alt

    order = list(dict.fromkeys(row["system"] for row in rows))
    steps = [step for step in (BEFORE, AFTER) if any(row["step"] == step for row in rows)]
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    base = alt.Chart().encode(
        y=alt.Y("system:N", sort=order, title=None, axis=axis_of_names(order)),
        yOffset=alt.YOffset("step:N", sort=steps),
        color=alt.Color("step:N", sort=steps, scale=alt.Scale(domain=[BEFORE, AFTER])),
    )
    interval = base.mark_rule(size=3).encode(
        x=alt.X("low:Q", scale=scale, title="mean human score, 95 % interval over answers"), x2="high:Q"
    )
    mean = base.mark_point(size=70).encode(x=alt.X("mean:Q", scale=scale))
    height = max(2, len(order) * len(steps)) * _ROW
    chart = alt.layer(interval, mean).properties(width=_WIDTH, height=height)
    return Plot("Score by system", says, rows, specified(chart), signature)


def scores_given(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """How often each score was given. Rows: `score`, `step`, `judgments`."""
    return _bars("Scores given", "score", "judgments", rows, says=says, signature=signature)


def spread(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """How much people disagree. Rows: `deviation` (class of the standard deviation), `answers`."""
    title = "sample standard deviation of an answer's scores"
    return _bars(
        "Spread within answers", "deviation", "answers", rows, says=says, signature=signature, axis=title
    )


def sizes(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """How many judgments answers have. Rows: `judgments`, `answers`."""
    return _bars("Judgments per answer", "judgments", "answers", rows, says=says, signature=signature)


def time_and_score(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """One judge's time against their scores. Rows: `time` (class of seconds), `score`, `judgments`."""
    import altair as alt

    times = list(dict.fromkeys(row["time"] for row in rows))
    chart = (
        alt.Chart()
        .mark_circle(opacity=0.85)
        .encode(
            x=alt.X("time:O", sort=times, title="time of the HIT", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("score:O", sort=_in_order(rows) or "descending"),
            size=alt.Size("judgments:Q", scale=alt.Scale(range=[0, 500]), legend=None),
        )
        .properties(width=_WIDTH, height=190)
    )
    return Plot("Time and score", says, rows, specified(chart), signature)


def judge_and_crowd(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """One judge's scores beside everybody's. Rows: `score`, `who` (all judges, this judge), `percent`."""
    import altair as alt

    order = ["all judges", "this judge"]
    classes = _in_order(rows)
    chart = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X(
                "score:O", axis=alt.Axis(labelAngle=-45 if classes else 0), sort=classes or alt.Undefined
            ),
            xOffset=alt.XOffset("who:N", sort=order),
            y=alt.Y("percent:Q", title="percent of their judgments"),
            color=alt.Color("who:N", sort=order, scale=alt.Scale(domain=order)),
        )
        .properties(width=_WIDTH, height=200)
    )
    return Plot("Scores beside the crowd's", says, rows, specified(chart), signature)


def submissions(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """Submissions over time. Rows: `hour` (ISO 8601, UTC), `submissions`."""
    import altair as alt

    chart = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X(
                "utcyearmonthdatehours(hour):T",
                title="UTC",
                axis=alt.Axis(format="%-d %b %H:%M", labelOverlap="greedy", labelSeparation=8),
            ),
            y=alt.Y("submissions:Q", title="submissions per hour", axis=alt.Axis(tickMinStep=1, tickCount=5)),
        )
        .properties(width=_WIDTH, height=180)
    )
    return Plot("Submissions over time", says, rows, specified(chart), signature)


def _in_order(rows: Rows) -> list[Any]:
    """Classes of scores in the order of the rows; nothing where scores are numbers, which sort themselves."""
    names = list(dict.fromkeys(row["score"] for row in rows))
    return names if any(isinstance(name, str) for name in names) else []


def _bars(title: str, across: str, up: str, rows: Rows, *, says: str, signature: str, axis: str = "") -> Plot:
    """Bars; of two steps the later one is before the earlier one, which it is a part of."""
    import altair as alt

    order = list(dict.fromkeys(row[across] for row in rows))
    texts = [each for each in order if isinstance(each, str)]
    long = max(map(len, texts), default=0) * len(order) > _MOST_LETTERS
    angle = -45 if texts and (len(order) > _MOST_LEVEL or long) else 0
    below = alt.Axis(labelAngle=angle, labelOverlap="greedy")
    chart = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X(f"{across}:O", sort=order, title=axis or across, axis=below),
            y=alt.Y(f"{up}:Q", stack=None, title=up, axis=alt.Axis(tickMinStep=1, tickCount=5)),
        )
        .properties(width=_WIDTH, height=200)
    )
    if any(row.get("step") == AFTER for row in rows):
        steps = [BEFORE, AFTER]
        chart = chart.encode(
            color=alt.Color("step:N", sort=steps, scale=alt.Scale(domain=steps)),
            order=alt.Order("step:N", sort="descending"),
        )
    return Plot(title, says, rows, specified(chart), signature)
