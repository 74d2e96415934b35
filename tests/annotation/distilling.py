"""A project in distillation, and people who answer through the real task page."""

import itertools
from typing import Any

from django.http import HttpResponse
from django.utils import timezone

from annotation.models import Answer, CandidatePassage, CuratedPassage, CuratedSet, Query, QuerySource
from annotation.units import of_query
from core.projects.models import Project
from core.projects.services import create_project
from crowd.kinds import kind_of
from crowd.models import Assignment, Hit, Stage, Worker
from crowd.taskpage import names_in_page
from tests.taskpage.world import Visitor
from tests.taskpage.world import make_hit as hit_of
from tests.taskpage.world import make_stage as stage_of

HOSTILE = "<script>alert('x')</script>\u202e\"'&{{7*7}}"
QUERY = "what is the capital of italy"
PASSAGE = (
    "Rome is the capital city of Italy. It has been a major human settlement for almost three millennia, "
    "and lies in the central portion of the peninsula along the shores of the Tiber."
)
_numbers = itertools.count(1)


def make_stage(project: Project | None = None, *, language: str = "en", **values: Any) -> Stage:
    """An open stage of distillation, two answers per query."""
    number = next(_numbers)
    project = project or create_project(slug=f"study-{number}", title="A study", language=language)
    fields = {
        "title": "Answers",
        "kind": "distillation",
        "config": {},
        "task_title": "Answer a question",
        "task_description": "Read the passages and answer.",
        "redundancy": 2,
        "budget_cents": 100_000,
    }
    return stage_of(f"answers-{number}", project=project, **(fields | values))


def make_query(
    stage_or_project: Stage | Project,
    text: str = QUERY,
    passages: tuple[str, ...] = (PASSAGE,),
    **values: Any,
) -> Query:
    """A curated query with its passages."""
    project = stage_or_project.project if isinstance(stage_or_project, Stage) else stage_or_project
    number, now = next(_numbers), timezone.now()
    source, _ = QuerySource.objects.get_or_create(
        project=project, name="log.tsv", defaults={"format": "tsv", "state": "ready", "created_at": now}
    )
    query = Query.objects.create(
        project=project,
        source=source,
        text=text,
        **({"key": f"d{number}", "digest": f"d{number:063}", "status": "curated"} | values),
    )
    made = CuratedSet.objects.create(query=query, rule="imported", created_at=now)
    for rank, passage in enumerate(passages, 1):
        candidate = CandidatePassage.objects.create(
            query=query, rank=rank, key=f"p{rank}", text=passage, title=f"Page {rank}"
        )
        CuratedPassage.objects.create(curated_set=made, candidate=candidate, position=rank)
    return query


def visitor(stage: Stage, *queries: Query, worker: str = "AROSA", places: int = 9) -> Visitor:
    """Somebody at a HIT of these queries."""
    number = next(_numbers)
    hit: Hit = hit_of(stage, *(of_query(query.pk) for query in queries), external_id=f"3HIT{number}")
    Hit.objects.filter(pk=hit.pk).update(places=places)
    return Visitor(hit, worker=worker, assignment=f"3A{number}", signed=True)


def send(who: Visitor, query: Query, *, ticket: str | None = None, **fields: str) -> HttpResponse:
    """Send the form of one unit as the page would."""
    ticket = who.ticket() if ticket is None else ticket
    (place,) = names_in_page(who.hit, [of_query(query.pk)]).values()
    named = {f"{place}|{name}": value for name, value in fields.items()}
    return who.client.post(who.path, {"ticket": ticket, **named})


def write(stage: Stage, query: Query, text: str, *, worker: str, **telemetry: int) -> Answer:
    """Somebody answers through the page; their browser measured `telemetry`."""
    who = visitor(stage, query, worker=worker)
    if telemetry:
        who.save(who.ticket(), {}, visit="v1", **telemetry)
    response = send(who, query, text=text, opinion="Yes", entities="")
    assert response.status_code == 200, response.content.decode()
    return Answer.objects.get(query=query, worker__external_id=worker, revises=None)


def settle(stage: Stage) -> dict[str, Any]:
    """What a round of the timer does with new answers."""
    return kind_of(stage).settle(stage)


def pending(stage: Stage) -> dict[str, int]:
    """What still needs answers."""
    return {item.unit: item.missing for item in kind_of(stage).pending(stage)}


def flags_of(answer: Answer) -> list[str]:
    """Names of an answer's flags."""
    return sorted(answer.flags.values_list("name", flat=True))


def reject(answer: Answer) -> None:
    """The requester rejects the work, which the marketplace confirmed."""
    Assignment.objects.filter(pk=answer.assignment_id).update(state=Assignment.State.REJECTED)


def worker_named(name: str) -> Worker:
    return Worker.objects.get(external_id=name)
