"""kill -9 of the whole server: what was answered is there, and nothing is there twice."""

import contextlib
import random
import time
import uuid
from decimal import Decimal

import pytest
from botocore.exceptions import ClientError

from tests.clients import RefusedError, external_question
from tests.conformance.protocol import (
    answer_fields,
    assignments,
    create_hit,
    get_assignment,
    get_hit,
    hit_properties,
)
from tests.robustness.storms import UNREACHABLE, Storm
from tests.scale import limit_cases
from tests.server import RunningServer

KILLS = limit_cases(5, least=1)


@pytest.fixture
def mortal(request):
    """A server of the test's own, to be killed."""
    with RunningServer(workers=getattr(request, "param", 2)) as server:
        yield server


@pytest.mark.parametrize("mortal", [1], indirect=True)
def test_every_step_that_was_answered_survives_a_kill(mortal):
    """Killed and started again after the steps of a cycle that could hide each other's loss."""
    requester, worker = mortal.requester("10.00", "mturk-2026"), mortal.worker()
    client = requester.client

    def power_cut():
        mortal.kill()
        mortal.start()

    hit = create_hit(client, Reward="1.00")
    taken = worker.accept(hit["HITId"])
    before = get_hit(client, hit)
    power_cut()
    assert get_hit(client, hit) == before
    assert before["NumberOfAssignmentsPending"] == 1
    assert worker.submit(taken, answer="kept").status == 200
    power_cut()
    [assignment] = assignments(client, hit)
    assert answer_fields(assignment) == {"answer": "kept"}
    assert worker.submit(taken, answer="again").status == 200
    client.approve_assignment(AssignmentId=taken["assignment_id"])
    bonus = {
        "WorkerId": worker.worker_id,
        "AssignmentId": taken["assignment_id"],
        "BonusAmount": "0.50",
        "Reason": "thank you",
        "UniqueRequestToken": "one bonus",
    }
    client.send_bonus(**bonus)
    power_cut()
    assert get_assignment(client, taken["assignment_id"])["AssignmentStatus"] == "Approved"
    with pytest.raises(client.exceptions.RequestError, match="already been processed"):
        client.send_bonus(**bonus)
    assert client.get_account_balance()["AvailableBalance"] == "8.20"
    mortal.manage("marketplace", "audit")


class PaidStorm(Storm):
    """Remembers every acknowledgement."""

    def __init__(self, server):
        super().__init__()
        self.client = server.requester("500.00", "mturk-2026").client
        self.submitted = {}
        self.approved = set()
        self.published = {}
        self.paid = {}
        self.type_id = create_hit(self.client, **hit_properties(Reward="0.10"))["HITTypeId"]
        self.group_id = None

    def count_answers(self):
        return len(self.submitted)

    def publish(self):
        """Create a HIT under a token until the server says that it exists."""
        purpose = uuid.uuid4().hex

        def create():
            try:
                said = self.client.create_hit_with_hit_type(
                    HITTypeId=self.type_id,
                    LifetimeInSeconds=86400,
                    MaxAssignments=3,
                    Question=external_question(),
                    RequesterAnnotation=purpose,
                    UniqueRequestToken=purpose,
                )
            except ClientError as error:
                assert error.response["TurkErrorCode"].lower().endswith("hitalreadyexists"), error
                return error.response["Message"]
            if "HIT" not in said:
                # boto3 takes an answer that was cut off behind its headers for an empty one, and no error.
                raise ConnectionError("The answer was cut off.")
            return said["HIT"]["HITId"]

        self.published[purpose] = self.insist(create)

    def work(self, worker):
        """Accept, submit, approve, pay a bonus; with an answer that nobody else gives."""
        try:
            taken = worker.accept(group_id=self.group_id)
        except (RefusedError, *UNREACHABLE):
            time.sleep(0.02)
            return
        answer = uuid.uuid4().hex
        said = self.insist(lambda: worker.submit(taken, answer=answer))
        assert said.status == 200, said.text
        self.submitted[answer] = (taken["hit_id"], taken["assignment_id"], worker.worker_id)
        self.insist(lambda: self.approve(taken["assignment_id"]))
        self.approved.add(answer)
        self.insist(lambda: self.pay(taken["assignment_id"], worker.worker_id, answer))
        self.paid[answer] = taken["assignment_id"]

    def approve(self, assignment_id):
        try:
            self.client.approve_assignment(AssignmentId=assignment_id)
        except ClientError as error:
            assert "status of: Submitted" in error.response["Message"], error

    def pay(self, assignment_id, worker_id, purpose):
        try:
            self.client.send_bonus(
                WorkerId=worker_id,
                AssignmentId=assignment_id,
                BonusAmount="0.05",
                Reason=purpose,
                UniqueRequestToken=purpose,
            )
        except ClientError as error:
            assert "already been processed" in error.response["Message"], error


@pytest.mark.long
def test_kills_under_load_lose_nothing_and_double_nothing(mortal):
    storm = PaidStorm(mortal)
    storm.publish()
    storm.group_id = storm.client.list_hits()["HITs"][0]["HITGroupId"]
    works = [(storm.publish,), *((storm.work, mortal.worker()) for _ in range(3))]
    storm.rage(mortal, works, KILLS, random.Random(9))

    client = storm.client
    hits = [
        hit
        for page in client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100})
        for hit in page["HITs"]
    ]
    by_purpose = [hit["RequesterAnnotation"] for hit in hits if "RequesterAnnotation" in hit]
    assert sorted(by_purpose) == sorted(storm.published)
    for hit in hits:
        if purpose := hit.get("RequesterAnnotation"):
            assert hit["HITId"] in storm.published[purpose]

    recorded = {}
    payments = []
    for hit in hits:
        for assignment in assignments(client, hit):
            answer = answer_fields(assignment)["answer"]
            assert answer not in recorded
            recorded[answer] = (hit["HITId"], assignment["AssignmentId"], assignment["WorkerId"])
            assert assignment["AssignmentStatus"] == "Approved" or answer not in storm.approved
        with contextlib.suppress(ClientError):
            pages = client.get_paginator("list_bonus_payments").paginate(HITId=hit["HITId"])
            payments += [payment for page in pages for payment in page["BonusPayments"]]
    assert recorded == storm.submitted
    assert sorted(payment["Reason"] for payment in payments) == sorted(storm.paid)

    held = sum(hit["NumberOfAssignmentsAvailable"] + hit["NumberOfAssignmentsPending"] for hit in hits)
    spent = len(storm.approved) * Decimal("0.12") + len(payments) * Decimal("0.06")
    said = client.get_account_balance()
    assert Decimal(said["OnHoldBalance"]) == held * Decimal("0.12")
    assert Decimal(said["AvailableBalance"]) == 500 - held * Decimal("0.12") - spent
    mortal.manage("marketplace", "audit")
    assert "database is locked" not in mortal.log()
