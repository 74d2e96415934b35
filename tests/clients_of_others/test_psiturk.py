"""psiTurk 3: the module `psiturk.amt_services` of the published package, its live address turned to us."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients_of_others.running import Outside, RaisedError, Side

#: A study as psiTurk's shell hands it over from config.txt.
STUDY = {
    "title": "Stroop task",
    "description": "Name the colours of words.",
    "keywords": "Perception, Psychology",
    "reward": 0.25,
    "max_assignments": 3,
    "duration": {"hours": 1},
    "lifetime": {"days": 1},
    "ad_location": "https://experiment.example.org/ad?mode=live",
    "approve_requirement": 95,
    "number_hits_approved": 0,
    "require_master_workers": False,
    "us_only": True,
    "require_qualification_ids": [],
    "block_qualification_ids": [],
    "advanced_qualifications": [],
}


@pytest.fixture
def psiturk(outside: Outside) -> Iterator[Side]:
    with outside.side("psiturk_side", outside.requester.api_url) as side:
        yield side


def hit_of(psiturk: Side, **other: Any) -> str:
    hit_id: str = psiturk("create_hit", {**STUDY, **other})["HITId"]
    return hit_id


def test_it_logs_in_and_sees_the_balance(psiturk):
    assert psiturk("check_balance") == "1000.00"


def test_wrong_keys_do_not_log_in(outside):
    with (
        outside.side("psiturk_side", outside.requester.api_url, AWS_SECRET_ACCESS_KEY="x" * 40) as side,
        pytest.raises(RuntimeError, match="AWS credentials invalid"),
    ):
        side("check_balance")


def test_publish_list_approve_and_pay_a_bonus(psiturk, worker, requester):
    hit_id = hit_of(psiturk)
    (listed,) = psiturk("get_all_hits")
    assert (listed["hitid"], listed["title"], listed["status"]) == (hit_id, "Stroop task", "Assignable")
    assert (listed["max_assignments"], listed["number_assignments_available"]) == (3, 3)
    assert listed["is_expired"] is False

    taken = worker.do(hit_id, answer="done")
    assert psiturk("get_hit", hit_id)["number_submissions_needing_action"] == 1
    (work,) = psiturk("get_assignments", "Submitted", [hit_id])
    assert (work["workerId"], work["assignmentId"]) == (worker.worker_id, taken["assignment_id"])

    assert psiturk("approve_assignment", work["assignmentId"]) is True
    assert psiturk("get_assignment", work["assignmentId"])["status"] == "Approved"
    # Without a worker it asks whose the assignment is; and it pays what a float prints.
    assert psiturk("bonus_assignment", work["assignmentId"], None, 0.5, "Thank you") is True
    payments = requester.client.list_bonus_payments(HITId=hit_id)["BonusPayments"]
    assert [(each["WorkerId"], each["BonusAmount"]) for each in payments] == [(worker.worker_id, "0.50")]
    assert psiturk("check_balance") == "998.75"  # three times 0.25 on hold or paid, and the bonus


def test_the_requirements_of_a_study_hold(psiturk, server):
    hit = psiturk("create_hit", STUDY)
    assert server.worker(country="DE").next(hit["HITGroupId"]) is None
    assert server.worker(country="US").next(hit["HITGroupId"])["hit_id"] == hit["HITId"]
    masters = psiturk("create_hit", {**STUDY, "require_master_workers": True})
    assert server.worker(country="US").next(masters["HITGroupId"]) is None


def test_those_who_took_part_are_kept_out_by_a_qualification(psiturk, worker, requester):
    kind = requester.client.create_qualification_type(
        Name="Took part", Description="In the first study.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    hit = psiturk("create_hit", {**STUDY, "block_qualification_ids": [kind]})
    assert worker.next(hit["HITGroupId"])["hit_id"] == hit["HITId"]
    requester.client.associate_qualification_with_worker(QualificationTypeId=kind, WorkerId=worker.worker_id)
    assert worker.next(hit["HITGroupId"]) is None


def test_its_rejection_has_no_word_of_why_and_is_taken_back(psiturk, worker):
    taken = worker.do(hit_of(psiturk))
    psiturk("reject_assignment", taken["assignment_id"])
    assert psiturk("get_assignment", taken["assignment_id"])["status"] == "Rejected"
    psiturk("unreject_assignment", taken["assignment_id"])
    assert psiturk("get_assignment", taken["assignment_id"])["status"] == "Approved"


def test_extend_expire_and_delete(psiturk):
    hit_id = hit_of(psiturk)
    before = psiturk("get_hit", hit_id)["expiration"]
    psiturk("extend_hit", hit_id, assignments_increment=2, expiration_increment=90)
    after = psiturk("get_hit", hit_id)
    assert after["max_assignments"] == 5 and after["expiration"] > before
    with pytest.raises(RaisedError, match=r"currently in the state 'Assignable'"):
        psiturk("delete_hit", hit_id)
    psiturk("expire_hit", hit_id)
    assert psiturk("get_hit", hit_id)["is_expired"] is True
    psiturk("delete_hit", hit_id)
    assert psiturk("get_all_hits") == []


def test_what_is_over_the_border_of_ten_is_refused(psiturk):
    with pytest.raises(RaisedError, match="fewer than 10 assignments"):
        psiturk("extend_hit", hit_of(psiturk, max_assignments=9), assignments_increment=1)


def test_many_hits_are_all_listed(psiturk):
    made = {hit_of(psiturk, title=f"Study {number}") for number in range(23)}
    assert {hit["hitid"] for hit in psiturk("get_all_hits")} == made


def test_qualification_types_of_ones_own_are_listed(psiturk, requester):
    requester.client.create_qualification_type(
        Name="Passed training", Description="All ten.", QualificationTypeStatus="Active"
    )
    found = psiturk("list_qualification_types")
    assert [each["Name"] for each in found] == ["Passed training"]
