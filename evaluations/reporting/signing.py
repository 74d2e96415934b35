"""How a plot was made, and the scale it is drawn on."""

from evaluations.reporting.reader import Report, Value, scale

#: Metrics that have plots of their own, best first; tables have all.
MOST_PLOTTED = 12
_FULL_SCALE = (1.0, 5.0)


def signature(report: Report, method: str, **parts: object) -> str:
    """How a plot was made: method, parameters, and the version of this program."""
    said = {"plot": method, **parts, "distillery": report.get("distillery") or "unknown"}
    return "|".join(f"{name}={each}" for name, each in said.items())


def scale_of(report: Report) -> tuple[float, float]:
    """The ends of the scale that people used, or the usual ones."""
    return scale(report) or _FULL_SCALE


def ends(found: Value) -> dict[str, float | None]:
    """A figure as a row of a plot."""
    return {"value": found.value, "low": found.low, "high": found.high}
