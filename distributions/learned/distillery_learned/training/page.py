"""The report on a trained metric as one page: the tables and figures of Lowe et al. 2017."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from django.template.loader import render_to_string

from distillery_learned.training.sources import Parts
from distillery_learned.training.summary import (
    StudyFigure,
    StudyReport,
    labels,
    mapping,
    rows,
    scale_of,
    value,
)
from evaluations.report.model import cleaned
from evaluations.report.page import by_kind, sheet
from evaluations.report.plots import drawn_of, fifths, rows_of, signature
from evaluations.report.tables import (
    NOTHING,
    Cell,
    Line,
    Notes,
    Table,
    between,
    format_whole,
    number,
    p_is,
    plain,
    probability,
    short,
)
from evaluations.table_evaluation import Points
from metrics.metaeval.data import Floats, ScoredAnswers
from metrics.metaeval.papers import normalised
from web import evaluation_charts as charts
from web.charts import Plot

Called = Mapping[str, str]
_BOTH = ("pearson", "spearman")
_PAPER = "Paper, its own data"
_CASCADE = {
    "answers": "Answers with all scores",
    "good": "People find good",
    "overlap_fails": "of these, all overlap metrics find bad",
    "metric_finds": "of these, the metric finds good",
    "metric_fails": "People find good, the metric finds bad",
    "overlap_finds": "of these, some overlap metric finds good",
}
_LONGEST = 400


def table3(report: StudyReport, called: Called, notes: Notes) -> list[Table]:
    """Metrics that need no training on all answers and on the test set; trained ones on two parts."""
    metrics = mapping(mapping(report.get("table3")).get("metrics"))
    tables = []
    for trained, caption, part, heading in (
        (True, "Trained", "validation", "Validation"),
        (False, "Not trained", "full", "All answers"),
    ):
        lines = []
        for name, of in metrics.items():
            if bool(of.get("trained")) is not trained:
                continue
            paper = mapping(_printed(report, "table3", name, "test"))
            cells = [_with_p(notes, of, where, which) for where in (part, "test") for which in _BOTH]
            lines.append(Line(called[name], [*cells, _pair(paper)]))
        headings = [
            "Metric", f"{heading}, Pearson", f"{heading}, Spearman", "Test, Pearson", "Test, Spearman",
            f"{_PAPER}: test, Pearson / Spearman",
        ]  # fmt: skip
        tables.append(Table(caption, headings, lines))
    return tables


def table4(report: StudyReport, called: Called, notes: Notes) -> Table:
    """Correlation of systems' means on the test set."""
    metrics = mapping(mapping(report.get("table4")).get("metrics"))
    lines = []
    for name, of in metrics.items():
        paper = number(_printed(report, "table4", name))
        lines.append(
            Line(
                called[name],
                [
                    *(_with_p(notes, metrics, name, which) for which in _BOTH),
                    notes.plain(value(of, "pearson").n),
                    Cell(NOTHING if paper is None else short(paper)),
                ],
            )
        )
    return Table("Systems", ["Metric", "Pearson", "Spearman", "Systems", f"{_PAPER}: Pearson"], lines)


def table5(report: StudyReport, notes: Notes) -> Table:
    """ADEM trained without each system."""
    section = mapping(report.get("table5"))
    lines = [
        Line(
            plain(each.get("system")),
            [
                notes.plain(each.get("trained_on")),
                *(_with_p(notes, each, part, which) for part in ("full", "removed") for which in _BOTH),
                Cell(NOTHING),
            ],
        )
        for each in rows(section.get("systems"))
    ]
    average, chance = mapping(section.get("average")), mapping(section.get("at_random"))
    if lines:
        cells = [_with_p(notes, average, part, which) for part in ("full", "removed") for which in _BOTH]
        paper = _pair(mapping(_printed(report, "table5", "average", "full")))
        lines.append(Line("average", [Cell(NOTHING), *cells, paper], look="apart"))
        share, times = number(chance.get("share")) or 0, number(chance.get("times")) or 0
        paper = _pair(mapping(_printed(report, "table5", "at_random", "full")))
        cells = [_with_p(notes, {"it": chance}, "it", which) for which in _BOTH]
        title = f"{100 * share:.0f} % at random, mean of {format_whole(times)}"
        trained = notes.plain(chance.get("trained_on"))
        lines.append(Line(title, [trained, *cells, Cell(NOTHING), Cell(NOTHING), paper]))
    headings = [
        "Left out", "Trained on", "Test, Pearson", "Test, Spearman", "Its answers, Pearson",
        "Its answers, Spearman", f"{_PAPER}: test, Pearson / Spearman",
    ]  # fmt: skip
    return Table("One system left out of training", headings, lines)


def table6(report: StudyReport, called: Called) -> Table:
    """The cascade: a line for each step, a column for each metric that is no overlap metric."""
    metrics = mapping(mapping(report.get("table6")).get("metrics"))
    trained = [name for name in metrics if mapping(mapping(report.get("metrics")).get(name)).get("trained")]
    paper = mapping(_printed(report, "table6"))
    lines = [
        Line(
            title,
            [
                *(Cell(format_whole(number(mapping(metrics[name]).get(key)) or 0)) for name in trained),
                Cell(format_whole(number(paper.get(key)) or 0)),
            ],
        )
        for key, title in _CASCADE.items()
    ]
    headings = ["", *(called[name] for name in trained), f"{_PAPER}: ADEM"]
    return Table("Good answers that overlap metrics miss", headings, lines if trained else [])


def table8(report: StudyReport, called: Called, notes: Notes) -> Table:
    """Means of answers near their references in length, and far."""
    lines = []
    for name, of in mapping(report.get("table8")).items():
        near, far = mapping(of.get("near")), mapping(of.get("far"))
        paper = mapping(_printed(report, "table8", name))
        printed = f"{paper['near']:g} / {paper['far']:g}, p {paper['p']}" if paper else NOTHING
        apart = value({"it": of}, "it")
        lines.append(
            Line(
                called.get(name, "people" if name == "human" else plain(name)),
                [
                    _mean(near),
                    _mean(far),
                    notes.figure(apart),
                    _p(of.get("welch_p")),
                    _p(of.get("permutation_p")),
                    Cell(printed),
                ],
            )
        )
    headings = [
        "Metric", "Near, mean", "Far, mean", "Difference", "Welch p", "Permutation p",
        f"{_PAPER}: near / far",
    ]  # fmt: skip
    return Table("Scores and length", headings, lines)


def table14(report: StudyReport, notes: Notes) -> Table:
    """ADEM trained on a share of the training contexts."""
    printed = {number(each.get("share")): each for each in rows(_printed(report, "table14"))}
    lines = []
    for each in rows(mapping(report.get("table14")).get("points")):
        share = number(each.get("share")) or 0
        lines.append(
            Line(
                f"{100 * share:.0f} %",
                [
                    notes.plain(each.get("contexts")),
                    Cell(format_whole(number(each.get("answers")) or 0)),
                    notes.plain(each.get("samples")),
                    *(_spread(notes, each, which) for which in _BOTH),
                    _pair(mapping(printed.get(share))),
                ],
            )
        )
    headings = [
        "Of the training questions", "Questions", "Answers", "Samples", "Pearson", "Spearman",
        f"{_PAPER}: Pearson / Spearman",
    ]  # fmt: skip
    return Table("Data efficiency", headings, lines)


def _error(of: object) -> Cell:
    error = number(mapping(of).get("squared_error"))
    return Cell(NOTHING if error is None else short(error, 2))


def folds(report: StudyReport, called: Called, notes: Notes) -> list[Table]:
    """Agreement out of fold, differences to the best untrained metric, and single folds."""
    section = mapping(report.get("folds"))
    metrics = mapping(section.get("metrics"))

    def first(name: str) -> tuple[bool, float, str]:
        at = value(metrics[name], "pearson").value
        return at is None, -(at or 0.0), name

    agreement = [
        Line(
            called[name],
            [*(_with_p(notes, metrics, name, which) for which in _BOTH), _error(metrics[name])],
            "out of fold" if mapping(metrics[name]).get("trained") else "not trained",
        )
        for name in sorted(metrics, key=first)
    ]
    differences = [
        Line(
            f"{called[str(each.get('a'))]} less {called[str(each.get('b'))]}",
            [
                Cell(str(each.get("statistic")).capitalize(), is_text=True),
                notes.figure(value({"it": each}, "it")),
                _p(each.get("p")),
                notes.plain(each.get("n")),
            ],
        )
        for each in rows(section.get("differences"))
    ]
    forms = [name for name, of in metrics.items() if mapping(of).get("trained")]
    single = [
        Line(
            f"fold {format_whole(number(each.get('fold')) or 0)}",
            [
                notes.plain(each.get("contexts")),
                notes.plain(each.get("answers")),
                *(_chosen_cell(notes, each, name) for name in forms),
            ],
        )
        for each in rows(section.get("each"))
    ]
    return [
        Table(
            f"Agreement with people, scores {plain(section.get('pooled'))}",
            ["Metric", "Pearson", "Spearman", "Squared error"],
            agreement,
        ),
        Table(
            "Difference to the best metric that is not trained",
            ["Metrics", "Correlation", "Difference", "p", "Answers"],
            differences,
        ),
        Table(
            "Each fold: Pearson, and what was chosen in it",
            ["Fold", "Questions", "Answers", *(called[name] for name in forms)],
            single,
        ),
    ]


def examples(report: StudyReport, called: Called) -> list[Table]:
    """Answers as Tables 7, 9, 12 and 13 have them."""
    section = mapping(report.get("examples"))
    lead = called.get(str(report.get("lead")), "ADEM")
    captions = {
        "scored": f"Questions with answers, their human score and {lead}\u2019s (ADEM, Table 7)",
        "finds": f"People and {lead} find it good, overlap metrics bad (Table 9)",
        "misses": f"People and an overlap metric find it good, {lead} bad (Table 12)",
        "mistakes": f"{lead} finds it good, people and an overlap metric bad (Table 13)",
    }
    tables = []
    for kind, caption in captions.items():
        entries = rows(section.get(kind))
        names = list(mapping(entries[0].get("normalised"))) if entries else []
        plainly = kind == "scored"
        lines = [
            Line(
                _text(each.get("question")),
                [
                    Cell(_text(each.get("reference")), is_text=True),
                    Cell(_text(each.get("answer")), is_text=True),
                    _number(each.get("human")),
                    *(
                        [_number(each.get("score"))]
                        if plainly
                        else [_number(mapping(each.get("normalised")).get(name)) for name in names]
                    ),
                ],
                plain(each.get("system")) if each.get("system") else "",
            )
            for each in entries
        ]
        value_heads = [lead] if plainly else [f"|{called.get(name, name)}|" for name in names]
        tables.append(Table(caption, ["Question", "Reference", "Answer", "People", *value_heads], lines))
    return tables


def _printed(report: StudyReport, *path: str) -> Any:
    node: Any = report.get("printed")
    for part in path:
        node = mapping(node).get(part)
    return node


def _with_p(notes: Notes, of: Mapping[str, Any], part: str, which: str) -> Cell:
    """A correlation with its interval and p below it."""
    figure = value(of, part, which)
    if figure.value is None:
        return notes.missing(figure.reason)
    p = number(figure.more.get("p"))
    ends = between(figure.low, figure.high) if figure.low is not None and figure.high is not None else ""
    small = " ".join(filter(None, (ends, p_is(p) if p is not None else "")))
    return Cell(short(figure.value), small)


def _spread(notes: Notes, of: Mapping[str, Any], which: str) -> Cell:
    figure = value(of, which)
    if figure.value is None:
        return notes.missing(figure.reason)
    low, high = number(figure.more.get("low")), number(figure.more.get("high"))
    p = number(figure.more.get("p"))
    ends = f"{short(low)} to {short(high)}" if low is not None and high is not None else ""
    return Cell(short(figure.value), " ".join(filter(None, (ends, p_is(p) if p is not None else ""))))


def _chosen_cell(notes: Notes, of: Mapping[str, Any], name: str) -> Cell:
    figure, trial = value(of, name, "pearson"), mapping(mapping(of.get("chosen")).get(name))
    cell = notes.figure(figure)
    settings_text = ", ".join(f"{key} {trial.get(key)}" for key in ("n", "penalty", "rate", "epoch"))
    return Cell(cell.text, settings_text, cell.note, cell.why)


def _pair(of: Mapping[str, Any]) -> Cell:
    pearson, spearman = number(of.get("pearson")), number(of.get("spearman"))
    if pearson is None or spearman is None:
        return Cell(NOTHING)
    return Cell(f"{short(pearson)} / {short(spearman)}")


def _mean(of: Mapping[str, Any]) -> Cell:
    mean, n = number(of.get("mean")), number(of.get("n")) or 0
    return Cell(NOTHING if mean is None else short(mean), f"n = {format_whole(n)}")


def _p(raw: Any) -> Cell:
    p = number(raw)
    return Cell(NOTHING if p is None else probability(p))


def _number(raw: Any) -> Cell:
    parsed = number(raw)
    return Cell(NOTHING if parsed is None else short(parsed, 2))


def _text(raw: Any) -> str:
    text = " ".join(str(raw).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}\u2026"


def points_of(
    answers: ScoredAnswers, parts: Parts, trained: tuple[str, ...], scale: tuple[float, float]
) -> dict[str, Points]:
    """Figure 3: scores with the mean and spread of people's; of trained metrics those of the test set."""
    points = {}
    for name, values in answers.metrics.items():
        rows = parts.test if name in trained else np.arange(len(answers))
        adjusted = normalised(values[rows], answers.human[rows], scale)
        points[name] = Points(_list_values(answers.human[rows]), {name: _list_values(adjusted)}, of=len(rows))
    return points


def figures_of(report: StudyReport, points: Mapping[str, Points], called: Called) -> list[Plot]:
    """Every plot that there are figures for; `key` says what each one is."""
    plots = [
        *_numbered("scatter", _scatters(report, points, called)),
        *_numbered("systems", _systems(report, called)),
        *_numbered("learning-epochs", _epochs(report, called)),
        *_numbered("learning-curve", _curves(report)),
    ]
    return [each for each in plots if each.rows]


def _scatters(report: StudyReport, points: Mapping[str, Points], called: Called) -> list[Plot]:
    low, high = scale_of(report)
    seed = int(number(report.get("seed")) or 0)
    most = drawn_of(len(points))
    plots = []
    for name, of in points.items():
        points_drawn = rows_of(of, name, scale=(low, high), most=most, seed=seed)
        if not points_drawn:
            continue
        means = fifths(of.pairs(name))
        where = (
            "test set" if mapping(mapping(report.get("metrics")).get(name)).get("trained") else "all answers"
        )
        n = min(most, len(of.pairs(name)))
        says = (
            f"{called[name]}, normalised, across, human score up, {where} ({format_whole(len(of))} answers): "
            f"the mean of people goes from {short(means[0]['human'], 2)} in the lowest fifth to "
            f"{short(means[-1]['human'], 2)} in the highest."
        )
        signature_text = signature(
            report["distillery"], "scatter", jitter="uniform", seed=seed, drawn=n, normalised="yes"
        )
        plots.append(
            charts.metric_and_human(
                points_drawn, title=f"{called[name]}, {where}", low=low, high=high, says=says,
                signature=signature_text, table=means,
            )
        )  # fmt: skip
    return plots


def _systems(report: StudyReport, called: Called) -> list[Plot]:
    plots = []
    for name, of in mapping(mapping(report.get("table4")).get("metrics")).items():
        entries = [
            {
                "system": plain(each.get("system")),
                "metric": number(each.get("metric")),
                "human": number(each.get("human")),
                "low": None,
                "high": None,
            }
            for each in rows(mapping(of).get("points"))
        ]
        defined = [each for each in entries if each["metric"] is not None and each["human"] is not None]
        if len(defined) < 2:
            continue
        r = value(of, "pearson")
        agrees = f"Pearson {short(r.value)}" if r.value is not None else f"no correlation: {r.reason}"
        says = f"Mean scores of {len(defined)} systems on the test set, {called[name]} normalised: {agrees}."
        signature_text = signature(report["distillery"], "adem-figure4")
        table = [
            {"system": each["system"], "metric": each["metric"], "people": each["human"]} for each in defined
        ]
        plot = charts.systems(
            defined, title=f"{called[name]}, normalised", says=says, signature=signature_text
        )
        plots.append(replace(plot, title=called[name], table=table))
    return plots


def _epochs(report: StudyReport, called: Called) -> list[Plot]:
    plots = []
    for form, of in mapping(report.get("watched")).items():
        history = rows(of)
        best = int(number(mapping(mapping(report.get("chosen")).get(form)).get("epoch")) or 0)
        points_drawn = [
            {"epoch": number(each.get("epoch")), "statistic": title, "value": number(each.get(which))}
            for which, title in (("pearson", "Pearson"), ("spearman", "Spearman"))
            for each in history
        ]
        by_epoch = {int(number(each.get("epoch")) or 0): number(each.get("pearson")) for each in history}
        if len(by_epoch) < 2:
            continue
        first, kept_value = by_epoch.get(0), by_epoch.get(best)
        says = f"{called[form]} on the test set as it trains; the line is at epoch {best}, which was kept"
        if first is not None and kept_value is not None:
            says += f": Pearson {short(first)} before training, {short(kept_value)} there"
        table = [
            {"epoch": each.get("epoch"), "Pearson": each.get("pearson"), "Spearman": each.get("spearman")}
            for each in history
        ]
        signature_text = signature(
            report["distillery"], "adem-figure7", n=mapping(mapping(report.get("chosen")).get(form)).get("n")
        )
        plots.append(
            charts.epochs(
                points_drawn,
                title=called[form],
                best=best,
                says=f"{says}.",
                signature=signature_text,
                table=table,
            )
        )
    return plots


def _curves(report: StudyReport) -> list[Plot]:
    plots = []
    section = mapping(report.get("table14"))
    for which, title in (("pearson", "Pearson"), ("spearman", "Spearman")):
        points: list[dict[str, Any]] = []
        for each in rows(section.get("points")):
            figure, x = value(each, which), number(each.get("contexts"))
            if figure.value is not None and x is not None:
                low, high = (number(figure.more.get(end)) for end in ("low", "high"))
                points.append({"metric": "ADEM", "x": x, "value": figure.value, "low": low, "high": high})
        if len(points) < 2:
            continue
        first, last = points[-1], points[0]
        says = (
            f"{title} on the test set is {short(first['value'])} when trained on {format_whole(first['x'])} "
            f"questions and {short(last['value'])} on {format_whole(last['x'])}; the band goes from the "
            "lowest sample to the highest."
        )
        signature_text = signature(report["distillery"], "adem-table14", times=section.get("times"))
        plot = charts.curve(
            points, title=title, across="questions of training", up=title, says=says, signature=signature_text
        )
        table = [
            {"questions": each["x"], title: each["value"], "from": each["low"], "to": each["high"]}
            for each in points
        ]
        plots.append(replace(plot, table=table))
    return plots


def _numbered(kind: str, plots: list[Plot]) -> list[Plot]:
    return [replace(each, key=f"{kind}-{at}") for at, each in enumerate(plots, start=1)]


def _list_values(values: Floats) -> list[float | None]:
    return [None if np.isnan(each) else float(each) for each in values]


_PARTS = {"train": "training", "validation": "validation", "test": "test"}
_LEVEL = 0.05


def page_of(report: StudyReport, points: Mapping[str, Points]) -> str:
    """The page as HTML; the templates escape texts of the data, and figures that are missing say why."""
    return render_to_string("learned/study.html", {**context_of(report, points), "sheet": sheet()})


def context_of(report: StudyReport, points: Mapping[str, Points]) -> dict[str, Any]:
    """The context of `templates/learned/study.html`."""
    report = cleaned(report)
    called = {**_titles(report.get("yardsticks")), **labels(report)}
    notes = Notes()
    first, *more = answer(report, called)
    sections = {
        "folds": folds(report, called, notes) if report.get("folds") else [],
        "table3": table3(report, called, notes),
        "table4": table4(report, called, notes),
        "table5": table5(report, notes),
        "table6": table6(report, called),
        "table8": table8(report, called, notes),
        "table14": table14(report, notes),
        "examples": examples(report, called),
        "chosen": _tabulate_trials(report, called, notes),
        "made": _tabulate_training(report, called),
    }
    reasons = {
        name: str(mapping(report.get(name)).get("reason") or "")
        for name in ("table4", "table5", "table6", "table14")
    }
    return {
        "report": report,
        "title": plain(report.get("title") or "ADEM"),
        "sentence": first,
        "more": more,
        "figures": by_kind(figures_of(report, points, called)),
        "tables": sections,
        "reasons": reasons,
        "has_tables": "table8" in report,
        "overlap": [called.get(str(name), str(name)) for name in _names(report, "overlap")],
        "bounds": [f"{number(mapping(report.get('table6')).get(name)) or 0:g}" for name in ("low", "high")],
        "counts": _counts(report),
        "facts": _facts(report),
        "alpha": "",
        "notes": list(notes.reasons),
    }


def _titles(section: object) -> dict[str, str]:
    return {str(name): plain(title) for name, title in mapping(section).items()}


def answer(report: StudyReport, called: Called) -> list[str]:
    """One sentence after another, the answer first."""
    lead = str(report.get("lead"))
    if report.get("folds"):
        return _crossed(mapping(report.get("folds")), lead, called)
    figure = value(report, "table3", "metrics", lead, "test", "pearson")
    sentences = [f"{called[lead]} on answers to questions that it has not seen: {_figure(figure)}."]
    for other in [*_others(report, lead), "embedding"]:
        beside = value(report, "table3", "metrics", other, "test", "pearson")
        sentences.append(f"{called.get(other, other)} on the same answers: {_figure(beside)}.")
    return sentences


def _crossed(section: Mapping[str, Any], lead: str, called: Called) -> list[str]:
    rival = str(section.get("rival"))
    own, other = (value(section, "metrics", name, "pearson") for name in (lead, rival))
    sentences = [
        f"In {section.get('folds')}-fold cross-validation by question {called[lead]} agrees with people at "
        f"{_figure(own)}; {called.get(rival, 'no metric')}, the best metric that needs no training, at "
        f"{_figure(other)}."
    ]
    for each in rows(section.get("differences")):
        if each.get("statistic") != "pearson":
            continue
        apart, p = value({"it": each}, "it"), number(each.get("p"))
        name = called[str(each.get("a"))]
        if apart.value is None or p is None:
            sentences.append(f"{name} cannot be compared with it: {apart.reason}.")
            continue
        better = name if apart.value > 0 else called[rival]
        verdict = f"{better} is better" if p < _LEVEL else "no significant difference"
        sentences.append(f"{name} less {called[rival]}: {_plain(apart)}, {p_is(p)}: {verdict}.")
    return sentences


def _others(report: StudyReport, lead: str) -> list[str]:
    """The other forms, and the untrained metric that agrees best on the test set."""
    entries = mapping(mapping(report.get("table3")).get("metrics"))
    forms = [name for name, of in entries.items() if of.get("trained") and name != lead]
    values = {
        name: value(of, "test", "pearson").value
        for name, of in entries.items()
        if not of.get("trained") and name != "embedding"
    }
    defined = {name: number_found for name, number_found in values.items() if number_found is not None}
    return [*forms, *([max(defined, key=lambda name: defined[name])] if defined else [])]


def _figure(figure: StudyFigure) -> str:
    if figure.value is None:
        return f"no correlation ({figure.reason})"
    n = f" over {format_whole(figure.n)} answers" if figure.n else ""
    return f"r\u00a0=\u00a0{_plain(figure)}{n}"


def _plain(figure: StudyFigure) -> str:
    ends = (
        f" {between(figure.low, figure.high)}" if figure.low is not None and figure.high is not None else ""
    )
    return f"{short(figure.value or 0.0)}{ends}"


def _tabulate_trials(report: StudyReport, called: Called, notes: Notes) -> Table:
    """What was tried on validation, and what was chosen."""
    lines = []
    for form, of in mapping(report.get("chosen")).items():
        for each in rows(mapping(of).get("tried")):
            is_best = all(each.get(name) == of.get(name) for name in ("n", "penalty", "rate"))
            lines.append(
                Line(
                    called.get(form, form),
                    [
                        *(
                            notes.plain(each.get(name))
                            for name in ("n", "penalty", "rate", "epoch", "validation")
                        ),
                        notes.plain(each.get("pearson")),
                        Cell("chosen" if is_best else "", is_text=True),
                    ],
                )
            )
    headings = [
        "Form",
        "n",
        "Penalty",
        "Rate",
        "Epoch",
        "Squared error, validation",
        "Pearson, validation",
        "",
    ]
    return Table("What was tried on validation", headings, lines)


def _tabulate_training(report: StudyReport, called: Called) -> Table:
    lines = [
        Line(called[name], [Cell(str(mapping(of).get("signature") or "\u2013"), is_text=True)])
        for name, of in mapping(report.get("metrics")).items()
    ]
    return Table("Signatures", ["Metric", "Signature"], lines)


def _counts(report: StudyReport) -> list[tuple[str, str]]:
    n = mapping(report.get("n"))
    renamed = {"contexts": "questions"}
    counts = [
        (renamed.get(name, name), format_whole(count))
        for name in ("answers", "contexts", "systems")
        if (count := number(n.get(name))) is not None
    ]
    for part, called in _PARTS.items():
        of = mapping(mapping(report.get("split")).get(part))
        answers, contexts = number(of.get("answers")) or 0, number(of.get("contexts")) or 0
        counts.append((f"{called} answers", f"{format_whole(answers)} to {format_whole(contexts)} questions"))
    return counts


def _facts(report: StudyReport) -> list[tuple[str, str]]:
    encoder, settings = mapping(report.get("encoder")), mapping(report.get("settings"))
    trained = mapping(report.get("model"))
    low, high = scale_of(report)
    files = [
        f"{name} sha256 {digest}"
        for source in rows(report.get("sources"))
        for name, digest in mapping(source.get("files")).items()
    ]
    left = [
        f"{format_whole(number(count) or 0)} with {why}"
        for why, count in mapping(report.get("left_out")).items()
    ]
    seconds = mapping(report.get("seconds"))
    pairs = [
        ("Data", report.get("source")),
        ("Files", ", ".join(files)),
        ("Left out", ", ".join(left)),
        ("Model", trained.get("signature")),
        ("Encoder", f"{encoder.get('name')} ({encoder.get('kind')}, {str(encoder.get('digest'))[:12]})"),
        ("Training", ", ".join(f"{name} {_format_setting(fact)}" for name, fact in settings.items())),
        ("Scale of the human scores", f"{low:g} to {high:g}"),
        ("Profile of untrained metrics", report.get("profile")),
        ("Seed", report.get("seed")),
        ("Bootstrap replicates of each interval", report.get("replicates")),
        ("Draws of each permutation test", report.get("draws")),
        ("Seconds", ", ".join(f"{name} {each:g}" for name, each in seconds.items())),
        ("Distillery", report.get("distillery")),
        ("Versions", ", ".join(f"{name} {each}" for name, each in mapping(report.get("versions")).items())),
    ]
    return [
        (name, f"{fact:,}" if isinstance(fact, int) else str(fact))
        for name, fact in pairs
        if fact is not None and fact != ""
    ]


def _format_setting(setting: object) -> str:
    if isinstance(setting, bool):
        return "yes" if setting else "no"
    return "/".join(map(str, setting)) if isinstance(setting, list) else str(setting)


def _names(report: StudyReport, name: str) -> list[object]:
    names = mapping(report.get("table6")).get(name)
    return list(names) if isinstance(names, list) else []
