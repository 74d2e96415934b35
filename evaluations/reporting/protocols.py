"""The papers' own protocols, where the report has them: plots of two, tables of all."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from evaluations.reporting.cells import Cell, Line, Notes, Table
from evaluations.reporting.labels import plain
from evaluations.reporting.numbers import short
from evaluations.reporting.reader import Report, Value, mapping, number, rows, value
from evaluations.reporting.signing import signature
from web.charts import evaluation as charts
from web.charts.plot import Plot

TITLES = {
    "resample_overall": "Overall scores of resampled questions (Yang et al. 2018, Table 3)",
    "adem-table3": "Correlation with people, answers (ADEM, Table 3)",
    "adem-table4": "Correlation with people, systems (ADEM, Table 4)",
    "adem-table5": "One system left out (ADEM, Table 5)",
    "adem-table6": "Good answers that overlap metrics miss (ADEM, Table 6)",
    "adem-table8": "Scores and length (ADEM, Table 8)",
    "adem-table14": "Learning curve (ADEM, Table 14)",
    "kpqa-table7": "Pairs that match people (KPQA, Table 7)",
}
_CURVES = 6
_IN_THE_FIGURE = ("value", "ci", "reason", "n")
_RESAMPLED, _LEARNING = "resample_overall", "adem-table14"


def protocol_plots(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """The learning curve and the resampled correlations."""
    return [*_curves(report, order, called), *_resampled(report, order, called)]


def _curves(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    learned = mapping(mapping(report.get("protocols")).get(_LEARNING))
    plots: list[Plot] = []
    for part, across in (("questions", "questions"), ("ratings", "ratings per answer")):
        for name in order[:_CURVES]:
            points = rows(mapping(learned.get(part)).get(name))
            shown = [_point(called[name], number(each.get(part)), value(each, "pearson")) for each in points]
            known = [each for each in shown if each["value"] is not None and each["x"] is not None]
            if len(known) < 2:
                continue
            first, last = known[0], known[-1]
            says = (
                f"{called[name]}: Pearson with people is {short(first['value'])} with {first['x']:g} "
                f"{across} and {short(last['value'])} with {last['x']:g}; the band holds 95 % of the samples."
            )
            made = signature(report, f"learning-curve-{part}", times=learned.get("times"))
            plot = charts.curve(
                known, title=called[name], across=across, up="Pearson", says=says, signature=made
            )
            number_of = sum(each.key.startswith(f"learning-{part}") for each in plots) + 1
            table = [
                {across: each["x"], "Pearson": each["value"], "95 % from": each["low"], "to": each["high"]}
                for each in known
            ]
            plots.append(replace(plot, key=f"learning-{part}-{number_of}", table=table))
    return plots


def _point(metric: str, x: float | None, found: Value) -> dict[str, Any]:
    middle = found.more.get("middle")
    low, high = middle if isinstance(middle, list) and len(middle) == 2 else (None, None)
    return {"metric": metric, "x": x, "value": found.value, "low": number(low), "high": number(high)}


def _resampled(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    given = mapping(mapping(report.get("protocols")).get(_RESAMPLED))
    of = mapping(given.get("metrics"))
    shown: list[dict[str, Any]] = []
    table: list[dict[str, Any]] = []
    for name in order:
        for kind, entry in mapping(of.get(name)).items():
            if not isinstance(entry, Mapping):
                continue
            found = value({"it": entry}, "it")
            words = "\u2013" if found.value is None else short(found.value, 2)
            row = {"metric": called[name], "questions": plain(kind)}
            shown.append({**row, "value": found.value, "words": words})
            table.append({**row, "Pearson": found.value, "rule": str(mapping(of.get(name)).get("rule", ""))})
    known = [each for each in shown if each["value"] is not None]
    if not known:
        return []
    best = max(known, key=lambda row: row["value"])
    says = (
        f"Pearson over {given.get('times')} samples of {given.get('questions')} questions for every system: "
        f"highest is {best['metric']} with {short(best['value'])} ({best['questions']}). The samples share "
        "systems and questions, so they are not independent."
    )
    made = signature(report, _RESAMPLED, times=given.get("times"), questions=given.get("questions"))
    plot = charts.by_class(
        shown,
        title=TITLES[_RESAMPLED],
        what="questions",
        says=says,
        signature=made,
        table=table,
    )
    return [replace(plot, key="resample-overall")]


@dataclass(frozen=True, slots=True)
class Protocol:
    """A protocol's title, what it says in words, and its figures as tables."""

    title: str
    words: str
    tables: list[Table]


def protocol_tables(report: Report, called: Mapping[str, str], notes: Notes) -> list[Protocol]:
    """Every protocol that was asked for."""
    found = []
    for name, given in mapping(report.get("protocols")).items():
        said = mapping(given)
        words = "; ".join(str(said[key]) for key in ("reason", "note") if isinstance(said.get(key), str))
        found.append(Protocol(TITLES.get(name, plain(name)), words, _tables(said, called, notes)))
    return found


def _tables(given: Mapping[str, Any], called: Mapping[str, str], notes: Notes) -> list[Table]:
    """A table of the plain values, then one for each part that has parts of its own."""
    elsewhere = ("reason", "note", "value")
    values = {name: each for name, each in given.items() if _is_plain(each) and name not in elsewhere}
    tables = []
    if values:
        lines = [Line(_words(name), [notes.plain(each)]) for name, each in values.items() if each is not None]
        tables.append(Table("Parameters", ["Parameter", "Value"], lines))
    for name, part in given.items():
        if isinstance(part, Mapping) and not _is_plain(part):
            tables.append(_by_name(_words(name), part, called, notes))
    return [each for each in tables if each]


def _by_name(caption: str, part: Mapping[str, Any], called: Mapping[str, str], notes: Notes) -> Table:
    flat = {name: _flat(each) for name, each in part.items()}
    listed = [(called.get(name, plain(name)), each) for name, each in flat.items()]
    headings = list(dict.fromkeys(key for _, each in listed for key in each))
    lines = [
        Line(name, [notes.plain(each[key]) if key in each else Cell("\u2013") for key in headings])
        for name, each in listed
    ]
    return Table(caption, ["Metric", *headings], lines if headings else [])


def _flat(given: Any, before: str = "") -> dict[str, Any]:
    """Figures and plain values under their paths in words; lists are left to the plots and the JSON."""
    if not isinstance(given, Mapping):
        return {before or "Value": given} if _is_plain(given) else {}
    found: dict[str, Any] = {}
    if "value" in given:
        found[before or "Value"] = {name: given.get(name) for name in ("value", "ci", "reason")}
    for name, each in given.items():
        if name in _IN_THE_FIGURE:
            continue
        words = f"{before}, {_words(name).lower()}" if before else _words(name)
        found.update(_flat(each, words))
    return found


def _is_plain(given: Any) -> bool:
    return given is None or isinstance(given, str | int | float) or "value" in mapping(given)


def _words(name: str) -> str:
    words = plain(name.replace("_", " "))
    return words[:1].upper() + words[1:]
