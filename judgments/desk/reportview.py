"""The stored report as the page shows it: figures or reasons, never a bare alpha after a filter."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crowd.models import Worker
from judgments.models import AgreementReport
from metrics.agreement.quotes import OVERALL
from metrics.figure import Figure

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
class Share:
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
    kappa: Figure
    reliability: Figure
    pearson: Figure


@dataclass(frozen=True, slots=True)
class View:
    """What the template needs of a report."""

    alphas: list[AlphaRow]
    half: Figure
    whole: Figure
    whole_sd: float | None
    whole_ci: tuple[float, float] | None
    cautions: list[str]
    splits: int
    agreement: list[tuple[str, Figure, Figure, Figure]]
    removed: Share
    by_system: list[Share]
    by_type: list[Share]
    kept: dict[str, Any]
    pairs: PairTable
    warnings: list[str]
    signatures: dict[str, str]
    differs: int
    annotators: dict[str, Any] | None
    aspects: list[AspectRow]


def view_of(said: Mapping[str, Any], newest: AgreementReport | None) -> View | None:
    """The view of a stored report; None where there is none."""
    if newest is None or not said.get("n_ratings"):
        return None
    alpha, reliability, removed = said["alpha"], said["reliability"], said["removed"]
    return View(
        alphas=_alphas(alpha, said["recipe_details"]["rules"]),
        half=_read_figure(reliability, "split_half"),
        whole=_read_figure(reliability, "spearman_brown"),
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
                ("before any filter", said["agreement"]["before"]),
                ("after removing workers", said["agreement"]["after_workers"]),
            )
        ],
        removed=_share("all", removed),
        by_system=[_share(row["system"], row) for row in removed.get("by_system", [])],
        by_type=[_share(row["type"], row) for row in removed.get("by_type", [])],
        kept=said["kept"],
        pairs=_pairs(said.get("pairs", {"workers": [], "cells": []})),
        warnings=list(said.get("warnings", [])),
        signatures=dict(said.get("signatures", {})),
        differs=said.get("differs", 0),
        annotators=said.get("annotators"),
        aspects=list(aspect_view(said)),
    )


def aspect_view(said: Mapping[str, Any]) -> Iterator[AspectRow]:
    """A row for the overall score and each aspect, and another after workers were removed; none without
    aspects."""
    steps = {"before": "before any filter", "after_workers": "after removing workers"}
    if not said["alpha"]["after_workers"]["removes"]:
        del steps["after_workers"]
    for row in said.get("aspects", ()):
        for step, words in steps.items():
            part = row[step]
            yield AspectRow(
                "overall score" if row["aspect"] == OVERALL else row["aspect"],
                words,
                part["n_ratings"],
                _read_figure(part, "alpha"),
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


def _share(name: str, row: Mapping[str, Any]) -> Share:
    parts = tuple(
        (REASONS.get(reason, reason), each["removed"], each["share"])
        for reason, each in row["by_reason"].items()
    )
    return Share(name, row["n_ratings"], row["removed"], row["share"], parts)


def _pairs(given: Mapping[str, Any]) -> PairTable:
    known = dict(Worker.objects.filter(pk__in=given["workers"]).values_list("pk", "external_id"))
    names = [(pk, known.get(pk, "?")) for pk in given["workers"]]
    cells = given["cells"]
    rows = [(pk, name, [(n, kappa) for n, kappa in cells[at]]) for at, (pk, name) in enumerate(names)]
    return PairTable(names, rows)
