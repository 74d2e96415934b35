"""Several at once: dispatchers, planners, rounds, and workers at the task page over HTTP."""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection, connections

from annotation.models import Query
from crowd.adapters import registry
from crowd.budget import Cost
from crowd.errors import BudgetError, CrowdError
from crowd.models import Assignment, Claim, Hit, LedgerEntry, MarketOperation, Stage, Worker
from crowd.outbox.calls import Contact, plan
from crowd.outbox.dispatch import dispatch
from crowd.services import review, stages
from crowd.services.collection import collect
from crowd.services.endpoints import create_endpoint
from crowd.services.publication import publish_pending
from crowd.services.tick import Round, go_round, tick
from crowd.simulation.answers import read_form
from examples.poll.models import Vote
from tests.clients import RefusedError, ask, post_form
from tests.crowd.world import answer, make_endpoint, make_project, make_stage, make_worker
from tests.judgments.class_world import (
    bar,
    judge,
    judges_by_unit,
    make_class,
    make_judging,
    names_of,
    open_judging,
)
from tests.server import RunningServer

pytestmark = pytest.mark.django_db(transaction=True)
Kind, State = MarketOperation.Kind, MarketOperation.State


def at_once(number: int, call: Callable[[int], object]) -> list[object]:
    """Run `call(0)`, `call(1)`, … in threads that start together; raises what one of them raised."""
    gate = threading.Barrier(number)

    def run(index: int) -> object:
        gate.wait(60)
        try:
            return call(index)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(run, range(number)))


def round_without_lease(endpoint) -> None:
    """A round beside others, as where a lease ran out under a process that goes on."""
    go_round(endpoint, Round(), Contact())


def opened(**fields) -> Stage:
    stage = make_stage(**fields)
    stages.open_stage(stage=stage)
    stage.refresh_from_db()
    return stage


def bonus(stage, purpose, cents=10):
    return plan(
        kind=Kind.BONUS,
        endpoint=stage.endpoint,
        stage=stage,
        target="assignment:1",
        purpose=purpose,
        payload={"submission": "3SUB", "worker": "AW", "reason": "Well done.", "currency": "USD"},
        cost=Cost(cents),
    )


def assert_balanced(stage):
    """The columns of stage and project are the sums of their rows, and within the cap."""
    for row, which in ((stage, {"stage": stage}), (stage.project, {"stage__project": stage.project})):
        row.refresh_from_db()
        sums = Counter()
        for entry in LedgerEntry.objects.filter(**which):
            sums[entry.kind] += entry.cents + entry.fee_cents
        assert row.spent_cents == sums["spend"]
        assert row.reserved_cents == sums["reserve"] - sums["release"] - sums["spend"]
        assert row.reserved_cents + row.spent_cents <= row.budget_cents


def test_four_dispatchers_at_once_send_each_operation_once(market):
    stage = opened(items=[str(number) for number in range(40)])
    market.on_call = lambda name: time.sleep(0.002)
    tallies = at_once(4, lambda index: dispatch(stage.endpoint))
    assert sum(tally.confirmed for tally in tallies) == 40
    assert sorted(call[1].key for call in market.calls) == sorted(
        operation.token for operation in MarketOperation.objects.all()
    )
    assert Hit.objects.filter(state=Hit.State.OPEN).count() == 40
    assert_balanced(stage)


def test_an_operation_is_known_to_be_on_its_way_before_the_call_which_no_transaction_holds(market):
    """Whoever looks during the call, such as after a crash, sees it as sent."""
    stage = opened(items=["tea"])
    seen = []

    def look(name):
        try:
            seen.append(connection.in_atomic_block)
            seen.append(MarketOperation.objects.values_list("state", "attempts").get())
            assert MarketOperation.objects.get().first_sent_at is not None
        finally:
            connections.close_all()

    market.on_call = look
    dispatch(stage.endpoint)
    assert seen == [False, ("sent", 1)]


def test_ten_clicks_at_once_plan_one_bonus_and_reserve_it_once(market):
    stage = make_stage()
    planned = at_once(10, lambda index: bonus(stage, "thanks"))
    assert len({operation.pk for operation in planned}) == 1
    assert_balanced(stage)
    assert stage.reserved_cents == 10


def test_of_two_who_compensate_a_worker_at_once_one_pays(market):
    stage = opened()
    worker = make_worker(stage.endpoint)

    def compensate(_index: int) -> str:
        try:
            review.compensate(stage=stage, worker=worker, cents=50, reason="Our page broke.", actor=None)
        except CrowdError as error:
            return str(error)
        return "planned"

    refused, planned = sorted(str(each) for each in at_once(2, compensate))
    assert planned == "planned"
    assert "compensated in this stage already, with $0.50" in refused
    assert Hit.objects.filter(compensates=worker).count() == 1
    assert_balanced(stage)


def test_the_cap_holds_when_thirty_plan_at_once_in_two_stages(market):
    project = make_project(budget_cents=95)
    both = [make_stage(project=project, budget_cents=60) for _ in range(2)]

    def try_one(index):
        stage = Stage.objects.select_related("project", "endpoint").get(pk=both[index % 2].pk)
        try:
            bonus(stage, f"purpose {index}")
        except BudgetError:
            return 0
        return 1

    assert sum(at_once(30, try_one)) == 9
    for stage in both:
        assert_balanced(stage)
        assert stage.reserved_cents <= 60
    project.refresh_from_db()
    assert project.reserved_cents == 90


def test_topping_up_at_once_asks_for_every_unit_once(market):
    stage = make_stage(items=[str(number) for number in range(30)], redundancy=3)
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.OPEN)
    at_once(
        6, lambda index: publish_pending(Stage.objects.select_related("project", "endpoint").get(pk=stage.pk))
    )
    asked = Counter()
    for hit in Hit.objects.filter(stage=stage).prefetch_related("units"):
        for unit in hit.units.all():
            asked[unit.unit] += hit.places
    assert asked == {f"item:{number}": 3 for number in range(30)}
    assert_balanced(stage)


def test_rounds_at_once_collect_approve_and_book_everything_once(market):
    """Four rounds at a time on HITs of three assignments each: no deadlock, nothing twice."""
    stage = opened(items=[str(number) for number in range(10)], redundancy=3)
    dispatch(stage.endpoint)
    for hit in Hit.objects.select_related("stage__endpoint", "stage__project").filter(stage=stage):
        for number in range(3):
            market.submit(hit, answer(hit, worker_id=f"AW{number}"))
    for _ in range(3):
        at_once(4, lambda index: round_without_lease(stage.endpoint))
    assert Counter(Assignment.objects.values_list("state", flat=True)) == {"approved": 30}
    assert Counter(market.names()) == {"publish": 10, "approve": 30}
    assert_balanced(stage)
    assert (stage.reserved_cents, stage.spent_cents) == (0, 360)


def test_rounds_bonuses_rejections_and_closing_at_once_in_two_stages(market):
    """All that takes locks on the same rows in different places; money is right to the cent."""
    project, endpoint = make_project(), make_endpoint()
    both = [
        opened(
            project=project,
            endpoint=endpoint,
            items=[str(number) for number in range(6)],
            redundancy=3,
            approve_at_once=False,
        )
        for _ in range(2)
    ]
    dispatch(endpoint)
    for hit in Hit.objects.select_related("stage__endpoint", "stage__project"):
        for number in range(3):
            market.submit(hit, answer(hit, worker_id=f"AW{number}"))
    for stage in both:
        collect(stage)
    work = list(Assignment.objects.select_related("stage__endpoint", "stage__project", "worker", "hit"))

    def decide(index):
        """A third is approved, a third rejected, a third gets a bonus first; each by one of three people."""
        for number, assignment in enumerate(work):
            if number % 3 != index:
                continue
            if index == 2:
                review.bonus(assignment=assignment, actor=None, cents=5, reason="Good.", purpose="good")
            if index == 1:
                review.reject(assignment=assignment, actor=None, reason="Not about tea.")
            else:
                review.approve(assignment=assignment, actor=None)
        return stages.close_stage(stage=both[index]) if index < 2 else None

    at_once(7, lambda index: decide(index) if index < 3 else round_without_lease(endpoint))
    for _ in range(3):
        at_once(3, lambda index: round_without_lease(endpoint))
    assert not MarketOperation.objects.exclude(state=State.CONFIRMED).exclude(state=State.REFUSED).exists()
    assert Counter(Assignment.objects.values_list("state", flat=True)) == {"approved": 24, "rejected": 12}
    for stage in both:
        assert_balanced(stage)
    project.refresh_from_db()
    assert (project.reserved_cents, project.spent_cents) == (0, 24 * 12 + 12 * 6)


def test_two_that_collect_the_same_stranger_keep_him_once(market):
    stage = opened(items=["tea"])
    dispatch(stage.endpoint)
    hit = Hit.objects.select_related("stage__endpoint", "stage__project").get()
    market.submit(hit, answer={})
    Hit.objects.update(expires_at=stage.created_at)
    at_once(4, lambda index: collect(Stage.objects.select_related("project", "endpoint").get(pk=stage.pk)))
    assert Assignment.objects.get().state == Assignment.State.QUARANTINED


# People at the task page, over HTTP


@pytest.fixture
def house(transactional_db, settings):
    """A server on this test's own database and secrets, so that tests and server see the same rows."""
    name = connection.settings_dict["NAME"]
    url = (
        f"sqlite:///{name}"
        if connection.vendor == "sqlite"
        else urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))
    )
    with RunningServer(environment={"DATABASE_URL": url, "DATA_DIR": str(settings.DATA_DIR)}) as server:
        settings.TASK_URL = server.url
        yield server


def lab_at(server, **fields) -> Stage:
    requester = server.requester("100.00", "mturk-2026")
    endpoint = make_endpoint(
        url=server.api_url,
        access_key=requester.access_key,
        secret=requester.secret,
        submit_origins=[server.url],
    )
    return opened(endpoint=endpoint, **fields)


def send(page: str, html: str) -> tuple[int, str]:
    """Choose yes everywhere and send the form; the status and the next page."""
    form = read_form(html, page)
    assert form is not None, html
    said = post_form(form.action, {**form.hidden, **dict.fromkeys(form.fields, "yes")})
    return said.status, said.text


def work_through(worker, chance: random.Random) -> Counter:
    """Take what there is until there is nothing; open every page twice at once and send every form twice."""
    told: Counter = Counter()
    refused: set[str] = set()
    while True:
        try:
            taken = worker.accept()
        except RefusedError as error:
            assert error.code == "NoWork", error
            return told
        page = taken["frame_url"]
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(ask, ["GET", "GET"], [page, page])
            assert first.status == second.status, (first.text, second.text)
            if first.status == 403:
                told["refused"] += 1
                worker.give_back(taken)
                if taken["hit_id"] in refused:
                    return told
                refused.add(taken["hit_id"])
                continue
            assert first.status == 200, first.text
            if chance.random() < 0.15:
                told["returned"] += 1
                worker.give_back(taken)
                continue
            pages = list(pool.map(send, [page, page], [first.text, second.text]))
        assert [status for status, _ in pages] == [200, 200]
        finished = [read_form(html, page) for _, html in pages]
        assert finished[0].hidden == finished[1].hidden
        for form in finished:
            assert post_form(form.action, form.hidden).status == 200
        worker.in_hand.pop(taken["assignment_id"])
        told["sent"] += 1


def test_eight_workers_at_the_task_page_never_answer_a_unit_twice(house):
    """Six units of three people each, in HITs that overlap by top-up, while rounds go on."""
    stage = lab_at(house, items=[str(number) for number in range(6)], redundancy=3, units_per_hit=2)
    tick()
    workers = [house.worker() for _ in range(8)]
    over = threading.Event()

    def go_on() -> None:
        try:
            while not over.is_set():
                tick()
                over.wait(0.05)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(9) as pool:
        rounds = pool.submit(go_on)
        told = list(pool.map(work_through, workers, [random.Random(seed) for seed in range(8)]))
        for worker in workers:
            told.append(work_through(worker, random.Random(1)))
        over.set()
        rounds.result()
    for _ in range(3):
        tick()
    answered = list(Vote.objects.values_list("assignment__worker", "unit"))
    assert len(answered) == len(set(answered)) == 18
    assert Counter(unit for _, unit in answered) == {f"item:{number}": 3 for number in range(6)}
    assert sum(one["sent"] for one in told) == 9
    counted = Assignment.objects.exclude(state__in=["ended", "working"])
    assert Counter(counted.values_list("state", flat=True)) == {"approved": 9}
    assert Claim.objects.filter(assignment__state="approved").count() == 18
    assert_balanced(stage)
    assert (stage.reserved_cents, stage.spent_cents) == (0, 9 * 12)
    balance = registry.adapter(stage.endpoint).check()
    assert (balance.available.minor, balance.on_hold.minor) == (100_00 - 9 * 12, 0)
    assert house.console("marketplace", "audit") is not None
    assert "Traceback" not in house.log()


def test_of_people_who_come_at_once_for_the_last_answers_that_they_may_judge_one_is_dealt_them():
    """Five of six wrote to one of two queries: they race for the other one, the sixth for all."""
    links = create_endpoint(name="links", preset="link", access_key="", secret="")
    project = make_class(links, people=6, queries=2, writers=0)
    names = names_of(project)
    first = Query.objects.filter(project=project).earliest("pk")
    bar(first, *Worker.objects.filter(external_id__in=names[:5]))
    stage = make_judging(project, links, redundancy=1, units_per_hit=4, checks_per_hit=0, config={})
    open_judging(stage)
    assert stage.reserved_cents == 10
    work = [each for each in at_once(6, lambda number: judge(stage, names[number])) if each]
    assert len(work) <= 2
    judge(stage, names[5])
    assert [len(judges) for judges in judges_by_unit(stage).values()] == [1, 1, 1, 1]
    work = Assignment.objects.filter(stage=stage).count()
    assert sum(Hit.objects.filter(stage=stage).values_list("places", flat=True)) == work
    assert_balanced(stage)
    assert stage.reserved_cents == 10 * work
