"""Dots on lines as plain SVG: for light and dark pages, marks told apart by shape and by colour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, TOP, ROW, LABELS, GAP, EDGE = 980, 118, 34, 168, 30, 26
STYLE = """
text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328 }
.page { fill: #ffffff }
.title { font-weight: 600; font-size: 16px }
.small { font-size: 12px; fill: #57606a }
.right { text-anchor: end } .middle { text-anchor: middle }
.grid { stroke: #d8dee4; stroke-width: 1 }
.a { stroke: #57606a; fill: none } .b { stroke: #a84300; fill: #a84300 }
.c { stroke: #0b5fce; fill: #0b5fce } .d { stroke: #a84300; fill: none }
.mark { stroke-width: 2 } .spread { stroke-width: 2; opacity: .55 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .page { fill: #0d1117 } .small { fill: #9da7b1 } .grid { stroke: #30363d }
  .a { stroke: #b1bac4 } .b { stroke: #f7944d; fill: #f7944d }
  .c { stroke: #6cb6ff; fill: #6cb6ff } .d { stroke: #f7944d }
}
"""


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation over the seeds."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class Series:
    """What a mark stands for; `shape` is circle, diamond, square or tick, `colour` a class of the style."""

    label: str
    shape: str
    colour: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows of marks on one axis from 0 to `high`: each row a label, and by name of the series its value."""

    title: str
    axis: str
    high: float
    step: float
    rows: Sequence[tuple[str, Mapping[str, Spread]]]


def plot(title: str, description: str, series: Mapping[str, Series], panels: Sequence[Panel]) -> str:
    """The whole picture: a title, a legend, the panels side by side."""
    height = TOP + ROW * max(len(panel.rows) for panel in panels) + 52
    width = (WIDTH - GAP * (len(panels) - 1) - EDGE) / len(panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-labelledby="title description">',
        f'<title id="title">{escape(title)}</title><desc id="description">{escape(description)}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
        f'<text class="title" x="{EDGE}" y="30">{escape(title)}</text>',
        *_legend(series),
    ]
    for number, panel in enumerate(panels):
        parts += _panel(panel, series, EDGE + number * (width + GAP), width - EDGE)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend(series: Mapping[str, Series]) -> list[str]:
    parts, x = [], float(EDGE + 8)
    for each in series.values():
        parts.append(_mark(each, x, 54))
        parts.append(f'<text x="{x + 17:.0f}" y="59">{escape(each.label)}</text>')
        x += 44 + 7.2 * len(each.label)
    return parts


def _panel(panel: Panel, series: Mapping[str, Series], left: float, width: float) -> list[str]:
    start, wide = left + LABELS, width - LABELS
    bottom = TOP + ROW * len(panel.rows)

    def place(value: float) -> float:
        return start + wide * min(max(value, 0.0), panel.high) / panel.high

    parts = [f'<text class="title" x="{left:.0f}" y="{TOP - 22}">{escape(panel.title)}</text>']
    for number in range(round(panel.high / panel.step) + 1):
        value = number * panel.step
        x = place(value)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{bottom}"/>')
        parts.append(f'<text class="small middle" x="{x:.1f}" y="{bottom + 18}">{value:g}</text>')
    parts.append(f'<text class="small" x="{start:.0f}" y="{bottom + 38}">{escape(panel.axis)}</text>')
    for number, (label, marks) in enumerate(panel.rows):
        y = TOP + ROW * (number + 0.5)
        parts.append(f'<text class="right" x="{start - 16:.0f}" y="{y + 5:.0f}">{escape(label)}</text>')
        for name, spread in marks.items():
            each = series[name]
            low, high = place(spread.mean - spread.sd), place(spread.mean + spread.sd)
            parts.append(f"<g><title>{escape(f'{label}, {each.label}: {spread.mean:.3f}')}</title>")
            ends = f'x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}"'
            parts.append(f'<line class="spread {each.colour}" {ends}/>')
            parts.append(_mark(each, place(spread.mean), y) + "</g>")
    return parts


def _mark(series: Series, x: float, y: float) -> str:
    kind = f'class="mark {series.colour}"'
    if series.shape == "circle":
        return f'<circle {kind} cx="{x:.1f}" cy="{y:.1f}" r="9"/>'
    if series.shape == "square":
        return f'<rect {kind} x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"/>'
    if series.shape == "tick":
        return f'<line {kind} x1="{x:.1f}" x2="{x:.1f}" y1="{y - 11:.1f}" y2="{y + 11:.1f}"/>'
    return f'<path {kind} d="M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7 -7z"/>'
