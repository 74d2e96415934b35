"""Queries, passages, stages and editors for tests of the annotation app, made in the shortest way."""

import itertools
from typing import Any

from django.utils import timezone

from annotation.models import CandidatePassage, PassageSelection, Query, QuerySource, ScreeningVote
from core.projects.models import Project
from core.projects.services import create_project
from crowd.models import Assignment, Hit, Stage, Worker
from crowd.taskpage import names_in_page
from tests.taskpage.world import Visitor
from tests.taskpage.world import make_hit as make_task_hit
from tests.taskpage.world import make_stage as make_task_stage

_numbers = itertools.count(1)
#: A form about a fit query, as a worker sends it.
FIT = {"kind": "informational", "unambiguous": "yes", "answerable": "yes", "sensitive": "no", "adult": "no"}
#: A vote for a fit query, as it is stored.
GOOD_VOTE = {
    "unambiguous": True,
    "answerable": True,
    "intent": "informational",
    "excluded_kind": "",
    "sensitive": False,
    "adult": False,
}
CHINESE = "水的沸点是多少"
ARABIC = "ما هي عاصمة إيطاليا"
HOSTILE = "<script>alert('x')</script>\u202e\"'&{{7*7}}"
LONG_WORD = "w" * 10_000


def make_project(**fields: Any) -> Project:
    name = f"queries-{next(_numbers)}"
    return create_project(slug=name, title=name, **fields)


def make_source(project: Project, state: str = "ready") -> QuerySource:
    return QuerySource.objects.create(
        project=project, name="log.tsv", format="tsv", state=state, created_at=timezone.now()
    )


def make_query(project: Project, text: str = "boiling point of water", **fields: Any) -> Query:
    number = next(_numbers)
    source = fields.pop("source", None) or project.query_sources.first() or make_source(project)
    given = {"key": f"q{number}", "digest": f"{number:064x}", **fields}
    return Query.objects.create(project=project, source=source, text=text, **given)


def make_candidates(query: Query, *texts: str, **fields: Any) -> list[CandidatePassage]:
    """Candidates with the keys p1, p2, … in the order of their ranks."""
    return [
        CandidatePassage.objects.create(query=query, rank=rank, key=f"p{rank}", text=text, **fields)
        for rank, text in enumerate(texts, 1)
    ]


def make_stage(kind: str, project: Project, *, redundancy: int = 3, **config: Any) -> Stage:
    """An open stage of this kind, at a marketplace that is not asked."""
    slug = f"{kind}-{next(_numbers)}"
    return make_task_stage(
        slug, project=project, kind=kind, title=kind.title(), config=config, redundancy=redundancy
    )


def unit_of(query: Query) -> str:
    return f"query:{query.pk}"


def visitor(stage: Stage, *units: str, worker: str = "AROSA", hit: Hit | None = None) -> Visitor:
    """Somebody at the task page of a HIT of these units."""
    found = hit or make_task_hit(stage, *units, external_id=f"3HIT{next(_numbers)}")
    return Visitor(found, worker=worker, assignment=f"3{worker}{next(_numbers)}", signed=True)


def send(who: Visitor, unit: str, /, **fields: str) -> Any:
    """Post the form with the fields of one unit, as the page names them."""
    (place,) = names_in_page(who.hit, [unit]).values()
    return who.client.post(
        who.path, {"ticket": who.ticket(), **{f"{place}|{name}": value for name, value in fields.items()}}
    )


def make_work(stage: Stage, worker: str = "", **fields: Any) -> Assignment:
    """Submitted work of a worker, at a HIT of its own."""
    number, now = next(_numbers), timezone.now()
    row, _ = Worker.objects.get_or_create(
        endpoint=stage.endpoint, external_id=worker or f"A{number}", defaults={"first_seen_at": now}
    )
    hit = make_task_hit(stage, "none", external_id=f"3HIT{number}")
    given = {"state": "submitted", "arrived_at": now, "stored_at": now, "submitted_at": now, **fields}
    return Assignment.objects.create(stage=stage, hit=hit, worker=row, external_id=f"3W{number}", **given)


def vote(stage: Stage, query: Query, *, work: Assignment | None = None, **changes: Any) -> ScreeningVote:
    """A vote for a fit query, but for the changes."""
    return ScreeningVote.objects.create(
        stage=stage, assignment=work or make_work(stage), query=query, **(GOOD_VOTE | changes)
    )


def select(
    stage: Stage, query: Query, *keys: str, work: Assignment | None = None, **fields: Any
) -> PassageSelection:
    """A choice of these passages; of none, that they cannot answer."""
    return PassageSelection.objects.create(
        stage=stage,
        assignment=work or make_work(stage),
        query=query,
        answerable=bool(keys),
        passages=sorted(keys),
        **fields,
    )


def status(query: Query) -> str:
    return Query.objects.get(pk=query.pk).status
