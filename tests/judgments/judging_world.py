"""A project with systems and their answers, and people who judge them through the real task page."""

import itertools
from typing import Any

from django.http import HttpResponse
from django.utils import timezone

from annotation.models import Query
from core.projects.models import Project
from crowd.kinds import kind_of
from crowd.models import Assignment, Hit, Stage
from crowd.taskpage import names_in_page
from judgments.models import Candidate, FilterRun, Judgment, System, Verdict
from judgments.units import of_candidate
from tests.annotation.distilling import make_query as make_curated_query
from tests.annotation.world import make_project
from tests.taskpage.world import Visitor
from tests.taskpage.world import make_hit as hit_of
from tests.taskpage.world import make_stage as stage_of

_numbers = itertools.count(1)
GAS = "where does natural gas come from"
PASSAGE = "It is mostly made up of methane and can be found associated with other fossil fuels."
CORRECT = "Natural gas is made up of methane."
PREDICTED = "Natural gas comes from Canada."
#: Questions that share few words, each with a correct and a wrong answer.
TOPICS = (
    ("who painted the ceiling of the sistine chapel", "Michelangelo painted this ceiling in Rome."),
    ("boiling point of water in kelvin", "Pure liquid boils near 373 degrees kelvin."),
    ("why do cats purr", "Purring calms kittens, mothers and healing bones alike."),
    ("how long is the danube", "Its course runs 2850 kilometres towards the Black Sea."),
    ("what does a barometer measure", "Barometers show atmospheric pressure for forecasting weather."),
    ("when did the titanic sink", "She sank during April 1912 after hitting ice."),
)


def make_stage(project: Project | None = None, **values: Any) -> Stage:
    """An open stage of judging, three judgments per answer."""
    project = project or make_project()
    fields = {
        "title": "Judging",
        "kind": "judging",
        "config": {},
        "task_title": "Judge an answer",
        "task_description": "Read everything, then choose a score.",
        "redundancy": 3,
        "budget_cents": 100_000,
    }
    slug = values.pop("slug", f"judging-{next(_numbers)}")
    return stage_of(slug, project=project, **(fields | values))


def make_query(
    project: Project, text: str = GAS, references: tuple[str, ...] = (CORRECT,), **values: Any
) -> Query:
    """A curated query with one passage and imported references."""
    passages = values.pop("passages", (PASSAGE,))
    return make_curated_query(project, text, passages, references=list(references), **values)


def make_candidate(query: Query, system: str = "unilm", text: str = PREDICTED, **values: Any) -> Candidate:
    """What a system answered."""
    now = timezone.now()
    row, _ = System.objects.get_or_create(project=query.project, name=system, defaults={"created_at": now})
    return Candidate.objects.create(query=query, system=row, text=text, created_at=now, **values)


def make_topics(project: Project, *systems: str) -> list[Query]:
    """A query of each topic with its reference; every system gave an answer of its own."""
    queries = []
    for number, (text, correct) in enumerate(TOPICS, 1):
        query = make_query(project, text, (correct,), key=f"topic-{number}", passages=(f"Page {number}.",))
        queries.append(query)
        for system in systems or ("unilm",):
            make_candidate(query, system, f"{correct} Says {system} {number}.")
    return queries


def visitor(stage: Stage, *units: Candidate | str, worker: str = "AROSA", places: int = 9) -> Visitor:
    """Somebody at a HIT of these candidates or units."""
    names = [unit if isinstance(unit, str) else of_candidate(unit.pk) for unit in units]
    number = next(_numbers)
    hit = hit_of(stage, *names, external_id=f"3JHIT{number}")
    Hit.objects.filter(pk=hit.pk).update(places=places)
    return Visitor(hit, worker=worker, assignment=f"3J{number}", signed=True)


def send(who: Visitor, unit: Candidate | str, **fields: str) -> HttpResponse:
    """Send the form of one unit as the page would."""
    name = unit if isinstance(unit, str) else of_candidate(unit.pk)
    return send_all(who, {name: fields})


def send_all(who: Visitor, answers: dict[str, dict[str, str]]) -> HttpResponse:
    """Send the form of all units as the page would, which names them by their places."""
    ticket = who.ticket()
    names = names_in_page(who.hit, list(answers))
    named = {
        f"{names[unit]}|{field}": value for unit, fields in answers.items() for field, value in fields.items()
    }
    return who.client.post(who.path, {"ticket": ticket, **named})


def judge(stage: Stage, candidate: Candidate, score: int, *, worker: str) -> Judgment:
    """Somebody judges through the page."""
    response = send(visitor(stage, candidate, worker=worker), candidate, score=str(score))
    assert response.status_code == 200, response.content.decode()
    return Judgment.objects.get(stage=stage, candidate=candidate, worker__external_id=worker)


def pending(stage: Stage) -> dict[str, int]:
    """What still needs judgments."""
    return {item.unit: item.missing for item in kind_of(stage).pending(stage)}


def reject(judgment: Judgment) -> None:
    Assignment.objects.filter(pk=judgment.assignment_id).update(state=Assignment.State.REJECTED)


def remove(judgment: Judgment, *, state: str = "in force") -> FilterRun:
    """A filter run that takes this judgment away."""
    run = FilterRun.objects.create(
        stage=judgment.stage,
        recipe="test",
        parameters={},
        state=state,
        last_judgment=judgment.pk,
        created_at=timezone.now(),
    )
    Verdict.objects.create(run=run, worker=judgment.worker, judgment=judgment, rule="test", reason="A test.")
    return run
