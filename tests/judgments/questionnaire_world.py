"""Questionnaires from one file, answered by simulated people through the real form."""

import json
from pathlib import Path
from typing import Any

from django.test import RequestFactory
from django.utils import timezone

from crowd.kinds import kind_of
from crowd.models import Assignment, Stage
from crowd.services import responses
from crowd.services.deals import NoWorkError, deal
from crowd.simulation.answers import PROFILES, SimulatedPerson, answer_unit, read_form
from crowd.taskpage import Ticket, WorkerForm, names_in_page, of_unit, task_page
from distillery.studies.preparation import MadeStudy, StudyPlan, make_draft, open_study, settle
from distillery.studies.presets import all_presets
from distillery.studies.tables import read_study_table
from tests.judgments.class_world import BACK, join

GAS = ["Natural gas is found with other fossil fuels, as in coal beds.", "It is mostly made up of methane."]
WATER = ["Water boils at 100 degrees Celsius at sea level."]
ROWS: list[dict[str, Any]] = [
    {
        "question": "Where does natural gas come from?",
        "reference": "Natural gas is found with other fossil fuels.",
        "passages": GAS,
        "nuggets": ["vital: found with fossil fuels", "okay: mostly methane"],
        "answers": {
            "alpha": "It is found with other fossil fuels [1]. It is mostly methane [1][2]. Canada has lots.",
            "beta": "Natural gas comes from Canada [1].",
            "gamma": "Gas is made by cows.",
        },
    },
    {
        "question": "What is the boiling point of water?",
        "reference": "100 degrees Celsius at sea level.",
        "passages": WATER,
        "nuggets": ["100 degrees Celsius"],
        "answers": {
            "alpha": "100 degrees Celsius at sea level [1]. Dr. Smith says so, too.",
            "beta": "212 degrees Fahrenheit [1].",
            "gamma": "It depends on the pressure.",
        },
    },
]


def write_answers(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    """A line for each answer of a system."""
    lines = [
        {
            **{name: value for name, value in row.items() if name != "answers"},
            "system": system,
            "answer": text,
        }
        for row in rows
        for system, text in row["answers"].items()
    ]
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    return path


def make_draft_study(path: Path, preset: str, owner: Any, **plan: Any) -> MadeStudy:
    """A study of a file before it is opened."""
    study_plan = StudyPlan(all_presets()[preset], **plan)
    return make_draft(read_study_table(path), study_plan, slug=f"study-{preset}", owner=owner)


def make_study(path: Path, preset: str, owner: Any, **plan: Any) -> MadeStudy:
    """An open study of a file, as `distillery judge FILE --preset` makes it."""
    study = make_draft_study(path, preset, owner, **plan)
    open_study(study, StudyPlan(all_presets()[preset], **plan), owner=owner)
    return study


def answer(stage: Stage, worker: Any, *, profile: str = "diligent", seed: int = 7) -> Assignment | None:
    """A person answers one HIT by its real page; None where they are dealt nothing."""
    try:
        dealt = deal(stage, worker_id=worker.external_id, submit_to=BACK)
    except NoWorkError:
        return None
    work = Assignment.objects.select_related("stage__project", "worker", "hit").get(pk=dealt.assignment_pk)
    units = list(work.claims.values_list("unit", flat=True))
    person = SimulatedPerson(worker.pk, PROFILES[profile], seed)
    page = show(work, units)
    form = read_form(page, "http://task.example.org/")
    assert form is not None
    names = names_in_page(work.hit, units)
    form.behind = {name: unit for unit, name in names.items()}
    kind, stored = kind_of(stage), {}
    for unit in units:
        parsed = None
        for attempt in range(4):
            filled = answer_unit(stage, form, unit, person, attempt=attempt)
            parsed = kind.parse(stage, unit, of_unit(filled, names[unit]))
            if parsed.good:
                break
        assert parsed is not None
        assert parsed.good, parsed.errors
        stored[unit] = parsed.response
    assert responses.store_response(work, stored, at=timezone.now())
    return work


def show(work: Assignment, units: list[str]) -> str:
    """The page of an assignment."""

    request = RequestFactory().get("/")
    form = WorkerForm(work, Ticket(work.pk, BACK))
    return task_page(request, work.hit, units, worker_form=form).content.decode()


def answer_all(stage: Stage, people: int = 4, **options: Any) -> None:
    """So many people answer in turn until nothing is left to do."""
    workers = [join(stage.project, stage.endpoint) for _ in range(people)]
    for _ in range(200):
        if not any([answer(stage, worker, **options) for worker in workers]):  # noqa: C419 - each has a turn
            break
        settle(stage)
