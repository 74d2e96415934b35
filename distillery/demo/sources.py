"""A study of two stages over three sources: this marketplace, a study link, and a simulated panel.

Its people are of three kinds: workers who accept HITs, visitors without an account, and participants whom the
panel sends. All they did ends in one release, and the books of each side are laid beside ours.
"""

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.db.models import F, Sum
from django.urls import reverse
from django.utils import timezone

from annotation.models import Answer
from annotation.services.importing import Options as QueryOptions
from annotation.services.importing import import_queries
from core.projects.models import Membership, Project
from core.projects.services import create_project, set_role
from crowd.adapters import registry
from crowd.models import Endpoint, Hit, PanelStudy, Stage
from crowd.selectors.stage_status import source_status
from crowd.services.endpoints import change_endpoint, create_endpoint
from crowd.services.sources import SourcePlan, set_sources
from crowd.services.stages import close_stage, create_stage, open_stage
from crowd.simulation.accounts import Browser, mark_simulated
from crowd.simulation.answers import PROFILES, SimulatedPerson
from crowd.simulation.people import Visitor
from crowd.simulation.prolific_server import Simulator, WireCall, serve
from crowd.simulation.prolific_state import Options
from crowd.sources import hits_of, stage_at
from distillery.demo import answers, campaigns, judging
from distillery.demo.campaigns import Scene
from distillery.demo.screen import SourceBooks, SourcesSummary
from distillery.demo.task_pages import Task, all_tasks
from judgments.models import Judgment
from judgments.services.imports import import_candidates
from marketplace.models import Requester
from people.links import LinkPlan, address_of, make_link
from people.models import StudyLink, Visit
from people.owners import project_owner
from people.selectors import VISIT_COLUMNS, visit_rows

# The simulated panel, which runs beside the server and ends with it.

BALANCE_CENTS = 100_00


@dataclass(frozen=True)
class DemoPanel:
    """A simulator of Prolific's contract that answers on this machine."""

    simulator: Simulator
    token: str = field(repr=False)

    @property
    def url(self) -> str:
        """Where it is reached from this machine."""
        return self.simulator.site

    @property
    def workspace(self) -> str:
        """The account's only workspace."""
        return str(self._call("GET", "/_control/state")["workspace_id"])

    def payments(self) -> list[dict[str, Any]]:
        """Every payment it made."""
        return list(self._call("GET", "/_control/payments")["payments"])

    def study(self, external_id: str) -> dict[str, Any]:
        """A study as its own side has it."""
        return self._call("GET", f"/api/v1/studies/{external_id}/")

    def arrive(self, external_id: str) -> tuple[str, str, str]:
        """Have a new participant take a place of a study: participant, submission, address that they open."""
        [person] = self._call("POST", "/_control/participants", {"n": 1})["ids"]
        come = {"study_id": external_id, "participant_id": person}
        visit = self._call("POST", "/_control/arrive", come)
        return str(person), str(visit["submission_id"]), str(visit["url"])

    def complete(self, submission: str, code: str) -> None:
        """They come back with the code that they were shown."""
        self._call("POST", "/_control/complete", {"submission_id": submission, "code": code})

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        raw = json.dumps(body).encode() if body is not None else b""
        answer = self.simulator.answer(WireCall(method, path, self.token, raw))
        if answer.status >= 400:
            raise RuntimeError(f"The simulated panel answered {answer.status} to {path}: {answer.body}")
        return dict(answer.body)


@contextlib.contextmanager
def simulated_panel(state: Path) -> Iterator[DemoPanel]:
    """A panel for as long as the block runs; `state` is the file that it keeps."""
    token = secrets.token_hex(16)
    simulator = Simulator(state, token, Options(balance=BALANCE_CENTS, wallet_seconds=0.0))
    server = serve(simulator, 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True)
    thread.start()
    try:
        yield DemoPanel(simulator, token)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        simulator.close()


# The study: its stages and links, the people of each source, and the books.

TITLE = "People from three places"
LOCAL, LINK, PANEL = "marketplace", "link", "panel"
QUERIES, SYSTEMS = 4, ("first-sentence", "another-passage")
#: One of the people of each source for each unit; the link lets everybody do two tasks at most.
REDUNDANCY, TASKS_EACH = 3, 2
WRITERS, JUDGES = 3, 2
CROWD = WRITERS + JUDGES
#: Of a stage at the marketplace; the other two pay the same in both.
ANSWER_CENTS, JUDGMENT_CENTS = 15, 20
LINK_CENTS, PANEL_CENTS = 12, 25
BUDGET_CENTS, STAGE_BUDGET_CENTS, OPEN_BUDGET_CENTS = 60_00, 20_00, 10_00
SEED = 7
#: Places on the link that stay open, for who looks at the demonstration.
OPEN_PLACES = 10
CODE = "DEMO-DONE"
NOTES = "Answers and judgments of people from a marketplace, a study link and a simulated panel."


@dataclass
class _Study:
    """The study while it goes on."""

    scene: Scene
    panel: DemoPanel
    project: Project
    link_endpoint: Endpoint
    panel_endpoint: Endpoint
    link: StudyLink | None = None
    stages: list[Stage] = field(default_factory=list)
    visitors: int = 0
    paid_before: tuple[int, int] = (0, 0)
    paid_after: tuple[int, int] = (0, 0)


def run_study(scene: Scene, panel: DemoPanel, *, lab: Requester) -> SourcesSummary:
    """All of it; in the end a stage on study links stays open."""
    began = time.monotonic()
    study = _begin(scene, panel)
    study.paid_before = _paid(lab)
    _stage(study, _write_stage(study), writers=WRITERS)
    _import_systems(study)
    _stage(study, _judge_stage(study), writers=JUDGES)
    study.paid_after = _paid(lab)
    books = _books(study)
    for stage in study.stages:
        close_stage(stage=stage, actor=scene.people.owner, why="Everything is in and decided.")
    answers.go_on()
    release = judging.publish(
        study.project, owner=scene.people.owner, site=scene.site, notes=NOTES, card=_card()
    )
    _leave_open(study)
    link = _link_of(study)
    summary = SourcesSummary(
        project=study.project.slug,
        stages=[stage.slug for stage in study.stages],
        answers=Answer.objects.filter(stage__in=study.stages, state=Answer.State.APPROVED).count(),
        judgments=Judgment.objects.filter(stage__in=study.stages).count(),
        books=books,
        agree=all(each.agree for each in books),
        release=release,
        link=address_of(link),
        link_page=f"{scene.site}{reverse('people:link', args=[study.project.slug, link.pk])}",
        wall_seconds=round(time.monotonic() - began, 2),
    )
    scene.screen.sources(summary)
    return summary


# Setting up


def _begin(scene: Scene, panel: DemoPanel) -> _Study:
    people = scene.people
    project = create_project(
        slug=f"anywhere{people.suffix}",
        title=TITLE,
        owner=people.owner,
        licence=answers.LICENCE,
        budget_cents=BUDGET_CENTS,
    )
    set_role(project=project, user=people.guest, role=Membership.Role.VIEWER, actor=people.owner)
    links = create_endpoint(name=f"links{people.suffix}", preset="link", access_key="", secret="")
    pool = create_endpoint(
        name=f"panel{people.suffix}",
        preset="prolific",
        label="Simulated Prolific",
        url=panel.url,
        access_key=panel.workspace,
        secret=panel.token,
    )
    # Both names of this machine are the same server, and the panel's participants and money are simulated.
    here = {"submit_origins": scene.endpoint.submit_origins}
    change_endpoint(endpoint=links, changes=here)
    change_endpoint(endpoint=pool, changes={**here, "real_money": False})
    rows = [_query_line(task) for task in all_tasks()[:QUERIES]]
    file = scene.folder / "queries-for-three-sources.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = QueryOptions(start_at="distillation", without=())
    import_queries(project=project, path=file, options=options, actor=people.owner)
    return _Study(scene, panel, project, links, pool)


def _query_line(task: Task) -> dict[str, Any]:
    return {
        "id": f"q{task.number}",
        "query": task.query,
        "passages": [
            {"id": f"q{task.number}-{place}", "text": text, "is_selected": int(place == 1)}
            for place, text in enumerate(task.passages, 1)
        ],
        "truth": {"scores": {SYSTEMS[0]: 5, SYSTEMS[1]: 1}, "scale": [1, 5]},
    }


def _first_sentence(task: Task) -> str:
    return f"{task.passages[0].partition('. ')[0].rstrip('.')}."


def _import_systems(study: _Study) -> None:
    """What two systems say: the first sentence of the passage, and that of another question's."""
    tasks = all_tasks()[:QUERIES]
    rows = [
        {"query_id": f"q{task.number}", "system": system, "answer": _first_sentence(said)}
        for place, task in enumerate(tasks)
        for system, said in zip(SYSTEMS, (task, tasks[place - 1]), strict=True)
    ]
    file = study.scene.folder / "systems-for-three-sources.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    import_candidates(project=study.project, path=file, actor=study.scene.people.owner)


def _write_stage(study: _Study) -> Stage:
    return create_stage(
        project=study.project,
        slug="answers",
        title="Answer a question in your own words",
        kind="distillation",
        endpoint=study.scene.endpoint,
        task_title="Answer a question in your own words",
        task_description="Read a short text from a textbook and answer one question about it.",
        task_keywords="reading, writing, textbooks",
        reward_cents=ANSWER_CENTS,
        redundancy=REDUNDANCY,
        expected_seconds=60,
        budget_cents=STAGE_BUDGET_CENTS,
        seed=SEED,
        actor=study.scene.people.owner,
    )


def _judge_stage(study: _Study) -> Stage:
    return create_stage(
        project=study.project,
        slug="judging",
        title="How correct are these answers?",
        kind="judging",
        endpoint=study.scene.endpoint,
        task_title="How correct are these answers?",
        task_description="Read what a textbook says, then say how correct each answer is.",
        task_keywords="reading, answers, judging",
        reward_cents=JUDGMENT_CENTS,
        redundancy=REDUNDANCY,
        units_per_hit=QUERIES * len(SYSTEMS),
        expected_seconds=60,
        budget_cents=STAGE_BUDGET_CENTS,
        seed=SEED,
        actor=study.scene.people.owner,
    )


# Three kinds of people


def _stage(study: _Study, stage: Stage, *, writers: int) -> None:
    """Give a stage its sources, open it, let people come from each, and decide what they did."""
    scene = study.scene
    study.stages.append(stage)
    plans = [
        SourcePlan(scene.endpoint, share=1),
        SourcePlan(study.link_endpoint, share=1, reward_cents=LINK_CENTS),
        SourcePlan(study.panel_endpoint, share=1, reward_cents=PANEL_CENTS),
    ]
    set_sources(stage=stage, plans=plans, actor=scene.people.owner)
    open_stage(stage=stage, actor=scene.people.owner)
    _rounds()
    with scene.screen.progress(f"People from three places: {stage.slug}", None) as progress:
        _visit_by_link(study)
        _visit_from_panel(study, stage)
        _rounds()  # else the crowd would wait for what the panel is asked for only now and then
        answers.work_on(
            stage,
            mix="diligent",
            workers=scene.crowd(writers),
            site=scene.site,
            progress=progress,
            seed=SEED,
        )
    if stage.kind == "distillation":
        campaigns.approve_answers(stage, owner=scene.people.owner)
    campaigns.pay(stage, owner=scene.people.owner)
    _rounds()


def _rounds() -> None:
    """Rounds until nothing is left to do, with a fresh look at the panel before."""
    PanelStudy.objects.filter(state=PanelStudy.State.OPEN).update(hinted_at=timezone.now())
    answers.go_on()


def _visitor(study: _Study) -> Visitor:
    study.visitors += 1
    return Visitor(SimulatedPerson(study.visitors, PROFILES["diligent"], SEED), Browser())


def _link_of(study: _Study) -> StudyLink:
    if study.link is None:
        plan = LinkPlan(
            title="Come and answer a question",
            target=f"project:{study.project.pk}",
            quota=100,
            most_tasks=TASKS_EACH,
            compensation=StudyLink.Compensation.MONEY,
            returns={"completed": {"code": CODE, "address": ""}},
        )
        study.link = make_link(owner=project_owner(study.project), plan=plan, actor=study.scene.people.owner)
    return study.link


def _visit_by_link(study: _Study) -> None:
    """People open the link one after another, until somebody finds nothing to do."""
    address = address_of(_link_of(study))
    for _ in range(QUERIES + 1):
        done, _ = _visitor(study).visit(address)
        guests = Visit.objects.filter(link=study.link, guest__isnull=False)
        mark_simulated(study.link_endpoint, list(guests.values_list("guest__worker_id", flat=True)))
        if done < TASKS_EACH:
            return


def _visit_from_panel(study: _Study, stage: Stage) -> None:
    """One participant for each place of the panel's study; each goes back there with the code."""
    there = PanelStudy.objects.get(stage=stage, endpoint=study.panel_endpoint)
    for _ in range(there.places):
        person, submission, address = study.panel.arrive(there.external_id)
        mark_simulated(study.panel_endpoint, [person])
        _, last_page = _visitor(study).visit(address)
        code = next((each for each in there.codes.values() if each in last_page), "")
        study.panel.complete(submission, code)


def _leave_open(study: _Study) -> None:
    """A small stage on study links alone, for whoever opens the link from the desk."""
    asked = create_stage(
        project=study.project,
        slug="yours",
        title="For you: is one short text enough?",
        kind="poll",
        endpoint=study.link_endpoint,
        config={
            "question": "Could one short passage answer this question completely?",
            "options": ["Yes", "No", "It depends"],
            "items": [task.query for task in all_tasks()[QUERIES:]],
            "checks": {},
        },
        task_title="Is one short text enough?",
        task_description="Read questions from textbooks; say whether a short text could answer each.",
        reward_cents=1,
        redundancy=OPEN_PLACES,
        units_per_hit=3,
        expected_seconds=20,
        budget_cents=OPEN_BUDGET_CENTS,
        seed=SEED,
        actor=study.scene.people.owner,
    )
    open_stage(stage=asked, actor=study.scene.people.owner)
    answers.go_on()


# The books of both sides


def _paid(lab: Requester) -> tuple[int, int]:
    """What the marketplace says that the lab has paid, and its fees."""
    lab.refresh_from_db()
    return lab.paid_cents, lab.fees_cents


def _books(study: _Study) -> list[SourceBooks]:
    sides: list[tuple[str, Endpoint, tuple[int | None, int, int | None]]] = [
        (LOCAL, study.scene.endpoint, _marketplace_side(study)),
        (LINK, study.link_endpoint, (None, _link_side(study), None)),
        (PANEL, study.panel_endpoint, _panel_side(study)),
    ]
    return [_one_source(study, name, endpoint, theirs) for name, endpoint, theirs in sides]


def _one_source(
    study: _Study, name: str, endpoint: Endpoint, theirs: tuple[int | None, int, int | None]
) -> SourceBooks:
    books = SourceBooks(name, 0, 0, 0, theirs[0], 0, theirs[1], 0, theirs[2])
    people: set[int] = set()
    for stage in study.stages:
        [found] = [each for each in source_status(stage) if each.endpoint.pk == endpoint.pk]
        done = stage.assignments.filter(worker__endpoint=endpoint, state="approved")
        people.update(done.values_list("worker", flat=True))
        asked = Hit.objects.filter(hits_of(found.here)).aggregate(n=Sum(F("places") * F("reward_cents")))["n"]
        books = replace(
            books,
            answers=books.answers + found.places.answers,
            planned_cents=books.planned_cents + (asked or 0),
            paid_cents=books.paid_cents + found.money.spent_cents,
            fee_cents=books.fee_cents + found.money.fee_cents,
        )
    return replace(books, people=len(people))


def _marketplace_side(study: _Study) -> tuple[int, int, int]:
    """What the lab's account says: of its HITs those of this study, and what was paid meanwhile."""
    there = registry.adapter(study.scene.endpoint)
    planned = 0
    for stage in study.stages:
        here = stage_at(stage, study.scene.endpoint)
        for name in Hit.objects.filter(hits_of(here)).values_list("external_id", flat=True):
            listing = there.get_listing(name)
            planned += listing.places * listing.reward.minor if listing else 0
    paid, fees = (after - before for before, after in zip(study.paid_before, study.paid_after, strict=True))
    return planned, paid, fees


def _link_side(study: _Study) -> int:
    """What the people of the link have earned, by the list of its visits."""
    columns = [VISIT_COLUMNS.index(name) for name in ("worker", "tasks_finished")]
    rows = ([row[column] for column in columns] for row in visit_rows(_link_of(study)))
    tasks = {str(worker): int(str(finished)) for worker, finished in rows}
    return sum(tasks.values()) * LINK_CENTS


def _panel_side(study: _Study) -> tuple[int, int, int]:
    """What the panel says of its studies: places at their reward, payments, fee and tax."""
    planned = 0
    for each in PanelStudy.objects.filter(stage__in=study.stages):
        there = study.panel.study(each.external_id)
        planned += there["total_available_places"] * there["reward"]
    payments = study.panel.payments()
    fees = sum(each["fees"] + each["vat"] for each in payments)
    return planned, sum(each["amount"] for each in payments), fees


def _card() -> dict[str, str]:
    return {
        **judging.CARD,
        "summary": "Answers to a few questions from two open textbooks, and scores from 1 to 5 of two "
        "systems' answers, by people of a marketplace, a study link and a simulated panel. Everybody is "
        "simulated.",
        "consent": "Scripts pressed the button that agrees to the project's consent text.",
    }
