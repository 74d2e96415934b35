"""What stands in the report of a study of a trained metric, which is plain JSON: figures, numbers, titles."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluations.report.figures import NOT_CALCULATED, Figure
from evaluations.report.model import visible
from evaluations.report.tables import distinguish, number

#: The report of a study as `evaluations.training.study` writes it.
StudyReport = Mapping[str, Any]


class StudyFigure(Figure):
    """A figure of a study; `more` is what else stands beside it, such as p."""

    more: dict[str, Any] = {}


def mapping(given: Any) -> Mapping[str, Any]:
    """The mapping, or an empty one."""
    return given if isinstance(given, Mapping) else {}


def rows(given: Any) -> list[Mapping[str, Any]]:
    """The rows of a list that are mappings."""
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else ()
    return [each for each in listed if isinstance(each, Mapping)]


def value(of: Any, *path: str) -> StudyFigure:
    """The figure at a path; a reason anywhere on the way is its reason."""
    reason = NOT_CALCULATED
    for part in path:
        inside = mapping(of)
        why = inside.get("reason")
        reason = why if isinstance(why, str) and why else reason
        of = inside.get(part)
    if isinstance(of, Mapping):
        return _figure(of, reason)
    found = number(of)
    return StudyFigure(value=found, reason=reason)


def _figure(of: Mapping[str, Any], reason: str) -> StudyFigure:
    ends = [number(end) for end in of.get("ci") or ()]
    low, high = ends if len(ends) == 2 else (None, None)
    n = number(of.get("n"))
    return StudyFigure(
        value=number(of.get("value")),
        ci=None if low is None or high is None else (low, high),
        n=None if n is None else int(n),
        reason=of.get("reason") or reason,
        more={name: each for name, each in of.items() if name not in ("value", "ci", "n", "reason")},
    )


def labels(report: StudyReport) -> dict[str, str]:
    """What each metric is called; where two have the same title, both have their names."""
    entries = mapping(report.get("metrics"))
    return distinguish(
        {name: visible(str(mapping(each).get("title") or name)) for name, each in entries.items()}
    )


def scale_of(report: StudyReport) -> tuple[float, float]:
    """The ends of the scale that people used."""
    low, high = report["scale"]
    return float(low), float(high)
