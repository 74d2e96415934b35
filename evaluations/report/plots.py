"""The plots of a report: agreement with people, differences of metrics, slices, protocols."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal

from evaluations.report import model, protocols
from evaluations.report.answer import Comparison, comparisons
from evaluations.report.model import GROUPINGS, LEVEL, MetricTest, Report, scale
from evaluations.report.tables import (
    OF_TYPE,
    Cell,
    Line,
    Notes,
    Table,
    TypeStatistic,
    format_whole,
    join_names,
    labels,
    of_type,
    plain,
    probability,
    rests_on,
    short,
)
from evaluations.table_evaluation import NONE, Points
from web import evaluation_charts as charts
from web.charts import Plot
from web.evaluation_charts import ANSWER, FIFTH

#: Metrics that have plots of their own, best first; tables have all.
MOST_PLOTTED = 12
_FULL_SCALE = (1.0, 5.0)


def signature(distillery: str, method: str, **parts: object) -> str:
    """How a plot was made: method, parameters, and the version of the program that worked it out."""
    fields = {"plot": method, **parts, "distillery": distillery or "unknown"}
    return "|".join(f"{name}={each}" for name, each in fields.items())


def scale_of(report: Report) -> tuple[float, float]:
    """The ends of the scale that people used, or the usual ones."""
    return scale(report) or _FULL_SCALE


def ends(figure: protocols.Figure) -> dict[str, float | None]:
    """A figure as a row of a plot."""
    return {"value": figure.value, "low": figure.low, "high": figure.high}


#: Points that all scatter plots of a page have together, and the fewest and most that one of them has.
_ALL, _FEWEST, _MOST = 6000, 150, 1000
_FIFTHS = 5
#: A metric with so few different scores is jittered as well, as people's scores always are.
_FEW_VALUES = 20
_JITTER = 0.025

Row = dict[str, Any]


def drawn_of(plots: int) -> int:
    """How many points a plot has where there are so many plots."""
    return min(_MOST, max(_FEWEST, _ALL // max(plots, 1)))


def rows_of(points: Points, metric: str, *, scale: tuple[float, float], most: int, seed: int) -> list[Row]:
    """Answers and means of fifths, as the plot draws them; nothing where no answer has both scores."""
    pairs = points.pairs(metric)
    if not pairs:
        return []
    jitter = random.Random(f"{seed}|jitter|{metric}")
    width = max(a for a, _ in pairs) - min(a for a, _ in pairs)
    across = width * _JITTER if len({a for a, _ in pairs}) <= _FEW_VALUES else 0.0
    up = (scale[1] - scale[0]) * _JITTER
    drawn_pairs = pairs if len(pairs) <= most else jitter.sample(pairs, most)
    answers = [
        _row(ANSWER, a, b, a + jitter.uniform(-across, across), b + jitter.uniform(-up, up))
        for a, b in drawn_pairs
    ]
    means = [_row(FIFTH, row["score"], row["human"], row["score"], row["human"]) for row in fifths(pairs)]
    return answers + means


def fifths(pairs: Sequence[tuple[float, float]]) -> list[Row]:
    """Means of both scores in fifths of the answers by the metric; equal scores stay together."""
    ordered = sorted(pairs)
    size = len(ordered) / _FIFTHS
    groups: list[list[tuple[float, float]]] = [[] for _ in range(_FIFTHS)]
    place, last = 0, None
    for at, (score, human) in enumerate(ordered):
        if score != last:
            place = min(int(at / size), _FIFTHS - 1)
        groups[place].append((score, human))
        last = score
    return [
        {
            "answers": len(group),
            "score": fmean(a for a, _ in group),
            "from": group[0][0],
            "to": group[-1][0],
            "human": fmean(b for _, b in group),
        }
        for group in groups
        if group
    ]


def _row(what: str, metric: float, human: float, x: float, y: float) -> Row:
    return {"what": what, "metric": metric, "human": round(human, 4), "x": round(x, 5), "y": round(y, 4)}


MOST_MATRICES = 4
#: Where p rounds to one, a cell has no room for its decimals.
_ONE = 0.9995


def correlations(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """Pearson and Spearman of every metric with its interval; ceiling and best floor are lines."""
    plots = []
    entries, sentinels = report.metrics, report.floors
    for statistic in ("pearson", "spearman"):
        groupings = [
            grouping
            for grouping in ("global", "item")
            if any(each.figure(statistic, grouping).value is not None for each in entries.values())
        ]
        if not groupings:
            continue
        first = groupings[0]
        beside_them = [("ceiling", _ceiling(report, statistic)), _best_floor(report, statistic, first)]
        marks = {name: (each.value, each.n) for name, each in beside_them if each.value is not None}
        rows = [
            {"metric": called[name], "grouping": GROUPINGS[grouping],
             **ends(entries[name].figure(statistic, grouping))}
            for name in order for grouping in groupings
        ]  # fmt: skip
        beside = [
            {"metric": f"{called[name]} (floor)", "grouping": GROUPINGS[grouping],
             **ends(sentinels[name].figure(statistic, grouping))}
            for name in model.best_first(sentinels, model.Lead(statistic, first))
            for grouping in groupings
        ]  # fmt: skip
        title = model.STATISTICS[statistic]
        top = max(order, key=lambda name: _or_lowest(entries[name].figure(statistic, first)))
        best_figure = entries[top].figure(statistic, first)
        lines = [
            ", ".join(filter(None, (f"{name} {short(value)}", rests_on(n))))
            for name, (value, n) in marks.items()
        ]
        says = f"{title} of each metric with people: {called[top]} has most, {short(best_figure.value or 0)} "
        says += f"{GROUPINGS[first]}" + (f"; {'; '.join(lines)}." if lines else ".")
        signature_text = signature(
            report.distillery,
            f"{statistic}-with-interval",
            level=0.95,
            replicates=_describe_number(report.replicates),
        )
        plot = charts.correlations(
            rows,
            title=title,
            marks={name: value for name, (value, _n) in marks.items()},
            groupings=[GROUPINGS[each] for each in groupings],
            says=says,
            signature=signature_text,
        )
        plots.append(replace(plot, table=[*rows, *beside]))
    return plots


def _or_lowest(figure: protocols.Figure) -> float:
    return float("-inf") if figure.value is None else figure.value


def _ceiling(report: Report, statistic: str) -> protocols.Figure:
    for way in (report.ceiling.leave_one_out, report.ceiling.split_half):
        if (figure := way.figure(statistic)).value is not None:
            return figure
    return protocols.NO_FIGURE


def _best_floor(report: Report, statistic: str, grouping: str) -> tuple[str, protocols.Figure]:
    """The floor that agrees most with people, by the name of its line."""
    floors = {name: each.figure(statistic, grouping) for name, each in report.floors.items()}
    best = max(floors, key=lambda name: _or_lowest(floors[name]), default="")
    return f"floor ({plain(best)})", floors.get(best, protocols.NO_FIGURE)


def _describe_number(number: int | None) -> object:
    return "unknown" if number is None else number


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
            f"({comparison.title}; p after Holm where it was corrected)."
        )
        plots.append(
            charts.significance(
                rows,
                title=comparison.title[:1].upper() + comparison.title[1:],
                says=says,
                signature=signature(
                    report.distillery,
                    f"tests-{comparison.method}",
                    draws=_describe_number(report.draws),
                    seed=_describe_number(report.seed),
                ),
                table=test_rows(comparison, called),
            )
        )
    return plots


def _cell(one: str, other: str, test: MetricTest | None, called: Mapping[str, str]) -> Row:
    p = test.counts if test else None
    better = test.better if test else ""
    verdict = charts.BETTER if better == one else charts.WORSE if better == other else charts.ALIKE
    p_text = "" if p is None else "1" if p >= _ONE else probability(p).replace("\u00a0", "")
    return {"row": called.get(one, one), "column": called.get(other, other), "p": p_text, "verdict": verdict}


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


def scatters(report: Report, points: Points, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """A metric across, people up, for the best metrics."""
    low, high = scale_of(report)
    names = [name for name in order if points.pairs(name)][:MOST_PLOTTED]
    most = drawn_of(len(names))
    seed = report.seed or 0
    plots = []
    for name in names:
        rows = rows_of(points, name, scale=(low, high), most=most, seed=seed)
        table = fifths(points.pairs(name))
        points_drawn = min(most, len(points.pairs(name)))
        sample = (
            f"; {format_whole(points_drawn)} of {format_whole(points.all)} answers are drawn"
            if points_drawn < points.all
            else ""
        )
        says = (
            f"{called[name]} across, human score up: the mean of people goes from "
            f"{short(table[0]['human'], 2)} in the lowest fifth to "
            f"{short(table[-1]['human'], 2)} in the highest{sample}."
        )
        signature_text = signature(
            report.distillery, "scatter", jitter="uniform", seed=seed, drawn=points_drawn
        )
        plots.append(
            charts.metric_and_human(
                rows, title=called[name], low=low, high=high, says=says, signature=signature_text, table=table
            )
        )
    return plots


def types(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """Correlation of every metric for each type of question."""
    entries = report.metrics
    types = [each.name for each in report.types]
    types = types or sorted({kind for each in entries.values() for kind in each.by_type})
    if len(types) < 2 and not any(each.by_type for each in entries.values()):
        return []
    statistic: TypeStatistic = "spearman" if model.lead(report).statistic == "spearman" else "pearson"
    rows: list[Row] = []
    table: list[Row] = []
    for name in order:
        for kind in types:
            of = entries[name].by_type.get(kind)
            figures = {each: of_type(entries[name], kind, each) for each in OF_TYPE}
            lead_value = figures[statistic].value
            label = "\u2013" if lead_value is None else short(lead_value, 2)
            rows.append({"metric": called[name], "type": plain(kind), "value": lead_value, "words": label})
            table.append(
                {"metric": called[name], "type": plain(kind), "n": of.n if of else None,
                 "Pearson": figures["pearson"].value, "Spearman": figures["spearman"].value,
                 "pairs right": figures["pair_acc"].value}
            )  # fmt: skip
    defined = [row for row in rows if row["value"] is not None]
    if not defined:
        return []
    best = max(defined, key=lambda row: row["value"])
    says = f"{model.STATISTICS[statistic]} by type of question; the highest is {short(best['value'])}, "
    says += f"{best['metric']} on {best['type']}."
    signature_text = signature(report.distillery, f"{statistic}-by-type")
    title = model.STATISTICS[statistic]
    plot = charts.by_class(rows, title=title, what="type", says=says, signature=signature_text, table=table)
    return [replace(plot, key="types")]


def systems(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """Means of systems by people and by the best metrics."""
    plots = []
    for name in order[:MOST_PLOTTED]:
        rows: list[Row] = []
        for each in report.systems:
            human, mean = each.human, model.mean(each, name)
            if human.value is not None and mean.value is not None:
                rows.append(
                    {"system": plain(each.name), "metric": mean.value, "human": human.value,
                     "low": human.low, "high": human.high}
                )  # fmt: skip
        if len(rows) < 2:
            continue
        rows.sort(key=lambda row: (-row["human"], row["system"]))
        highest = max(rows, key=lambda row: row["metric"])["system"]
        agree = "and so does" if highest == rows[0]["system"] else "but not"
        first = join_names([rows[0]["system"]])
        says = f"{len(rows)} systems: people put {first} first, {agree} {called[name]}."
        signature_text = signature(report.distillery, "system-means")
        plot = charts.systems(rows, title=called[name], says=says, signature=signature_text)
        table = [
            {"system": row["system"], "metric": row["metric"], "people": row["human"],
             "95 % from": row["low"], "to": row["high"]}
            for row in rows
        ]  # fmt: skip
        plots.append(replace(plot, table=table))
    return plots


def length_bias(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """How the scores of metrics, and of people, go with the length of answers."""
    biases = {"people": report.human.length_bias}
    biases |= {called[name]: report.metrics[name].length_bias for name in order}
    entries = {name: each for name, each in biases.items() if each is not None}
    rows: list[Row] = []
    table: list[Row] = []
    for name, entry in entries.items():
        figures = {
            "length of the answer": entry.length.figure if entry.length else protocols.NO_FIGURE,
            "distance to the references": entry.distance.figure if entry.distance else protocols.NO_FIGURE,
        }
        if all(each.value is None for each in figures.values()):
            continue
        rows += [{"metric": name, "with": what, **ends(each)} for what, each in figures.items()]
        table.append(
            {"metric": name, "Pearson with length": figures["length of the answer"].value,
             "with distance": figures["distance to the references"].value,
             "mean near": entry.near.mean,
             "mean far": entry.far.mean,
             "Welch p": entry.welch_p, "permutation p": entry.permutation_p}
        )  # fmt: skip
    defined = [row for row in rows if row["value"] is not None and row["metric"] != "people"]
    if not defined:
        return []
    most = max(defined, key=lambda row: abs(row["value"]))
    cut = next((float(each.cut) for each in entries.values() if each.cut is not None), None)
    says = f"How scores go with length: {most['metric']} most, "
    says += f"r = {short(most['value'])} with the {most['with']}."
    if cut is not None:
        says += f" Near is a distance of at most {cut:g} words."
    signature_text = signature(report.distillery, "length-bias", cut=cut)
    plot = charts.two_groups(
        rows, title="Do scores go with length?", what="metric", group="with", axis="Pearson with length",
        says=says, signature=signature_text, table=table,
    )  # fmt: skip
    return [replace(plot, key="length-bias")]


TITLES = {
    "resample_overall": "Overall scores of resampled questions (Yang et al. 2018, Table 3)",
    "yang-bootstrap": "Adapted against plain metrics by Koehn's paired bootstrap (Yang et al. 2018, 4.2)",
    "sweep-alpha": "The weight of right opinions (Yang et al. 2018, Figure 1)",
    "sweep-beta": "The weight of right entities (Yang et al. 2018, Figure 2)",
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
_RESAMPLED, _LEFT_OUT, _PAIRED = "resample_overall", "adem-table5", "yang-bootstrap"


def protocol_plots(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """The learning curve, the resampled correlations and the curves of swept weights."""
    return [
        *_curves(report, order, called),
        *_resampled(report, order, called),
        *_swept(report, order, called),
    ]


def _swept(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    """Pearson against the weight of a bonus: a plot for each metric, a curve for each type of question."""
    plots: list[Plot] = []
    for swept in (report.protocols.sweep_alpha, report.protocols.sweep_beta):
        if swept is None:
            continue
        sign = swept.weight
        for metric in order:
            points_of_sweep: list[Row] = [
                {"questions": plain(kind), "x": point.x, **ends(point.figure)}
                for kind, points in swept.curves.get(metric, {}).items()
                for point in points
            ]
            defined = [each for each in points_of_sweep if each["value"] is not None]
            if len(defined) < 2:
                continue
            overall = [each for each in defined if each["questions"] == "overall"] or defined
            first, last = overall[0], overall[-1]
            signature_text = signature(report.distillery, f"sweep-{sign}", **swept.fixed.get(metric, {}))
            says = (
                f"{called[metric]}: Pearson with people over all answers is {short(first['value'])} with "
                f"{sign} = {first['x']:g} and {short(last['value'])} with {sign} = {last['x']:g}; bands are "
                "95 % intervals."
            )
            plot = charts.curves(
                defined, title=f"{called[metric]}, {sign}", across=f"weight {sign}", up="Pearson",
                group="questions", says=says, signature=signature_text,
                table=[
                    {"questions": each["questions"], sign: each["x"], "Pearson": each["value"],
                     "95 % from": each["low"], "to": each["high"]}
                    for each in points_of_sweep
                ],
            )  # fmt: skip
            plots.append(replace(plot, key=f"swept-{len(plots) + 1}"))
    return plots


def _curves(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    learned = report.protocols.adem_table14 or protocols.LearningCurve()
    by_ratings = {} if isinstance(learned.ratings, protocols.MissingPart) else learned.ratings
    curves = {("questions", "questions"): learned.questions, ("ratings", "ratings per answer"): by_ratings}
    plots: list[Plot] = []
    for (part, across), by_metric in curves.items():
        for name in order[:_CURVES]:
            points = [_point(called[name], each) for each in by_metric.get(name, ())]
            defined = [each for each in points if each["value"] is not None and each["x"] is not None]
            if len(defined) < 2:
                continue
            first, last = defined[0], defined[-1]
            says = (
                f"{called[name]}: Pearson with people is {short(first['value'])} with {first['x']:g} "
                f"{across} and {short(last['value'])} with {last['x']:g}; the band holds 95 % of the samples."
            )
            signature_text = signature(report.distillery, f"learning-curve-{part}", times=learned.times)
            plot = charts.curve(
                defined, title=called[name], across=across, up="Pearson", says=says, signature=signature_text
            )
            number_of = sum(each.key.startswith(f"learning-{part}") for each in plots) + 1
            table = [
                {across: each["x"], "Pearson": each["value"], "95 % from": each["low"], "to": each["high"]}
                for each in defined
            ]
            plots.append(replace(plot, key=f"learning-{part}-{number_of}", table=table))
    return plots


def _point(metric: str, point: protocols.CurvePoint) -> dict[str, Any]:
    figure = point.pearson or protocols.SampledFigure()
    low, high = figure.middle or (None, None)
    x = point.questions if point.ratings is None else point.ratings
    return {"metric": metric, "x": x, "value": figure.value, "low": low, "high": high}


def _resampled(report: Report, order: list[str], called: Mapping[str, str]) -> list[Plot]:
    resampled = report.protocols.resample_overall or protocols.ResampledScores()
    rows: list[dict[str, Any]] = []
    table: list[dict[str, Any]] = []
    for name in order:
        of = resampled.metrics.get(name, {})
        for kind, figure in of.items():
            if not isinstance(figure, protocols.Figure):
                continue
            label = "\u2013" if figure.value is None else short(figure.value, 2)
            row = {"metric": called[name], "questions": plain(kind)}
            rows.append({**row, "value": figure.value, "words": label})
            table.append({**row, "Pearson": figure.value, "rule": str(of.get("rule", ""))})
    defined = [each for each in rows if each["value"] is not None]
    if not defined:
        return []
    best = max(defined, key=lambda row: row["value"])
    says = (
        f"Pearson over {resampled.times} samples of {resampled.questions} questions for every system: "
        f"highest is {best['metric']} with {short(best['value'])} ({best['questions']}). The samples share "
        "systems and questions, so they are not independent."
    )
    signature_text = signature(
        report.distillery, _RESAMPLED, times=resampled.times, questions=resampled.questions
    )
    plot = charts.by_class(
        rows,
        title=TITLES[_RESAMPLED],
        what="questions",
        says=says,
        signature=signature_text,
        table=table,
    )
    return [replace(plot, key="resample-overall")]


@dataclass(frozen=True, slots=True)
class Protocol:
    """A protocol's title, what it says in words, and its figures as tables."""

    title: str
    remark: str
    tables: list[Table]


def protocol_tables(report: Report, called: Mapping[str, str], notes: Notes) -> list[Protocol]:
    """Every protocol that was asked for."""
    entries = []
    for name, body in report.protocols.model_dump(mode="json", exclude_unset=True).items():
        remark = "; ".join(str(body[key]) for key in ("reason", "note") if isinstance(body.get(key), str))
        tables = _tables(body, called, notes)
        if name == _LEFT_OUT:
            tables = [*_left_out(report, called, notes), *tables]
        elif name == _PAIRED:
            tables = [_paired(report, called, notes)]
        entries.append(Protocol(TITLES.get(name, plain(name)), remark, tables))
    return entries


def _left_out(report: Report, called: Mapping[str, str], notes: Notes) -> list[Table]:
    """For each metric a row per system that is left out: what the others say, and what it says alone."""
    removals = report.protocols.adem_table5 or protocols.SystemRemovals()
    statistics: tuple[Literal["spearman", "pearson"], ...] = ("spearman", "pearson")
    headings = [
        f"{which_answers}, {model.STATISTICS[which]}"
        for which_answers in ("without it", "its answers alone")
        for which in statistics
    ]
    return [
        Table(
            f"{called.get(name, plain(name))}: one system left out",
            ["System", *headings],
            [
                Line(
                    plain(each.system),
                    [
                        notes.figure(part.figure(which))
                        for part in (each.rest, each.removed)
                        for which in statistics
                    ],
                )
                for each in of.systems
            ],
        )
        for name, of in removals.metrics.items()
    ]


def _paired(report: Report, called: Mapping[str, str], notes: Notes) -> Table:
    """A row for each adapted metric and type of question: both correlations, and who wins how often."""
    headings = [
        "Metric",
        "Answers",
        "Adapted",
        "Plain",
        "Better",
        "p",
        "Better, by questions",
        "p, by questions",
    ]
    lines = []
    bootstrap = report.protocols.yang_bootstrap or protocols.PairedBootstrap()
    for name, of in (bootstrap.metrics or {}).items():
        for kind, test in of.tests.items():
            cells = [notes.plain(each, test.reason) for each in (test.n, test.adapted, test.plain)]
            for share in (test.answers, test.questions):
                better, p = (share.better, share.p) if share else (None, None)
                cells += [notes.plain(better, test.reason), notes.plain(p, test.reason)]
            lines.append(Line(f"{called.get(name, plain(name))}, {plain(kind)}", cells))
    return Table("Adapted against plain metrics", headings, lines)


def _tables(body: Mapping[str, Any], called: Mapping[str, str], notes: Notes) -> list[Table]:
    """A table of the plain values, then one for each part that has parts of its own."""
    elsewhere = ("reason", "note", "value")
    values = {name: each for name, each in body.items() if _is_plain(each) and name not in elsewhere}
    tables = []
    if values:
        lines = [
            Line(_capitalise_name(name), [notes.plain(each)])
            for name, each in values.items()
            if each is not None
        ]
        tables.append(Table("Parameters", ["Parameter", "Value"], lines))
    for name, part in body.items():
        if isinstance(part, Mapping) and not _is_plain(part):
            tables.append(_by_name(_capitalise_name(name), part, called, notes))
    return [each for each in tables if each]


def _by_name(caption: str, part: Mapping[str, Any], called: Mapping[str, str], notes: Notes) -> Table:
    flat = {name: _flat(each) for name, each in part.items()}
    entries = [(called.get(name, plain(name)), each) for name, each in flat.items()]
    headings = list(dict.fromkeys(key for _, each in entries for key in each))
    lines = [
        Line(name, [notes.plain(each[key]) if key in each else Cell("\u2013") for key in headings])
        for name, each in entries
    ]
    return Table(caption, ["Metric", *headings], lines if headings else [])


def _flat(node: Any, before: str = "") -> dict[str, Any]:
    """Figures and plain values under their paths in words; lists are left to the plots and the JSON."""
    if not isinstance(node, Mapping):
        return {before or "Value": node} if _is_plain(node) else {}
    leaves: dict[str, Any] = {}
    if "value" in node:
        leaves[before or "Value"] = {name: node.get(name) for name in ("value", "ci", "reason")}
    for name, each in node.items():
        if name in _IN_THE_FIGURE:
            continue
        path = f"{before}, {_capitalise_name(name).lower()}" if before else _capitalise_name(name)
        leaves.update(_flat(each, path))
    return leaves


def _is_plain(node: Any) -> bool:
    if isinstance(node, Mapping):
        return "value" in node
    return node is None or isinstance(node, str | int | float)


def _capitalise_name(name: str) -> str:
    title = plain(name.replace("_", " "))
    return title[:1].upper() + title[1:]


def figures_of(report: Report, points: Points = NONE) -> list[Plot]:
    """Every plot that the report has figures for, in reading order; `key` says what each one is.

    Keys are `correlation-1`, `significance-1`, `scatter-1`, `types`, `systems-1`, `length-bias`, and those of
    protocols; the numbers count from 1 within a kind.
    """
    called = labels(report)
    order = model.best_first(report.metrics, model.lead(report))
    plots = [
        *_numbered("correlation", correlations(report, order, called)),
        *_numbered("significance", significance(report, order, called)),
        *_numbered("scatter", scatters(report, points, order, called)),
        *types(report, order, called),
        *_numbered("systems", systems(report, order, called)),
        *length_bias(report, order, called),
        *protocol_plots(report, order, called),
    ]
    return [each for each in plots if each.rows]


def _numbered(kind: str, plots: Sequence[Plot]) -> list[Plot]:
    return [replace(each, key=f"{kind}-{at}") for at, each in enumerate(plots, start=1)]
