"""The demonstration's campaigns, made before one's eyes: the steps of `studies/scenario.toml` in turn.

A step is a command, as somebody at the terminal types it, or something that people do: they work, come by a
link, decide. That is a function here of the step's name. Where the pipeline waits for a person, the owner
decides, each time with a reason.
"""

import contextlib
import io
import json
import os
import shlex
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

import annotation
import judgments
from annotation.models import Answer, HeldOutWorker, Query
from annotation.services import curation, review_decisions
from annotation.units import simulated_truth
from core.jobs.models import OPEN_STATES
from core.projects.models import Project
from crowd.kinds import kind_of
from crowd.models import Assignment, Endpoint, PanelStudy, Stage
from crowd.services import review, stages
from crowd.services.endpoints import change_endpoint
from crowd.services.publication import quote
from crowd.services.tick import tick
from crowd.simulation.accounts import Account, Browser, mark_simulated
from crowd.simulation.answers import PROFILES, SimulatedPerson
from crowd.simulation.panel import Panel
from crowd.simulation.people import Visitor
from distillery.demo import lab, tour
from distillery.demo.screen import Screen
from evaluations.plans import EvaluationPlan
from evaluations.services import evaluate_here, show_evaluation
from judgments.services import filter_runs, reports
from judgments.services.filter_decisions import FilteringError
from marketplace.services.accesskeys import IssuedKey
from marketplace.services.people import create_scripted_workers
from people.links import LinkPlan, address_of
from people.links import make_link as make_study_link
from people.models import StudyLink, Visit
from people.owners import project_owner
from releases import privacy
from releases.models import PrivacyFinding, Release
from releases.services import show_release as show_to_everybody

STUDIES, SAMPLE = Path(__file__).with_name("studies"), Path(annotation.__file__).with_name("sample")
#: Answers of two made-up systems, in our own words (CC0 1.0), with how correct each is, from 1 to 5.
CANDIDATES = Path(judgments.__file__).with_name("sample") / "candidates.jsonl"
SEED = 7
#: Rounds of publishing, collecting and paying until nothing is left to do, at most.
ROUNDS = 40
#: Queries of the finished campaign whose answers are judged.
JUDGED = 16


def diligent_visitors() -> Iterator[Visitor]:
    """People who come once, by a link or from the panel."""
    return (Visitor(SimulatedPerson(number, PROFILES["diligent"], SEED), Browser()) for number in count(1))


@dataclass
class Scene:
    """Where campaigns run: the address, the lab's key, the panel, the terminal; and who comes."""

    site: str
    key: IssuedKey
    panel: Panel
    screen: Screen
    visitors: Iterator[Visitor] = field(default_factory=diligent_visitors)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def owner(self) -> User:
        """Who decides."""
        return User.objects.get(username=lab.ADMIN)

    def hire(self, number: int) -> list[Account]:
        """So many workers who have worked on nothing here: nobody works on two stages of a campaign."""
        names = [f"Simulated worker {each}" for each in islice(self.numbers, number)]
        return [Account(row.worker_id, token) for row, token in create_scripted_workers(names=names)]


def make_all(scene: Scene) -> None:
    """HITs of the lab's script, a batch, a poll; campaigns that are finished, half done, of three places."""
    os.environ |= {
        "LAB_ACCESS_KEY": scene.key.access_key,
        "LAB_SECRET": scene.key.secret,
        "PANEL_WORKSPACE": scene.panel.workspace,
        "PANEL_TOKEN": scene.panel.token,
    }
    write_files(scene)
    places = {"here": settings.DATA_DIR, "studies": STUDIES, "sample": SAMPLE}
    steps = tomllib.loads((STUDIES / "scenario.toml").read_text(encoding="utf-8"))["steps"]
    for number, (words, line) in enumerate(steps, 1):
        name, *arguments = (word.format(**places) for word in shlex.split(line))
        with scene.screen.step(number, len(steps), words, waits=name in DEEDS and name != "work"):
            if name in DEEDS:
                DEEDS[name](scene, *arguments)
            else:
                call_command(name, *arguments, stdout=io.StringIO(), stderr=io.StringIO())
    tour.end_progress()


def write_files(scene: Scene) -> None:
    """What commands read: study files with the addresses of this run, and the sample's log in three parts.

    What is true of systems' answers to a query is for simulated judges who read.
    """
    for study in STUDIES.glob("*.toml"):
        text = study.read_text(encoding="utf-8").replace(":8000", f":{scene.site.rpartition(':')[2]}")
        text = text.replace("http://127.0.0.1:9000", scene.panel.simulator.site)
        (settings.DATA_DIR / study.name).write_text(text, encoding="utf-8")
    log, truths = read_lines(SAMPLE / "queries.jsonl"), read_lines(CANDIDATES)
    for row in log:
        scores = {each["system"]: each["truth"] for each in truths if each["query_id"] == row["id"]}
        row["truth"] |= {"scores": scores, "scale": [1, 5]}
    others = log[1::2]
    late = others[:: len(others) // 4][:4]
    write_lines("first-log.jsonl", log[::2])
    write_lines("second-log.jsonl", (row for row in others if row not in late))
    write_lines("later-queries.jsonl", late)


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def write_lines(name: str, rows: Iterable[Any]) -> None:
    """A file of JSON lines in the data folder, as a user brings one."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (settings.DATA_DIR / name).write_text("".join(lines), encoding="utf-8")


def stage_named(name: str) -> Stage:
    """The stage PROJECT/STAGE."""
    project, _, slug = name.partition("/")
    return Stage.objects.select_related("project", "endpoint").get(project__slug=project, slug=slug)


# What people do: each by the name of a step, with its words.


def post_hits(scene: Scene) -> None:
    """A script of the lab."""
    lab.post_hits(scene.site, scene.key)


def publish_batch(scene: Scene) -> None:
    """The lab in its browser, and reviewers."""
    lab.publish_batch(scene.hire(lab.REVIEWERS), scene.site)


def open_stage(scene: Scene, name: str) -> None:
    """Open a stage that a study file made."""
    stages.open_stage(stage=stage_named(name), actor=scene.owner)


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
    stage = stage_named(name)
    kind_of(stage).settle(stage)


def go_on(_scene: Scene) -> None:
    """Rounds until nothing is left to do, with a fresh look at the panel before."""
    PanelStudy.objects.filter(state=PanelStudy.State.OPEN).update(hinted_at=timezone.now())
    for _ in takewhile(lambda _: not tick().idle, range(ROUNDS)):
        pass


def decide_ties(scene: Scene, project: str) -> None:
    """Read every query whose editors were of two minds, and accept or exclude it."""
    for query in Query.objects.filter(project__slug=project, status=Query.Status.TIED).order_by("pk"):
        truth = simulated_truth(query.extra)
        if (truth.get("kind"), truth.get("answerable")) == ("informational", "yes"):
            curation.accept_query(query=query, actor=scene.owner, reason="One passage can settle it.")
        else:
            curation.exclude_query(query=query, actor=scene.owner, reason="No short passage settles it.")


def undecided_answers(stage: Stage) -> QuerySet[Answer]:
    """Answers that wait for a reviewer."""
    return Answer.objects.filter(stage=stage, state=Answer.State.UNDECIDED).select_related(
        "stage__project", "worker", "query", "assignment__stage__endpoint", "assignment__hit"
    )


def flagged_answers(name: str) -> QuerySet[Answer]:
    """Of these, those with flags, the most flags first."""
    with_flags = undecided_answers(stage_named(name)).annotate(flags_in_all=Count("flags"))
    return with_flags.filter(flags_in_all__gt=0).order_by("-flags_in_all", "pk")


def refuse_flagged(scene: Scene, name: str) -> None:
    """Reject the work with the worst answer, which is not paid, and exclude the next one, which is."""
    worst, second = flagged_answers(name)[:2]
    reason = "This is a passage pasted as it stands."
    review.reject(assignment=worst.assignment, actor=scene.owner, reason=reason)
    reason = "This is not about the question."
    review_decisions.exclude(answer=second, actor=scene.owner, seen=second.state, reason=reason)


def ask_rewrite(scene: Scene, name: str) -> None:
    """Send one answer back to its author, where another one stays for whoever tries the review."""
    first, *others = flagged_answers(name)
    if others:
        reason = "Please use words of your own."
        review_decisions.ask_rewrite(answer=first, actor=scene.owner, seen=first.state, reason=reason)


def approve_answers(scene: Scene, name: str, queries: str = "") -> None:
    """Approve the answers without flags query by query; of all queries, those with flags, too."""
    stage, owner = stage_named(name), scene.owner
    waiting = Exists(undecided_answers(stage).filter(query=OuterRef("pk")))
    rows = Query.objects.filter(waiting, project=stage.project).order_by("pk")
    for query in rows[: int(queries)] if queries else rows:
        review_decisions.approve_unflagged(stage=stage, query=query, actor=owner)
    for answer in () if queries else undecided_answers(stage):
        review_decisions.approve(answer=answer, actor=owner, seen=answer.state)


def pay(scene: Scene, name: str) -> None:
    """Approve all work that waits for it, but that of answers which still wait for a reviewer."""
    stage = stage_named(name)
    undecided = Exists(undecided_answers(stage).filter(assignment=OuterRef("pk")))
    waiting = Assignment.objects.filter(~undecided, stage=stage, state=Assignment.State.SUBMITTED)
    if chosen := list(waiting.order_by("pk").values_list("pk", flat=True)):
        review.approve_chosen(stage=stage, chosen=chosen, actor=scene.owner)
    go_on(scene)


def collect_systems(_scene: Scene, project: str) -> None:
    """Answers of two systems to queries that have theirs by people, as a file.

    One system copied a reference, which nobody needs to judge; one made up an address, as systems do.
    """
    answered = Query.objects.filter(project__slug=project, status=Query.Status.ANSWERED).order_by("pk")
    keys = set(answered[:JUDGED].values_list("key", flat=True))
    rows = [row for row in read_lines(CANDIDATES) if row["query_id"] in keys]
    held_out = HeldOutWorker.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    references = Answer.objects.filter(query__project__slug=project, query__key=rows[0]["query_id"])
    copied = references.filter(~Exists(held_out), state=Answer.State.APPROVED).order_by("pk")[0]
    rows[0]["answer"] = copied.text
    rows[-1]["answer"] += " Questions? Write to economics-desk@example.org."
    write_lines("systems.jsonl", rows)


def filter_judges(scene: Scene, name: str) -> None:
    """Put the filters in force that a researcher begins with."""
    filter_runs.apply(stage=stage_named(name), recipe="default", parameters={}, actor=scene.owner)


def ask_again(scene: Scene, name: str) -> None:
    """Ask for what filters took away, as far as there is money for it; the server's own rounds do so, too."""
    stage = stage_named(name)
    while (offer := quote(stage)).hits and offer.affordable:
        with contextlib.suppress(FilteringError):
            filter_runs.top_up(stage=stage, most_cents=offer.total_cents, actor=scene.owner)
        tick()


def report_agreement(scene: Scene, name: str) -> None:
    """Have the report made of all judgments."""
    go_on(scene)
    job = reports.ask(stage=stage_named(name))
    while job.state in OPEN_STATES:
        time.sleep(0.1)
        job.refresh_from_db()


def close_stages(scene: Scene, slug: str) -> None:
    """Close what is open, look for personal data, and black out what a system made up."""
    project, owner = Project.objects.get(slug=slug), scene.owner
    for stage in Stage.objects.filter(project=project, status=Stage.Status.OPEN):
        stages.close_stage(stage=stage, actor=owner, why="Everything is in and decided.")
    go_on(scene)
    privacy.check_project(project=project, actor=owner)
    findings = PrivacyFinding.objects.filter(project=project, state=PrivacyFinding.State.OPEN)
    reason = "A system made this up; it may still be somebody's."
    privacy.redact_findings(findings=findings.filter(privacy.HAS_TEXT), reason=reason, actor=owner)


def show_release(scene: Scene, project: str) -> None:
    """Show a release to everybody."""
    show_to_everybody(release=Release.objects.get(project__slug=project), actor=scene.owner)


def evaluate_release(scene: Scene, project: str) -> None:
    """Find out which metrics agree with the judges, and make that the release's leaderboard."""
    release = Release.objects.select_related("project").get(project__slug=project)
    plan = EvaluationPlan(metrics=("bleu-1", "rouge-l", "chrf", "meteor"), replicates=500, draws=1_999)
    title = "A few metrics beside simulated judges"
    evaluation = evaluate_here(release=release, plan=plan, title=title, actor=scene.owner)
    show_evaluation(evaluation=evaluation, actor=scene.owner)


def take_play_money(_scene: Scene) -> None:
    """The panel's people and money are simulated, whatever its preset says."""
    demo = Endpoint.objects.get(name="demo")
    changes = {"submit_origins": demo.submit_origins, "real_money": False}
    for endpoint in Endpoint.objects.exclude(pk=demo.pk):
        change_endpoint(endpoint=endpoint, changes=changes)


def make_link(scene: Scene, slug: str) -> None:
    """A study link to whatever the project has on offer."""
    project = Project.objects.get(slug=slug)
    plan = LinkPlan(
        title="Come and answer a question",
        target=f"project:{project.pk}",
        quota=100,
        most_tasks=2,
        compensation=StudyLink.Compensation.MONEY,
        returns={"completed": {"code": "DEMO-DONE", "address": ""}},
    )
    make_study_link(owner=project_owner(project), plan=plan, actor=scene.owner)


def visit(scene: Scene, name: str) -> None:
    """People come by the link until one finds nothing to do, and one for each place of the panel."""
    go_on(scene)
    link, links = StudyLink.objects.get(), Endpoint.objects.get(name="links")
    for visitor in islice(scene.visitors, 5):
        done, _ = visitor.visit(address_of(link))
        guests = Visit.objects.filter(link=link, guest__isnull=False)
        mark_simulated(links, list(guests.values_list("guest__worker_id", flat=True)))
        if done < link.most_tasks:
            break
    study = PanelStudy.objects.select_related("endpoint").get(stage=stage_named(name))
    for _ in range(study.places):
        scene.panel.send_participant(study, next(scene.visitors))
    go_on(scene)  # else a crowd would wait for what the panel is asked for only now and then


def mark_campaigns(scene: Scene, *parts: str) -> None:
    """Note where the steps of the tour are."""
    slugs = dict(part.split("=") for part in parts)
    campaigns = {part: Project.objects.get(slug=slug) for part, slug in slugs.items()}
    tour.mark(actor=scene.owner, **campaigns)


DEEDS: dict[str, Callable[..., None]] = {
    deed.__name__.replace("_", "-"): deed
    for deed in (
        *(post_hits, publish_batch, open_stage, work, go_on, decide_ties, refuse_flagged, ask_rewrite),
        *(approve_answers, pay, collect_systems, filter_judges, ask_again, report_agreement, close_stages),
        *(show_release, evaluate_release, take_play_money, make_link, visit, mark_campaigns),
    )
}
