"""Events and review policies under kill -9 and under crowds: each effect once, and told once."""

import random
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from botocore.exceptions import ClientError

from tests.clients import RefusedError, external_question
from tests.conformance.events import Poller, specification
from tests.conformance.protocol import assignments, create_hit, get_hit
from tests.conformance.test_policies import deeds, known, plurality, report
from tests.robustness.storms import UNREACHABLE, Storm
from tests.scale import limit_cases
from tests.server import RunningServer

KILLS = limit_cases(5, least=1)
POLICY = known(ApproveIfKnownAnswerScoreIsAtLeast=50, RejectIfKnownAnswerScoreIsLessThan=50)


@pytest.fixture
def mortal():
    """A server of the test's own, to be killed."""
    with RunningServer() as server:
        yield server


class ToldStorm(Storm):
    """A publisher and workers, and a queue that is told what they do."""

    def __init__(self, server):
        super().__init__()
        self.requester = server.requester("500.00", "mturk-2026")
        self.client = self.requester.client
        self.poller = Poller(self.requester.queues())
        first = create_hit(self.client, AssignmentReviewPolicy=POLICY, MaxAssignments=3)
        self.type_id, self.group_id = first["HITTypeId"], first["HITGroupId"]
        self.client.update_notification_settings(
            HITTypeId=self.type_id, Notification=specification(self.poller.url), Active=True
        )
        self.before = first["HITId"]
        self.submitted = 0

    def count_answers(self):
        return self.submitted

    def publish(self):
        token = uuid.uuid4().hex

        def create():
            try:
                self.client.create_hit_with_hit_type(
                    HITTypeId=self.type_id,
                    LifetimeInSeconds=3600,
                    MaxAssignments=3,
                    Question=external_question(),
                    AssignmentReviewPolicy=POLICY,
                    UniqueRequestToken=token,
                )
            except ClientError as error:
                assert error.response["TurkErrorCode"].lower().endswith("hitalreadyexists"), error

        self.insist(create)
        time.sleep(0.05)

    def work(self, worker, chance):
        try:
            taken = worker.accept(group_id=self.group_id)
            if chance.random() < 0.2:
                worker.give_back(taken)
                return
        except (RefusedError, *UNREACHABLE):
            time.sleep(0.02)
            return
        capital = chance.choice(["Paris", "Rome"])
        said = self.insist(lambda: worker.submit(taken, capital=capital))
        assert said.status == 200, said.text
        self.submitted += 1


def test_kills_lose_no_event_and_double_none_and_no_policy_decides_twice(mortal):
    """Kills at random moments; then the queue tells exactly what the API shows."""
    load = ToldStorm(mortal)
    works = [(load.publish,), *((load.work, mortal.worker(), random.Random(seed)) for seed in range(3))]
    load.rage(mortal, works, KILLS, random.Random(7))
    mortal.advance(4000)

    client = load.client
    pages = client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100})
    hits = [hit for page in pages for hit in page["HITs"]]
    told = Counter(
        (event["HITId"], event["EventType"], event.get("AssignmentId")) for event in load.poller.events()
    )
    owed = Counter()
    decided = Counter()
    for hit in hits:
        assert hit["HITStatus"] == "Reviewable"
        owed.update(
            (hit["HITId"], event, None)
            for event in ("HITCreated", "HITExpired", "HITReviewable")
            if (hit["HITId"], event) != (load.before, "HITCreated")
        )
        for assignment in assignments(client, hit):
            status = assignment["AssignmentStatus"]
            assert status in ("Approved", "Rejected")
            decided[status] += 1
            owed.update(
                (hit["HITId"], f"Assignment{event}", assignment["AssignmentId"])
                for event in ("Submitted", status)
            )
        actions = Counter(
            (action["TargetId"], action["ActionName"])
            for action in report(client, hit, MaxResults=100)["Assignment"]["ReviewActions"]
        )
        verb = {"Approved": "approve", "Rejected": "reject"}
        assert actions == Counter(
            (found["AssignmentId"], name)
            for found in assignments(client, hit)
            for name in ("review", verb[found["AssignmentStatus"]])
        )
    beginnings, ends = Counter(), Counter()
    for (_, event, assignment_id), times in told.items():
        if event == "AssignmentAccepted":
            beginnings[assignment_id] += times
        elif event in ("AssignmentReturned", "AssignmentAbandoned", "AssignmentSubmitted"):
            ends[assignment_id] += times
    assert beginnings == ends
    coming_and_going = ("AssignmentAccepted", "AssignmentReturned", "AssignmentAbandoned")
    assert {key: times for key, times in told.items() if key[1] not in coming_and_going} == owed
    assert decided.total() == load.submitted
    said = client.get_account_balance()
    assert Decimal(said["OnHoldBalance"]) == 0
    assert Decimal(said["AvailableBalance"]) == 500 - decided["Approved"] * Decimal("0.12")
    mortal.manage("marketplace", "audit")


@pytest.mark.long
def test_crowds_and_policies_of_two_requesters_never_wait_in_a_ring(server):
    """Eight workers finish the same HITs of two requesters at once, in opposite orders; nobody is refused."""
    workers = [server.worker() for _ in range(8)]
    hits = []
    for requester in (server.requester("100.00"), server.requester("100.00")):
        hit_policy = plurality(
            "capital", ApproveIfWorkerAgreementScoreIsAtLeast=100, RejectIfWorkerAgreementScoreIsLessThan=50
        )
        for _ in range(4):
            hit = create_hit(requester.client, MaxAssignments=8, Reward="0.50", HITReviewPolicy=hit_policy)
            hits.append((requester.client, hit))
    taken = {(worker, hit["HITId"]): worker.accept(hit["HITId"]) for worker in workers for _, hit in hits}

    def finish(number):
        worker = workers[number]
        for _, hit in hits if number % 2 else reversed(hits):
            capital = "Rome" if number == 0 else "Paris"
            said = worker.submit(taken[worker, hit["HITId"]], capital=capital)
            assert said.status == 200, said.text

    with ThreadPoolExecutor(len(workers)) as pool:
        list(pool.map(finish, range(len(workers))))
    for client, hit in hits:
        assert get_hit(client, hit)["HITStatus"] == "Reviewable"
        states = Counter(found["AssignmentStatus"] for found in assignments(client, hit))
        assert states == {"Approved": 7, "Rejected": 1}
        names = Counter(name for name, _, _ in deeds(report(client, hit, MaxResults=100)["HIT"]))
        assert names == {"review": 1, "approve": 7, "reject": 1}
    for client in {client for client, _ in hits}:
        assert client.get_account_balance()["AvailableBalance"] == "86.00"
    server.manage("marketplace", "audit")
    assert "deadlock" not in server.log()
    assert "database is locked" not in server.log()


def test_many_readers_and_the_sweep_notice_one_expiry_once(server):
    """Twenty calls at once look at a HIT whose time has just ended."""
    requester = server.requester()
    poller = Poller(requester.queues())
    hit = create_hit(requester.client, LifetimeInSeconds=60)
    requester.client.update_notification_settings(
        HITTypeId=hit["HITTypeId"],
        Notification=specification(poller.url, "HITExpired", "HITReviewable"),
        Active=True,
    )
    server.advance(61)
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda _: get_hit(requester.client, hit), range(20)))
    assert poller.names() == ["HITExpired", "HITReviewable"]
