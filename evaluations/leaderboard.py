"""The public leaderboard of a release: its systems by people, beside what each metric gives them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from evaluations.models import Evaluation
from evaluations.reporting import reader
from evaluations.reporting.labels import labels, plain
from evaluations.reporting.reader import Report, Value, number, value
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
    agreement: Value


@dataclass(frozen=True, slots=True)
class Entry:
    """A system: what people say, and mean and corpus score of each metric. No rank without a human score."""

    system: str
    inferred: bool
    answers: int | None
    human: Value
    means: Mapping[str, Value]
    corpus: Mapping[str, Value]
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


def chosen() -> QuerySet[Evaluation]:
    """Evaluations that their projects' owners made leaderboards; those of withdrawn releases too."""
    rows = Evaluation.objects.filter(leaderboard=True, release__state__in=Release.BUILT)
    return rows.select_related("release__project").defer("plan", "files", "release__options")


def board_of(report: Report) -> Board:
    """The leaderboard that a report holds."""
    entries, called, by = reader.metrics(report), labels(report), reader.lead(report)
    order = reader.best_first(entries, by)
    humans = [value(each, "human") for each in reader.rows(report.get("systems"))]
    found = [
        _entry(each, human, humans, order)
        for each, human in zip(reader.rows(report.get("systems")), humans, strict=True)
    ]
    metrics = [
        Metric(
            name, called[name], str(entries[name].get("signature") or ""), reader.of_lead(entries[name], by)
        )
        for name in order
    ]
    return Board(found, metrics, by.words, reader.scale(report))


def order_of(board: Board, given: str) -> Order:
    """The order that an address asks for; best first by people where it asks for nothing that there is."""
    columns = {"system", "human", "rank", "answers", *(each.name for each in board.metrics)}
    if given in columns:
        return Order(given, down=False)
    if given.startswith("-") and given[1:] in columns:
        return Order(given[1:])
    return Order()


def ordered(board: Board, order: Order) -> list[Entry]:
    """The entries in an order; those without the figure last either way, equal ones by name."""

    def key(entry: Entry) -> tuple[bool, float, str]:
        found = _figure(entry, order.column)
        return found is None, (-found if order.down else found) if found is not None else 0.0, entry.system

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


def _entry(given: Mapping[str, Any], human: Value, humans: list[Value], names: list[str]) -> Entry:
    answers = number(given.get("n"))
    return Entry(
        plain(given.get("name")),
        bool(given.get("inferred")),
        int(answers) if answers is not None else None,
        human,
        {name: reader.mean(given, name) for name in names},
        {name: value(given, "metrics", name, "corpus") for name in names},
        _rank(human, humans),
    )


def _rank(human: Value, humans: list[Value]) -> int | None:
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


def _value_json(found: Value) -> dict[str, Any]:
    interval = None if found.low is None else [found.low, found.high]
    given: dict[str, Any] = {"value": found.value, "ci": interval}
    return given if found.value is not None else given | {"reason": found.reason}
