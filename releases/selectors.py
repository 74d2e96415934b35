"""Questions about releases: those there are, what would go into the next one, and how it would look."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Count, Exists, OuterRef, QuerySet

from core.jobs.figures import FigureKind
from core.jobs.models import Job
from core.projects.models import Event, Project
from judgments.models import Candidate, ImportedScore, Judgment
from judgments.selectors.ratings import good, not_good
from releases.datacard import card as describe_release
from releases.facts import Facts
from releases.models import PrivacyFinding, Release
from releases.options import ANSWERS, GROUPS, QUERIES, Group, Options
from releases.row_reader import tables_of
from releases.scope import (
    People,
    Redactions,
    Scope,
    answers_in,
    answers_of,
    find_candidates,
    inside,
    judged_in,
    queries_of,
    released,
    scope_of,
)
from releases.tables import FilledTable, Kind, Table

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
    return _listed(Release.objects.filter(project=project))


def releases_in(projects: QuerySet[Project]) -> QuerySet[Release]:
    """The releases of several projects, newest first."""
    return _listed(Release.objects.filter(project__in=projects))


def _listed(rows: QuerySet[Release]) -> QuerySet[Release]:
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
    """A group of queries or answers with how many belong to it; `taken` where a person brings it in."""

    group: Group
    count: int
    taken: bool


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
    """Counts of what a release would hold, in eight statements, and six for each judging stage."""
    queries = queries_of(project, DEFAULT_DB_ALIAS, include)
    inside_now = released(project, DEFAULT_DB_ALIAS, include).values("pk")
    answers = answers_of(project, DEFAULT_DB_ALIAS)
    counts: Counter[str] = Counter()
    totals = []
    for rows in (queries, answers):
        found: dict[str, int] = dict(rows.order_by().values_list("why").annotate(n=Count("pk")))
        totals.append((sum(found.values()), sum(found.get(name, 0) for name in inside(include))))
        counts.update(found)
    (all_queries, queries_in), (all_answers, taken) = totals
    answers_in = answers.filter(why__in=inside(include), query__in=inside_now).count()
    candidates = Candidate.objects.filter(system__project=project)
    # Each candidate's own answer is looked up: PostgreSQL compares NOT IN with a list of 200,000 row by row.
    not_taken = answers_of(project, DEFAULT_DB_ALIAS).exclude(why__in=inside(include))
    going_in = candidates.filter(~Exists(not_taken.filter(pk=OuterRef("answer"))), query__in=inside_now)
    all_ratings, ratings, aside = _ratings(project, going_in)
    imported = ImportedScore.objects.filter(candidate__in=going_in.values("pk"))
    return Content(
        queries=queries_in,
        answers=answers_in,
        candidates=going_in.count(),
        ratings=ratings,
        imported=imported.count(),
        imported_simulated=imported.filter(simulated=True).count(),
        all_queries=all_queries,
        all_answers=all_answers,
        all_candidates=candidates.count(),
        all_ratings=all_ratings,
        answers_of_queries=taken - answers_in,
        groups=tuple(LeftOut(each, counts[each.name], each.name in include) for each in GROUPS.values()),
        ratings_left_out=aside,
    )


def _content(project: int, include: list[str]) -> Content:
    return content_of(Project.objects.get(pk=project), include)


#: Each answer is looked at, so that it is counted by a job where tables are large.
CONTENT = FigureKind("release-content", _content)


def _ratings(project: Project, going_in: QuerySet[Candidate]) -> tuple[int, int, dict[str, int]]:
    """All ratings, those that go in, and the others by the reason."""
    everything, inside_now, aside = 0, 0, Counter[str]()
    for each in judged_in(project, DEFAULT_DB_ALIAS):
        mine = Judgment.objects.filter(stage=each.stage)
        everything += mine.count()
        inside_now += good(mine.filter(candidate__in=going_in.values("pk")), each.stage).count()
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
    answers = answers_in(scope.of_queries(answers_of(project, DEFAULT_DB_ALIAS)), options.include)
    scope.taken, scope.aside = answers.taken, answers.aside
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
