"""The leaderboard of a release: its figures, its files, and its public pages where the owner allows them."""

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from core.files.cells import cell
from evaluations.models import Evaluation
from evaluations.report import model
from evaluations.report.answer import answer
from evaluations.report.model import Report, SystemEntry, read_report
from evaluations.report.protocols import Figure
from evaluations.report.tables import NOTHING, Cell, Line, Notes, format_whole, labels, plain, short
from releases.models import Release

RANK_MEANS = (
    "A system's rank is one more than the number of systems whose 95 % interval lies wholly above its own: "
    "systems between which people show no clear difference share a rank."
)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of the board and how well it agrees with people."""

    name: str
    title: str
    signature: str
    agreement: Figure


@dataclass(frozen=True, slots=True)
class Entry:
    """A system: what people say, and mean and corpus score of each metric. No rank without a human score."""

    system: str
    inferred: bool
    answers: int | None
    human: Figure
    means: Mapping[str, Figure]
    corpus: Mapping[str, Figure]
    rank: int | None


@dataclass(frozen=True, slots=True)
class Board:
    """All systems, and the metrics from the one that agrees best; `agreement` names that figure."""

    entries: list[Entry]
    metrics: list[Metric]
    agreement: str
    scale: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Order:
    """By which column a board is sorted: `human`, `system`, `rank`, `answers`, or the name of a metric."""

    column: str = "human"
    down: bool = True

    @property
    def text(self) -> str:
        """As the address has it: a minus before what goes down."""
        return f"-{self.column}" if self.down else self.column


def select_leaderboards() -> QuerySet[Evaluation]:
    """Evaluations that their projects' owners made leaderboards; those of withdrawn releases too."""
    rows = Evaluation.objects.filter(leaderboard=True, release__state__in=Release.BUILT)
    return rows.select_related("release__project").defer("plan", "files", "release__options")


def board_of(report: Report) -> Board:
    """The leaderboard that a report holds."""
    entries, called, by = report.metrics, labels(report), model.lead(report)
    order = model.best_first(entries, by)
    humans = [each.human for each in report.systems]
    board_entries = [_entry(each, humans, order) for each in report.systems]
    metrics = [
        Metric(name, called[name], entries[name].signature, model.of_lead(entries[name], by))
        for name in order
    ]
    return Board(board_entries, metrics, by.title, model.scale(report))


def order_of(board: Board, column: str) -> Order:
    """The order that an address asks for; best first by people where it asks for nothing that there is."""
    columns = {"system", "human", "rank", "answers", *(each.name for each in board.metrics)}
    if column in columns:
        return Order(column, down=False)
    if column.startswith("-") and column[1:] in columns:
        return Order(column[1:])
    return Order()


def ordered(board: Board, order: Order) -> list[Entry]:
    """The entries in an order; those without the figure last either way, equal ones by name."""

    def key(entry: Entry) -> tuple[bool, float, str]:
        figure = _figure(entry, order.column)
        return (
            figure is None,
            (-figure if order.down else figure) if figure is not None else 0.0,
            entry.system,
        )

    if order.column == "system":
        return sorted(board.entries, key=lambda each: each.system, reverse=order.down)
    return sorted(board.entries, key=key)


def board_as_json(board: Board, *, simulated: bool) -> dict[str, Any]:
    """The board as JSON has it, systems best first; `simulated`: programs took part in place of people."""
    return {
        "simulated": simulated,
        "scale": list(board.scale) if board.scale else None,
        "rank": RANK_MEANS,
        "agreement": board.agreement,
        "metrics": [
            {
                "name": each.name,
                "title": each.title,
                "signature": each.signature,
                **_value_json(each.agreement),
            }
            for each in board.metrics
        ],
        "systems": [
            {
                "rank": each.rank,
                "system": each.system,
                "inferred": each.inferred,
                "answers": each.answers,
                "human": _value_json(each.human),
                "metrics": {
                    metric.name: {
                        "mean": each.means[metric.name].value,
                        "corpus": each.corpus[metric.name].value,
                    }
                    for metric in board.metrics
                },
            }
            for each in ordered(board, Order())
        ],
    }


def table(board: Board, *, simulated: bool) -> list[list[str | float | int | None]]:
    """The board as rows of a file, headings first, systems best first."""
    heads: list[str | float | int | None] = ["rank", "system", "answers"]
    heads += ["human", "human_low", "human_high"]
    for metric in board.metrics:
        heads += [metric.name, f"{metric.name} corpus"]
    heads.append("simulated")
    rows = [heads]
    for each in ordered(board, Order()):
        row: list[str | float | int | None] = [each.rank, each.system, each.answers]
        row += [each.human.value, each.human.low, each.human.high]
        for metric in board.metrics:
            row += [each.means[metric.name].value, each.corpus[metric.name].value]
        rows.append([*row, "true" if simulated else "false"])
    return rows


def _entry(system: SystemEntry, humans: list[Figure], names: list[str]) -> Entry:
    return Entry(
        plain(system.name),
        system.inferred,
        system.n,
        system.human,
        {name: model.mean(system, name) for name in names},
        {name: model.corpus(system, name) for name in names},
        _rank(system.human, humans),
    )


def _rank(human: Figure, humans: list[Figure]) -> int | None:
    """One more than the systems that are clearly better; a mean without an interval is its own interval."""
    if human.value is None:
        return None
    high = human.value if human.high is None else human.high
    lows = (each.value if each.low is None else each.low for each in humans)
    return 1 + sum(low is not None and low > high for low in lows)


def _figure(entry: Entry, column: str) -> float | None:
    if column == "human":
        return entry.human.value
    if column == "rank":
        return entry.rank
    if column == "answers":
        return entry.answers
    return entry.means[column].value


def _value_json(figure: Figure) -> dict[str, Any]:
    interval = None if figure.low is None else [figure.low, figure.high]
    fields: dict[str, Any] = {"value": figure.value, "ci": interval}
    return fields if figure.value is not None else fields | {"reason": figure.reason}


@dataclass(frozen=True, slots=True)
class Head:
    """A heading that sorts: its address, and how the column is sorted now, if it is."""

    label: str
    address: str
    sorted: str
    number: bool


def lines_of(entries: "Sequence[Entry]", board: "Board") -> tuple[list[Line], list[str]]:
    """A line per system, `small` its rank, and one on how each metric agrees with people; then the notes."""
    notes = Notes()
    lines = [
        Line(
            each.system,
            [
                Cell(NOTHING if each.answers is None else format_whole(each.answers)),
                notes.figure(each.human, 2),
                *(_metric(each, metric.name, notes) for metric in board.metrics),
            ],
            "" if each.rank is None else str(each.rank),
            "inferred" if each.inferred else "",
        )
        for each in entries
    ]
    agreement = [notes.figure(each.agreement) for each in board.metrics]
    lines.append(Line("Agreement with people", [Cell(""), Cell(""), *agreement], "", "apart"))
    return lines, list(notes.reasons)


def _metric(entry: "Entry", name: str, notes: Notes) -> Cell:
    cell, corpus = notes.figure(entry.means[name]), entry.corpus[name].value
    return Cell(cell.text, f"corpus {short(corpus)}" if corpus is not None else "", cell.note, cell.why)


_SECONDS = 60


def _get_leaderboard(project: str, version: str) -> Evaluation:
    rows = select_leaderboards()
    evaluation: Evaluation = get_object_or_404(rows, release__project__slug=project, release__version=version)
    return evaluation


@require_safe
def page(request: HttpRequest, *, project: str, version: str) -> HttpResponse:
    """Systems by people and by metrics, sorted as `?by=` says; or why the release was withdrawn."""
    evaluation = _get_leaderboard(project, version)
    release = evaluation.release
    context = {
        "release": release,
        "evaluation": evaluation,
        "title": release.manifest.get("title") or release.project.title,
    }
    if release.state == Release.State.WITHDRAWN:
        return render(request, "evaluations/leaderboard.html", context)
    report = read_report(evaluation.report)
    board = board_of(report)
    order = order_of(board, request.GET.get("by", ""))
    lines, notes = lines_of(ordered(board, order), board)
    context |= {
        "sentence": answer(report)[0],
        "board": board,
        "heads": _heads(board, order),
        "lines": lines,
        "notes": notes,
        "rank_means": RANK_MEANS,
    }
    return render(request, "evaluations/leaderboard.html", context)


@require_safe
def as_json(request: HttpRequest, *, project: str, version: str) -> HttpResponse:
    """The same for programs."""
    evaluation = _get_leaderboard(project, version)
    body = {
        "project": project,
        "version": version,
        "evaluation": evaluation.number,
        **board_as_json(board_of(read_report(evaluation.report)), simulated=evaluation.release.simulated),
    }
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return _file(request, evaluation, text, "application/json")


@require_safe
def as_csv(request: HttpRequest, *, project: str, version: str) -> HttpResponse:
    """The same for spreadsheets; no name in it can be run as a formula."""
    evaluation = _get_leaderboard(project, version)
    out = io.StringIO()
    for row in table(board_of(read_report(evaluation.report)), simulated=evaluation.release.simulated):
        csv.writer(out).writerow([cell(each) if isinstance(each, str) else each for each in row])
    return _file(request, evaluation, out.getvalue(), "text/csv; charset=utf-8")


def _file(request: HttpRequest, evaluation: Evaluation, text: str, kind: str) -> HttpResponse:
    """The text, or that the browser has it already (304), or that the release was withdrawn (410)."""
    release = evaluation.release
    if release.state == Release.State.WITHDRAWN:
        return HttpResponse(
            f"Release {release.version} was withdrawn: {release.withdrawn_reason}\n",
            status=410,
            content_type="text/plain; charset=utf-8",
            headers={"Cache-Control": "no-store"},
        )
    tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(text, content_type=kind)
    response["ETag"] = tag
    response["Cache-Control"] = f"max-age={_SECONDS}"
    return response


def _heads(board: Board, order: Order) -> list[Head]:
    """The columns, each with the address that sorts by it: the best first, and again the other way round."""
    titles = {"rank": "Rank", "system": "System", "answers": "Answers", "human": "People"}
    columns = [*titles.items(), *((each.name, each.title) for each in board.metrics)]
    heads = []
    for name, label in columns:
        is_here = name == order.column
        down = not order.down if is_here else name not in ("rank", "system")
        address = "?" + urlencode({"by": Order(name, down).text})
        sorted_ = ("descending" if order.down else "ascending") if is_here else ""
        heads.append(Head(label, address, sorted_, name not in ("rank", "system")))
    return heads
