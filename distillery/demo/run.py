"""The demonstration from beginning to end."""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, connections
from rich.progress import track

from crowd.models import Endpoint, Stage
from crowd.simulation.accounts import Account, accounts
from distillery.demo import answers, judging
from distillery.demo.answers import AnswersSummary
from distillery.demo.campaign import ASSIGNMENTS_PER_HIT, REWARD, Key, post_hits
from distillery.demo.judging import JudgingSummary
from distillery.demo.people import People, make_people
from distillery.demo.poll import CROWD_SIZE, PollSummary, open_poll, summarise, work_on
from distillery.demo.robot import Robot
from distillery.demo.screen import Screen
from distillery.demo.server import Server, choose_port, running
from distillery.demo.tasks import all_tasks
from money.amounts import dollars
from projects.models import Project


@dataclass(frozen=True)
class Summary:
    """What the demonstration did, as `summary.json` keeps it; money in cents."""

    database: str
    url: str
    hits_posted: int
    assignments_offered: int
    assignments_done: int
    deposited_cents: int
    available_cents: int
    held_cents: int
    paid_cents: int
    fees_cents: int
    poll: PollSummary
    answers: AnswersSummary
    judging: JudgingSummary
    wall_seconds: float


def demonstrate(*, wanted_port: int, stay: bool, started: float) -> None:
    """Set everything up, show it, and serve it until Ctrl-C (or, without `stay`, end there)."""
    screen = Screen()
    call_command("migrate", verbosity=0, interactive=False)
    screen.done(f"A {connection.vendor} database is ready; data lives in {settings.DATA_DIR}")
    people = make_people()
    connections.close_all()
    screen.done("An administrator, two workers and a lab with $200.00 of play money")
    port = choose_port(wanted_port)
    if port != wanted_port:
        screen.note(f"Port {wanted_port} is taken; using {port}")
    with running(port) as server:
        screen.done(f"The server answers on {server.url}")
        summary = _campaign(people, server, screen, started)
        (settings.DATA_DIR / "summary.json").write_text(json.dumps(asdict(summary), indent=2) + "\n")
        _tell(people, server, screen)
        if stay:
            screen.stay()
            server.wait()


def _campaign(people: People, server: Server, screen: Screen, started: float) -> Summary:
    """Post the HITs as the lab does, and let the script do one of them."""
    requester = people.requester
    client = _key(people, server).client()
    hits = list(track(post_hits(client, base_url=server.url), "Posting HITs", total=len(all_tasks())))
    offered = len(hits) * ASSIGNMENTS_PER_HIT
    screen.done(f"{len(hits)} HITs posted by boto3, for {ASSIGNMENTS_PER_HIT} workers each at ${REWARD}")
    assignment_id = Robot(server.url, people.script_token).do(hits[0])
    client.approve_assignment(AssignmentId=assignment_id, RequesterFeedback="Thank you, script.")
    screen.done("One assignment done by a scripted worker (marked simulated), approved and paid")
    workers = iter(accounts(server.url, CROWD_SIZE + answers.PEOPLE + judging.PEOPLE))
    stage, poll = _poll(people, list(islice(workers, CROWD_SIZE)), server, screen)
    project, passages = _answers(people, stage.endpoint, workers, server, screen)
    judged = _judging(people, project, stage.endpoint, workers, server, screen)
    requester.refresh_from_db()
    connections.close_all()
    return Summary(
        database=connection.vendor,
        url=server.url,
        hits_posted=len(hits),
        assignments_offered=offered,
        assignments_done=1,
        deposited_cents=requester.deposited_cents,
        available_cents=requester.available_cents,
        held_cents=requester.held_cents,
        paid_cents=requester.paid_cents,
        fees_cents=requester.fees_cents,
        poll=poll,
        answers=answers.summarise(project, passages),
        judging=judged,
        wall_seconds=round(time.time() - started, 2),
    )


def _poll(
    people: People, workers: list[Account], server: Server, screen: Screen
) -> tuple[Stage, PollSummary]:
    """A stage of our own on the same marketplace, from opening to the last cent."""
    people.requester.refresh_from_db()
    paid_before = (people.requester.paid_cents, people.requester.fees_cents)
    stage = open_poll(people, url=server.url, suffix=people.suffix)
    total = stage.redundancy * len(all_tasks()) // stage.units_per_hit
    screen.done(f"A poll stage is open: {total} assignments wanted, budget ${dollars(stage.budget_cents)}")
    with screen.progress("Simulated workers at work", total) as progress:
        work_on(stage, workers=workers, site=server.url, progress=progress)
    summary = summarise(stage, people, paid_before=paid_before)
    screen.money(summary)
    return stage, summary


def _answers(
    people: People, endpoint: Endpoint, workers: Iterator[Account], server: Server, screen: Screen
) -> tuple[Project, int]:
    """The main job: a log of queries becomes reference answers; nobody works on two of its stages."""
    owner = User.objects.get(username=people.logins[0].username)
    later = settings.DATA_DIR / "later-queries.jsonl"
    project, passages, queries = answers.begin(
        owner=owner, suffix=people.suffix, later=later, scores=judging.truths()
    )
    screen.done(f"{queries} queries imported, {passages} passages of two textbooks indexed")
    for part in answers.PARTS:
        crowd = list(islice(workers, part.people))
        with screen.progress(f"Simulated editors: {part.kind}", None) as progress:
            stage = answers.do_part(
                part,
                project=project,
                endpoint=endpoint,
                owner=owner,
                workers=crowd,
                site=server.url,
                progress=progress,
            )
        screen.part(part, answers.summarise(project, passages))
    answers.look_over(stage, owner=owner)
    answers.come_later(project, file=later, owner=owner)
    screen.reviewed(answers.summarise(project, passages))
    return project, passages


def _judging(  # noqa: PLR0917  # called once
    people: People,
    project: Project,
    endpoint: Endpoint,
    workers: Iterator[Account],
    server: Server,
    screen: Screen,
) -> JudgingSummary:
    """KPQA's protocol: answers of two systems, ten judges each, filters, others asked again, the report."""
    owner = User.objects.get(username=people.logins[0].username)
    imported = judging.bring_in(project, owner=owner, file=settings.DATA_DIR / "systems.jsonl")
    screen.imported(imported)
    stage = judging.open_judging(project, endpoint=endpoint, owner=owner)
    with screen.progress("Simulated judges", None) as progress:
        crowd = list(islice(workers, judging.JUDGES))
        judging.judge(stage, workers=crowd, site=server.url, progress=progress, seed=judging.SEED)
    looked, hits = judging.filter_and_top_up(stage, owner=owner)
    screen.filtered(looked, hits)
    with screen.progress("Simulated judges in place of those removed", None) as progress:
        crowd = list(islice(workers, judging.LATER_JUDGES))
        judging.judge(stage, workers=crowd, site=server.url, progress=progress, seed=judging.SEED + 1)
    report = judging.filter_again(stage, owner=owner)
    summary = judging.summarise(stage, topped_up=hits, report=report)
    screen.judged(summary)
    return summary


def _tell(people: People, server: Server, screen: Screen) -> None:
    screen.links(server.url, people.suffix)
    screen.logins(people.logins)
    screen.key(_key(people, server))


def _key(people: People, server: Server) -> Key:
    return Key(f"{server.url}/mturk/api", people.requester.access_key, people.secret)
