"""Charts of Altair as plain specifications."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair


def specified(chart: "altair.TopLevelMixin") -> dict[str, Any]:
    """What the chart says without data, configuration and schema, which the drawing adds."""
    given: dict[str, Any] = chart.to_dict(validate=True)
    for layer in given.get("layer", ()):
        layer.pop("data", None)
    return {name: value for name, value in given.items() if name not in ("$schema", "config", "data")}
