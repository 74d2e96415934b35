"""The page that lays results of a project's stages side by side: where do they order systems otherwise?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from core.projects.models import Project
from crowd.models import Stage
from judgments.models import AgreementReport
from judgments.selectors.live import live
from web.access import ProjectAccess, on_project
from web.cells import Link
from web.kit import Empty, Note, Page, Table
from web.pages import show
from web.tables import Column

#: Figures of reports on questionnaires: where they are, which of them rank systems, and what they are called.
_SUPPORT = {"precision": "citation precision", "recall": "citation recall", "attributable": "attributable"}
_NONE = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class Result:
    """What one stage says of systems; more is better. `intervals` where they are known."""

    stage: Stage
    label: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]

    @property
    def places(self) -> dict[str, int]:
        """The place of each system, from 1; equal values share one."""
        return {
            name: 1 + sum(other > value for other in self.values.values())
            for name, value in self.values.items()
        }


def list_results(project: Project) -> Iterator[Result]:
    """Results of a project's stages, in the order in which these were made."""
    for stage in Stage.objects.filter(project=project).select_related("project", "endpoint").order_by("pk"):
        if stage.kind == "judging":
            rows = [row for row in live(stage).systems if row.mean is not None]
            values = {row.system: float(row.mean) for row in rows}
            intervals = {
                row.system: (row.low, row.high)
                for row in rows
                if row.low is not None and row.high is not None
            }
            if values:
                yield Result(stage, "mean score", values, intervals)
        elif stage.kind == "questionnaire":
            newest = AgreementReport.objects.filter(stage=stage).order_by("-pk").first()
            if newest is not None:
                yield from _of_questionnaire(stage, newest.report)


def _of_questionnaire(stage: Stage, report: Mapping[str, Any]) -> Iterator[Result]:
    for name, facts in report.get("preferences", {}).items():
        # Strengths are undefined where one system wins everything; its share of wins is not.
        rows = [{"system": row["system"], "share": _share_of_wins(row)} for row in facts["strengths"]]
        yield from _result(stage, f"{name}: share of wins", rows, "share")
    for row_name, label in _SUPPORT.items():
        rows = [
            {"system": row["system"], **row[row_name]} for row in _rows(report, "support") if row_name in row
        ]
        yield from _result(stage, label, rows, "value")
    yield from _result(stage, "vital nuggets", _rows(report, "nuggets"), "vital_strict")
    rubric = [{"system": row["system"], **row["score"]} for row in _rows(report, "rubric")]
    yield from _result(stage, "rubric", rubric, "value")
    for field in report.get("fields", ()):
        if field["per"] == "" and field["type"] in ("scale", "slider", "number"):
            yield from _result(stage, f"{field['name']}: mean", field.get("systems", ()), "value")


def _share_of_wins(row: Mapping[str, Any]) -> float | None:
    n = row["wins"] + row["losses"] + row["ties"]
    return (row["wins"] + row["ties"] / 2) / n if n else None


def _rows(report: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = report.get(name, {}).get("systems", ())
    return rows


def _result(stage: Stage, label: str, rows: Sequence[Mapping[str, Any]], figure: str) -> Iterator[Result]:
    values = {str(row["system"]): float(row[figure]) for row in rows if row.get(figure) is not None}
    intervals = {
        str(row["system"]): (row["low"], row["high"])
        for row in rows
        if row.get("low") is not None and row.get("high") is not None
    }
    if len(values) > 1:
        yield Result(stage, label, values, intervals)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two results that put two systems in another order; `is_clear` where no interval of theirs overlaps."""

    one: Result
    other: Result
    systems: tuple[str, str]
    is_clear: bool

    @property
    def sentence(self) -> str:
        """Which of them puts which first."""
        first, second = self.systems
        one, other = (f"{each.stage.title} ({each.label})" for each in (self.one, self.other))
        return f"{one}: {first} before {second}. {other}: {second} before {first}."


def find_disagreements(results: Sequence[Result]) -> Iterator[Disagreement]:
    """Pairs of systems that two results order otherwise, the first result's better one first."""
    for one, other in combinations(results, 2):
        for pair in combinations(sorted(one.values.keys() & other.values.keys()), 2):
            first, second = sorted(pair, key=lambda name: -one.values[name])
            if one.values[first] > one.values[second] and other.values[second] > other.values[first]:
                clear = _is_clear(one, first, second) and _is_clear(other, second, first)
                yield Disagreement(one, other, (first, second), clear)


def _is_clear(result: Result, better: str, worse: str) -> bool:
    intervals = result.intervals
    return better in intervals and worse in intervals and intervals[better][0] > intervals[worse][1]


@require_safe
@on_project()
def compare(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Results of all stages about the systems, and where they disagree."""
    results = list(list_results(access.project))
    page = Page(
        "Results side by side",
        list(_parts(results)),
        lead="What each stage says of the systems; in brackets the place of each. More is better.",
        trail=[Link("Systems", access.address("judgments:systems"))],
    )
    return show(request, page, access, tab="systems")


def _parts(results: Sequence[Result]) -> Iterator[Any]:
    if len(results) < 2:
        text = "Two stages with figures are needed: scores, pairs, support, nuggets or further fields."
        yield Empty("Nothing to compare yet", text)
        return
    systems = sorted({name for result in results for name in result.values})
    columns = [Column("system", "System", str, head=True)]
    columns += [
        Column(f"r{number}", f"{result.stage.title}: {result.label}", _cell(result))
        for number, result in enumerate(results)
    ]
    yield Table("Systems and results", columns, systems, heading="Systems")
    found = sorted(find_disagreements(results), key=lambda each: not each.is_clear)
    if not found:
        yield Note("All results put the systems that they share in the same order.")
        return
    rows = (
        Column("sentence", "Where they disagree", "sentence", head=True),
        Column("clear", "Beyond chance", lambda row: "yes" if row.is_clear else "intervals overlap"),
    )
    yield Table("Where results disagree", rows, found, heading=f"Where they disagree ({len(found):,})")


def _cell(result: Result) -> Any:
    places = result.places

    def draw(name: str) -> str:
        if name not in result.values:
            return _NONE
        return f"{result.values[name]:.2f} ({places[name]})"

    return draw
