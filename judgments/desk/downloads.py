"""Figures as CSV: the signature in the first line, cells that no spreadsheet runs, pseudonyms for workers."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpResponse

from core.files.cells import cell
from core.projects.models import Project
from crowd.selectors.pseudonyms import worker_pseudonyms
from judgments.selectors.live import Live
from judgments.services.reports import ReportStatus

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A figure's data, and the method that made it."""

    signature: str
    header: Sequence[str]
    rows: Iterable[Row]


def answer(table: Table, name: str) -> HttpResponse:
    """The table as a file."""
    out = io.StringIO()
    writer = csv.writer(out)
    out.write(f"# {table.signature}\n")
    writer.writerow(table.header)
    writer.writerows(
        [cell(value) if isinstance(value, str) else value for value in row] for row in table.rows
    )
    response = HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def signature(method: str, **parameters: Any) -> str:
    """Method, parameters and version in one line."""
    return "|".join(
        [
            method,
            *(f"{name}={value}" for name, value in parameters.items()),
            f"distillery={settings.DISTILLERY_VERSION}",
        ]
    )


def figure(name: str, now: Live, status: ReportStatus, project: Project) -> Table | None:
    """A figure by its name; None where there is none of this name, or no report yet."""
    if name in LIVE:
        return LIVE[name](now, status)
    if name == "pairs" and status.newest:
        return _pairs(status, project)
    return MADE[name](status.report) if name in MADE and status.newest else None


def _now(now: Live, _: ReportStatus) -> Table:
    rows = [(f"alpha {level}", alpha.value, alpha.reason) for level, alpha in now.alpha.items()]
    others = (("percent agreement", now.percent), ("ICC(1)", now.icc), ("ICC(1,k)", now.icc_mean))
    rows += [(label, alpha.value, alpha.reason) for label, alpha in others]
    return Table(signature("before-filters", judgments=now.judgments), ("figure", "value", "reason"), rows)


def _histogram(now: Live, status: ReportStatus) -> Table:
    kept_counts = status.report.get("scores", {}).get("kept", {})
    rows = [(score, count, kept_counts.get(str(score))) for score, count in now.histogram]
    return Table(signature("histogram-of-scores"), ("score", "judgments", "kept by the report's run"), rows)


def _spread(now: Live, _: ReportStatus) -> Table:
    return Table(signature("sample-sd-per-item", least=2), ("standard deviation", "items"), now.spreads)


def _sizes(now: Live, _: ReportStatus) -> Table:
    return Table(signature("judgments-per-item"), ("judgments", "items"), now.sizes)


def _systems(now: Live, _: ReportStatus) -> Table:
    rows = []
    for row in now.systems:
        kept_score = now.kept_scores.get(row.system)
        after = (
            (kept_score.items, kept_score.mean, kept_score.low, kept_score.high)
            if kept_score
            else (None,) * 4
        )
        rows.append((row.system, row.items, row.mean, row.low, row.high, *after))
    header = (
        "system", "items", "mean", "low", "high", "kept items", "kept mean", "kept low", "kept high",
    )  # fmt: skip
    return Table(signature("mean-of-item-means", interval="t-over-items", level=0.95), header, rows)


LIVE = {"now": _now, "histogram": _histogram, "spread": _spread, "sizes": _sizes, "systems": _systems}


def _alpha(report: dict[str, Any]) -> Table:
    rows = []
    for step, part in report["alpha"].items():
        low, high = part.get("ci") or (None, None)
        names = ("interval", "ordinal", "nominal", "cross_fitted", "null", "expected")
        rows += [
            (step, name, part[name], *((low, high) if name == "interval" else (None, None)),
             part.get("reason", {}).get(name, ""))
            for name in names if name in part
        ]  # fmt: skip
    signatures = report["signatures"]
    return Table(
        f"{signatures['alpha']} {signatures['ci']} {signatures['filter']}",
        ("step", "figure", "value", "low", "high", "reason"),
        rows,
    )


def _reliability(report: dict[str, Any]) -> Table:
    part = report["reliability"]
    low, high = part.get("ci") or (None, None)
    figures = {
        name: part.get(name)
        for name in ("split_half", "spearman_brown", "sd", "splits", "items", "removed_workers")
    }
    rows = [
        (name, value, part.get("reason", {}).get("ci" if name in ("low", "high") else name, ""))
        for name, value in (figures | {"low": low, "high": high}).items()
    ]
    return Table(report["signatures"]["reliability"], ("figure", "value", "reason"), rows)


def _agreement(report: dict[str, Any]) -> Table:
    rows = [
        (step, name, part.get(name), part.get("reason", {}).get(name, ""))
        for step, part in report["agreement"].items()
        for name in ("percent", "icc_single", "icc_mean")
    ]
    return Table(report["signatures"]["icc"], ("step", "figure", "value", "reason"), rows)


def _aspects(report: dict[str, Any]) -> Table | None:
    if not report.get("aspects"):
        return None
    names = ("n_ratings", "n_items", "workers", "alpha", "kappa", "split_half", "spearman_brown", "pearson")
    rows = [
        (
            row["aspect"], step, name, row[step].get(name),
            *((row[step].get("ci") or (None, None)) if name == "alpha" else (None, None)),
            row[step].get("reason", {}).get(name, ""),
        )
        for row in report["aspects"]
        for step in ("before", "after_workers")
        for name in names
    ]  # fmt: skip
    header = ("aspect", "step", "figure", "value", "low", "high", "reason")
    return Table(report["signatures"]["aspects"], header, rows)


_SOURCE_FIGURES = (
    "n_ratings", "n_items", "n_workers", "shared_items", "items_with_others", "mean", "flagged",
    "flagged_share", "mean_kept", "failed_checks_share", "alpha",
)  # fmt: skip


def _by_source(report: dict[str, Any]) -> Table | None:
    if not report.get("sources"):
        return None
    rows = [
        (
            row["source"], name, row.get(name),
            *((row.get("ci") or (None, None)) if name == "alpha" else (None, None)),
            row.get("reason", {}).get(name, ""),
        )
        for row in report["sources"]
        for name in _SOURCE_FIGURES
    ]  # fmt: skip
    return Table(
        report["signatures"]["sources"], ("source", "figure", "value", "low", "high", "reason"), rows
    )


def _removed(report: dict[str, Any]) -> Table:
    groups = [("all", "", report["removed"])]
    kinds = ("system", "type", "source")
    groups += [(kind, row[kind], row) for kind in kinds for row in report["removed"].get(f"by_{kind}", [])]
    rows = [
        (kind, name, reason, row["n_ratings"], part["removed"], part["share"])
        for kind, name, row in groups
        for reason, part in row["by_reason"].items()
    ]
    return Table(
        report["signatures"]["filter"], ("group", "name", "reason", "ratings", "removed", "share"), rows
    )


def _kept_per_item(report: dict[str, Any]) -> Table:
    rows = [(int(size), items) for size, items in report["kept"].get("items_by_n", {}).items()]
    return Table(report["signatures"]["filter"], ("kept judgments", "items"), sorted(rows))


MADE = {
    "alpha": _alpha,
    "reliability": _reliability,
    "agreement": _agreement,
    "aspects": _aspects,
    "sources": _by_source,
    "removed": _removed,
    "kept": _kept_per_item,
}


def signatures(now: Live, status: ReportStatus) -> dict[str, str]:
    """The signatures of figures that are worked out here, by the figure's name."""
    return {name: build(now, status).signature for name, build in LIVE.items()} | {
        "pairs": _pairs_signature()
    }


def _pairs_signature() -> str:
    return signature("cohen-kappa", weights="quadratic", pairs="busiest")


def _pairs(status: ReportStatus, project: Project) -> Table:
    pairs = status.report.get("pairs", {"workers": [], "cells": []})
    pseudonyms = worker_pseudonyms(project, pairs["workers"])
    names = [pseudonyms[pk] for pk in pairs["workers"]]
    rows = [
        (names[i], names[j], common, kappa)
        for i, row in enumerate(pairs["cells"])
        for j, (common, kappa) in enumerate(row)
    ]
    return Table(
        _pairs_signature(),
        ("worker", "other", "common items", "kappa"),
        rows,
    )
