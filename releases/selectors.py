"""Questions about releases."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Count, QuerySet

from core.jobs.models import Job
from core.projects.models import Event, Project
from judgments.models import Candidate, ImportedScore, Judgment
from judgments.selectors.ratings import good, not_good
from releases.groups import ANSWERS, GROUPS, QUERIES, Group
from releases.models import PrivacyFinding, Release
from releases.rows.acceptance import answers_of, inside, queries_of, released
from releases.rows.scope import judged_in

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
    not_taken = answers_of(project, DEFAULT_DB_ALIAS).exclude(why__in=inside(include)).values("pk")
    going_in = candidates.filter(query__in=inside_now).exclude(answer__in=not_taken)
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
