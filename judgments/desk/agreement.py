"""The page of the honest report: live figures, the stored report as tables, plots and downloads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from crowd.access import StageAccess, on_stage
from crowd.models import Stage, Worker
from judgments.desk import downloads
from judgments.desk.downloads import signature
from judgments.judging_config import judging_config, labels_by_score
from judgments.models import AgreementReport
from judgments.score_classes import score_classes
from judgments.selectors.judges import histogram as judge_histogram
from judgments.selectors.judges import time_plot
from judgments.selectors.live import Live, SystemScore, in_force, live
from judgments.selectors.ratings import newer_than, scale_of
from judgments.selectors.scores import random_scores_caution
from judgments.services import reports
from judgments.services.reports import standing
from metrics.agreement.quotes import OVERALL
from metrics.figure import Figure
from web import chart_files, charts
from web.access import Role
from web.charts import Plot
from web.forms import FormError, run_action
from web.pages import show

# Rows of the Agreement page's tables: counts with their share, systems before and after filters.


@dataclass(frozen=True, slots=True)
class Share:
    """A count, its share of all in percent, and what was kept of it (None where nothing was filtered)."""

    label: str
    description: str
    count: int
    share: float
    kept_count: int | None = None
    score: float | int | str = ""


def counted(rows: Sequence[tuple[str, int]]) -> list[Share]:
    """Counts with their shares."""
    total = sum(count for _, count in rows) or 1
    return [Share(label, "", count, 100 * count / total) for label, count in rows]


def histogram(now: Live, report: Mapping[str, Any], labels: Mapping[str, str]) -> list[Share]:
    """How often each score was given, of a long scale each class; with what the run in force keeps of it.

    `labels` are those of scores, by the score as it is written.
    """
    kept_counts = (
        report.get("scores", {}).get("kept", {}) if report.get("recipe") not in (None, "none") else {}
    )
    counts = dict(now.histogram)
    total = sum(counts.values()) or 1
    rows = []
    for each in score_classes(now.scale):
        count = sum(counts[now.scale.number(step)] for step in each.steps)
        texts = [now.scale.text(step) for step in each.steps]
        label = ", ".join(labels[text] for text in texts if text in labels)
        left = sum(kept_counts.get(text, 0) for text in texts) if kept_counts else None
        rows.append(Share(str(each.name), label, count, 100 * count / total, left, each.name))
    return rows


@dataclass(frozen=True, slots=True)
class SystemRow:
    """A system before filtering, and after it where a run is in force."""

    system: str
    before: SystemScore
    after: SystemScore | None


def systems(now: Live) -> list[SystemRow]:
    """Systems, best first."""
    return [SystemRow(row.system, row, now.kept_scores.get(row.system)) for row in now.systems]


# The stored report as the page shows it: figures or reasons, never a bare alpha after a filter.

#: What removes, as researchers read it.
REASONS = {
    "duplicate": "judged the same answer again",
    "test account": "test account",
    "too fast": "too fast",
    "straight-lining": "always the same score",
    "attention checks": "failed attention checks",
    "kappa": "kappa below the limit",
    "z": "response far from the others (z)",
}


@dataclass(frozen=True, slots=True)
class AlphaRow:
    """Alpha at one step of the filters, with what must stand beside it."""

    name: str
    interval: Figure
    ci: tuple[float, float] | None
    ordinal: Figure
    nominal: Figure
    beside: tuple[tuple[str, Figure], ...]


@dataclass(frozen=True, slots=True)
class RemovedShare:
    """How much of a group was removed; `parts` by reason."""

    name: str
    ratings: int
    removed: int
    share: float | None
    parts: tuple[tuple[str, int, float | None], ...]


@dataclass(frozen=True, slots=True)
class PairTable:
    """Workers in the order of the table, and for each row the cells left of the diagonal."""

    names: list[tuple[int, str]]
    rows: list[tuple[int, str, list[tuple[int, float | None]]]]


@dataclass(frozen=True, slots=True)
class AspectRow:
    """Agreement about the overall score or an aspect at one step of the filters."""

    name: str
    step: str
    ratings: int
    alpha: Figure
    ci: tuple[float, float] | None
    kappa: Figure
    reliability: Figure
    pearson: Figure


@dataclass(frozen=True, slots=True)
class SourceRow:
    """The part of the judgments that came from one of several sources, and how far its people agree."""

    name: str
    ratings: int
    workers: int
    items: int
    shared: int
    mean: Figure
    flagged: Figure
    failed_checks: Figure
    alpha: Figure
    ci: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class View:
    """What the template needs of a report."""

    alphas: list[AlphaRow]
    half: Figure
    spearman_brown: Figure
    whole_sd: float | None
    whole_ci: tuple[float, float] | None
    cautions: list[str]
    splits: int
    agreement: list[tuple[str, Figure, Figure, Figure]]
    removed: RemovedShare
    by_system: list[RemovedShare]
    by_type: list[RemovedShare]
    by_source: list[RemovedShare]
    kept_figures: dict[str, Any]
    pairs: PairTable
    warnings: list[str]
    signatures: dict[str, str]
    differs: int
    annotators: dict[str, Any] | None
    aspects: list[AspectRow]
    sources: list[SourceRow]


def view_of(report: Mapping[str, Any], newest: AgreementReport | None) -> View | None:
    """The view of a stored report; None where there is none."""
    if newest is None or not report.get("n_ratings"):
        return None
    alpha, reliability, removed = report["alpha"], report["reliability"], report["removed"]
    return View(
        alphas=_alphas(alpha, report["recipe_details"]["rules"]),
        half=_read_figure(reliability, "split_half"),
        spearman_brown=_read_figure(reliability, "spearman_brown"),
        whole_sd=reliability.get("sd"),
        whole_ci=(ci[0], ci[1]) if (ci := reliability.get("ci")) else None,
        cautions=list(reliability.get("cautions", [])),
        splits=reliability.get("splits", 0),
        agreement=[
            (
                name,
                _read_figure(part, "percent"),
                _read_figure(part, "icc_single"),
                _read_figure(part, "icc_mean"),
            )
            for name, part in (
                ("before any filter", report["agreement"]["before"]),
                ("after removing workers", report["agreement"]["after_workers"]),
            )
        ],
        removed=_share("all", removed),
        by_system=[_share(row["system"], row) for row in removed.get("by_system", [])],
        by_type=[_share(row["type"], row) for row in removed.get("by_type", [])],
        by_source=[_share(row["source"], row) for row in removed.get("by_source", [])],
        kept_figures=report["kept"],
        pairs=_pairs(report.get("pairs", {"workers": [], "cells": []})),
        warnings=list(report.get("warnings", [])),
        signatures=dict(report.get("signatures", {})),
        differs=report.get("differs", 0),
        annotators=report.get("annotators"),
        aspects=list(aspect_view(report)),
        sources=[_source_row(row) for row in report.get("sources", ())],
    )


def _source_row(row: Mapping[str, Any]) -> SourceRow:
    return SourceRow(
        row["source"],
        row["n_ratings"],
        row["n_workers"],
        row["n_items"],
        row["shared_items"],
        _read_figure(row, "mean"),
        _read_figure(row, "flagged_share"),
        _read_figure(row, "failed_checks_share"),
        _read_figure(row, "alpha"),
        (ci[0], ci[1]) if (ci := row.get("ci")) else None,
    )


def aspect_view(report: Mapping[str, Any]) -> Iterator[AspectRow]:
    """A row for the overall score and each aspect, and another after workers were removed; none without
    aspects."""
    steps = {"before": "before any filter", "after_workers": "after removing workers"}
    if not report["alpha"]["after_workers"]["removes"]:
        del steps["after_workers"]
    for row in report.get("aspects", ()):
        for step, label in steps.items():
            part = row[step]
            yield AspectRow(
                "overall score" if row["aspect"] == OVERALL else row["aspect"],
                label,
                part["n_ratings"],
                _read_figure(part, "alpha"),
                (ci[0], ci[1]) if (ci := part.get("ci")) else None,
                _read_figure(part, "kappa"),
                _read_figure(part, "spearman_brown"),
                _read_figure(part, "pearson"),
            )


def _alphas(alpha: Mapping[str, Any], rules: list[str]) -> list[AlphaRow]:
    rows = [_alpha_row("before any filter", alpha["before"], ())]
    if rules:
        after = alpha["after_workers"]
        crossed = ("cross-fitted", _read_figure(after, "cross_fitted"))
        rows.append(_alpha_row("after removing workers", after, (crossed,)))
    if "z" in rules:
        after = alpha["after_z"]
        beside = (
            ("the same filter on noise", _read_figure(after, "null")),
            ("the same filter on crowds of your alpha", _read_figure(after, "expected")),
        )
        rows.append(_alpha_row("after removing responses by z", after, beside))
    return rows


def _alpha_row(name: str, part: Mapping[str, Any], beside: tuple[tuple[str, Figure], ...]) -> AlphaRow:
    ci = part.get("ci")
    return AlphaRow(
        name,
        _read_figure(part, "interval"),
        (ci[0], ci[1]) if ci else None,
        _read_figure(part, "ordinal"),
        _read_figure(part, "nominal"),
        beside,
    )


def _read_figure(part: Mapping[str, Any], name: str) -> Figure:
    return Figure(part.get(name), str(part.get("reason", {}).get(name, "")))


def _share(name: str, row: Mapping[str, Any]) -> RemovedShare:
    parts = tuple(
        (REASONS.get(reason, reason), each["removed"], each["share"])
        for reason, each in row["by_reason"].items()
    )
    return RemovedShare(name, row["n_ratings"], row["removed"], row["share"], parts)


def _pairs(pairs: Mapping[str, Any]) -> PairTable:
    worker_names = dict(Worker.objects.filter(pk__in=pairs["workers"]).values_list("pk", "external_id"))
    names = [(pk, worker_names.get(pk, "?")) for pk in pairs["workers"]]
    cells = pairs["cells"]
    rows = [(pk, name, [(n, kappa) for n, kappa in cells[at]]) for at, (pk, name) in enumerate(names)]
    return PairTable(names, rows)


# The page, its parts that reload by themselves, and its files.

FOLDER = "judgments"
PAGE = "judgments:agreement"


def judging_only(access: StageAccess) -> None:
    """Other kinds of stages have no judgments."""
    if access.stage.kind != "judging":
        raise Http404("Only judging stages have this page.")


@require_safe
@on_stage()
def agreement(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """The honest report on one page."""
    judging_only(access)
    return show(
        request,
        "agreement.html",
        access,
        folder=FOLDER,
        tab="agreement",
        simulated_caution=random_scores_caution(access.stage),
        **_live(access),
    )


@require_safe
@never_cache
@on_stage()
def agreement_live(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """The part of the page that changes by itself."""
    judging_only(access)
    return show(request, "parts/agreement_live.html", access, folder=FOLDER, **_live(access))


def _live(access: StageAccess) -> dict[str, Any]:
    stage = access.stage
    now = live(stage)
    run = in_force(stage) if now.stamp.run else None
    status = standing(stage, now.stamp)
    return {
        "now": now,
        "run": run,
        "newer": newer_than(stage, run.last_judgment) if run else 0,
        "made": status,
        "view": view_of(status.report, status.newest),
        "histogram": histogram(now, status.report, _labels(stage)),
        "scale": now.scale.description,
        "sizes": counted([(str(size), count) for size, count in now.sizes]),
        "spreads": counted(now.spreads),
        "systems": systems(now),
        "signed": downloads.signatures(now, status),
        "over": stage.status != Stage.Status.OPEN and not status.under_way,
    }


def _labels(stage: Stage) -> dict[str, str]:
    config = judging_config(stage)
    return labels_by_score(config.scale, config.labels, config.rating_scale)


@require_POST
@on_stage(Role.MANAGER)
def calculate(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Have the report worked out again: minutes of the server's time, so viewers only read it."""
    judging_only(access)

    def action() -> str:
        reports.ask(stage=access.stage)
        return "The report is being worked out. This page shows it as soon as it is there."

    return run_action(request, action, PAGE, access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER)
def cancel(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Stop working out the report; the newest one stays as it is."""
    judging_only(access)

    def action() -> str:
        if not reports.cancel(stage=access.stage):
            raise FormError("No report is being worked out at the moment.")
        return "The report is no longer worked out."

    return run_action(request, action, PAGE, access.project.slug, access.stage.slug)


@require_safe
@on_stage()
def report_json(request: HttpRequest, access: StageAccess) -> StreamingHttpResponse:
    """The whole newest report with its lists, as `manage.py filter` writes it; pseudonyms, no ids."""
    judging_only(access)
    row = AgreementReport.objects.filter(stage=access.stage).order_by("-created_at", "-pk").first()
    if row is None:
        raise Http404("No report was made yet.")
    answer = StreamingHttpResponse(reports.json_of(row), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{access.stage.slug}-report.json"'
    return answer


@require_safe
@on_stage()
def figure_csv(request: HttpRequest, access: StageAccess, *, figure: str) -> HttpResponse:
    """One figure of the page as CSV, with its signature in the first line."""
    judging_only(access)
    now = live(access.stage)
    table = downloads.figure(figure, now, standing(access.stage, now.stamp), access.project)
    if table is None:
        raise Http404("There is no such figure, or it was not worked out yet.")
    return downloads.answer(table, f"{access.stage.slug}-{figure}")


# Plots of the pages of a judging stage, from the same figures as their tables.


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
        if each.system in now.kept_scores:
            rows.append(row(charts.AFTER, now.kept_scores[each.system]))
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
    report = standing(stage, now.stamp).report if now.stamp.run else {}
    bars = histogram(now, report, {})
    rows = [{"score": bar.score, "step": charts.BEFORE, "judgments": bar.count} for bar in bars]
    rows += [
        {"score": bar.score, "step": charts.AFTER, "judgments": min(bar.count, bar.kept_count)}
        for bar in bars
        if bar.kept_count is not None
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
    times = time_plot(stage, worker)
    if times is None:
        return None
    rows = [
        {"time": name, "score": score, "judgments": count}
        for score, counts in times.rows
        for name, count in zip(times.classes, counts, strict=True)
    ]
    says = "Judgments by the time of their HIT, across, and the score, up; larger dots are more judgments."
    return charts.time_and_score(rows, says=says, signature=signature("time-and-score"))


def _beside(stage: Stage, worker: Worker) -> Plot:
    rows = [
        {"score": share.score, "who": who, "percent": round(percent, 2)}
        for share in judge_histogram(stage, worker)
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
