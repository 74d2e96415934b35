"""The tables of an evaluation."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from evaluations.reporting import reader
from evaluations.reporting.cells import NOTHING, Cell, Line, Notes, Table
from evaluations.reporting.labels import plain
from evaluations.reporting.numbers import percent, short, whole
from evaluations.reporting.reader import GROUPINGS, STATISTICS, Report, Value, mapping, number, rows, value

Entry = Mapping[str, Any]

_HEADINGS = (
    "Metric", "Pearson, global", "Spearman, global", "Kendall, global", "Pearson, by question",
    "Spearman, by question", "Pairs right",
)  # fmt: skip
_MAIN = (
    ("pearson", "global"), ("spearman", "global"), ("kendall", "global"), ("pearson", "item"),
    ("spearman", "item"),
)  # fmt: skip
_NO_CEILING = "the ceiling is calculated for Pearson and Spearman"


def main(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> Table:
    """Metrics, best first, then the sentinels, then how people agree with each other."""
    entries, sentinels = reader.metrics(report), reader.floors(report)
    lines = [_metric(called[name], entries[name], notes) for name in order]
    for at, name in enumerate(reader.best_first(sentinels, reader.lead(report))):
        line = _metric(called[name], sentinels[name], notes)
        lines.append(Line(line.name, line.cells, "floor", "" if at else "apart"))
    for at, (way, words) in enumerate(
        {"leave_one_out": "people, leave one rater out", "split_half": "people, split half"}.items()
    ):
        found = _ceiling(report, way)
        if any(each.value is not None for each in found) or at == 0:
            cells = [notes.figure(each) for each in found]
            lines.append(Line(words, [*cells, Cell(NOTHING)], "ceiling", "" if at else "apart"))
    return Table("How well each metric agrees with people", _HEADINGS, lines)


def _metric(name: str, entry: Entry, notes: Notes) -> Line:
    cells = [notes.figure(value(entry, *path)) for path in _MAIN]
    return Line(name, [*cells, _share(value(entry, "pair_acc"), notes)])


def _ceiling(report: Report, way: str) -> list[Value]:
    found = []
    for statistic, grouping in _MAIN:
        entry = mapping(mapping(mapping(report.get("ceiling")).get(way)).get(statistic))
        if grouping in entry:
            found.append(value(entry, grouping))
        elif statistic == "kendall" and not entry:
            found.append(Value(None, _NO_CEILING))
        elif grouping == "global":
            found.append(value(report, "ceiling", way, statistic))
        else:
            found.append(Value(None, "the ceiling is calculated over all answers at once"))
    return found


def _share(found: Value, notes: Notes) -> Cell:
    if found.value is None:
        return notes.missing(found.reason)
    ends = found.low is not None and found.high is not None
    small = f"[{100 * (found.low or 0):.1f}, {100 * (found.high or 0):.1f}]" if ends else ""
    return Cell(percent(found.value), small)


def correlations(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> list[Table]:
    """Every statistic under every grouping."""
    entries = {**reader.metrics(report), **reader.floors(report)}
    names = [*order, *(name for name in reader.floors(report) if name not in order)]
    return [
        Table(
            words,
            ["Metric", *(each.capitalize() for each in GROUPINGS.values()), "Answers"],
            [
                Line(
                    called[name],
                    [
                        *(notes.figure(value(entries[name], statistic, each)) for each in GROUPINGS),
                        notes.plain(number(entries[name].get("n")) and int(entries[name]["n"])),
                    ],
                )
                for name in names
            ],
        )
        for statistic, words in STATISTICS.items()
        if any(statistic in each for each in entries.values())
    ]


def pairs(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> Table:
    """All figures that look at pairs of answers or of systems."""
    entries = reader.metrics(report)
    lines = []
    for name in order:
        found = {each: value(entries[name], each) for each in _PAIRS}
        calibrated, gap = found["acc_eq_cal"].more, found["rank_match"].more
        lines.append(
            Line(
                called[name],
                [
                    _share(found["pair_acc"], notes),
                    notes.plain(found["pair_acc"].more.get("metric_ties")),
                    notes.figure(found["acc_eq"]),
                    notes.figure(found["acc_eq_cal"]),
                    notes.plain(calibrated.get("epsilon")),
                    notes.plain(calibrated.get("held_out")),
                    notes.figure(found["rank_match"]),
                    notes.plain(gap.get("pairs")),
                    notes.figure(found["pa"]),
                    notes.figure(found["spa"]),
                ],
            )
        )
    headings = [
        "Metric", "Pairs right", "Ties of the metric", "acc-eq", "acc-eq, calibrated", "\u03b5", "Held out",
        "Rank match", "Its pairs", "Systems right", "Soft",
    ]  # fmt: skip
    return Table("Pairs", headings, lines)


_PAIRS = ("pair_acc", "acc_eq", "acc_eq_cal", "rank_match", "pa", "spa")


def systems(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> Table:
    """Systems, the one that people like best first, with what each metric gives them."""
    found = sorted(
        rows(report.get("systems")),
        key=lambda each: (-(value(each, "human").value or float("-inf")), str(each.get("name"))),
    )
    lines = [
        Line(
            plain(each.get("name")),
            [
                notes.plain(number(each.get("n")) and int(each["n"])),
                notes.figure(value(each, "human")),
                *(_of_system(each, name, notes) for name in order),
            ],
            "from the order of the rows" if each.get("inferred") else "",
        )
        for each in found
    ]
    return Table("Systems", ["System", "Answers", "People", *(called[name] for name in order)], lines)


def _of_system(system: Entry, name: str, notes: Notes) -> Cell:
    corpus = value(system, "metrics", name, "corpus")
    cell = notes.figure(reader.mean(system, name))
    small = f"corpus {short(corpus.value)}" if corpus.value is not None else ""
    return Cell(cell.text, small, cell.note, cell.why)


def types(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> Table:
    """Pearson of every metric for each type of question, with how many answers it rests on."""
    entries = reader.metrics(report)
    named = {str(each.get("name")): number(each.get("n")) for each in rows(report.get("types"))}
    every = named or dict.fromkeys(sorted(set(chain(*(mapping(e.get("by_type")) for e in entries.values())))))
    lines = [
        Line(
            plain(kind),
            [
                notes.plain(int(n) if n is not None else None),
                *(notes.figure(value(entries[name], "by_type", kind, "pearson")) for name in order),
            ],
        )
        for kind, n in every.items()
    ]
    return Table("Pearson by type of question", ["Type", "Answers", *(called[each] for each in order)], lines)


def tabulate_signatures(report: Report, order: list[str], called: Mapping[str, str]) -> Table:
    """The signature of every metric, and how many answers it has no value for, by reason."""
    entries = {**reader.metrics(report), **reader.floors(report)}
    lines = []
    for name in [*order, *(each for each in reader.floors(report) if each not in order)]:
        missing = mapping(entries[name].get("undefined"))
        said = "; ".join(f"{whole(number(n) or 0)}: {why}" for why, n in missing.items()) or "none"
        signature = str(entries[name].get("signature") or "unknown")
        lines.append(Line(called[name], [Cell(signature, words=True), Cell(said, words=True)]))
    return Table("Signatures", ["Metric", "Signature", "Answers without a value"], lines)
