"""A closed worker as requesters' scripts see them, through boto3 on a running server."""

from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError

from tests.clients import RefusedError, external_question
from tests.server import RunningServer

HIT = {
    "Title": "Say what you see",
    "Description": "One short answer.",
    "Question": external_question(),
    "Reward": "0.25",
    "MaxAssignments": 3,
    "AssignmentDurationInSeconds": 1800,
    "LifetimeInSeconds": 86_400,
}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with RunningServer() as running:
        yield running


def close(server, worker):
    return server.console("marketplace", "worker", "close", worker.worker_id, "--yes", "--json")


def test_the_work_of_a_closed_worker_is_there_is_approved_and_paid(server):
    client, worker = server.requester().client, server.worker()
    hit_id = client.create_hit(**HIT)["HIT"]["HITId"]
    done = worker.do(hit_id, answer="Blue.")
    open_one = client.create_hit(**HIT | {"MaxAssignments": 1})["HIT"]["HITId"]
    worker.accept(open_one)
    assert close(server, worker)["returned"] == 1
    [assignment] = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert assignment["WorkerId"] == worker.worker_id
    assert "Blue." in assignment["Answer"]
    client.approve_assignment(AssignmentId=done["assignment_id"])
    client.send_bonus(
        WorkerId=worker.worker_id, BonusAmount="0.10", AssignmentId=done["assignment_id"], Reason="Thanks."
    )
    assert client.get_hit(HITId=open_one)["HIT"]["NumberOfAssignmentsAvailable"] == 1
    assert client.get_account_balance()["AvailableBalance"] == "998.90"


def test_a_closed_worker_is_not_notified_and_the_caller_is_told(server):
    client, worker, other = server.requester().client, server.worker(), server.worker()
    hit_id = client.create_hit(**HIT)["HIT"]["HITId"]
    for each in (worker, other):
        each.do(hit_id)
    close(server, worker)
    statuses = client.notify_workers(
        Subject="More work", MessageText="Come back.", WorkerIds=[worker.worker_id, other.worker_id]
    )["NotifyWorkersFailureStatuses"]
    assert [(each["NotifyWorkersFailureCode"], each["WorkerId"]) for each in statuses] == [
        ("HardFailure", worker.worker_id)
    ]
    assert "closed" in statuses[0]["NotifyWorkersFailureMessage"]


def test_a_closed_worker_can_neither_accept_nor_submit_nor_be_closed_again(server):
    client, worker = server.requester().client, server.worker()
    hit_id = client.create_hit(**HIT)["HIT"]["HITId"]
    taken = worker.accept(hit_id)
    close(server, worker)
    with pytest.raises(RefusedError):
        worker.accept(hit_id)
    assert worker.submit(taken, answer="Too late").status == 409
    with pytest.raises(RuntimeError, match="closed already"):
        close(server, worker)
    assert client.list_assignments_for_hit(HITId=hit_id)["Assignments"] == []


def test_blocks_and_qualifications_of_a_closed_worker_can_still_be_set(server):
    client, worker = server.requester().client, server.worker()
    kind = client.create_qualification_type(
        Name="Reads", Description="Has read.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    close(server, worker)
    client.associate_qualification_with_worker(QualificationTypeId=kind, WorkerId=worker.worker_id)
    client.create_worker_block(WorkerId=worker.worker_id, Reason="Never again.")
    assert client.list_worker_blocks()["WorkerBlocks"][0]["WorkerId"] == worker.worker_id
    with pytest.raises(ClientError):
        client.get_qualification_score(QualificationTypeId=kind, WorkerId="A0000000000000")


def test_the_ledger_adds_up_afterwards(server):
    assert server.console("marketplace", "audit", "--json") == {"faults": []}
