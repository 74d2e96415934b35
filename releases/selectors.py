"""Questions about releases: those there are, what would go into the next one, and how it would look."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import CharField, Count, IntegerField, QuerySet, Value
from django.db.models.functions import Cast, Coalesce, Concat, StrIndex

from annotation.models import Query
from core.bulk_rows import integer_columns
from core.jobs.models import Job
from core.projects.models import Event, Project
from judgments.models import Candidate, ImportedScore, Judgment
from judgments.selectors.ratings import good, not_good
from releases.datacard import card as describe_release
from releases.facts import Facts
from releases.models import PrivacyFinding, Release
from releases.options import ANSWERS, COMMENTS, GROUPS, QUERIES, RATINGS, Group, Options
from releases.row_reader import tables_of
from releases.scope import (
    People,
    Redactions,
    Scope,
    answers_in,
    answers_of,
    comments_of,
    find_candidates,
    inside,
    judged_in,
    queries_of,
    released,
    scope_of,
)
from releases.tables import FilledTable, Kind, Table

if TYPE_CHECKING:
    from core.bulk_rows import Column

State = Release.State
#: Why no candidate of the release has these ratings.
CANDIDATE_LEFT_OUT = "candidate_left_out"
_RATINGS = {
    "of_work_on_hold": "of work on hold",
    "waits_for_approval": "of work that waits for approval",
    CANDIDATE_LEFT_OUT: "of answers that are left out",
}


def releases_of(project: Project) -> QuerySet[Release]:
    """A project's releases, newest first, with how many files each has."""
    return _order_newest(Release.objects.filter(project=project))


def releases_in(projects: QuerySet[Project]) -> QuerySet[Release]:
    """The releases of several projects, newest first."""
    return _order_newest(Release.objects.filter(project__in=projects))


def _order_newest(rows: QuerySet[Release]) -> QuerySet[Release]:
    return (
        rows.select_related("project", "created_by")
        .defer("manifest", "options")
        .annotate(file_count=Count("files"))
        .order_by("-pk")
    )


def before(release: Release) -> Release | None:
    """The complete release before this one, withdrawn ones too."""
    earlier = Release.objects.filter(project=release.project_id, pk__lt=release.pk, state__in=Release.BUILT)
    return earlier.order_by("-pk").first()


def last_built(project: Project) -> Release | None:
    """The newest release that was begun."""
    return Release.objects.filter(project=project).order_by("-pk").first()


def job_of(release: Release) -> Job | None:
    """The job that builds it."""
    return Job.objects.filter(pk=release.job).first() if release.job is not None else None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A group of queries or answers with how many belong to it; `brought_in` where a person brings it in."""

    group: Group
    count: int
    brought_in: bool


@dataclass(frozen=True, slots=True)
class Content:
    """What a release would hold now, in counts.

    `queries` and those of the groups that are not taken are `all_queries`; in the same way `answers`, those
    of groups, and `answers_of_queries`, which only their query keeps out, are `all_answers`. `ratings` and
    `ratings_left_out`, by the reason, are `all_ratings`.
    """

    queries: int
    answers: int
    candidates: int
    ratings: int
    imported: int
    imported_simulated: int
    all_queries: int
    all_answers: int
    all_candidates: int
    all_ratings: int
    answers_of_queries: int
    groups: tuple[LeftOut, ...]
    ratings_left_out: Mapping[str, int]

    @property
    def ratings_words(self) -> list[str]:
        """Ratings that stay out, as phrases: "3 of work on hold"."""
        return [
            f"{count:,} {_RATINGS.get(why, f'of {why} work')}" for why, count in self.ratings_left_out.items()
        ]

    @property
    def anything(self) -> bool:
        """There is something to release."""
        return bool(self.queries or self.candidates or self.imported)

    @property
    def of_queries(self) -> list[LeftOut]:
        """Groups of queries, in their order."""
        return [each for each in self.groups if each.group.of == QUERIES]

    @property
    def of_answers(self) -> list[LeftOut]:
        """Groups of answers, in their order."""
        return [each for each in self.groups if each.group.of == ANSWERS]

    @property
    def of_ratings(self) -> list[LeftOut]:
        """What goes with ratings where it is brought in."""
        return [each for each in self.groups if each.group.of == RATINGS]

    @property
    def as_json(self) -> dict[str, Any]:
        """For programs: what goes in, and by group what does not."""
        return {
            "queries": {"all": self.all_queries, "in": self.queries, "groups": _counts(self.of_queries)},
            "answers": {
                "all": self.all_answers,
                "in": self.answers,
                "groups": {**_counts(self.of_answers), "query_left_out": self.answers_of_queries},
            },
            "candidates": {"all": self.all_candidates, "in": self.candidates},
            "ratings": {"all": self.all_ratings, "in": self.ratings, "left_out": dict(self.ratings_left_out)},
            "imported_scores": {"in": self.imported},
        }


def _counts(groups: Iterable[LeftOut]) -> dict[str, int]:
    return {each.group.name: each.count for each in groups}


def content_of(project: Project, include: Collection[str] = ()) -> Content:
    """Counts of what a release would hold, in six statements, and four for each judging stage.

    What goes in is read once and kept as columns. As a condition of other statements PostgreSQL works it out
    again for each candidate, which takes minutes for a million.
    """
    import numpy as np  # start-up does without numpy

    queries = queries_of(project, DEFAULT_DB_ALIAS, include)
    answers = answers_of(project, DEFAULT_DB_ALIAS)
    group_of_query, (query,) = _read_groups(queries, "pk")
    group_of_answer, (answer, query_keys) = _read_groups(answers, "pk", "query_id")
    places = [_place_of(name) for name in inside(include)]
    released_queries = query[np.isin(group_of_query, places)]
    is_taken = np.isin(group_of_answer, places)
    answers_in = is_taken & np.isin(query_keys, released_queries)
    candidates = Candidate.objects.filter(system__project=project).order_by()
    rows = candidates.values_list("pk", "query_id", Coalesce("answer_id", 0))
    pks, of_query, of_answer = integer_columns(rows, "i8", "i8", "i8", narrow=True)
    going_in = pks[np.isin(of_query, released_queries) & ~np.isin(of_answer, answer[~is_taken])]
    all_ratings, ratings, aside = _ratings(project, going_in)
    imported = ImportedScore.objects.filter(candidate__system__project=project).order_by()
    scores = imported.values_list("candidate_id", Cast("simulated", IntegerField()))
    scored, simulated = integer_columns(scores, "i8", "i8", narrow=True)
    simulated = simulated[np.isin(scored, going_in)]
    comments = {COMMENTS: comments_of(project, DEFAULT_DB_ALIAS).count()}
    counts = comments | {
        name: int((group_of_query == _place_of(name)).sum() + (group_of_answer == _place_of(name)).sum())
        for name, group in GROUPS.items()
        if group.of != RATINGS
    }
    return Content(
        queries=len(released_queries),
        answers=int(answers_in.sum()),
        candidates=len(going_in),
        ratings=ratings,
        imported=len(simulated),
        imported_simulated=int(simulated.sum()),
        all_queries=len(query),
        all_answers=len(answer),
        all_candidates=len(pks),
        all_ratings=all_ratings,
        answers_of_queries=int((is_taken & ~answers_in).sum()),
        groups=tuple(LeftOut(each, counts[each.name], each.name in include) for each in GROUPS.values()),
        ratings_left_out=aside,
    )


#: The names of all groups. The database sends a group as its place in this text: columns hold numbers alone.
_NAMES = f"|{'|'.join(('', *GROUPS))}|"


def _place_of(name: str) -> int:
    return _NAMES.index(f"|{name}|") + 1


def _read_groups(rows: QuerySet[Any], *names: str) -> "tuple[Column, list[Column]]":
    """The group of each row, by its place in `_NAMES`, and some of its columns."""
    place = StrIndex(Value(_NAMES), Concat(Value("|"), "why", Value("|"), output_field=CharField()))
    integer_types = ("i8",) * (len(names) + 1)
    place_of_each, *columns = integer_columns(
        rows.order_by().values_list(place, *names), *integer_types, narrow=True
    )
    return place_of_each, columns


def _ratings(project: Project, going_in: "Column") -> tuple[int, int, dict[str, int]]:
    """All ratings, those of the candidates that go in, and the others by the reason."""
    import numpy as np

    everything, inside_now, aside = 0, 0, Counter[str]()
    for each in judged_in(project, DEFAULT_DB_ALIAS):
        mine = Judgment.objects.filter(stage=each.stage).order_by()
        everything += mine.count()
        of_candidates = good(mine, each.stage).values_list("candidate_id").annotate(n=Count("pk"))
        candidates, counts = integer_columns(of_candidates, "i8", "i8", narrow=True)
        inside_now += int(counts[np.isin(candidates, going_in)].sum())
        aside.update(not_good(mine, each.stage))
    rest = everything - inside_now - aside.total()
    return everything, inside_now, dict(aside) | ({CANDIDATE_LEFT_OUT: rest} if rest else {})


def checked_at(project: Project) -> datetime | None:
    """When the privacy check last ran; None if it never did."""
    done = Event.objects.filter(project=project, action="privacy.checked")
    return done.order_by("-pk").values_list("at", flat=True).first()


def findings_of(project: Project, state: str, rule: str) -> QuerySet[PrivacyFinding]:
    """Findings in a state, of a rule or of all."""
    rows = PrivacyFinding.objects.filter(project=project, state=state)
    return (rows.filter(rule=rule) if rule else rows).order_by("pk")


# What a release would look like if it were built now: its first rows, and its data card.

#: Rows of each table that a preview shows, and characters of a cell.
ROWS, _LONGEST, _WIDE = 5, 200, 40
#: Queries of a release up to which a preview works out all splits, as the build does, and queries of a
#: project up to which it counts those of the release.
_FEW, _LOOKED_AT = 500, 10_000
#: Queries among which the first ones that go in are looked for at a time.
_AT_ONCE = 500
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
    few = _are_few(project, options)
    scope = scope_of(project, options, DEFAULT_DB_ALIAS) if few else _select_few(project, options)
    glimpses = [Glimpse(filled.table, _first(filled)) for filled in tables_of(scope).values()]
    return Preview(glimpses, not few and options.shares[0] < 1, len(scope.redactions))


def _are_few(project: Project, options: Options) -> bool:
    every = Query.objects.filter(project=project).order_by()
    if every[: _LOOKED_AT + 1].count() > _LOOKED_AT:  # why a query goes in is looked up answer by answer
        return False
    rows = released(project, DEFAULT_DB_ALIAS, options.include).order_by()
    return rows[: _FEW + 1].count() <= _FEW


def _first_released(project: Project, rows: QuerySet[Query]) -> Iterator[int]:
    """Keys of the queries that go in, in rising order; PostgreSQL would look at all for the first five."""
    every = Query.objects.filter(project=project).order_by("pk").values_list("pk", flat=True)
    last = 0
    while keys := list(every.filter(pk__gt=last)[:_AT_ONCE]):
        yield from rows.filter(pk__gt=last, pk__lte=keys[-1]).order_by("pk").values_list("pk", flat=True)
        last = keys[-1]


def _select_few(project: Project, options: Options) -> Scope:
    """The scope of a few queries: the first ones, and those of the first judgments of each stage."""
    rows = released(project, DEFAULT_DB_ALIAS, options.include)
    judged_stages = judged_in(project, DEFAULT_DB_ALIAS)
    query_keys = set(islice(_first_released(project, rows), ROWS))
    for each in judged_stages:
        first = (
            Judgment.objects.filter(stage=each.stage)
            .order_by("pk")
            .values_list("candidate__query_id", flat=True)
        )
        query_keys.update(first[:ROWS])
    split = "train" if options.shares[0] == 1 else _LATER
    queries = rows.filter(pk__in=query_keys).order_by("pk").values_list("pk", "key")
    scope = Scope(
        project,
        DEFAULT_DB_ALIAS,
        People(project, DEFAULT_DB_ALIAS),
        Redactions(project, DEFAULT_DB_ALIAS),
        {pk: (key, split) for pk, key in queries},
        tuple(judged_stages),
        options.include,
        few=True,
    )
    answers = answers_in(scope.of_queries(answers_of(project, DEFAULT_DB_ALIAS)), options.include)
    scope.accepted_answers, scope.aside = answers.accepted_answers, answers.aside
    find_candidates(scope)
    return scope


def _first(filled: FilledTable) -> list[list[Cell]]:
    rows = islice((row for batch in filled.batches() for row in batch), ROWS)
    kinds = [column.kind for column in filled.table.columns]
    return [[_cell(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in rows]


def _cell(value: Any, kind: Kind) -> Cell:
    text = _format_cell(value, kind)
    return Cell(text, len(text) > _WIDE)


def _format_cell(value: Any, kind: Kind) -> str:
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
