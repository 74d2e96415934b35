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


def figure(name: str, now: Live, made: ReportStatus, project: Project) -> Table | None:
    """A figure by its name; None where there is none of this name, or no report yet."""
    if name in LIVE:
        return LIVE[name](now, made)
    if name == "pairs" and made.newest:
        return _pairs(made, project)
    return MADE[name](made.report) if name in MADE and made.newest else None


def _now(now: Live, _: ReportStatus) -> Table:
    rows = [(f"alpha {level}", found.value, found.reason) for level, found in now.alpha.items()]
    others = (("percent agreement", now.percent), ("ICC(1)", now.icc), ("ICC(1,k)", now.icc_mean))
    rows += [(label, found.value, found.reason) for label, found in others]
    return Table(signature("before-filters", judgments=now.judgments), ("figure", "value", "reason"), rows)


def _histogram(now: Live, made: ReportStatus) -> Table:
    kept = made.report.get("scores", {}).get("kept", {})
    rows = [(score, count, kept.get(str(score))) for score, count in now.histogram]
    return Table(signature("histogram-of-scores"), ("score", "judgments", "kept by the report's run"), rows)


def _spread(now: Live, _: ReportStatus) -> Table:
    return Table(signature("sample-sd-per-item", least=2), ("standard deviation", "items"), now.spreads)


def _sizes(now: Live, _: ReportStatus) -> Table:
    return Table(signature("judgments-per-item"), ("judgments", "items"), now.sizes)


def _systems(now: Live, _: ReportStatus) -> Table:
    rows = []
    for row in now.systems:
        kept = now.kept.get(row.system)
        after = (kept.items, kept.mean, kept.low, kept.high) if kept else (None,) * 4
        rows.append((row.system, row.items, row.mean, row.low, row.high, *after))
    header = (
        "system", "items", "mean", "low", "high", "kept items", "kept mean", "kept low", "kept high",
    )  # fmt: skip
    return Table(signature("mean-of-item-means", interval="t-over-items", level=0.95), header, rows)


LIVE = {"now": _now, "histogram": _histogram, "spread": _spread, "sizes": _sizes, "systems": _systems}


def _alpha(said: dict[str, Any]) -> Table:
    rows = []
    for step, part in said["alpha"].items():
        low, high = part.get("ci") or (None, None)
        names = ("interval", "ordinal", "nominal", "cross_fitted", "null", "expected")
        rows += [
            (step, name, part[name], *((low, high) if name == "interval" else (None, None)),
             part.get("reason", {}).get(name, ""))
            for name in names if name in part
        ]  # fmt: skip
    signatures = said["signatures"]
    return Table(
        f"{signatures['alpha']} {signatures['ci']} {signatures['filter']}",
        ("step", "figure", "value", "low", "high", "reason"),
        rows,
    )


def _reliability(said: dict[str, Any]) -> Table:
    part = said["reliability"]
    low, high = part.get("ci") or (None, None)
    figures = {
        name: part.get(name)
        for name in ("split_half", "spearman_brown", "sd", "splits", "items", "removed_workers")
    }
    rows = [
        (name, value, part.get("reason", {}).get("ci" if name in ("low", "high") else name, ""))
        for name, value in (figures | {"low": low, "high": high}).items()
    ]
    return Table(said["signatures"]["reliability"], ("figure", "value", "reason"), rows)


def _agreement(said: dict[str, Any]) -> Table:
    rows = [
        (step, name, part.get(name), part.get("reason", {}).get(name, ""))
        for step, part in said["agreement"].items()
        for name in ("percent", "icc_single", "icc_mean")
    ]
    return Table(said["signatures"]["icc"], ("step", "figure", "value", "reason"), rows)


def _aspects(said: dict[str, Any]) -> Table | None:
    if not said.get("aspects"):
        return None
    names = ("n_ratings", "n_items", "workers", "alpha", "kappa", "split_half", "spearman_brown", "pearson")
    rows = [
        (
            row["aspect"], step, name, row[step].get(name),
            *((row[step].get("ci") or (None, None)) if name == "alpha" else (None, None)),
            row[step].get("reason", {}).get(name, ""),
        )
        for row in said["aspects"]
        for step in ("before", "after_workers")
        for name in names
    ]  # fmt: skip
    header = ("aspect", "step", "figure", "value", "low", "high", "reason")
    return Table(said["signatures"]["aspects"], header, rows)


_SOURCE_FIGURES = (
    "n_ratings", "n_items", "n_workers", "shared_items", "items_with_others", "mean", "flagged",
    "flagged_share", "mean_kept", "failed_checks_share", "alpha",
)  # fmt: skip


def _by_source(said: dict[str, Any]) -> Table | None:
    if not said.get("sources"):
        return None
    rows = [
        (
            row["source"], name, row.get(name),
            *((row.get("ci") or (None, None)) if name == "alpha" else (None, None)),
            row.get("reason", {}).get(name, ""),
        )
        for row in said["sources"]
        for name in _SOURCE_FIGURES
    ]  # fmt: skip
    return Table(said["signatures"]["sources"], ("source", "figure", "value", "low", "high", "reason"), rows)


def _removed(said: dict[str, Any]) -> Table:
    groups = [("all", "", said["removed"])]
    kinds = ("system", "type", "source")
    groups += [(kind, row[kind], row) for kind in kinds for row in said["removed"].get(f"by_{kind}", [])]
    rows = [
        (kind, name, reason, row["n_ratings"], part["removed"], part["share"])
        for kind, name, row in groups
        for reason, part in row["by_reason"].items()
    ]
    return Table(
        said["signatures"]["filter"], ("group", "name", "reason", "ratings", "removed", "share"), rows
    )


def _kept(said: dict[str, Any]) -> Table:
    rows = [(int(size), items) for size, items in said["kept"].get("items_by_n", {}).items()]
    return Table(said["signatures"]["filter"], ("kept judgments", "items"), sorted(rows))


MADE = {
    "alpha": _alpha,
    "reliability": _reliability,
    "agreement": _agreement,
    "aspects": _aspects,
    "sources": _by_source,
    "removed": _removed,
    "kept": _kept,
}


def signatures(now: Live, made: ReportStatus) -> dict[str, str]:
    """The signatures of figures that are worked out here, by the figure's name."""
    return {name: build(now, made).signature for name, build in LIVE.items()} | {"pairs": _pairs_signature()}


def _pairs_signature() -> str:
    return signature("cohen-kappa", weights="quadratic", pairs="busiest")


def _pairs(made: ReportStatus, project: Project) -> Table:
    given = made.report.get("pairs", {"workers": [], "cells": []})
    known = worker_pseudonyms(project, given["workers"])
    names = [known[pk] for pk in given["workers"]]
    rows = [
        (names[i], names[j], common, kappa)
        for i, row in enumerate(given["cells"])
        for j, (common, kappa) in enumerate(row)
    ]
    return Table(
        _pairs_signature(),
        ("worker", "other", "common items", "kappa"),
        rows,
    )
