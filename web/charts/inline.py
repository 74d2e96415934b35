"""Plots as part of a page: one drawing whose colours the page's style sheet sets for light and dark."""

import re
from xml.etree.ElementTree import Element, tostring

from defusedxml import ElementTree as SafeTree

from web.charts.looks import Look, colours
from web.charts.plot import Plot
from web.charts.renderer import svg

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
