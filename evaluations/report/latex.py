"""The main figures of a report as a LaTeX table that needs no package."""

from collections.abc import Mapping, Sequence

from evaluations.report.parts import MetricEntry, Report

_SIGNS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
#: Title of a column, and where its figure stands in the entry of a metric.
_COLUMNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"Pearson $r$", ("pearson", "global")),
    (r"Spearman $\rho$", ("spearman", "global")),
    (r"Kendall $\tau_b$", ("kendall", "global")),
    (r"$\tau_b$ by question", ("kendall", "item")),
    ("pair acc.", ("pair_acc",)),
)


def table_of(report: Report) -> str:
    """`tabular` inside of `table`: a row per metric, three decimals, a dash where a figure does not exist.

    Comments name signature and seed, so that the table can be made again.
    """
    n = report.n
    simulated = report.simulated.what if report.simulated else ""
    note = rf" \textbf{{{escaped(simulated)}}}" if simulated else ""
    lines = [
        *([f"% {_comment(simulated)}"] if simulated else []),
        f"% {_comment(report.source or report.title)}",
        f"% distillery {_comment(report.distillery)}, seed {report.seed}",
        *(f"% {_comment(name)}: {_comment(each.signature)}" for name, each in report.metrics.items()),
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{l{'r' * len(_COLUMNS)}}}",
        r"\hline",
        _row(["metric", *(title for title, _path in _COLUMNS)]),
        r"\hline",
        *_rows(report.metrics),
    ]
    if report.floors:
        lines += [r"\hline", *_rows(report.floors)]
    lines += [
        r"\hline",
        r"\end{tabular}",
        rf"\caption{{Agreement of metrics with people on {escaped(report.title or 'the data')}: "
        rf"{n.scored:,} answers to {n.questions:,} questions.{note}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """A text as LaTeX prints it."""
    return "".join(_SIGNS.get(sign, sign) for sign in _line(text))


def _rows(entries: Mapping[str, MetricEntry]) -> list[str]:
    return [
        _row([escaped(name), *(_figure(entry, path) for _title, path in _COLUMNS)])
        for name, entry in entries.items()
    ]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _figure(entry: MetricEntry, path: Sequence[str]) -> str:
    value = entry.figure(*path).value
    return "--" if value is None else f"${value:.3f}$"


def _comment(text: str) -> str:
    return _line(text)


def _line(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)
