"""All figures of the honest report of a stage, from its columns; nothing is stored here."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.conf import settings

from core.bulk_rows import integer_columns
from crowd.models import Stage, Worker
from crowd.selectors.pseudonyms import worker_pseudonyms
from crowd.sources import source_rows
from judgments.judging_config import judging_config
from judgments.models import FilterRun, Verdict
from judgments.selectors.rating_columns import StageRatings
from judgments.selectors.ratings import CandidateLabels, about, aspects_of_ratings
from judgments.services.filter_decisions import FilterDecision, decide, recipe_named
from metrics.agreement.data import RatingGroups
from metrics.agreement.kappa import busiest
from metrics.agreement.report import report
from metrics.agreement.report_tables import Rows

#: Parts of the report that grow with the data.
ROWS = ("removed_workers", "undetermined_workers", "removed_ratings", "workers", "items")
REPLICATES = 1000
NO_TYPE = "no type"
_PARTS = 3


class _JudgeName(str):
    """A judge's id at the marketplace, by which recipes name them, with the pseudonym that leaves instead."""

    pseudonym: str


@dataclass(frozen=True, slots=True)
class FullReport:
    """The report, its rows apart from it, and what it was made of.

    The rows of items and of removed ratings are made each time they are read.
    """

    report: dict[str, Any]
    rows: dict[str, Any]
    last: int
    judgments: int


def whole_report(
    stage: Stage,
    run: FilterRun | None,
    progress: Callable[[int, int, str], None],
    *,
    replicates: int = REPLICATES,
) -> FullReport:
    """The honest report of a run, on the judgments that it saw; without a run, on all as they are."""

    progress(0, _PARTS, "Reading the judgments")
    recipe = recipe_named(run.recipe, run.parameters) if run else recipe_named("none", {})
    decided = decide(
        stage, recipe, last=run.last_judgment if run else None, until=run.created_at if run else None
    )
    columns, ratings = decided.columns, decided.columns.ratings
    labels = about(stage, columns.candidates)
    progress(1, _PARTS, "Intervals and halves")
    facts = report(
        replace(ratings, worker_names=_judge_names(stage, columns)),
        decided.run,
        checks=decided.checks,
        seconds=decided.seconds,
        groups={
            "system": _grouping(labels.systems, decided),
            "type": _grouping([each or NO_TYPE for each in labels.types], decided),
        },
        aspects=aspects_of_ratings(
            stage, columns.judgments, [aspect.name for aspect in judging_config(stage).aspects]
        ),
        sources=_sources(stage, columns),
        as_lists=False,
        replicates=replicates,
        seed=run.seed if run else 0,
        version=f"distillery={settings.DISTILLERY_VERSION}",
    )
    progress(2, _PARTS, "Workers in pairs")
    facts["differs"] = _differs(run, decided)
    pairs = busiest(ratings.only(decided.run.distinct))
    facts["pairs"] = {
        "workers": [int(columns.workers[code]) for code in pairs.workers.tolist()],
        "cells": [
            [[pairs.common(i, j), pairs.kappa(i, j).value] for j in range(i)]
            for i in range(len(pairs.workers))
        ],
    }
    return FullReport(facts, _rows(facts, labels), columns.last, len(ratings))


def _judge_names(stage: Stage, columns: StageRatings) -> list[_JudgeName]:
    keys = columns.workers.tolist()
    pseudonyms = worker_pseudonyms(stage.project, keys)
    names = [_JudgeName(name) for name in columns.ratings.worker_names]
    for name, key in zip(names, keys, strict=True):
        name.pseudonym = pseudonyms[key]
    return names


def _sources(stage: Stage, columns: StageRatings) -> "RatingGroups | None":
    """From which endpoint each rating came; None of a stage whose people all came from one."""
    people = Worker.objects.filter(assignments__stage=stage).distinct()
    endpoint_of = dict(people.values_list("pk", "endpoint__name"))
    names = list(dict.fromkeys([row.endpoint.name for row in source_rows(stage)]))
    names += sorted(set(endpoint_of.values()) - set(names))
    if len(names) < 2:
        return None
    code_of = {name: code for code, name in enumerate(names)}
    of_worker = np.array([code_of[endpoint_of[key]] for key in columns.workers.tolist()], dtype=np.int16)
    return RatingGroups(of_worker[columns.ratings.workers], names)


def _grouping(names: Sequence[str], decided: FilterDecision) -> RatingGroups:
    distinct = sorted(set(names))
    code_of = {name: code for code, name in enumerate(distinct)}
    codes = np.array([code_of[name] for name in names], dtype=np.min_scalar_type(-1 - len(distinct)))
    return RatingGroups(codes[decided.columns.ratings.items] if len(names) else codes, distinct)


def _rows(facts: dict[str, Any], labels: CandidateLabels) -> dict[str, Any]:
    """What grows with the data, taken out of the report; workers have pseudonyms, items their names.

    Items and removed ratings are made each time they are read.
    """

    def renamed(row: dict[str, Any]) -> dict[str, Any]:
        return row | {"worker": row["worker"].pseudonym}

    def described(items: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for row, query, system in zip(items, labels.queries, labels.systems, strict=True):
            yield row | {"query": query, "system": system}

    rows = {name: facts.pop(name) for name in ROWS}
    for name in ("removed_workers", "undetermined_workers", "workers"):
        rows[name] = [renamed(row) for row in rows[name]]
    items, removed = rows["items"], rows["removed_ratings"]
    return rows | {
        "items": Rows(lambda: described(items)),
        "removed_ratings": Rows(lambda: map(renamed, removed)),
    }


def _differs(run: FilterRun | None, decided: FilterDecision) -> int:
    """Judgments about which a run decided otherwise than it would now: work was rejected since, say."""
    if run is None:
        return 0
    verdicts = Verdict.objects.filter(run=run, removes=True, judgment__isnull=False)
    (stored,) = integer_columns(verdicts.values_list("judgment_id"), "i8", narrow=True)
    gone = decided.columns.judgments[~decided.run.kept]
    return len(np.setxor1d(stored, gone, assume_unique=True))  # a run decides once about a judgment
