"""Plots of the judging stage's pages: from the same figures as their tables."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from crowd.desk.access import StageAccess, on_stage
from crowd.models import Stage, Worker
from judgments.desk import agreement
from judgments.desk.agreement import judging_only
from judgments.desk.downloads import signature
from judgments.selectors.judges import histogram, time_plot
from judgments.selectors.live import Live, SystemScore, live
from judgments.selectors.ratings import scale_of
from judgments.selectors.reports import standing
from web import chart_files
from web.charts import charts
from web.charts.plot import Plot


@require_safe
@on_stage()
def of_stage(request: HttpRequest, access: StageAccess, *, plot: str, form: str) -> HttpResponse:
    """A plot of the Agreement page."""
    judging_only(access)
    make = _OF_STAGE.get(plot)
    return chart_files.answer(
        request, make(access.stage, live(access.stage)) if make else None, f"{access.stage.slug}-{plot}", form
    )


@require_safe
@on_stage()
def of_judge(request: HttpRequest, access: StageAccess, *, pk: int, plot: str, form: str) -> HttpResponse:
    """A plot of a judge's page; it names nobody."""
    judging_only(access)
    worker = get_object_or_404(Worker.objects.filter(judgments__stage=access.stage).distinct(), pk=pk)
    make = _OF_JUDGE.get(plot)
    return chart_files.answer(
        request, make(access.stage, worker) if make else None, f"{access.stage.slug}-judge-{pk}-{plot}", form
    )


def _systems(stage: Stage, now: Live) -> Plot | None:
    low, high = scale_of(stage).ends

    def row(step: str, of: SystemScore) -> dict[str, Any]:
        ends = {"low": of.low, "high": of.high}
        within = {name: None if end is None else min(max(end, low), high) for name, end in ends.items()}
        return {"system": of.system, "step": step, "mean": of.mean, **within, "answers": of.items}

    rows = []
    for each in now.systems:
        rows.append(row(charts.BEFORE, each))
        if each.system in now.kept:
            rows.append(row(charts.AFTER, now.kept[each.system]))
    if not rows:
        return None
    best = now.systems[0]
    return charts.scores_by_system(
        rows,
        low=low,
        high=high,
        says=f"{len(now.systems)} systems, best first; {best.system} has {best.mean:.2f} before filters.",
        signature=signature("mean-of-item-means", interval="t-over-items", level=0.95),
    )


def _histogram(stage: Stage, now: Live) -> Plot:
    made = standing(stage, now.stamp).report if now.stamp.run else {}
    bars = agreement.histogram(now, made, {})
    rows = [{"score": bar.score, "step": charts.BEFORE, "judgments": bar.count} for bar in bars]
    rows += [
        {"score": bar.score, "step": charts.AFTER, "judgments": min(bar.count, bar.kept)}
        for bar in bars
        if bar.kept is not None
    ]
    most = max(now.histogram, key=lambda row: row[1], default=(0, 0))[0]
    says = f"{now.judgments} judgments; the score given most is {most}."
    return charts.scores_given(rows, says=says, signature=signature("histogram-of-scores"))


def _spread(_: Stage, now: Live) -> Plot:
    rows = [{"deviation": name, "answers": count} for name, count in now.spreads]
    says = "Answers by the standard deviation of their scores, those that all agree on first."
    return charts.spread(rows, says=says, signature=signature("sample-sd-per-item", least=2))


def _sizes(_: Stage, now: Live) -> Plot:
    rows = [{"judgments": size, "answers": count} for size, count in now.sizes]
    says = "Answers by how many judgments they have."
    return charts.sizes(rows, says=says, signature=signature("judgments-per-item"))


def _time(stage: Stage, worker: Worker) -> Plot | None:
    found = time_plot(stage, worker)
    if found is None:
        return None
    rows = [
        {"time": name, "score": score, "judgments": count}
        for score, counts in found.rows
        for name, count in zip(found.classes, counts, strict=True)
    ]
    says = "Judgments by the time of their HIT, across, and the score, up; larger dots are more judgments."
    return charts.time_and_score(rows, says=says, signature=signature("time-and-score"))


def _beside(stage: Stage, worker: Worker) -> Plot:
    rows = [
        {"score": share.score, "who": who, "percent": round(percent, 2)}
        for share in histogram(stage, worker)
        for who, percent in (("all judges", share.crowd), ("this judge", share.mine))
    ]
    says = "How often this judge gave each score, beside all judges together, in percent."
    return charts.judge_and_crowd(rows, says=says, signature=signature("scores-beside-the-crowd"))


_OF_STAGE: dict[str, Callable[[Stage, Live], Plot | None]] = {
    "systems": _systems,
    "histogram": _histogram,
    "spread": _spread,
    "sizes": _sizes,
}
_OF_JUDGE: dict[str, Callable[[Stage, Worker], Plot | None]] = {"time": _time, "scores": _beside}
