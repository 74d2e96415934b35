"""Plots of a trained metric: Figures 3, 4 and 7 of Lowe et al. 2017, and Table 14 as a curve."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evaluations.learning.tables import Called
from evaluations.report.model import Report, mapping, number, rows, value
from evaluations.report.plots import drawn_of, fifths, rows_of, scale_of, signature
from evaluations.report.points import Points
from evaluations.report.tables import plain, short, whole
from metrics.learned.adem.splits import Parts
from metrics.metaeval.data import Floats, ScoredAnswers
from metrics.metaeval.papers import normalised
from web.charts import evaluation as charts
from web.charts import learning_charts
from web.charts.plot import Plot


def points_of(
    judged: ScoredAnswers, parts: Parts, trained: tuple[str, ...], scale: tuple[float, float]
) -> dict[str, Points]:
    """Figure 3: scores with the mean and spread of people's; of trained metrics those of the test set."""
    found = {}
    for name, values in judged.metrics.items():
        rows = parts.test if name in trained else np.arange(len(judged))
        adjusted = normalised(values[rows], judged.human[rows], scale)
        found[name] = Points(_listed(judged.human[rows]), {name: _listed(adjusted)}, of=len(rows))
    return found


def figures_of(report: Report, points: Mapping[str, Points], called: Called) -> list[Plot]:
    """Every plot that there are figures for; `key` says what each one is."""
    found = [
        *_numbered("scatter", _scatters(report, points, called)),
        *_numbered("systems", _systems(report, called)),
        *_numbered("learning-epochs", _epochs(report, called)),
        *_numbered("learning-curve", _curves(report)),
    ]
    return [each for each in found if each.rows]


def _scatters(report: Report, points: Mapping[str, Points], called: Called) -> list[Plot]:
    low, high = scale_of(report)
    seed = int(number(report.get("seed")) or 0)
    most = drawn_of(len(points))
    plots = []
    for name, of in points.items():
        drawn = rows_of(of, name, scale=(low, high), most=most, seed=seed)
        if not drawn:
            continue
        means = fifths(of.pairs(name))
        where = (
            "test set" if mapping(mapping(report.get("metrics")).get(name)).get("trained") else "all answers"
        )
        n = min(most, len(of.pairs(name)))
        says = (
            f"{called[name]}, normalised, across, human score up, {where} ({whole(len(of))} answers): the "
            f"mean of people goes from {short(means[0]['human'], 2)} in the lowest fifth to "
            f"{short(means[-1]['human'], 2)} in the highest."
        )
        made = signature(report, "scatter", jitter="uniform", seed=seed, drawn=n, normalised="yes")
        plots.append(
            charts.metric_and_human(
                drawn, title=f"{called[name]}, {where}", low=low, high=high, says=says, signature=made,
                table=means,
            )
        )  # fmt: skip
    return plots


def _systems(report: Report, called: Called) -> list[Plot]:
    plots = []
    for name, of in mapping(mapping(report.get("table4")).get("metrics")).items():
        shown = [
            {
                "system": plain(each.get("system")),
                "metric": number(each.get("metric")),
                "human": number(each.get("human")),
                "low": None,
                "high": None,
            }
            for each in rows(mapping(of).get("points"))
        ]
        known = [each for each in shown if each["metric"] is not None and each["human"] is not None]
        if len(known) < 2:
            continue
        r = value(of, "pearson")
        agrees = f"Pearson {short(r.value)}" if r.value is not None else f"no correlation: {r.reason}"
        says = f"Mean scores of {len(known)} systems on the test set, {called[name]} normalised: {agrees}."
        made = signature(report, "adem-figure4")
        table = [
            {"system": each["system"], "metric": each["metric"], "people": each["human"]} for each in known
        ]
        plot = charts.systems(known, title=f"{called[name]}, normalised", says=says, signature=made)
        plots.append(replace(plot, title=called[name], table=table))
    return plots


def _epochs(report: Report, called: Called) -> list[Plot]:
    plots = []
    for form, of in mapping(report.get("watched")).items():
        history = rows(of)
        best = int(number(mapping(mapping(report.get("chosen")).get(form)).get("epoch")) or 0)
        drawn = [
            {"epoch": number(each.get("epoch")), "statistic": words, "value": number(each.get(which))}
            for which, words in (("pearson", "Pearson"), ("spearman", "Spearman"))
            for each in history
        ]
        known = {int(number(each.get("epoch")) or 0): number(each.get("pearson")) for each in history}
        if len(known) < 2:
            continue
        first, kept = known.get(0), known.get(best)
        says = f"{called[form]} on the test set as it trains; the line is at epoch {best}, which was kept"
        if first is not None and kept is not None:
            says += f": Pearson {short(first)} before training, {short(kept)} there"
        table = [
            {"epoch": each.get("epoch"), "Pearson": each.get("pearson"), "Spearman": each.get("spearman")}
            for each in history
        ]
        made = signature(report, "adem-figure7", n=mapping(mapping(report.get("chosen")).get(form)).get("n"))
        plots.append(
            learning_charts.epochs(
                drawn, title=called[form], best=best, says=f"{says}.", signature=made, table=table
            )
        )
    return plots


def _curves(report: Report) -> list[Plot]:
    plots = []
    given = mapping(report.get("table14"))
    for which, words in (("pearson", "Pearson"), ("spearman", "Spearman")):
        points: list[dict[str, Any]] = []
        for each in rows(given.get("points")):
            found, x = value(each, which), number(each.get("contexts"))
            if found.value is not None and x is not None:
                low, high = (number(found.more.get(end)) for end in ("low", "high"))
                points.append({"metric": "ADEM", "x": x, "value": found.value, "low": low, "high": high})
        if len(points) < 2:
            continue
        first, last = points[-1], points[0]
        says = (
            f"{words} on the test set is {short(first['value'])} when trained on {whole(first['x'])} "
            f"questions and {short(last['value'])} on {whole(last['x'])}; the band goes from the lowest "
            "sample to the highest."
        )
        made = signature(report, "adem-table14", times=given.get("times"))
        plot = charts.curve(
            points, title=words, across="questions of training", up=words, says=says, signature=made
        )
        table = [
            {"questions": each["x"], words: each["value"], "from": each["low"], "to": each["high"]}
            for each in points
        ]
        plots.append(replace(plot, table=table))
    return plots


def _numbered(kind: str, plots: list[Plot]) -> list[Plot]:
    return [replace(each, key=f"{kind}-{at}") for at, each in enumerate(plots, start=1)]


def _listed(values: Floats) -> list[float | None]:
    return [None if np.isnan(each) else float(each) for each in values]
