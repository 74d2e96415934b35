"""The demonstration's campaigns, made before one's eyes: studies from files, people who are simulated.

Where the pipeline waits for a person, the owner decides, each time with a reason. One campaign ends with a
release and its evaluation, one stops in the middle of its work, one has people of three places.
"""

import contextlib
import io
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

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
from crowd.services import review
from crowd.services.endpoints import change_endpoint
from crowd.services.publication import quote
from crowd.services.stages import close_stage, open_stage
from crowd.services.tick import tick
from crowd.simulation.accounts import Account, Browser, mark_simulated
from crowd.simulation.answers import PROFILES, SimulatedPerson, crowd_of
from crowd.simulation.people import Visitor
from crowd.simulation.run import Crowd
from distillery.demo import lab
from distillery.demo.lab import People
from distillery.demo.panel import Panel
from distillery.demo.screen import Screen
from distillery.demo.tour import end_progress, mark
from evaluations.plans import EvaluationPlan
from evaluations.services import evaluate_here, show_evaluation
from judgments.services import filter_runs, reports
from judgments.services.filter_decisions import FilteringError
from marketplace.services.people import create_scripted_workers
from people.links import LinkPlan, address_of, make_link
from people.models import StudyLink, Visit
from people.owners import project_owner
from releases.models import PrivacyFinding, Release
from releases.privacy import HAS_TEXT, check_project, redact_findings
from releases.services import show_release
from retrieval.models import Corpus
from retrieval.services.indexing import build_index
from retrieval.services.networks import build_network

STUDIES, SAMPLE = Path(__file__).with_name("studies"), Path(annotation.__file__).with_name("sample")
#: Answers of two made-up systems, in our own words (CC0 1.0), with how correct each is, from 1 to 5.
CANDIDATES = Path(judgments.__file__).with_name("sample") / "candidates.jsonl"
SEED = 7
#: People who are simulated at the same moment, each by a thread.
THREADS = 4
#: Nobody works on two stages of a campaign: the poll, both campaigns, three sources, the batch.
CROWD = 14 + (8 + 6 + 12 + 6 + 20 + 12) + (8 + 5 + 8) + (3 + 2) + lab.REVIEWERS
#: Rounds of publishing, collecting and paying until nothing is left to do, at most.
ROUNDS = 40
#: Queries of the finished campaign whose answers are judged.
JUDGED = 16
RECIPE = "default"
CODE = "DEMO-DONE"


@dataclass
class Scene:
    """Where campaigns run: the people, the address, the panel, the data folder, the terminal, the crowd."""

    people: People
    site: str
    panel: Panel
    folder: Path
    screen: Screen

    def __post_init__(self) -> None:
        names = [f"Simulated worker {number}" for number in range(1, CROWD + 1)]
        accounts = [Account(row.worker_id, token) for row, token in create_scripted_workers(names=names)]
        self._accounts = iter(accounts)
        os.environ |= {
            "LAB_ACCESS_KEY": self.people.key.access_key,
            "LAB_SECRET": self.people.key.secret,
            "PANEL_WORKSPACE": self.panel.workspace,
            "PANEL_TOKEN": self.panel.token,
        }

    def workers(self, number: int) -> list[Account]:
        """So many who have worked on nothing here."""
        return list(islice(self._accounts, number))

    def manage(self, words: str, *command: object) -> None:
        """A step that is a command, as somebody at the terminal would type it."""
        self.screen.begin_step(words)
        by = () if command[0] == "corpus" else ("--as", self.people.owner.username)
        call_command(*map(str, command), *by, stdout=io.StringIO(), stderr=io.StringIO())
        self.screen.done(words)

    def apply_study(self, name: str) -> None:
        """Apply one of the demonstration's study files; its stages are drafts then."""
        text = (STUDIES / f"{name}.toml").read_text(encoding="utf-8")
        text = text.replace(":8000", f":{self.site.rpartition(':')[2]}")
        file = self.folder / f"{name}.toml"
        file.write_text(text.replace("http://127.0.0.1:9000", self.panel.simulator.site), encoding="utf-8")
        self.manage(f"The study file {file.name}", "study", "apply", file, "--yes")

    def open(self, project: str, slug: str) -> Stage:
        """Open a stage that a study file made."""
        stages = Stage.objects.select_related("project", "endpoint")
        stage = stages.get(project__slug=project, slug=slug)
        open_stage(stage=stage, actor=self.people.owner)
        return stage

    def work(
        self,
        stage: Stage,
        number: int,
        mix: str,
        *,
        seed: int = SEED,
        hits_each: int | None = None,
        copy_pasters: int = 0,
    ) -> None:
        """Let a crowd do what is on offer, through the pages that people use, until it is collected and paid.

        `copy_pasters` of them paste passages whatever the mix is, so that there are flags for certain. A
        worker who leaves gives the HIT back: otherwise it would be theirs for an hour.
        """
        profiles = crowd_of(mix, number - copy_pasters, seed=seed) + [PROFILES["copy-paster"]] * copy_pasters
        profiles = [replace(each, leaves=0.0, returns=max(each.leaves, each.returns)) for each in profiles]
        with self.screen.step(f"{stage.project.title}: {stage.kind}") as count:
            crowd = Crowd(
                stage,
                profiles,
                self.workers(number),
                seed=seed,
                site=self.site,
                threads=THREADS,
                fast=True,
                drafts=False,
                hits_each=hits_each,
            )
            crowd.run(progress=lambda now: count(now.summary.outcomes["submitted"]), settle_s=20.0)
            kind_of(stage).settle(stage)


def go_on() -> None:
    """Rounds until nothing is left to do, with a fresh look at the panel before."""
    PanelStudy.objects.filter(state=PanelStudy.State.OPEN).update(hinted_at=timezone.now())
    for _ in takewhile(lambda _: not tick().idle, range(ROUNDS)):
        pass


def write_lines(file: Path, rows: Sequence[Any]) -> Path:
    """A file of JSON lines, as a user brings one."""
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return file


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Its rows again."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


# What the owner decides


def decide_ties(scene: Scene, project: str) -> None:
    """Read every query whose editors were of two minds, and accept or exclude it."""
    owner = scene.people.owner
    for query in Query.objects.filter(project__slug=project, status=Query.Status.TIED).order_by("pk"):
        truth = simulated_truth(query.extra)
        if (truth.get("kind"), truth.get("answerable")) == ("informational", "yes"):
            curation.accept_query(query=query, actor=owner, reason="One passage can settle it.")
        else:
            curation.exclude_query(query=query, actor=owner, reason="No short passage settles it.")


def undecided_answers(stage: Stage) -> QuerySet[Answer]:
    """Answers that wait for a reviewer."""
    return Answer.objects.filter(stage=stage, state=Answer.State.UNDECIDED).select_related(
        "stage__project", "worker", "query", "assignment__stage__endpoint", "assignment__hit"
    )


def flagged_answers(stage: Stage) -> QuerySet[Answer]:
    """Of these, those with flags, the most flags first."""
    with_flags = undecided_answers(stage).annotate(flags_in_all=Count("flags")).filter(flags_in_all__gt=0)
    return with_flags.order_by("-flags_in_all", "pk")


def approve_answers(scene: Scene, stage: Stage, queries: int | None = None) -> None:
    """Approve the answers without flags query by query; without a limit, those with flags, too."""
    waiting = Query.objects.filter(
        Exists(undecided_answers(stage).filter(query=OuterRef("pk"))), project=stage.project
    )
    for query in waiting.order_by("pk")[:queries]:
        review_decisions.approve_unflagged(stage=stage, query=query, actor=scene.people.owner)
    for answer in undecided_answers(stage) if queries is None else ():
        review_decisions.approve(answer=answer, actor=scene.people.owner, seen=answer.state)


def pay(scene: Scene, stage: Stage) -> None:
    """Approve all work that waits for it, but that of answers which still wait for a reviewer."""
    waiting = Assignment.objects.filter(stage=stage, state=Assignment.State.SUBMITTED)
    rows = waiting.exclude(Exists(undecided_answers(stage).filter(assignment=OuterRef("pk")))).values_list(
        "pk", flat=True
    )
    if chosen := list(rows.order_by("pk")):
        review.approve_chosen(stage=stage, chosen=chosen, actor=scene.people.owner)
    go_on()


# Campaigns


def make_all(scene: Scene) -> None:
    """HITs of the lab's script, a batch, a poll; campaigns that are finished, half done, of three places."""
    people, screen = scene.people, scene.screen
    with screen.step(f"Posting {len(lab.all_tasks())} HITs by boto3"):
        client = lab.mturk_client(scene.site, people.key)
        first = lab.post_hits(client)[0]
        assignment = lab.do_hit(scene.site, people.script_token, first, answer=lab.ANSWER)
        client.approve_assignment(AssignmentId=assignment, RequesterFeedback="Thank you, script.")
    with screen.step("A batch from a template and a table"):
        lab.publish_batch(people.requester, scene.workers(lab.REVIEWERS), scene.site)
    scene.apply_study("poll")
    scene.work(scene.open("demo", "answerable"), 14, "moderate")
    finish_campaign(scene)
    start_campaign(scene)
    ask_anywhere(scene)
    parts = {"finished": "answers", "middle": "more", "sources": "anywhere"}
    mark(actor=people.owner, **{part: Project.objects.get(slug=slug) for part, slug in parts.items()})
    end_progress()


def begin_project(scene: Scene, slug: str) -> None:
    """A project of a study file, with the sample's passages, their index and word network."""
    scene.apply_study(slug)
    words = {
        "--slug": "textbooks",
        "--title": "Two OpenStax textbooks",
        "--licence": "CC BY 4.0",
        "--attribution": "OpenStax, Rice University; see annotation/sample/ATTRIBUTION.md",
    }
    options = [each for option in words.items() for each in option]
    scene.manage("Passages of two textbooks", "corpus", "add", slug, SAMPLE / "passages.jsonl", *options)
    build_index(corpus=Corpus.objects.get(project__slug=slug))
    build_network(corpus=Corpus.objects.get(project__slug=slug))


def import_rows(scene: Scene, project: str, name: str, rows: Sequence[Any]) -> None:
    """Import a log of queries, from a file as a user brings one."""
    file = write_lines(scene.folder / name, rows)
    scene.manage(f"{len(rows)} queries", "import-queries", project, file)


def query_log() -> list[dict[str, Any]]:
    """The sample's queries; what is true of systems' answers to them is for simulated judges who read."""
    rows, truths = read_lines(SAMPLE / "queries.jsonl"), read_lines(CANDIDATES)
    for row in rows:
        scores = {each["system"]: each["truth"] for each in truths if each["query_id"] == row["id"]}
        row["truth"] |= {"scores": scores, "scale": [1, 5]}
    return rows


def finish_campaign(scene: Scene) -> None:
    """All of it, from the import of queries to the evaluation of the release."""
    owner, slug = scene.people.owner, "answers"
    begin_project(scene, slug)
    import_rows(scene, slug, "first-log.jsonl", query_log()[::2])
    screening = scene.open(slug, "screening")
    scene.work(screening, 8, "diligent")
    pay(scene, screening)
    decide_ties(scene, slug)
    scene.work(scene.open(slug, "curation"), 6, "diligent")
    distillation = scene.open(slug, "distillation")
    scene.work(distillation, 12, "moderate")
    worst, second = flagged_answers(distillation)[:2]
    review.reject(assignment=worst.assignment, actor=owner, reason="This is a passage pasted as it stands.")
    reason = "This is not about the question."
    review_decisions.exclude(answer=second, actor=owner, seen=second.state, reason=reason)
    scene.work(distillation, 6, "diligent", seed=SEED + 1)  # they write in place of those two
    approve_answers(scene, distillation)
    pay(scene, distillation)
    judge_systems(scene, slug)
    done = release(
        scene, slug, "Reference answers to a small log of queries, and human scores of two systems."
    )
    with scene.screen.step("Evaluating four metrics on the release"):
        metrics = ("bleu-1", "rouge-l", "chrf", "meteor")
        evaluation = EvaluationPlan(metrics=metrics, replicates=500, draws=1_999)
        title = "A few metrics beside simulated judges"
        report = evaluate_here(release=done, plan=evaluation, title=title, actor=owner)
        show_evaluation(evaluation=report, actor=owner)


def judge_systems(scene: Scene, slug: str) -> None:
    """KPQA's protocol: answers of two systems, ten judges each, filters, others asked again, the report."""
    owner = scene.people.owner
    answered = Query.objects.filter(project__slug=slug, status=Query.Status.ANSWERED).order_by("pk")[:JUDGED]
    keys = {query.key for query in answered}
    rows = [row for row in read_lines(CANDIDATES) if row["query_id"] in keys]
    # One system copied a reference, which nobody needs to judge; one made up an address, as systems do.
    held_out = HeldOutWorker.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    references = Answer.objects.filter(query__project__slug=slug, query__key=rows[0]["query_id"])
    copied = references.filter(~Exists(held_out), state=Answer.State.APPROVED).order_by("pk")[0]
    rows[0]["answer"] = copied.text
    rows[-1]["answer"] += " Questions? Write to economics-desk@example.org."
    file = write_lines(scene.folder / "systems.jsonl", rows)
    scene.manage("Answers of two systems", "import-candidates", slug, file)
    scene.manage("Answers of people that were held out", "import-candidates", slug, "--human")
    scene.apply_study("answers-judging")
    stage = scene.open(slug, "judging")
    scene.work(stage, 20, "moderate")
    seen = filter_runs.preview(stage, RECIPE, {})
    filter_runs.apply(stage=stage, recipe=RECIPE, parameters={}, actor=owner, seen=seen.seen)
    while (offer := quote(stage)).hits and offer.affordable:  # the server's own rounds top up as well
        with contextlib.suppress(FilteringError):
            filter_runs.top_up(stage=stage, most_cents=offer.total_cents, actor=owner)
        tick()
    scene.work(stage, 12, "moderate", seed=SEED + 1)
    filter_runs.apply(stage=stage, recipe=RECIPE, parameters={}, actor=owner)
    go_on()
    with scene.screen.step("The report of agreement"):
        job = reports.ask(stage=stage)
        while job.state in OPEN_STATES:
            time.sleep(0.1)
            job.refresh_from_db()
    pay(scene, stage)


def release(scene: Scene, slug: str, notes: str) -> Release:
    """Close what is open, look for personal data and decide about it, build, show it to everybody."""
    owner = scene.people.owner
    for stage in Stage.objects.filter(project__slug=slug, status=Stage.Status.OPEN):
        close_stage(stage=stage, actor=owner, why="Everything is in and decided.")
    go_on()
    check_project(project=Project.objects.get(slug=slug), actor=owner)
    findings = PrivacyFinding.objects.filter(project__slug=slug, state=PrivacyFinding.State.OPEN)
    reason = "A system made this up; it may still be somebody's."
    redact_findings(findings=findings.filter(HAS_TEXT), reason=reason, actor=owner)
    reason = "Texts of two open textbooks and of simulated people: nobody real can be told from them."
    options = ("--card", STUDIES / f"{slug}-card.json", "--notes", notes, "--accept-findings", reason)
    scene.manage(f"The release of {slug}", "release", "build", slug, *options)
    built = Release.objects.select_related("project").get(project__slug=slug)
    show_release(release=built, actor=owner)
    return built


def start_campaign(scene: Scene) -> None:
    """A campaign in the middle of its work: open stages, ties, flags, work that waits for a person."""
    slug, rows = "more", query_log()[1::2]
    late = rows[:: len(rows) // 4][:4]
    begin_project(scene, slug)
    import_rows(scene, slug, "second-log.jsonl", [row for row in rows if row not in late])
    scene.work(scene.open(slug, "screening"), 8, "diligent", seed=11, hits_each=1)
    scene.work(scene.open(slug, "curation"), 5, "diligent", seed=11, hits_each=2)
    distillation = scene.open(slug, "distillation")
    scene.work(distillation, 8, "moderate", seed=11, hits_each=2, copy_pasters=1)
    first, *others = flagged_answers(distillation)
    if others:  # one stays for whoever tries the review
        reason = "Please use words of your own."
        review_decisions.ask_rewrite(answer=first, actor=scene.people.owner, seen=first.state, reason=reason)
    approve_answers(scene, distillation, queries=1)
    import_rows(scene, slug, "later-queries.jsonl", late)
    # A conversation needs no screening: five turns about money and banks, our own questions under CC0.
    file = SAMPLE / "conversation.jsonl"
    scene.manage("A conversation", "import-queries", slug, file, "--start-at", "curation")
    go_on()


# People of three places


def ask_anywhere(scene: Scene) -> None:
    """Two stages by workers who accept HITs, visitors of a study link, and participants of a panel."""
    owner, slug = scene.people.owner, "anywhere"
    scene.apply_study(slug)
    project, demo = Project.objects.get(slug=slug), Endpoint.objects.get(name="demo")
    changes = {"submit_origins": demo.submit_origins, "real_money": False}
    for endpoint in Endpoint.objects.exclude(pk=demo.pk):  # the panel's people and money are simulated
        change_endpoint(endpoint=endpoint, changes=changes)
    file = STUDIES / "anywhere-queries.jsonl"
    scene.manage("Four queries", "import-queries", slug, file, "--start-at", "distillation")
    stage = scene.open(slug, "answers")
    plan = LinkPlan(
        title="Come and answer a question",
        target=f"project:{project.pk}",
        quota=100,
        most_tasks=2,
        compensation=StudyLink.Compensation.MONEY,
        returns={"completed": {"code": CODE, "address": ""}},
    )
    link = make_link(owner=project_owner(project), plan=plan, actor=owner)
    people = (SimulatedPerson(number, PROFILES["diligent"], SEED) for number in range(1, 99))
    visitors = (Visitor(person, Browser()) for person in people)
    come_from_three_places(scene, stage, link, visitors, workers=3)
    file = STUDIES / "anywhere-systems.jsonl"
    scene.manage("What two systems say", "import-candidates", slug, file)
    scene.apply_study("anywhere-judging")
    come_from_three_places(scene, scene.open(slug, "judging"), link, visitors, workers=2)
    release(scene, slug, "Answers and judgments from a marketplace, a study link and a simulated panel.")
    scene.apply_study("anywhere-open")
    scene.open(slug, "yours")
    go_on()


def come_from_three_places(
    scene: Scene, stage: Stage, link: StudyLink, visitors: Iterator[Visitor], *, workers: int
) -> None:
    """People come by the link until one finds nothing to do, one for each place of the panel, and here."""
    go_on()
    with scene.screen.step(f"People from a study link and a panel: {stage.slug}"):
        links, pool = Endpoint.objects.get(name="links"), Endpoint.objects.get(name="panel")
        for _ in takewhile(
            lambda done: done == 2, (come_by_link(link, links, each) for each in islice(visitors, 5))
        ):
            pass
        study = PanelStudy.objects.get(stage=stage, endpoint=pool)
        for _ in range(study.places):
            person, submission, address = scene.panel.arrive(study.external_id)
            mark_simulated(pool, [person])
            _, last_page = next(visitors).visit(address)
            code = next((each for each in study.codes.values() if each in last_page), "")
            scene.panel.call("POST", "/_control/complete", {"submission_id": submission, "code": code})
        go_on()  # else the crowd would wait for what the panel is asked for only now and then
    scene.work(stage, workers, "diligent")
    if stage.kind == "distillation":
        approve_answers(scene, stage)
    pay(scene, stage)


def come_by_link(link: StudyLink, endpoint: Endpoint, visitor: Visitor) -> int:
    """One visitor; how many tasks they did."""
    done, _ = visitor.visit(address_of(link))
    guests = Visit.objects.filter(link=link, guest__isnull=False)
    mark_simulated(endpoint, list(guests.values_list("guest__worker_id", flat=True)))
    return done
