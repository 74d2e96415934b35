"""Plots of single answers, types of questions, systems and lengths."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluations.reporting import reader, scatter
from evaluations.reporting.labels import plain
from evaluations.reporting.numbers import listed, short, whole
from evaluations.reporting.points import Points
from evaluations.reporting.reader import Report, mapping, number, value
from evaluations.reporting.signing import MOST_PLOTTED, ends, scale_of, signature
from web.charts import evaluation as charts
from web.charts.plot import Plot

Row = dict[str, Any]


def scatters(report: Report, points: Points, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """A metric across, people up, for the best metrics."""
    low, high = scale_of(report)
    shown = [name for name in order if points.pairs(name)][:MOST_PLOTTED]
    most = scatter.drawn_of(len(shown))
    seed = int(number(report.get("seed")) or 0)
    plots = []
    for name in shown:
        rows = scatter.rows_of(points, name, scale=(low, high), most=most, seed=seed)
        table = scatter.fifths(points.pairs(name))
        drawn = min(most, len(points.pairs(name)))
        sample = f"; {whole(drawn)} of {whole(points.all)} answers are drawn" if drawn < points.all else ""
        says = (
            f"{called[name]} across, human score up: the mean of people goes from "
            f"{short(table[0]['human'], 2)} in the lowest fifth to "
            f"{short(table[-1]['human'], 2)} in the highest{sample}."
        )
        made = signature(report, "scatter", jitter="uniform", seed=seed, drawn=drawn)
        plots.append(
            charts.metric_and_human(
                rows, title=called[name], low=low, high=high, says=says, signature=made, table=table
            )
        )
    return plots


def types(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """Correlation of every metric for each type of question."""
    entries = reader.metrics(report)
    types = [str(each.get("name")) for each in reader.rows(report.get("types"))]
    types = types or sorted({kind for each in entries.values() for kind in mapping(each.get("by_type"))})
    if len(types) < 2 and not any(mapping(each.get("by_type")) for each in entries.values()):
        return []
    statistic = "pearson" if reader.lead(report).statistic not in ("spearman",) else "spearman"
    rows: list[Row] = []
    table: list[Row] = []
    for name in order:
        of = mapping(entries[name].get("by_type"))
        for kind in types:
            found = {each: value(of, kind, each) for each in ("pearson", "spearman", "pair_acc")}
            said = found[statistic].value
            words = "\u2013" if said is None else short(said, 2)
            rows.append({"metric": called[name], "type": plain(kind), "value": said, "words": words})
            table.append(
                {"metric": called[name], "type": plain(kind), "n": number(mapping(of.get(kind)).get("n")),
                 "Pearson": found["pearson"].value, "Spearman": found["spearman"].value,
                 "pairs right": found["pair_acc"].value}
            )  # fmt: skip
    known = [row for row in rows if row["value"] is not None]
    if not known:
        return []
    best = max(known, key=lambda row: row["value"])
    says = f"{reader.STATISTICS[statistic]} by type of question; the highest is {short(best['value'])}, "
    says += f"{best['metric']} on {best['type']}."
    made = signature(report, f"{statistic}-by-type")
    title = reader.STATISTICS[statistic]
    plot = charts.by_class(rows, title=title, what="type", says=says, signature=made, table=table)
    return [replace(plot, key="types")]


def systems(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """Means of systems by people and by the best metrics."""
    systems = reader.rows(report.get("systems"))
    plots = []
    for name in order[:MOST_PLOTTED]:
        rows: list[Row] = []
        for each in systems:
            human = value(each, "human")
            mean = value(each, "metrics", name, "mean")
            if human.value is not None and mean.value is not None:
                rows.append(
                    {"system": plain(each.get("name")), "metric": mean.value, "human": human.value,
                     "low": human.low, "high": human.high}
                )  # fmt: skip
        if len(rows) < 2:
            continue
        rows.sort(key=lambda row: (-row["human"], row["system"]))
        highest = max(rows, key=lambda row: row["metric"])["system"]
        agree = "and so does" if highest == rows[0]["system"] else "but not"
        says = f"{len(rows)} systems: people put {listed([rows[0]['system']])} first, {agree} {called[name]}."
        made = signature(report, "system-means")
        plot = charts.systems(rows, title=called[name], says=says, signature=made)
        table = [
            {"system": row["system"], "metric": row["metric"], "people": row["human"],
             "95 % from": row["low"], "to": row["high"]}
            for row in rows
        ]  # fmt: skip
        plots.append(replace(plot, table=table))
    return plots


def length_bias(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """How the scores of metrics, and of people, go with the length of answers."""
    entries = {called[name]: mapping(reader.metrics(report)[name].get("length_bias")) for name in order}
    people = mapping(mapping(report.get("human")).get("length_bias"))
    if people:
        entries = {"people": people, **entries}
    rows: list[Row] = []
    table: list[Row] = []
    for name, entry in entries.items():
        found = {
            "length of the answer": value(entry, "length"),
            "distance to the references": value(entry, "distance"),
        }
        if all(each.value is None for each in found.values()):
            continue
        rows += [{"metric": name, "with": what, **ends(each)} for what, each in found.items()]
        table.append(
            {"metric": name, "Pearson with length": found["length of the answer"].value,
             "with distance": found["distance to the references"].value,
             "mean near": number(mapping(entry.get("near")).get("mean")),
             "mean far": number(mapping(entry.get("far")).get("mean")),
             "Welch p": number(entry.get("welch_p")), "permutation p": number(entry.get("permutation_p"))}
        )  # fmt: skip
    known = [row for row in rows if row["value"] is not None and row["metric"] != "people"]
    if not known:
        return []
    most = max(known, key=lambda row: abs(row["value"]))
    cut = next((number(each.get("cut")) for each in entries.values() if "cut" in each), None)
    says = f"How scores go with length: {most['metric']} most, "
    says += f"r = {short(most['value'])} with the {most['with']}."
    if cut is not None:
        says += f" Near is a distance of at most {cut:g} words."
    made = signature(report, "length-bias", cut=cut)
    plot = charts.two_groups(
        rows, title="Do scores go with length?", what="metric", group="with", axis="Pearson with length",
        says=says, signature=made, table=table,
    )  # fmt: skip
    return [replace(plot, key="length-bias")]
