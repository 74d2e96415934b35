"""Plots of how well metrics agree with people, and which of them differ."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluations.reporting import reader
from evaluations.reporting.comparisons import LEVEL, Comparison, Test, comparisons
from evaluations.reporting.labels import plain
from evaluations.reporting.numbers import probability, short
from evaluations.reporting.reader import GROUPINGS, Report, Value, mapping, value
from evaluations.reporting.signing import ends, signature
from web.charts import evaluation as charts
from web.charts.plot import Plot

MOST_MATRICES = 4
#: Where p rounds to one, a cell has no room for its decimals.
_ONE = 0.9995

Row = dict[str, Any]


def correlations(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """Pearson and Spearman of every metric with its interval; ceiling and best floor are lines."""
    plots = []
    entries = reader.metrics(report)
    sentinels = reader.floors(report)
    for statistic in ("pearson", "spearman"):
        groupings = [
            grouping
            for grouping in ("global", "item")
            if any(value(each, statistic, grouping).value is not None for each in entries.values())
        ]
        if not groupings:
            continue
        first = groupings[0]
        floors = {name: value(each, statistic, first).value for name, each in sentinels.items()}
        known = {name: each for name, each in floors.items() if each is not None}
        marks: dict[str, float] = {}
        ceiling = _ceiling(report, statistic, first)
        if ceiling is not None:
            marks["ceiling"] = ceiling
        if known:
            best = max(known, key=lambda name: known[name])
            marks[f"floor ({plain(best)})"] = known[best]
        rows = [
            {"metric": called[name], "grouping": GROUPINGS[grouping],
             **ends(value(entries[name], statistic, grouping))}
            for name in order for grouping in groupings
        ]  # fmt: skip
        beside = [
            {"metric": f"{called[name]} (floor)", "grouping": GROUPINGS[grouping],
             **ends(value(sentinels[name], statistic, grouping))}
            for name in reader.best_first(sentinels, reader.Lead(statistic, first))
            for grouping in groupings
        ]  # fmt: skip
        title = reader.STATISTICS[statistic]
        top = max(order, key=lambda name: _or_lowest(value(entries[name], statistic, first)))
        said = value(entries[top], statistic, first)
        lines = [f"{name} {short(each)}" for name, each in marks.items()]
        says = f"{title} of each metric with people: {called[top]} has most, {short(said.value or 0)} "
        says += f"{GROUPINGS[first]}" + (f"; {', '.join(lines)}." if lines else ".")
        made = signature(
            report, f"{statistic}-with-interval", level=0.95, replicates=_of(report, "replicates")
        )
        plot = charts.correlations(
            rows,
            title=title,
            marks=marks,
            groupings=[GROUPINGS[each] for each in groupings],
            says=says,
            signature=made,
        )
        plots.append(replace(plot, table=[*rows, *beside]))
    return plots


def _or_lowest(found: Value) -> float:
    return float("-inf") if found.value is None else found.value


def _ceiling(report: Report, statistic: str, grouping: str) -> float | None:
    for way in ("leave_one_out", "split_half"):
        entry = mapping(mapping(mapping(report.get("ceiling")).get(way)).get(statistic))
        found = value(entry, grouping) if grouping in entry else value({"it": entry}, "it")
        if found.value is not None:
            return found.value
    return None


def _of(report: Report, name: str) -> object:
    return report.get(name, "unknown")


def significance(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """A matrix for each kind of test, permutation tests first."""
    plots = []
    for comparison in comparisons(report)[:MOST_MATRICES]:
        within = [each for each in order if any(each in (test.a, test.b) for test in comparison.tests)]
        if all(each.counts is None for each in comparison.tests):
            continue
        tests = {frozenset((each.a, each.b)): each for each in comparison.tests}
        rows = [
            _cell(one, other, tests.get(frozenset((one, other))), called)
            for one in within
            for other in within
            if one != other
        ]
        differ = sum(bool(each.better) for each in comparison.tests)
        says = (
            f"{differ} of {len(comparison.tests)} pairs of metrics differ significantly at {short(LEVEL, 2)} "
            f"({comparison.words}; p after Holm where it was corrected)."
        )
        plots.append(
            charts.significance(
                rows,
                title=comparison.words[:1].upper() + comparison.words[1:],
                says=says,
                signature=signature(
                    report, f"tests-{comparison.method}", draws=_of(report, "draws"), seed=_of(report, "seed")
                ),
                table=test_rows(comparison, called),
            )
        )
    return plots


def _cell(one: str, other: str, test: Test | None, called: Mapping[str, str]) -> Row:
    p = test.counts if test else None
    better = test.better if test else ""
    verdict = charts.BETTER if better == one else charts.WORSE if better == other else charts.ALIKE
    words = "" if p is None else "1" if p >= _ONE else probability(p).replace("\u00a0", "")
    return {"row": called.get(one, one), "column": called.get(other, other), "p": words, "verdict": verdict}


def test_rows(comparison: Comparison, called: Mapping[str, str]) -> list[Row]:
    """A comparison's tests as rows of a table."""
    return [
        {
            "metric": called.get(each.a, plain(each.a)),
            "against": called.get(each.b, plain(each.b)),
            "difference": each.delta,
            "p": each.p,
            "p after Holm": each.p_holm,
            "smallest difference to be seen": each.mdd,
            "better": called.get(each.better, plain(each.better)) if each.better else "neither",
        }
        for each in comparison.tests
    ]
