"""Plots as SVG, and as Vega-Lite specifications that anybody can open and change."""

import json
from functools import lru_cache
from typing import Any

from web.charts.labels import with_whole_names
from web.charts.looks import Look, config
from web.charts.plot import Plot

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
