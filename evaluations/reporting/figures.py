"""The plots of an evaluation: the same on its page in the desk and in the report that stands alone."""

from collections.abc import Sequence
from dataclasses import replace

from evaluations.reporting import reader
from evaluations.reporting.agreement import correlations, significance
from evaluations.reporting.labels import labels
from evaluations.reporting.points import NONE, Points
from evaluations.reporting.protocols import protocol_plots
from evaluations.reporting.reader import Report
from evaluations.reporting.slices import length_bias, scatters, systems, types
from web.charts.plot import Plot


def figures_of(report: Report, points: Points = NONE) -> list[Plot]:
    """Every plot that the report has figures for, in reading order; `key` says what each one is.

    Keys are `correlation-1`, `significance-1`, `scatter-1`, `types`, `systems-1`, `length-bias`, and those of
    protocols; the numbers count from 1 within a kind.
    """
    called = labels(report)
    order = reader.best_first(reader.metrics(report), reader.lead(report))
    found = [
        *_numbered("correlation", correlations(report, order, called)),
        *_numbered("significance", significance(report, order, called)),
        *_numbered("scatter", scatters(report, points, order, called)),
        *types(report, order, called),
        *_numbered("systems", systems(report, order, called)),
        *length_bias(report, order, called),
        *protocol_plots(report, order, called),
    ]
    return [each for each in found if each.rows]


def _numbered(kind: str, plots: Sequence[Plot]) -> list[Plot]:
    return [replace(each, key=f"{kind}-{at}") for at, each in enumerate(plots, start=1)]
