"""Plots as SVG for pages and files, and as Vega-Lite specifications, in the colours of the pages."""

import json
import re
from enum import StrEnum
from functools import lru_cache
from typing import Any
from xml.etree.ElementTree import Element, tostring

from defusedxml import ElementTree as SafeTree

from web.charts.plot import Plot, with_whole_names

# Colours and type of plots, the same as those of the pages they stand in (`static/distillery.css`).


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

    On pages it has no title, for a heading stands above it. The same data in the same look are drawn once.
    """
    said = specification(plot, look)
    if look != Look.PAPER:
        del said["title"]
    if width:
        said["width"] = width
    drawn = _drawn(json.dumps(said, ensure_ascii=False, sort_keys=True, allow_nan=False))
    names = (value for row in plot.rows for value in row.values() if isinstance(value, str))
    return with_whole_names(drawn, names) if "…</text>" in drawn else drawn


@lru_cache(maxsize=_KEPT)
def _drawn(specification: str) -> str:
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

    It stands in an element with a role and words. Colours are those of the light look, which
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
