"""One report of a paper: the service behind `manage.py paper`."""

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from platform import python_version
from typing import Any, Literal

from django.template.loader import render_to_string
from pydantic import BaseModel, ConfigDict

import examples
from core.files.atomic import Write
from evaluations.errors import EvaluationError
from evaluations.papers.items import Paper, PaperData, PaperItem, PaperRow, PaperSettings, PaperSource, Value
from evaluations.report.page import sheet
from judgments.report import json_of, text_of

#: The module of each paper.
MODULES = {
    "000": "evaluations.papers.distillation",
    "001": "evaluations.papers.crown",
    "002": "evaluations.papers.kpqa",
    "003": "evaluations.papers.dureader",
    "004": "evaluations.papers.adem",
}
#: Rows of a table in report.md.
MOST_ROWS = 40
FILES = ("report.json", "report.html", "report.md")


class PaperInput(BaseModel):
    """A source of the report: its name, what was given without the folders above it, and its SHA-256."""

    model_config = ConfigDict(frozen=True)

    name: str
    file: str
    sha256: str


class PaperReport(BaseModel):
    """report.json of a paper; `items` hold each of its tables and figures once, in the paper's order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paper: str
    title: str
    items: list[PaperItem]
    captions: dict[str, str]
    data: list[PaperInput]
    sample: bool
    simulated: list[str]
    settings: dict[str, int]
    distillery: str
    versions: dict[str, str]
    report: Literal[1] = 1

    def count(self, status: str) -> int:
        """How many items have a status."""
        return sum(item.status == status for item in self.items)


def papers() -> list[Paper]:
    """All papers in the order of their numbers."""
    return [paper_named(number) for number in MODULES]


def paper_named(number: str) -> Paper:
    """The paper of that number; EvaluationError where there is none."""
    if number not in MODULES:
        raise EvaluationError(f"There is no paper {number!r}; there are {', '.join(MODULES)}.")
    paper: Paper = import_module(MODULES[number]).PAPER
    return paper


def sample_sources(paper: Paper) -> tuple[PaperSource, ...]:
    """The sample of a paper, which comes with Distillery."""
    folder = Path(examples.__file__).parent
    sources = []
    for given in paper.sample:
        name, _sign, path = given.rpartition("=")
        sources.append(PaperSource(name or Path(path).stem, str(folder / path)))
    return tuple(sources)


def build_report(paper: Paper, data: PaperData, settings: PaperSettings) -> PaperReport:
    """Run the paper's evaluation on the data; every table and figure of it is in the report.

    EvaluationError or MetricError where the data cannot be read.
    """
    if len(data.sources) > 1 and not paper.several:
        raise EvaluationError(
            f"Paper {paper.number} takes one --data, not {len(data.sources)}: {paper.needs}"
        )
    items = paper.build(data, settings)
    if [item.name for item in items] != list(paper.items):
        raise ValueError(f"paper {paper.number}: the items built are not the paper's")
    made_up = [each.name for each in data.sources] if data.sample and paper.made_up else []
    return PaperReport(
        paper=paper.number,
        title=paper.title,
        items=items,
        captions=dict(paper.items),
        data=[
            PaperInput(name=each.name, file=Path(each.given).name, sha256=each.digest)
            for each in data.sources
        ],
        sample=data.sample,
        simulated=list(dict.fromkeys([*data.simulated, *made_up])),
        settings={"seed": settings.seed, "replicates": settings.replicates, "draws": settings.draws},
        distillery=settings.version,
        versions={"python": python_version(), **{name: version_of(name) for name in ("numpy", "scipy")}},
    )


def report_files(report: PaperReport) -> dict[str, Write]:
    """The files of a report by their names."""
    return {
        "report.json": json_of(report.model_dump(mode="json")),
        "report.html": text_of(render_page(report)),
        "report.md": text_of(render_markdown(report)),
    }


def render_page(report: PaperReport) -> str:
    """The report as a page that stands alone."""
    items = [
        {
            "item": item,
            "caption": report.captions[item.name],
            "tables": [
                (words, _columns(rows), [[_cell(row.get(name)) for name in _columns(rows)] for row in rows])
                for words, rows in (("Made here", item.rows), ("Printed in the paper", item.printed))
                if rows
            ],
        }
        for item in report.items
    ]
    return render_to_string("evaluations/paper.html", {"report": report, "items": items, "sheet": sheet()})


def render_markdown(report: PaperReport) -> str:
    """The report as text: a section for each table and figure."""
    gone = report.count("not made")
    lines = [
        f"# Paper {report.paper}: {report.title}",
        "",
        f"{report.count('made')} of {len(report.items)} tables and figures are made from "
        f"{_listed(report)}, {gone} {'is' if gone == 1 else 'are'} not.",
        "",
        *(["Simulated data: these figures say nothing about people.", ""] if report.simulated else []),
        "| item | what it is | status | beside the printed one |",
        "|---|---|---|---|",
    ]
    for item in report.items:
        said = item.differs or item.reason
        lines.append(f"| {item.name} | {report.captions[item.name]} | {item.status} | {_escaped(said)} |")
    for item in report.items:
        for words, rows in (("made here", item.rows), ("printed", item.printed)):
            if rows:
                lines += ["", f"## {item.name}: {words}", "", *_table(rows)]
    return "\n".join([*lines, ""])


def _listed(report: PaperReport) -> str:
    return ", ".join(f"`{each.file}`" for each in report.data)


def _columns(rows: Sequence[PaperRow]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _table(rows: Sequence[PaperRow]) -> list[str]:
    names = _columns(rows)
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    lines += [
        f"| {' | '.join(_escaped(_cell(row.get(name))) for name in names)} |" for row in rows[:MOST_ROWS]
    ]
    more = len(rows) - MOST_ROWS
    return [*lines, "", f"{more:,} more rows are in report.json and report.html."] if more > 0 else lines


def _escaped(text: str) -> str:
    """Text of people in a cell: no end of the cell or row, and no markup."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _cell(value: Value) -> str:
    if value is None:
        return "\u2013"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) >= 10 else f"{value:.3f}"
    return str(value)


def describe_papers(listed: Sequence[Paper]) -> list[dict[str, Any]]:
    """What each paper needs, and how many tables and figures it has."""
    return [
        {"paper": each.number, "title": each.title, "needs": each.needs, "items": len(each.items)}
        for each in listed
    ]
