"""What a release would look like if it were built now: its first rows, and its data card."""

import json
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from core.projects.models import Project
from judgments.models import Judgment
from releases.datacards.card import card as describe_release
from releases.datacards.facts import Facts
from releases.options import Options
from releases.rows.acceptance import released
from releases.rows.people import People
from releases.rows.reader import tables_of
from releases.rows.scope import Redactions, Scope, find_candidates, judged_in, scope_of
from releases.tables import FilledTable, Kind, Table

#: Rows of each table that a preview shows, and characters of a cell.
ROWS, _LONGEST, _WIDE = 5, 200, 40
#: Up to so many queries a preview works out the splits of all, as the build does.
_FEW = 2_000
_LATER = "(decided in the build)"


@dataclass(frozen=True, slots=True)
class Cell:
    """A value in words; `wide` where it is long."""

    text: str
    wide: bool


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The first rows of a table."""

    table: Table
    rows: list[list[Cell]]


@dataclass(frozen=True, slots=True)
class Preview:
    """The first rows of all tables; `splits_later` where the splits of the rows are not known yet."""

    glimpses: list[Glimpse]
    splits_later: bool
    redactions: int


def preview(project: Project, options: Options) -> Preview:
    """The first rows as they will be, redactions applied. What is read does not grow with the project.

    In a large project the rows are of a few queries alone. Which split they are in depends on all queries, so
    the build says it.
    """
    # Not all of them are counted: why a query goes in is looked up answer by answer.
    few = released(project, DEFAULT_DB_ALIAS, options.include).order_by()[: _FEW + 1].count() <= _FEW
    scope = scope_of(project, options, DEFAULT_DB_ALIAS) if few else _some(project, options)
    glimpses = [Glimpse(filled.table, _first(filled)) for filled in tables_of(scope).values()]
    return Preview(glimpses, not few and options.shares[0] < 1, len(scope.redactions))


def _some(project: Project, options: Options) -> Scope:
    """The scope of a few queries: the first ones, and those of the first judgments of each stage."""
    rows = released(project, DEFAULT_DB_ALIAS, options.include)
    judged = judged_in(project, DEFAULT_DB_ALIAS)
    wanted = set(rows.order_by("pk").values_list("pk", flat=True)[:ROWS])
    for each in judged:
        first = (
            Judgment.objects.filter(stage=each.stage)
            .order_by("pk")
            .values_list("candidate__query_id", flat=True)
        )
        wanted.update(first[:ROWS])
    split = "train" if options.shares[0] == 1 else _LATER
    queries = rows.filter(pk__in=wanted).order_by("pk").values_list("pk", "key")
    scope = Scope(
        project,
        DEFAULT_DB_ALIAS,
        People(project, DEFAULT_DB_ALIAS),
        Redactions(project, DEFAULT_DB_ALIAS),
        {pk: (key, split) for pk, key in queries},
        tuple(judged),
        options.include,
        few=True,
    )
    find_candidates(scope)
    return scope


def _first(filled: FilledTable) -> list[list[Cell]]:
    rows = islice((row for batch in filled.batches() for row in batch), ROWS)
    kinds = [column.kind for column in filled.table.columns]
    return [[_cell(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in rows]


def _cell(value: Any, kind: Kind) -> Cell:
    text = _words(value, kind)
    return Cell(text, len(text) > _WIDE)


def _words(value: Any, kind: Kind) -> str:
    if value is None:
        return ""
    if kind == Kind.FLAG:
        return "yes" if value else "no"
    if kind == Kind.NUMBER:
        return f"{value:.4g}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def card(project: Project, options: Options, *, version: str, notes: str) -> str:
    """The data card as it would read, without what only the build can know."""
    return describe_release(
        Facts(
            slug=project.slug,
            title=project.title,
            version=version or "1.0.0",
            language=project.language,
            licence=project.licence,
            notes=notes,
            answers=options.answers,
            include=options.include,
            seed=options.seed,
            shares=options.shares,
        ),
        counted=False,
    )
