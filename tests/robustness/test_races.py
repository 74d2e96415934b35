"""Fifty people want the same places at the same moment."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from tests.clients import RefusedError
from tests.conformance.protocol import answer_fields, assignments, create_hit, get_hit, places

CROWD = 50


@pytest.fixture(scope="module")
def crowd(server):
    return [server.worker() for _ in range(CROWD)]


@dataclass
class Diary:
    """What one worker was told."""

    submitted: dict[str, str] = field(default_factory=dict)
    most_in_hand: int = 0


def work_through(worker, group_id, seed):
    """Take HITs of the group until there are none, returning some; a diary of what was acknowledged."""
    chance, diary = random.Random(seed), Diary()
    while True:
        try:
            taken = worker.accept(group_id=group_id)
        except RefusedError as refusal:
            assert refusal.code == "NoWork", refusal
            return diary
        diary.most_in_hand = max(diary.most_in_hand, len(worker.in_hand))
        if chance.random() < 0.2:
            worker.give_back(taken)
            continue
        answer = f"{worker.worker_id} on {taken['hit_id']}"
        said = worker.submit(taken, answer=answer)
        assert said.status == 200, said.text
        diary.submitted[taken["hit_id"]] = answer


def test_fifty_workers_fill_every_place_and_none_too_many(server, crowd):
    """Accept, return and submit at once: no place twice, no submit lost, no database locked."""
    client = server.requester().client
    properties = {"Title": "Twelve HITs for fifty", "MaxAssignments": 5}
    hits = {hit["HITId"]: hit for hit in (create_hit(client, **properties) for _ in range(12))}
    group_id = next(iter(hits.values()))["HITGroupId"]
    with ThreadPoolExecutor(CROWD) as pool:
        diaries = list(pool.map(work_through, crowd, [group_id] * CROWD, range(CROWD)))
    # What was returned after others had given up is still there for whoever comes next.
    for worker, diary in zip(crowd, diaries, strict=True):
        diary.submitted |= work_through(worker, group_id, worker.worker_id).submitted
    acknowledged = {(hit_id, answer) for diary in diaries for hit_id, answer in diary.submitted.items()}
    recorded = []
    for hit in hits.values():
        found = get_hit(client, hit)
        assert places(found) == (0, 0, 0)
        assert found["HITStatus"] == "Reviewable"
        answers = assignments(client, hit)
        assert len(answers) == 5
        assert len({answer["WorkerId"] for answer in answers}) == 5
        assert len({answer["AssignmentId"] for answer in answers}) == 5
        for answer in answers:
            text = answer_fields(answer)["answer"]
            assert text == f"{answer['WorkerId']} on {hit['HITId']}"
            recorded.append((hit["HITId"], text))
    assert len(recorded) == len(set(recorded)) == 60
    assert set(recorded) == acknowledged
    assert all(diary.most_in_hand == 1 for diary in diaries if diary.submitted)
    assert_quiet(server)


def test_fifty_workers_at_one_moment_get_as_many_places_as_there_are(server, crowd):
    """All of them ask for the same HIT by its id: seven get a place, the others a reason."""
    client = server.requester().client
    gate = threading.Barrier(CROWD, timeout=60)

    def grab(worker, hit_id):
        gate.wait()
        try:
            return worker.accept(hit_id)
        except RefusedError as refusal:
            assert 400 <= refusal.status < 500
            return refusal

    for _ in range(2):
        hit = create_hit(client, MaxAssignments=7)
        with ThreadPoolExecutor(CROWD) as pool:
            results = list(pool.map(grab, crowd, [hit["HITId"]] * CROWD))
        taken = [result for result in results if isinstance(result, dict)]
        assert len(taken) == 7
        assert len({result["assignment_id"] for result in taken}) == 7
        assert places(get_hit(client, hit)) == (7, 0, 0)
        assert get_hit(client, hit)["HITStatus"] == "Unassignable"
    assert_quiet(server)


def test_one_worker_pressing_accept_fifty_times_holds_one_place(server, crowd):
    client = server.requester().client
    hit = create_hit(client, MaxAssignments=9)

    def press(_):
        try:
            return crowd[0].accept(hit["HITId"])
        except RefusedError as refusal:
            return refusal

    with ThreadPoolExecutor(CROWD) as pool:
        results = list(pool.map(press, range(CROWD)))
    assert sum(isinstance(result, dict) for result in results) == 1
    assert places(get_hit(client, hit)) == (1, 8, 0)


def test_fifty_submits_of_one_assignment_record_one_answer(server, crowd):
    """The page posts again and again; the first answer counts, all are thanked."""
    client = server.requester().client
    hit = create_hit(client)
    taken = crowd[1].accept(hit["HITId"])
    with ThreadPoolExecutor(CROWD) as pool:
        said = list(pool.map(lambda number: crowd[1].submit(taken, answer=str(number)), range(CROWD)))
    assert {answer.status for answer in said} == {200}
    [assignment] = assignments(client, hit)
    assert answer_fields(assignment)["answer"] in map(str, range(CROWD))
    assert places(get_hit(client, hit)) == (0, 0, 0)


def test_decisions_at_one_moment_are_one_decision(server, crowd):
    """Twenty approvals and twenty rejections of the same work: one of them wins, the money follows it."""
    requester = server.requester("10.00")
    client = requester.client
    hit = create_hit(client, Reward="1.00")
    assignment_id = crowd[2].do(hit["HITId"])["assignment_id"]

    def decide(number):
        try:
            if number % 2:
                client.approve_assignment(AssignmentId=assignment_id)
            else:
                client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="This is empty.")
        except client.exceptions.RequestError as error:
            assert "status of: Submitted" in error.response["Message"]
            return None
        return "Approved" if number % 2 else "Rejected"

    with ThreadPoolExecutor(40) as pool:
        made = [decision for decision in pool.map(decide, range(40)) if decision]
    [assignment] = assignments(client, hit)
    assert made == [assignment["AssignmentStatus"]]
    said = client.get_account_balance()
    assert said["OnHoldBalance"] == "0.00"
    assert said["AvailableBalance"] == {"Approved": "9.00", "Rejected": "10.00"}[made[0]]


def test_decisions_about_the_same_people_never_wait_for_each_other_in_a_ring(server, crowd):
    """Approvals, second thoughts, bonuses, returns and submits of six workers and one account at once."""
    client = server.requester("500.00", "mturk-2026").client
    people, chance = crowd[3:9], random.Random(5)
    hits = [create_hit(client, MaxAssignments=9) for _ in range(12)]
    acts = []
    for number, hit in enumerate(hits):
        for worker in people:
            taken = worker.accept(hit["HITId"])
            if number >= 8:
                acts.append(lambda w=worker, t=taken: worker_acts(w, t))
                continue
            worker.submit(taken, answer="yes")
            call = {"AssignmentId": taken["assignment_id"]}
            rejected = chance.random() < 0.5
            if rejected:
                client.reject_assignment(**call, RequesterFeedback="This is empty.")
            acts.append(lambda c=call, r=rejected: client.approve_assignment(**c, OverrideRejection=r))
            bonus = {**call, "WorkerId": worker.worker_id, "BonusAmount": "0.01", "Reason": "thank you"}
            acts.append(lambda b=bonus: client.send_bonus(**b))
        if number >= 8:
            client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)

    def worker_acts(worker, taken):
        if chance.random() < 0.7:
            worker.give_back(taken)
        else:
            assert worker.submit(taken, answer="yes").status == 200

    chance.shuffle(acts)
    with ThreadPoolExecutor(24) as pool:
        list(pool.map(lambda act: act(), acts))
    held = sum(get_hit(client, hit)["NumberOfAssignmentsAvailable"] for hit in hits[:8])
    undecided = sum(len(assignments(client, hit, "Submitted")) for hit in hits)
    said = client.get_account_balance()
    assert Decimal(said["OnHoldBalance"]) == (held + undecided) * Decimal("0.12")
    spent = 48 * Decimal("0.12") + 48 * Decimal("0.02")
    assert Decimal(said["AvailableBalance"]) == 500 - spent - Decimal(said["OnHoldBalance"])
    assert_quiet(server)


def test_overdue_approvals_of_several_requesters_never_wait_for_each_other_in_a_ring(server, crowd):
    """The same five workers did nine HITs of three requesters; all are touched when all is overdue."""
    clients = [server.requester("50.00", "mturk-2026").client for _ in range(3)]
    people, chance = crowd[9:14], random.Random(3)
    acts = []
    for client in clients:
        for _ in range(3):
            hit = create_hit(client, MaxAssignments=9, AutoApprovalDelayInSeconds=600)
            chance.shuffle(people)
            for worker in people:
                worker.do(hit["HITId"])
            acts.append(lambda c=client, h=hit: c.update_expiration_for_hit(HITId=h["HITId"], ExpireAt=0))
    server.advance(700)
    with ThreadPoolExecutor(len(acts)) as pool:
        list(pool.map(lambda act: act(), acts))
    for client in clients:
        said = client.get_account_balance()
        assert (said["AvailableBalance"], said["OnHoldBalance"]) == ("48.20", "0.00")
    assert_quiet(server)


def assert_quiet(server):
    log = server.log()
    assert "database is locked" not in log
    assert "deadlock" not in log
    assert "Traceback" not in log, log[-3000:]
