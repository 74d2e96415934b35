"""Colours and type of plots, the same as those of the pages they stand in (`static/distillery.css`)."""

from enum import StrEnum
from typing import Any


class Look(StrEnum):
    """What a plot is drawn for; paper has a white ground and black type."""

    LIGHT = "light"
    DARK = "dark"
    PAPER = "paper"


#: Ink, quiet ink, lines, the main colour, the second one, the ground.
_COLOURS = {
    Look.LIGHT: ("#2b2119", "#6a5a4b", "#e7dccb", "#a9520d", "#ecb45f", None),
    Look.DARK: ("#f2e9dc", "#b9a892", "#392d22", "#eea644", "#8d6025", None),
    Look.PAPER: ("#000000", "#333333", "#dddddd", "#a9520d", "#ecb45f", "#ffffff"),
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
