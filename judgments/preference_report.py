"""The report on judged pairs for people: the terminal, and one page without scripts or files beside it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string

from core.files.reading import reading_lines
from judgments.table_command import draw_table
from metrics.figure import NONE, counted

#: Geometry of the picture of strengths, which the template draws.
_PICTURE, _LEFT, _ROW = 400, 130, 26


@dataclass(frozen=True, slots=True)
class StrengthLine:
    """A system in the picture: its name and what it says when it is pointed at, places in the box."""

    system: str
    title: str
    y: float
    x: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Question:
    """One question about pairs as the page shows it."""

    name: str
    facts: Mapping[str, Any]
    lines: list[StrengthLine]
    height: int
    zero: float
    latex: str

    @property
    def rows(self) -> list[tuple[Mapping[str, Any], float | None]]:
        """Each system with its strength by half wins."""
        halves = {row["system"]: row["strength"] for row in self.facts["half_wins"]}
        return [(row, halves[row["system"]]) for row in self.facts["strengths"]]

    @property
    def sentences(self) -> list[str]:
        """What the terminal says under the strengths."""
        return list(_sentences(self.facts))

    @property
    def matrix(self) -> list[tuple[str, list[str]]]:
        """For each system its chance of a win against each other, with wins of comparisons under it."""
        matrix = self.facts["matrix"]
        systems = matrix["systems"]
        rows = []
        for at, system in enumerate(systems):
            cells = []
            for other in range(len(systems)):
                wins, losses, ties = (
                    matrix["wins"][at][other],
                    matrix["wins"][other][at],
                    matrix["ties"][at][other],
                )
                cells.append("" if at == other else f"{wins}{NONE}{losses}" + (f" ({ties})" if ties else ""))
            rows.append((system, cells))
        return rows


def questions_of(report: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The questions that were asked about the pairs, with their figures; one without a name of its own."""
    return list(report["questions"].items()) if "questions" in report else [("", report)]


def page_of(report: Mapping[str, Any]) -> str:
    """The report as a page."""
    questions = [_question(name, facts) for name, facts in questions_of(report)]
    return render_to_string(
        "judgments/preference_report.html",
        {
            "report": report,
            "read_as": reading_lines(report["read_as"]),
            "questions": questions,
            "width": _PICTURE,
            "left": _LEFT,
        },
    )


def _question(name: str, facts: Mapping[str, Any]) -> Question:
    rows = [row for row in facts["strengths"] if row["strength"] is not None]
    ends = [
        value for row in rows for value in (row["low"], row["strength"], row["high"]) if value is not None
    ]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    room = (high - low) or 1.0

    def at(value: float | None) -> float | None:
        return None if value is None else round(_LEFT + (value - low) / room * (_PICTURE - _LEFT - 16), 1)

    lines = [
        StrengthLine(
            row["system"],
            _words(row),
            (place + 0.5) * _ROW,
            at(row["strength"]) or 0.0,
            at(row["low"]),
            at(row["high"]),
        )
        for place, row in enumerate(rows)
    ]
    return Question(name, facts, lines, len(rows) * _ROW + 10, at(0.0) or 0.0, _latex(facts))


def _words(row: Mapping[str, Any]) -> str:
    return f"{row['system']}: {_number(row['strength'])}, {_interval(row)}"


def _number(value: float | None, digits: int = 2) -> str:
    return NONE if value is None else f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def _interval(row: Mapping[str, Any]) -> str:
    if row["low"] is None:
        return NONE
    return f"{_number(row['low'])} to {_number(row['high'])}"


def _latex(facts: Mapping[str, Any]) -> str:
    """The strengths as a LaTeX table that needs no package."""
    escape = str.maketrans({sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}"})
    halves = {row["system"]: row["strength"] for row in facts["half_wins"]}
    rows = [
        " & ".join(
            (
                row["system"].translate(escape),
                *(
                    "--" if value is None else f"${value:.2f}$"
                    for value in (row["strength"], row["low"], row["high"], halves[row["system"]])
                ),
            )
        )
        for row in facts["strengths"]
    ]
    lines = [
        r"\begin{tabular}{lrrrr}",
        r"system & strength & low & high & half wins \\ \hline",
        *(f"{row} \\\\" for row in rows),
        r"\end{tabular}",
        f"% {facts['signatures']['strengths']}",
    ]
    return "\n".join(lines)


def sections(report: Mapping[str, Any]) -> Iterator[Any]:
    """What is printed of the report: for each question a head, the table of strengths, and sentences."""
    for name, facts in questions_of(report):
        counts = facts["counts"]
        title = f"{name}: " if name else ""
        yield (
            f"{title}{counted(facts['n'], 'comparison')} of {counted(counts['items'], 'item')} by "
            f"{counted(facts['judges'], 'judge')}; ties {_share(counts['ties_share'])}, left among decided "
            f"{_share(counts['left_of_decided'])}"
        )
        halves = {row["system"]: row["strength"] for row in facts["half_wins"]}
        yield draw_table(
            ("system", "strength", "95 % interval", "half wins", "won", "lost", "tied"),
            [
                (
                    row["system"],
                    _number(row["strength"]),
                    _interval(row),
                    _number(halves[row["system"]]),
                    *(f"{row[count]:,}" for count in ("wins", "losses", "ties")),
                )
                for row in facts["strengths"]
            ],
        )
        yield from (f"  {sentence}" for sentence in _sentences(facts))
        if name:
            yield from facts["warnings"]
        yield ""


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.1%}"


def _sentences(facts: Mapping[str, Any]) -> Iterator[str]:
    """What else there is to know, and why a figure is missing."""
    if reason := facts.get("reason", {}).get("strengths"):
        remedy = ", which --pseudo 0.1 gets over" if reason == "separated" else ""
        yield f"No strengths: {reason}{remedy}."
    elif reason := next((row["reason"] for row in facts["strengths"] if "reason" in row), ""):
        yield f"No intervals: {reason}."
    ties, side, triples = facts["ties"], facts["side"], facts["triples"]
    if ties["nu"] is not None:
        yield f"Ties ({ties['model']}): nu {ties['nu']:.3f}."
    elif "theta" in ties:
        yield f"Ties ({ties['model']}): theta {ties['theta']:.3f}."
    if side["effect"] is not None:
        yield f"Side: {_number(side['effect'])} ({_interval(side)}) for what is shown first."
    elif side["reason"] == "sides not crossed":
        yield "No side: sides not crossed."
    for each in facts["style"]:
        yield f"Style {each['column']}: {_number(each['effect'])} ({_interval(each)})."
    if triples["circular_share"] is None:
        yield f"Circular triples: {triples['reason']}."
    else:
        yield f"Circular triples: {triples['circular_share']:.1%} (by chance {triples['chance']:.0%})."
