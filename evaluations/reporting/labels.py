"""Names of metrics, systems and types as plots and tables show them."""

from evaluations.reporting import reader
from evaluations.reporting.reader import Report

_MOST = 80


def plain(text: object) -> str:
    """A name without characters that cannot be shown, and not longer than a line."""
    shown = " ".join(reader.visible(str(text)).split())
    return (shown if len(shown) <= _MOST else f"{shown[: _MOST - 1]}…") or "(no name)"


def labels(report: Report) -> dict[str, str]:
    """What each metric and sentinel is called; where two have the same title, both have their names."""
    names = [*reader.metrics(report), *reader.floors(report)]
    titles = {name: plain(reader.title(report, name)) for name in names}
    often = list(titles.values())
    return {
        name: title if often.count(title) == 1 else plain(f"{title} ({name})")
        for name, title in titles.items()
    }
