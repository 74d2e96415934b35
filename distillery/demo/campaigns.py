"""The demonstration's campaigns, made before one's eyes: the steps of `studies/scenario.toml` in turn.

A step is a command, as somebody at the terminal types it, or something that people do: they come and work,
and where the pipeline waits for a person, the owner decides, each time with a reason.
"""

import io
import json
import os
import shlex
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import Exists, OuterRef

import annotation
import judgments
from annotation import simulation
from annotation.models import Answer, HeldOutWorker, Query
from core.progress import silent
from core.projects.models import Project
from crowd.kinds import kind_of
from crowd.models import Endpoint, PanelStudy, Stage
from crowd.services import stages
from crowd.services.endpoints import change_endpoint
from crowd.simulation.accounts import Account, Browser
from crowd.simulation.answers import PROFILES, SimulatedPerson
from crowd.simulation.panel import Panel, send_by_link
from crowd.simulation.people import Visitor
from crowd.simulation.run import make_rounds
from distillery.demo import lab, tour
from evaluations.plans import EvaluationPlan
from evaluations.services import evaluate_here, show_evaluation
from judgments.services import filter_runs, reports
from marketplace.accounts.accesskeys import IssuedKey
from marketplace.accounts.people import create_scripted_workers
from people.links import LinkPlan, make_link
from people.models import StudyLink
from people.owners import project_owner
from releases import privacy
from releases import services as releases
from releases.models import PrivacyFinding, Release

STUDIES, SAMPLE = Path(__file__).with_name("studies"), Path(annotation.__file__).with_name("sample")
#: Answers of two made-up systems, in our own words (CC0 1.0), with how correct each is, from 1 to 5.
CANDIDATES = Path(judgments.__file__).with_name("sample") / "candidates.jsonl"
SEED = 7
#: Queries of the finished campaign whose answers are judged.
JUDGED = 16


@dataclass
class Scene:
    """Where campaigns run: address, the lab's key, the panel, how steps are told; who decides, who comes."""

    site: str
    key: IssuedKey
    panel: Panel
    step: Callable[..., AbstractContextManager[None]]
    owner: User
    workers: Iterator[int] = field(default_factory=lambda: count(1))
    visitors: Iterator[int] = field(default_factory=lambda: count(1))

    def hire(self, number: int) -> list[Account]:
        """So many workers who have worked on nothing here, so that none works on two stages of a campaign."""
        names = [f"Simulated worker {each}" for each in islice(self.workers, number)]
        return [Account(row.worker_id, token) for row, token in create_scripted_workers(names=names)]

    def invite(self) -> Visitor:
        """Somebody who comes once, by a link or from the panel."""
        return Visitor(SimulatedPerson(next(self.visitors), PROFILES["diligent"], SEED), Browser())


def make_all(scene: Scene) -> None:
    """HITs of the lab's script, a batch, a poll; campaigns that are finished, half done, of three places."""
    os.environ |= {
        "LAB_ACCESS_KEY": scene.key.access_key,
        "LAB_SECRET": scene.key.secret,
        "PANEL_WORKSPACE": scene.panel.workspace,
        "PANEL_TOKEN": scene.panel.token,
    }
    write_studies(scene)
    places = {"here": settings.DATA_DIR, "studies": STUDIES, "sample": SAMPLE}
    steps = tomllib.loads((STUDIES / "scenario.toml").read_text(encoding="utf-8"))["steps"]
    for number, (title, line, *options) in enumerate(steps, 1):
        name, *arguments = (word.format(**places) for word in shlex.split(line))
        with scene.step(number, len(steps), title, waits=name in DECISIONS):
            if name in DECISIONS:
                DECISIONS[name](actor=scene.owner, **find_subject(*arguments), **dict(*options))
            elif name in VISITS:
                VISITS[name](scene, *arguments)
            else:
                call_command(name, *arguments, stdout=io.StringIO(), stderr=io.StringIO())
            make_rounds()
    parts = {"finished": "answers", "middle": "more", "sources": "anywhere"}
    tour.mark(actor=scene.owner, **{part: Project.objects.get(slug=slug) for part, slug in parts.items()})
    tour.end_progress()


def write_studies(scene: Scene) -> None:
    """Study files with the addresses of this run."""
    for study in STUDIES.glob("*.toml"):
        text = study.read_text(encoding="utf-8").replace(":8000", f":{scene.site.rpartition(':')[2]}")
        text = text.replace("http://127.0.0.1:9000", scene.panel.site)
        (settings.DATA_DIR / study.name).write_text(text, encoding="utf-8")


def find_subject(name: str) -> dict[str, Any]:
    """What a decision is about: a project, or a stage as PROJECT/STAGE."""
    project, _, slug = name.partition("/")
    if not slug:
        return {"project": Project.objects.get(slug=project)}
    stages_with_all = Stage.objects.select_related("project", "endpoint")
    return {"stage": stages_with_all.get(project__slug=project, slug=slug)}


# Who comes and works.


def work(scene: Scene, name: str, people: str, mix: str, *options: str) -> None:
    """Let a crowd do what is on offer, through the pages that people use, until it is collected and paid.

    A worker who leaves gives the HIT back: otherwise it would be theirs for an hour.
    """
    file = settings.DATA_DIR / "workers.json"
    file.write_text(json.dumps([asdict(worker) for worker in scene.hire(int(people))]), encoding="utf-8")
    crowd = ("--workers", people, "--mix", mix, "--tokens", str(file), "--marketplace-url", scene.site)
    habits = ("--fast", "--threads", "4", "--give-back", "--no-drafts", "--seed", str(SEED), *options)
    call_command("simulate", name, *crowd, *habits, stdout=io.StringIO())
    file.unlink()
    stage = find_subject(name)["stage"]
    kind_of(stage).settle(stage)


def visit(scene: Scene, name: str) -> None:
    """People come by the link until one finds nothing to do, and one for each place of the panel."""
    link, links = StudyLink.objects.get(), Endpoint.objects.get(name="links")
    for _ in range(5):
        if send_by_link(link, links, scene.invite()) < link.most_tasks:
            break
    study = PanelStudy.objects.select_related("endpoint").get(**find_subject(name))
    for _ in range(study.places):
        scene.panel.send_participant(study, scene.invite())


VISITS: dict[str, Callable[..., None]] = {
    "post-hits": lambda scene: lab.post_hits(scene.site, scene.key),
    "publish-batch": lambda scene: lab.publish_batch(scene.site, scene.hire),
    "work": work,
    "visit": visit,
}


# What the owner decides about a project or a stage.


def collect_systems(*, project: Project, actor: User) -> None:
    """Answers of two systems to queries that have theirs by people, as a file.

    One system copied a reference, which needs no judge; one made up an address, as systems do.
    """
    answered = Query.objects.filter(project=project, status=Query.Status.ANSWERED).order_by("pk")[:JUDGED]
    keys = {query.key for query in answered}
    lines = CANDIDATES.read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["query_id"] in keys]
    held_out = HeldOutWorker.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    references = Answer.objects.filter(query__project=project, query__key=rows[0]["query_id"])
    copied = references.filter(~Exists(held_out), state=Answer.State.APPROVED).order_by("pk")[0]
    rows[0]["answer"] = copied.text
    rows[-1]["answer"] += " Questions? Write to economics-desk@example.org."
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (settings.DATA_DIR / "systems.jsonl").write_text(text, encoding="utf-8")


def report_agreement(*, stage: Stage, actor: User) -> None:
    """Have the report made of all judgments."""
    reports.keep(reports.make(stage, silent))


def close_stages(*, project: Project, actor: User, why: str) -> None:
    """Close what is open."""
    for stage in Stage.objects.filter(project=project, status=Stage.Status.OPEN):
        stages.close_stage(stage=stage, actor=actor, why=why)


def redact_texts(*, project: Project, actor: User, reason: str) -> None:
    """Look for personal data, and black out what a system made up."""
    privacy.check_project(project=project, actor=actor)
    findings = PrivacyFinding.objects.filter(project=project, state=PrivacyFinding.State.OPEN)
    privacy.redact_findings(findings=findings.filter(privacy.HAS_TEXT), reason=reason, actor=actor)


def show_release(*, project: Project, actor: User) -> None:
    """Show a release to everybody."""
    releases.show_release(release=Release.objects.get(project=project), actor=actor)


def evaluate_release(*, project: Project, actor: User, title: str, **options: Any) -> None:
    """Find out which metrics agree with the judges, and make that the release's leaderboard."""
    release = Release.objects.select_related("project").get(project=project)
    evaluation = evaluate_here(release=release, plan=EvaluationPlan(**options), title=title, actor=actor)
    show_evaluation(evaluation=evaluation, actor=actor)


def take_play_money(*, project: Project, actor: User) -> None:
    """The panel's people and money are simulated, whatever its preset says."""
    demo = Endpoint.objects.get(name="demo")
    changes = {"submit_origins": demo.submit_origins, "real_money": False}
    for endpoint in Endpoint.objects.exclude(pk=demo.pk):
        change_endpoint(endpoint=endpoint, changes=changes)


def make_study_link(*, project: Project, actor: User, **options: Any) -> None:
    """A link to whatever the project has on offer."""
    plan = LinkPlan(target=f"project:{project.slug}", **options)
    make_link(owner=project_owner(project), plan=plan, actor=actor)


DECISIONS: dict[str, Callable[..., object]] = {"apply-filters": filter_runs.apply} | {
    service.__name__.replace("_", "-"): service
    for service in (
        *(stages.open_stage, simulation.decide_ties, simulation.review_worst, simulation.approve_answers),
        *(simulation.approve_work, collect_systems, report_agreement, close_stages, redact_texts),
        *(show_release, evaluate_release, take_play_money, make_study_link),
    )
}
