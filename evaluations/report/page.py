"""The report as a page of its own, and as a part of the desk's page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.template import Context, Engine
from django.utils.safestring import SafeString

from core.files.atomic import Write, text_of
from evaluations.report import model, tables
from evaluations.report.answer import answer, comparisons
from evaluations.report.model import ModelReference, Report
from evaluations.report.plots import MOST_MATRICES, MOST_PLOTTED, figures_of, protocol_tables, test_rows
from evaluations.report.tables import Notes, Table, format_whole, join_names, labels, plain, records, short
from evaluations.table_evaluation import NONE, Points
from web.charts import Plot, inline

_NARROW = 200
_MOST_LISTED = 40
#: Plots that fit a telephone as they are: theirs are small.
_SMALL = ("scatter", "systems", "learning")
#: Plots with a column for each metric or type, and how many columns a telephone has room for.
_BY_COLUMN = {"significance": "column", "types": "type", "resample-overall": "questions"}
_MOST_COLUMNS = 8


@dataclass(frozen=True)
class Figure:
    """A plot with its table; it is drawn when a template asks."""

    plot: Plot

    @property
    def kind(self) -> str:
        """The key without its number."""
        kind, _, number = self.plot.key.rpartition("-")
        return kind if number.isdigit() else self.plot.key

    @cached_property
    def svg(self) -> SafeString:
        """The plot as an `svg` element."""
        return _drawing(self.plot)

    @property
    def broad(self) -> bool:
        """It has so many columns that a telephone shows a part of it at a time."""
        column = _BY_COLUMN.get(self.kind)
        return column is not None and len({row[column] for row in self.plot.rows}) > _MOST_COLUMNS

    @cached_property
    def narrow(self) -> SafeString:
        """The same for a telephone; nothing where it fits as it is, or cannot."""
        small = any(self.kind.startswith(each) for each in _SMALL)
        return SafeString("") if small or self.broad else _drawing(self.plot, width=_NARROW)

    @cached_property
    def table(self) -> Table:
        """The figures that are drawn."""
        return records(self.plot.title, self.plot.twin)


def _drawing(plot: Plot, *, width: int = 0) -> SafeString:
    # Markup of our own making: a parsed drawing, written again with every text in it escaped.
    return SafeString(inline(plot, width=width))


@dataclass(frozen=True, slots=True)
class Cluster:
    """Metrics in groups of which no two differ significantly, best first, by one figure."""

    title: str
    groups: Sequence[str]


def context_of(report: Report, points: Points = NONE) -> dict[str, Any]:
    """The context of `templates/evaluations/parts/report.html` and of its parts.

    `report` as it is, `sentence` (the answer) and `more` (the sentences after it), `figures` by kind with `-`
    as `_`, the tables, and `notes` on why figures are missing.
    """
    report = model.clean_texts(report)
    points = replace(points, metrics={model.visible(name): each for name, each in points.metrics.items()})
    called = labels(report)
    order = model.best_first(report.metrics, model.lead(report))
    first, *more = answer(report)
    notes = Notes()
    sections = {
        "main": tables.main(report, order, called, notes),
        "types": tables.types(report, order, called, notes),
        "systems": tables.systems(report, order, called, notes),
        "pairs": tables.pairs(report, order, called, notes),
        "correlations": tables.correlations(report, order, called, notes),
        "protocols": protocol_tables(report, called, notes),
        "references": tables.references(report, order, called, notes),
        "differences": tables.differences(report, called, notes),
        "tests": [
            records(each.title, test_rows(each, called)) for each in comparisons(report)[MOST_MATRICES:]
        ],
        "made": tables.tabulate_signatures(report, order, called),
    }
    return {
        "report": report,
        "sentence": first,
        "more": more,
        "title": plain(report.title or "Evaluation") + (" (simulated data)" if report.simulated else ""),
        "figures": by_kind(figures_of(report, points)),
        "most_plotted": MOST_PLOTTED if len(order) > MOST_PLOTTED else 0,
        "tables": sections,
        "clusters": _clusters(report, called),
        "counts": _counts(report),
        "facts": _facts(report),
        "alpha": _alpha(report),
        "notes": list(notes.reasons),
    }


def by_kind(plots: Sequence[Plot]) -> dict[str, list[Figure]]:
    """Plots under the kinds of their keys."""
    figures: dict[str, list[Figure]] = {}
    for plot in plots:
        figure = Figure(plot)
        figures.setdefault(figure.kind.replace("-", "_"), []).append(figure)
    return figures


def _clusters(report: Report, called: Mapping[str, str]) -> list[Cluster]:
    by_title = {}
    for each in comparisons(report):
        title = model.name_statistic(each.statistic, each.grouping)
        if each.clusters and title not in by_title:
            named = [[called.get(name, plain(name)) for name in group] for group in each.clusters]
            by_title[title] = Cluster(title, [join_names(names, _MOST_LISTED) for names in named])
    return list(by_title.values())


def _counts(report: Report) -> list[tuple[str, str]]:
    n = report.n
    counts = {
        "answers": n.answers,
        "with a human score": n.scored,
        "questions": n.questions,
        "systems": n.systems,
        "ratings": n.ratings,
    }
    return [(label, format_whole(count)) for label, count in counts.items() if count]


def _facts(report: Report) -> list[tuple[str, str]]:
    scale = model.scale(report)
    ends = f"{scale[0]:g} to {scale[1]:g}" if scale else "unknown"
    versions = ", ".join(f"{name} {each}" for name, each in report.versions.items())
    pairs = [
        ("Data", report.source),
        ("Columns and rows", " ".join(report.reading)),
        ("Profile", report.profile),
        ("Models", "; ".join(map(_model, report.models))),
        ("Scale of the human scores", ends),
        ("Signature", report.signature),
        ("Seed", report.seed),
        ("Bootstrap replicates of each interval", report.replicates),
        ("Draws of each permutation test", report.draws),
        ("Distillery", report.distillery),
        ("Versions", versions),
    ]
    return [
        (name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in pairs if _is(value)
    ]


def _model(reference: ModelReference) -> str:
    """`marco (kpqa-1a2b3c4d5e6f)`, or the encoder of BERTScore."""
    return f"{plain(reference.name)} ({plain(reference.signature or reference.kind)})"


def _is(value: object) -> bool:
    return value is not None and value != ""


def _alpha(report: Report) -> str:
    alpha = report.alpha
    if alpha.before is None and alpha.after is None:
        return f"Krippendorff's alpha is not known: {alpha.reason}." if alpha.reason else ""
    parts = [
        f"{short(each)} {moment}"
        for each, moment in ((alpha.before, "before noisy workers were removed"), (alpha.after, "after"))
        if each is not None
    ]
    return f"Krippendorff's alpha of the human scores: {', '.join(parts)}."


_SHEETS = ("tokens.css", "base.css", "report.css")


def page_of(report: Report, points: Points = NONE) -> str:
    """The page as HTML; the templates escape texts of the data, and figures that are missing say why."""
    return page_with(context_of(report, points))


def page_with(context: Mapping[str, Any]) -> str:
    """The page of a context; plots that were drawn for another page of the same context are drawn once."""
    return _render("evaluations/report.html", {**context, "sheet": sheet()})


def part_with(context: Mapping[str, Any]) -> str:
    """The part of the desk's page of a context."""
    return _render("evaluations/parts/report.html", context)


@cache
def _engine() -> Engine:
    """Templates of reports, which need no tags. Those of all apps would load half of the program."""
    return Engine(dirs=[str(settings.FILES_DIR / "templates")], debug=settings.DEBUG)


def _render(template: str, context: Mapping[str, Any]) -> str:
    return _engine().get_template(template).render(Context(context))


def sheet() -> SafeString:
    """The program's style sheets, which load nothing."""
    texts = (Path(str(finders.find(name))).read_text(encoding="utf-8") for name in _SHEETS)
    return SafeString("\n".join(texts))


def file_name() -> str:
    """What this version of the program draws; another version draws again."""
    return f"shown-{settings.DISTILLERY_VERSION}.html"


def pages(report: Report, points: Points) -> dict[str, Write]:
    """The report as a page of its own and as a part of the desk's; its plots are drawn once."""
    context = context_of(report, points)
    return {
        "report.html": text_of(page_with(context)),
        file_name(): text_of(part_with(context)),
    }
