"""The tables of Lowe et al. 2017 for a metric that was trained, as the page shows them."""

from collections.abc import Mapping
from typing import Any

from evaluations.report.model import Report, mapping, number, rows, value
from evaluations.report.tables import (
    NOTHING,
    Cell,
    Line,
    Notes,
    Table,
    between,
    p_is,
    plain,
    probability,
    short,
    whole,
)

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


def table3(report: Report, called: Called, notes: Notes) -> list[Table]:
    """Metrics that need no training on all answers and on the test set; trained ones on two parts."""
    found = mapping(mapping(report.get("table3")).get("metrics"))
    tables = []
    for trained, caption, part, heading in (
        (True, "Trained", "validation", "Validation"),
        (False, "Not trained", "full", "All answers"),
    ):
        lines = []
        for name, of in found.items():
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


def table4(report: Report, called: Called, notes: Notes) -> Table:
    """Correlation of systems' means on the test set."""
    found = mapping(mapping(report.get("table4")).get("metrics"))
    lines = []
    for name, of in found.items():
        paper = number(_printed(report, "table4", name))
        lines.append(
            Line(
                called[name],
                [
                    *(_with_p(notes, found, name, which) for which in _BOTH),
                    notes.plain(value(of, "pearson").n),
                    Cell(NOTHING if paper is None else short(paper)),
                ],
            )
        )
    return Table("Systems", ["Metric", "Pearson", "Spearman", "Systems", f"{_PAPER}: Pearson"], lines)


def table5(report: Report, notes: Notes) -> Table:
    """ADEM trained without each system."""
    found = mapping(report.get("table5"))
    lines = [
        Line(
            plain(each.get("system")),
            [
                notes.plain(each.get("trained_on")),
                *(_with_p(notes, each, part, which) for part in ("full", "removed") for which in _BOTH),
                Cell(NOTHING),
            ],
        )
        for each in rows(found.get("systems"))
    ]
    average, chance = mapping(found.get("average")), mapping(found.get("at_random"))
    if lines:
        cells = [_with_p(notes, average, part, which) for part in ("full", "removed") for which in _BOTH]
        paper = _pair(mapping(_printed(report, "table5", "average", "full")))
        lines.append(Line("average", [Cell(NOTHING), *cells, paper], look="apart"))
        share, times = number(chance.get("share")) or 0, number(chance.get("times")) or 0
        paper = _pair(mapping(_printed(report, "table5", "at_random", "full")))
        cells = [_with_p(notes, {"it": chance}, "it", which) for which in _BOTH]
        words = f"{100 * share:.0f} % at random, mean of {whole(times)}"
        trained = notes.plain(chance.get("trained_on"))
        lines.append(Line(words, [trained, *cells, Cell(NOTHING), Cell(NOTHING), paper]))
    headings = [
        "Left out", "Trained on", "Test, Pearson", "Test, Spearman", "Its answers, Pearson",
        "Its answers, Spearman", f"{_PAPER}: test, Pearson / Spearman",
    ]  # fmt: skip
    return Table("One system left out of training", headings, lines)


def table6(report: Report, called: Called) -> Table:
    """The cascade: a line for each step, a column for each metric that is no overlap metric."""
    found = mapping(mapping(report.get("table6")).get("metrics"))
    trained = [name for name in found if mapping(mapping(report.get("metrics")).get(name)).get("trained")]
    paper = mapping(_printed(report, "table6"))
    lines = [
        Line(
            words,
            [
                *(Cell(whole(number(mapping(found[name]).get(key)) or 0)) for name in trained),
                Cell(whole(number(paper.get(key)) or 0)),
            ],
        )
        for key, words in _CASCADE.items()
    ]
    headings = ["", *(called[name] for name in trained), f"{_PAPER}: ADEM"]
    return Table("Good answers that overlap metrics miss", headings, lines if trained else [])


def table8(report: Report, called: Called, notes: Notes) -> Table:
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


def table14(report: Report, notes: Notes) -> Table:
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
                    Cell(whole(number(each.get("answers")) or 0)),
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


def folds(report: Report, called: Called, notes: Notes) -> list[Table]:
    """Agreement out of fold, differences to the best untrained metric, and single folds."""
    found = mapping(report.get("folds"))
    metrics = mapping(found.get("metrics"))

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
                Cell(str(each.get("statistic")).capitalize(), words=True),
                notes.figure(value({"it": each}, "it")),
                _p(each.get("p")),
                notes.plain(each.get("n")),
            ],
        )
        for each in rows(found.get("differences"))
    ]
    forms = [name for name, of in metrics.items() if mapping(of).get("trained")]
    single = [
        Line(
            f"fold {whole(number(each.get('fold')) or 0)}",
            [
                notes.plain(each.get("contexts")),
                notes.plain(each.get("answers")),
                *(_chosen(notes, each, name) for name in forms),
            ],
        )
        for each in rows(found.get("each"))
    ]
    return [
        Table(
            f"Agreement with people, scores {plain(found.get('pooled'))}",
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


def examples(report: Report, called: Called) -> list[Table]:
    """Answers as Tables 7, 9, 12 and 13 have them."""
    found = mapping(report.get("examples"))
    lead = called.get(str(report.get("lead")), "ADEM")
    captions = {
        "scored": f"Questions with answers, their human score and {lead}\u2019s (ADEM, Table 7)",
        "finds": f"People and {lead} find it good, overlap metrics bad (Table 9)",
        "misses": f"People and an overlap metric find it good, {lead} bad (Table 12)",
        "mistakes": f"{lead} finds it good, people and an overlap metric bad (Table 13)",
    }
    tables = []
    for kind, caption in captions.items():
        listed = rows(found.get(kind))
        names = list(mapping(listed[0].get("normalised"))) if listed else []
        plainly = kind == "scored"
        lines = [
            Line(
                _text(each.get("question")),
                [
                    Cell(_text(each.get("reference")), words=True),
                    Cell(_text(each.get("answer")), words=True),
                    _number(each.get("human")),
                    *(
                        [_number(each.get("score"))]
                        if plainly
                        else [_number(mapping(each.get("normalised")).get(name)) for name in names]
                    ),
                ],
                plain(each.get("system")) if each.get("system") else "",
            )
            for each in listed
        ]
        shown = [lead] if plainly else [f"|{called.get(name, name)}|" for name in names]
        tables.append(Table(caption, ["Question", "Reference", "Answer", "People", *shown], lines))
    return tables


def _printed(report: Report, *path: str) -> Any:
    found: Any = report.get("printed")
    for part in path:
        found = mapping(found).get(part)
    return found


def _with_p(notes: Notes, of: Mapping[str, Any], part: str, which: str) -> Cell:
    """A correlation with its interval and p below it."""
    found = value(of, part, which)
    if found.value is None:
        return notes.missing(found.reason)
    p = number(found.more.get("p"))
    ends = between(found.low, found.high) if found.low is not None and found.high is not None else ""
    small = " ".join(filter(None, (ends, p_is(p) if p is not None else "")))
    return Cell(short(found.value), small)


def _spread(notes: Notes, of: Mapping[str, Any], which: str) -> Cell:
    found = value(of, which)
    if found.value is None:
        return notes.missing(found.reason)
    low, high = number(found.more.get("low")), number(found.more.get("high"))
    p = number(found.more.get("p"))
    ends = f"{short(low)} to {short(high)}" if low is not None and high is not None else ""
    return Cell(short(found.value), " ".join(filter(None, (ends, p_is(p) if p is not None else ""))))


def _chosen(notes: Notes, of: Mapping[str, Any], name: str) -> Cell:
    found, chosen = value(of, name, "pearson"), mapping(mapping(of.get("chosen")).get(name))
    cell = notes.figure(found)
    words = ", ".join(f"{key} {chosen.get(key)}" for key in ("n", "penalty", "rate", "epoch"))
    return Cell(cell.text, words, cell.note, cell.why)


def _pair(of: Mapping[str, Any]) -> Cell:
    pearson, spearman = number(of.get("pearson")), number(of.get("spearman"))
    if pearson is None or spearman is None:
        return Cell(NOTHING)
    return Cell(f"{short(pearson)} / {short(spearman)}")


def _mean(of: Mapping[str, Any]) -> Cell:
    mean, n = number(of.get("mean")), number(of.get("n")) or 0
    return Cell(NOTHING if mean is None else short(mean), f"n = {whole(n)}")


def _p(given: Any) -> Cell:
    p = number(given)
    return Cell(NOTHING if p is None else probability(p))


def _number(given: Any) -> Cell:
    found = number(given)
    return Cell(NOTHING if found is None else short(found, 2))


def _text(given: Any) -> str:
    text = " ".join(str(given).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}\u2026"
