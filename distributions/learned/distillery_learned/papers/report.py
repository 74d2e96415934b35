"""A paper and its report: the data, each table or figure beside the printed one, and the pages of all."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import file_digest
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from platform import python_version
from typing import Any, Literal

from django.template.loader import render_to_string
from pydantic import BaseModel, ConfigDict, model_validator

import examples
from core.files.atomic import Write, json_of, text_of
from evaluations.answer_table import CHUNK, AnswerColumns, AnswerTable, gather
from evaluations.choices import NO_MODELS, MetricChoice, Models, choose, scoring_processes
from evaluations.errors import EvaluationError
from evaluations.report.page import sheet
from evaluations.scores import MetricScores, scored
from evaluations.table_sources import opened
from metrics.metaeval.data import ScoredAnswers

Value = str | int | float | bool | None
PaperRow = dict[str, Value]
CANNOT = "cannot be made from this data because "
SAME = "same"
#: Half a unit of the last of three printed digits, and what arithmetic in another order may add.
PRINTED = 0.0005 + 1e-9


class PaperItem(BaseModel):
    """A table or figure of a paper, made from the data or not.

    `rows` are made here and `printed` are the paper's, each row a mapping of the same columns. `differs` says
    "same" or "differs by … because …" of what is made, `reason` "cannot be made from this data because …" of
    what is not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    status: Literal["made", "not made"]
    reason: str = ""
    rows: list[PaperRow] = []
    printed: list[PaperRow] = []
    differs: str = ""

    @model_validator(mode="after")
    def _check_status(self) -> "PaperItem":
        if self.status == "made" and (self.reason or not (self.rows and self.differs)):
            raise ValueError(f"{self.name} is made: it has rows and says how they differ, and no reason")
        if self.status == "not made" and (not self.reason or self.rows or self.differs):
            raise ValueError(f"{self.name} is not made: it says why, and nothing else")
        return self


def not_made(name: str, reason: str, printed: Sequence[PaperRow] = ()) -> PaperItem:
    """What cannot be made; `reason` goes on after "because"."""
    return PaperItem(
        name=name, status="not made", reason=f"{CANNOT}{reason.strip().rstrip('.')}", printed=list(printed)
    )


def compared(
    name: str,
    rows: Sequence[PaperRow],
    printed: Sequence[PaperRow],
    *,
    keys: Sequence[str],
    because: str,
    lacking: str = "",
    tolerance: float = PRINTED,
) -> PaperItem:
    """What was made, beside what is printed: rows that agree in `keys` are the same row.

    Numbers that differ by more than `tolerance`, and other words, count as differences; cells that one side
    lacks are counted apart. `because` says why there may be differences and goes on after "because", as does
    `lacking` for printed cells that are not here, where their reason is another one.
    """
    by_key = {tuple(row.get(key) for key in keys): row for row in rows}
    cells = different = missing = 0
    largest = 0.0
    for expected in printed:
        own_row = by_key.get(tuple(expected.get(key) for key in keys), {})
        for column, value in expected.items():
            if column in keys or value is None:
                continue
            cells += 1
            own = own_row.get(column)
            if own is None:
                missing += 1
            elif isinstance(value, str) or isinstance(own, str):
                different += value != own
            elif abs(own - value) > tolerance:
                different += 1
                largest = max(largest, abs(own - value))
    by = f"up to {largest:.3g} in " if largest else ""
    differs = _difference(
        f"{by}{different} of {cells} cells" if different else "",
        f"{missing} of {cells} printed cells that are not here" if missing else "",
        because,
        lacking,
    )
    if not cells:
        differs = f"differs by standing alone because {because.strip().rstrip('.')}"
    return PaperItem(name=name, status="made", rows=list(rows), printed=list(printed), differs=differs)


def _difference(changed: str, gone: str, because: str, lacking: str) -> str:
    """How rows differ from the printed ones: cells that `changed`, cells that are `gone`, and why each."""
    why, why_gone = (each.strip().rstrip(".") for each in (because, lacking))
    if not changed and not gone:
        return SAME
    if changed and gone and why_gone:
        return f"differs by {changed} because {why}, and by {gone} because {why_gone}"
    together = " and ".join(each for each in (changed, gone) if each)
    return f"differs by {together} because {why if changed else why_gone or why}"


@dataclass(frozen=True, slots=True)
class PaperSource:
    """Data that somebody brings: reports call it `name`, `location` is a file, folder or PROJECT/VERSION."""

    name: str
    location: str

    @property
    def digest(self) -> str:
        """SHA-256 of the file, or of the manifest of a release's folder; empty for what is neither."""
        path = Path(self.location)
        for file in (path, path / "manifest.json"):
            if file.is_file():
                with file.open("rb") as stream:
                    return file_digest(stream, "sha256").hexdigest()
        return ""

    @property
    def folder(self) -> Path | None:
        """The folder, where it is one."""
        return Path(self.location) if Path(self.location).is_dir() else None

    def file(self, name: str) -> Path | None:
        """A file in the folder, where there is one of that name."""
        path = Path(self.location) / name
        return path if path.is_file() else None


@dataclass(frozen=True, slots=True)
class PaperModels:
    """Folders or names of KPQA and ADEM models, and the encoder of BERTScore.

    Several of one kind are trainings with different seeds. `without_marco` and `without_question` are the
    ablations of paper 002.
    """

    models: tuple[str, ...] = ()
    without_marco: tuple[str, ...] = ()
    without_question: tuple[str, ...] = ()
    encoder: str = ""
    layer: int | None = None
    idf: bool = False
    download: bool = False


@dataclass(frozen=True, slots=True)
class PaperData:
    """All that `manage.py paper` was given; `sample` says that it is the one that comes with Distillery.

    `simulated` gets the names of sources in which programs took the place of people, as they are read.
    """

    sources: tuple[PaperSource, ...]
    models: PaperModels = PaperModels()
    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str = ""
    sheet: str = ""
    header_row: int = 0
    quotes: bool = True
    sample: bool = False
    simulated: list[str] = field(default_factory=list)

    @contextmanager
    def opened(self, source: PaperSource, *, scored: bool | None = True) -> Iterator[AnswerTable]:
        """A source as a table of answers, `scored` as in `opened`; EvaluationError says what is wrong."""
        with opened(
            source.location,
            columns=self.columns,
            encoding=self.encoding,
            sheet=self.sheet,
            header_row=self.header_row,
            quotes=self.quotes,
            scored=scored,
        ) as table:
            yield table

    @property
    def why_other(self) -> str:
        """Why figures differ from the paper's, as far as it lies in the data."""
        if self.sample:
            return "the sample is small and not the paper's data"
        return "the data are not the paper's"


@dataclass(frozen=True, slots=True)
class PaperSettings:
    """How to calculate: random seed, replicates of intervals, draws of tests, processes (0: as fit).

    `samples` of references are drawn at each number of them.
    """

    seed: int = 0
    samples: int = 20
    replicates: int = 1000
    draws: int = 9999
    processes: int = 1
    version: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SourceScores:
    """A source under metrics: `answers` for statistics, `gathered` from the table, all `metric_scores`."""

    source: PaperSource
    answers: ScoredAnswers
    gathered: AnswerColumns
    choice: MetricChoice
    metric_scores: MetricScores


def score_source(
    data: PaperData,
    source: PaperSource,
    settings: PaperSettings,
    *,
    profile: str,
    metrics: Sequence[str] = (),
    models: Models = NO_MODELS,
    keep_rows: bool = False,
    tokeniser: str = "",
) -> SourceScores:
    """Score a source by metrics of a profile (all of the profile's that can be scored, if none are named).

    A `tokeniser` takes the place of the profile's.
    """
    with data.opened(source) as table:
        gathered = gather(table)
        choice = choose(table, metrics=metrics, profile=profile, models=models, tokeniser=tokeniser)
        metric_scores = scored(
            table,
            gathered,
            choice.metrics,
            choice.tokeniser,
            processes=scoring_processes(settings.processes, choice, small=len(gathered) < 5 * CHUNK),
            keep_rows=keep_rows,
        )
    if gathered.simulated and source.name not in data.simulated:
        data.simulated.append(source.name)
    answers = gathered.join_scores(
        metric_scores.values,
        signatures={metric.name: metric.signature for metric in choice.metrics},
        lengths=metric_scores.lengths,
        reference_lengths=metric_scores.reference_lengths,
    )
    return SourceScores(source, answers, gathered, choice, metric_scores)


def number(value: Any, places: int | None = None) -> float | None:
    """A finite number, rounded where wanted; None for all else."""
    if value is None or isinstance(value, str) or not math.isfinite(value):
        return None
    return float(value) if places is None else round(float(value), places)


Build = Callable[[PaperData, PaperSettings], list[PaperItem]]


@dataclass(frozen=True, slots=True, eq=False)
class Paper:
    """A paper: `items` are all its tables and figures with their captions, in its order.

    `needs` says in a sentence what data it takes; `sample` are files of `examples/` (NAME=PATH or PATH), and
    `several` says whether more than one source makes sense. `made_up`: programs gave the ratings of the
    sample, which its table does not say.
    """

    number: str
    title: str
    needs: str
    items: Mapping[str, str]
    sample: tuple[str, ...]
    build: Build
    several: bool = False
    made_up: bool = False


#: The module of each paper.
MODULES = {
    "000": "distillery_learned.papers.distillation",
    "001": "distillery_learned.papers.crown",
    "002": "distillery_learned.papers.kpqa",
    "003": "distillery_learned.papers.dureader",
    "004": "distillery_learned.papers.adem",
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
    for sample in paper.sample:
        name, _sign, path = sample.rpartition("=")
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
            PaperInput(name=each.name, file=Path(each.location).name, sha256=each.digest)
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
        "report.json": json_of(report.model_dump(mode="json"), lists={"items"}),
        "report.html": text_of(render_page(report)),
        "report.md": text_of(render_markdown(report)),
    }


def render_page(report: PaperReport) -> str:
    """The report as a page of its own."""
    items = [
        {
            "item": item,
            "caption": report.captions[item.name],
            "tables": [
                (heading, _columns(rows), [[_cell(row.get(name)) for name in _columns(rows)] for row in rows])
                for heading, rows in (("Made here", item.rows), ("Printed in the paper", item.printed))
                if rows
            ],
        }
        for item in report.items
    ]
    return render_to_string("learned/paper.html", {"report": report, "items": items, "sheet": sheet()})


def render_markdown(report: PaperReport) -> str:
    """The report as text: a section for each table and figure."""
    gone = report.count("not made")
    lines = [
        f"# Paper {report.paper}: {report.title}",
        "",
        f"{report.count('made')} of {len(report.items)} tables and figures are made from "
        f"{_list_files(report)}, {gone} {'is' if gone == 1 else 'are'} not.",
        "",
        *(["Simulated data: these figures say nothing about people.", ""] if report.simulated else []),
        "| item | what it is | status | beside the printed one |",
        "|---|---|---|---|",
    ]
    for item in report.items:
        remark = item.differs or item.reason
        lines.append(f"| {item.name} | {report.captions[item.name]} | {item.status} | {_escaped(remark)} |")
    for item in report.items:
        for heading, rows in (("made here", item.rows), ("printed", item.printed)):
            if rows:
                lines += ["", f"## {item.name}: {heading}", "", *_table(rows)]
    return "\n".join([*lines, ""])


def _list_files(report: PaperReport) -> str:
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


def describe_papers(catalogue: Sequence[Paper]) -> list[dict[str, Any]]:
    """What each paper needs, and how many tables and figures it has."""
    return [
        {"paper": each.number, "title": each.title, "needs": each.needs, "items": len(each.items)}
        for each in catalogue
    ]
