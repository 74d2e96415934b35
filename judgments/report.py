"""The honest report for people: a self-contained page, the terminal, and the files of a filter run.

The page needs no script, no file beside it and no network; its plots are drawn by the template from boxes
that are worked out here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import IO, TYPE_CHECKING, Any, TextIO

from django.template.loader import render_to_string

from core.accounts.commandline import plain
from core.files.atomic import Write
from core.files.cells import cell
from core.files.reading import reading_lines
from metrics.agreement.quotes import OVERALL, figure, interval, quotes
from metrics.agreement.recipes import Z
from metrics.figure import NONE, counted

if TYPE_CHECKING:
    import numpy as np

    from judgments.rating_table import RatingsTable
    from metrics.agreement.filters import Run

# Geometry of the report's plots: bars and intervals in a box that fits a phone; the template draws them.

WIDTH = 360
_LEFT, _RIGHT, _TOP, _BASE = 44, 8, 18, 150
_BOTTOM = 34
_ROW = 40
_MOST_LABELS = 12


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its box, the look of its series, and what it says when it is pointed at."""

    x: float
    y: float
    width: float
    height: float
    look: str
    title: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A text at a place of an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers of one kind, one for each label."""

    name: str
    look: str
    values: list[int]


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars over labels, with the axes' marks; `rows` is the table that says the same."""

    bars: list[Bar]
    below: list[Mark]
    beside: list[Mark]
    series: Sequence[Series]
    labels: list[str]
    width: int = WIDTH
    height: int = _BASE + _BOTTOM
    base: int = _BASE
    left: int = _LEFT
    right: int = WIDTH - _RIGHT

    @property
    def rows(self) -> list[tuple[str, list[int]]]:
        """Label and numbers."""
        return [(label, [each.values[at] for each in self.series]) for at, label in enumerate(self.labels)]


def bars(labels: list[str], series: Sequence[Series], *, stacked: bool = False) -> Bars:
    """Bars beside each other for every label, or one on top of the other."""
    rows = list(zip(*(each.values for each in series), strict=True))
    most = max((sum(row) if stacked else max(row) for row in rows), default=0) or 1
    top = _round_up(most)
    scale = (_BASE - _TOP) / top
    step = (WIDTH - _LEFT - _RIGHT) / max(len(labels), 1)
    broad = step * 0.8 / (1 if stacked else len(series))
    bar_list = []
    for at, row in enumerate(rows):
        floor = float(_BASE)
        for number, value in enumerate(row):
            height = value * scale
            x = _LEFT + at * step + step * 0.1 + (0 if stacked else number * broad)
            title = f"{labels[at]}: {value:,} {series[number].name}"
            bar_list.append(
                Bar(
                    round(x, 2),
                    round(floor - height, 2),
                    round(broad, 2),
                    round(height, 2),
                    series[number].look,
                    title,
                )
            )
            if stacked:
                floor -= height
    every = -(-len(labels) // _MOST_LABELS) if labels else 1
    below = [
        Mark(round(_LEFT + (at + 0.5) * step, 2), label) for at, label in enumerate(labels) if at % every == 0
    ]
    beside = [Mark(round(_BASE - part * scale, 2), f"{part:,}") for part in sorted({0, top // 2, top})]
    return Bars(bar_list, below, beside, series, labels)


@dataclass(frozen=True, slots=True)
class Line:
    """A figure with its interval on the axis of alpha: places in the box, and the numbers in words."""

    name: str
    label_y: float
    y: float
    x: float
    low: float | None
    high: float | None
    look: str
    description: str


@dataclass(frozen=True, slots=True)
class Intervals:
    """Figures under each other on one axis."""

    lines: list[Line]
    below: list[Mark]
    width: int
    height: int
    base: int
    left: int
    right: int


def intervals(figures: Sequence[tuple[str, float | None, list[float] | None, str]]) -> Intervals:
    """Name, value, bounds and look of each figure; those without a value are left out."""
    defined = [(name, value, ci, look) for name, value, ci, look in figures if value is not None]
    lowest = min([0.0, *(value for _, value, _, _ in defined), *(ci[0] for _, _, ci, _ in defined if ci)])
    start = -(-lowest // 0.25) * 0.25 if lowest >= 0 else (lowest // 0.25) * 0.25
    left, right = 12, WIDTH - 16

    def place(value: float) -> float:
        return round(left + (min(value, 1.0) - start) / (1 - start) * (right - left), 2)

    lines = []
    for at, (name, value, ci, look) in enumerate(defined):
        label = f"{value:.3f}" + (f" [{ci[0]:.3f}, {ci[1]:.3f}]" if ci else "")
        low, high = (place(ci[0]), place(ci[1])) if ci else (None, None)
        lines.append(Line(name, at * _ROW + 18.0, at * _ROW + 31.0, place(value), low, high, look, label))
    base = len(defined) * _ROW + 12
    steps = round((1 - start) / 0.25)
    every = -(-steps // 6)
    ticks = [start + 0.25 * number for number in range(steps + 1) if (steps - number) % every == 0]
    return Intervals(
        lines, [Mark(place(tick), f"{tick:g}") for tick in ticks], WIDTH, base + 24, base, left, right
    )


def binned(values: Sequence[float], width: float) -> tuple[list[str], list[int]]:
    """Bins of a width from the lowest to the highest value: their lower ends, and the bin of each value."""
    if not values:
        return [], []
    places = [int(value // width) for value in values]
    first, last = min(places), max(places)
    labels = [f"{round(place * width, 6):g}" for place in range(first, last + 1)]
    return labels, [place - first for place in places]


def _round_up(number: int) -> int:
    """The next number that is easy to read as the end of an axis."""
    size: int = 10 ** max(len(str(number)) - 1, 0)
    steps = (step * size for step in range(2, 21))
    return next(step // 2 for step in steps if step % 2 == 0 and step // 2 >= number)


# The page.

_MOST_WORKERS = 200
_MOST_BARS = 30
_BIN = 0.1


def page_of(report: Mapping[str, Any]) -> str:
    """The page as HTML; texts of the file are escaped by the template."""
    return render_to_string(
        "judgments/filter_report.html",
        {
            "report": report,
            "title": title(report),
            "read_as": reading_lines(report["read_as"]),
            "quotes": quotes(report),
            "alphas": [
                {
                    "words": label,
                    "figures": figures,
                    "beside": beside,
                    "agreement": report["agreement"].get(key),
                }
                for label, figures, beside, key in _alphas(report)
            ],
            "aspects": [
                {"name": name, "step": step, "figures": figures}
                for name, step, figures in aspect_rows(report)
            ],
            "aspect_gaps": aspect_gaps(report),
            "alpha_plot": _alpha_plot(report["alpha"]),
            "score_plot": _score_plot(report["scores"]),
            "kappa_plot": _kappa_plot(report["workers"]),
            "kept_plot": _kept_plot(report["kept"]["items_by_n"]),
            "groups": _groups(report["removed"]),
            "workers": report["workers"][:_MOST_WORKERS],
            "more_workers": max(0, len(report["workers"]) - _MOST_WORKERS),
            "undetermined": len({each["worker"] for each in report["undetermined_workers"]}),
        },
    )


def _alphas(report: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], str, str]]:
    keys = {"before": "before", "after worker removal": "after_workers", "after response z": "after_z"}
    return [(label, figures, beside, keys[label]) for label, figures, beside in rows(report["alpha"])]


def _alpha_plot(alpha: Mapping[str, Any]) -> Intervals:
    before, after, after_z = alpha["before"], alpha["after_workers"], alpha["after_z"]
    figures = [("before", before["interval"], before["ci"], "plain")]
    if after["removes"]:
        figures += [
            ("after worker removal", after["interval"], after["ci"], "plain"),
            ("the same, cross-fitted", after["cross_fitted"], None, "good"),
        ]
    if after_z["interval"] is not None:
        figures += [
            ("after response z", after_z["interval"], after_z["ci"], "faint"),
            ("null: the same filter on noise", after_z["null"], None, "bad"),
            ("the same filter on crowds of your alpha", after_z["expected"], None, "faint"),
        ]
    return intervals(figures)


def _score_plot(scores: Mapping[str, Mapping[str, int]]) -> Bars:
    names = list(scores["before"])
    width = -(-len(names) // _MOST_BARS)
    starts = range(0, len(names), width)
    labels = [
        names[at] if width == 1 else f"{names[at]} to {names[min(at + width, len(names)) - 1]}"
        for at in starts
    ]
    before, after = (list(scores[which].values()) for which in ("before", "kept"))
    return bars(
        labels,
        [
            Series("ratings before", "faint", [sum(before[at : at + width]) for at in starts]),
            Series("ratings kept", "good", [sum(after[at : at + width]) for at in starts]),
        ],
    )


def _kappa_plot(workers: list[dict[str, Any]]) -> Bars | None:
    measured = [each for each in workers if each["kappa"] is not None]
    labels, places = binned([each["kappa"] for each in measured], _BIN)
    if not labels:
        return None
    stays, goes = [0] * len(labels), [0] * len(labels)
    for each, place in zip(measured, places, strict=True):
        (goes if each["verdict"].startswith("removed") else stays)[place] += 1
    return bars(
        labels, [Series("workers kept", "good", stays), Series("workers removed", "bad", goes)], stacked=True
    )


def _kept_plot(by_n: Mapping[str, int]) -> Bars:
    numbers = {int(n): count for n, count in by_n.items()}
    most = max(numbers, default=0)
    width = -(-(most + 1) // _MOST_BARS)
    labels, counts = [], []
    for low in range(0, most + 1, width):
        high = low + width - 1
        labels.append(str(low) if width == 1 else f"{low}-{high}")
        counts.append(sum(numbers.get(n, 0) for n in range(low, high + 1)))
    return bars(labels, [Series("items", "good", counts)])


def _groups(removed: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "rows": [{"label": each[name], **each} for each in removed[f"by_{name}"]],
        }
        for name in ("system", "type")
        if f"by_{name}" in removed
    ]


# The honest report on the terminal: what was removed, what is left, and what to quote.

_WIDTH = 100
_SHOWN = 8
_OVERALL = "overall score"


def summary(report: Mapping[str, Any], out: TextIO, *, file: str, colour: bool | None = None) -> None:
    """Prints the report for people; the same figures as in its JSON."""
    from rich.console import Console  # not needed to parse arguments
    from rich.markup import escape
    from rich.table import Table

    console = Console(file=out, highlight=False, soft_wrap=False, width=None if out.isatty() else _WIDTH)
    console.print(
        f"[bold]{escape(plain(file))}[/bold]: {counted(report['n_ratings'], 'rating')} of "
        f"{counted(report['n_items'], 'item')} by {counted(report['n_workers'], 'worker')}; "
        f"recipe {escape(title(report))}."
    )
    for sentence in reading_lines(report["read_as"]):
        console.print(escape(plain(sentence)), style="dim")
    removed = report["removed"]
    console.print(f"\n[bold]Removed[/bold] {removed['removed']:,} ratings ({_share(removed['share'])})")
    for reason, each in removed["by_reason"].items():
        console.print(f"  {reason}: {each['removed']:,} ({_share(each['share'])})")
    for each in report["removed_workers"][:_SHOWN]:
        console.print(f"  worker {escape(plain(each['worker']))} {escape(each['words'])}")
    if len(report["removed_workers"]) > _SHOWN:
        console.print(
            f"  … and {len(report['removed_workers']) - _SHOWN:,} more workers; --report FILE lists them."
        )
    unsure = len({each["worker"] for each in report["undetermined_workers"]})
    if unsure:
        console.print(f"  Kept, but not decided on: {counted(unsure, 'worker')} of whom too little is known.")
    console.print()
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for name in ("alpha", "interval", "95 % interval", "ordinal", "nominal", "beside it"):
        table.add_column(name)
    for label, figures, beside in rows(report["alpha"]):
        table.add_row(
            label,
            figure(figures["interval"]),
            interval(figures.get("ci")).strip() or NONE,
            figure(figures["ordinal"]),
            figure(figures["nominal"]),
            beside,
        )
    console.print(table)
    console.print()
    if report.get("aspects"):
        console.print(_aspect_table(report))
        for sentence in aspect_gaps(report):
            console.print(f"  {escape(plain(sentence))}", style="dim")
        console.print()
    for sentence in quotes(report):
        console.print(escape(sentence), style="bold" if sentence.startswith("Quote") else None)
    for warning in report["warnings"]:
        console.print(f"[yellow]![/yellow] {escape(plain(warning))}")


def rows(alpha: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], str]]:
    """The alphas that may be shown, each with what must be shown beside it."""
    after = alpha["after_workers"]
    lines: list[tuple[str, Mapping[str, Any], str]] = [("before", alpha["before"], "")]
    if after["removes"]:
        lines.append(("after worker removal", after, f"cross-fitted {figure(after['cross_fitted'])}"))
    after_z = alpha["after_z"]
    if after_z["interval"] is not None:
        lines.append(
            (
                "after response z",
                after_z,
                f"expected {figure(after_z['expected'])}, null {figure(after_z['null'])}",
            )
        )
    return lines


def _aspect_table(report: Mapping[str, Any]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for name in (
        "aspect",
        "",
        "alpha",
        "95 % interval",
        "median kappa",
        "reliability",
        "r with overall score",
    ):
        table.add_column(name)
    for name, step, figures in aspect_rows(report):
        numbers = (figure(figures[each]) for each in ("kappa", "spearman_brown", "pearson"))
        between = interval(figures.get("ci")).strip() or NONE
        table.add_row(escape(plain(name)), step, figure(figures["alpha"]), between, *numbers)
    return table


def aspect_rows(report: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Name, step and figures of the overall score and each aspect; nothing where there are no aspects."""
    steps = {"before": "before"}
    if report["alpha"]["after_workers"]["removes"]:
        steps["after_workers"] = "after removal"
    return [
        (_aspect_name(row), label, row[step])
        for row in report.get("aspects", ())
        for step, label in steps.items()
    ]


def aspect_gaps(report: Mapping[str, Any]) -> list[str]:
    """Why figures of aspects are not there, a sentence per reason."""
    gaps: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    labels = {"alpha": "alpha", "kappa": "kappa", "spearman_brown": "reliability", "pearson": "r"}
    for name, step, figures in aspect_rows(report):
        for key, why in figures.get("reason", {}).items():
            if key in labels and not (key == "pearson" and name == _OVERALL):
                steps, missing = gaps.setdefault((name, why), ([], []))
                steps += [step] if step not in steps else []
                missing += [labels[key]] if labels[key] not in missing else []
    return [
        f"{name}, {' and '.join(steps)}: no {', '.join(missing)}: {why}."
        for (name, why), (steps, missing) in gaps.items()
    ]


def _aspect_name(row: Mapping[str, Any]) -> str:
    return _OVERALL if row["aspect"] == OVERALL else str(row["aspect"])


def title(report: Mapping[str, Any]) -> str:
    """Name and version of the recipe, and what was changed of it."""
    details = report["recipe_details"]
    changed = f" with other {', '.join(details['changed'])}" if details["changed"] else ""
    return f"{report['recipe']} v{details['version']}{changed}"


def _share(share: float | None) -> str:
    return NONE if share is None else f"{share:.1%}"


# Files of a filter run: the report as JSON, the ratings that are kept as CSV.

#: Lists of the report that grow with the data: a row of theirs is a line of the file.
LISTS = ("removed_workers", "undetermined_workers", "removed_ratings", "workers", "items")
_ROWS = 1 << 16
_TO_QUOTE = re.compile('[,"\r\n]')


def csv_of(table: "RatingsTable", done: "Run") -> Write:
    """The kept ratings in the order of submission; names that a spreadsheet would run get an apostrophe.

    The last column says in every row whether a response filter has been applied, because after such a
    filter even noise agrees.
    """
    is_kept = done.kept
    filters = [*table.response_filters, *([f"z ({done.recipe.title})"] if done.recipe.has(Z) else [])]
    mark = _quoted("; ".join(filters) or "none")

    def write(file: IO[bytes]) -> None:
        ratings = table.ratings
        file.write(",".join(["item", "worker", "score", *table.groups, "response_filter"]).encode() + b"\r\n")
        values = ratings.scale.texts
        columns = [
            _cells(ratings.item_names, ratings.items[is_kept]),
            _cells(ratings.worker_names, ratings.workers[is_kept]),
            map(values.__getitem__, (ratings.scores[is_kept].astype(int) - ratings.scale.low).tolist()),
            *(_cells(each.names, each.codes[is_kept]) for each in table.groups.values()),
            repeat(mark, int(is_kept.sum())),
        ]
        rows = map(",".join, zip(*columns, strict=True))
        while batch := list(islice(rows, _ROWS)):
            file.write(("\r\n".join(batch) + "\r\n").encode())

    return write


def _cells(names: Sequence[str], codes: "np.ndarray") -> Iterator[str]:
    """The cell of each code; every name is quoted once, not once per row."""
    cells = [_quoted(cell(name)) for name in names]
    return map(cells.__getitem__, codes.tolist())


def _quoted(text: str) -> str:
    if _TO_QUOTE.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text
