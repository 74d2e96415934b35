"""Mephisto: the module `mturk_utils` of its provider for MTurk, from the published package."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients_of_others.running import Outside, RaisedError, Side

PAGE = "https://tasks.example.org/?unit=7&show=1"
#: The part of a run's configuration that concerns MTurk.
TASK = {
    "task_title": "Say which answer is better",
    "task_description": "Read two answers to a question.",
    "task_tags": ["reading", "questions"],
    "task_reward": 0.3,
    "assignment_duration_in_seconds": 1800,
}
NO_QUALIFICATIONS: list[dict[str, Any]] = []


@pytest.fixture
def mephisto(outside: Outside) -> Iterator[Side]:
    """Mephisto after `mephisto register mturk`: it wrote the keys into ~/.aws/credentials itself."""
    keys = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
    endpoint = {"AWS_ENDPOINT_URL_MTURK": outside.requester.api_url}
    with outside.side("mephisto_side", "lab", **keys, **endpoint) as side:
        registered = {
            "access_key_id": outside.requester.access_key,
            "secret_access_key": outside.requester.secret,
        }
        assert side("setup_aws_credentials", registered) is True
        yield side


def publish(mephisto: Side, places: int = 1) -> dict[str, Any]:
    """A HIT type and a HIT of it, as a unit is launched."""
    type_id = mephisto("create_hit_type", TASK, NO_QUALIFICATIONS)
    _link, hit_id, response = mephisto("create_hit_with_hit_type", 650, PAGE, type_id, places)
    assert response["HIT"]["HITId"] == hit_id
    hit: dict[str, Any] = response["HIT"]
    return hit


def test_the_keys_it_wrote_open_the_account(mephisto):
    assert mephisto("get_requester_balance") == 1000.0
    assert mephisto("check_mturk_balance", 2000) is False
    assert mephisto("client_is_sandbox") is False


def test_publish_list_approve_and_pay_a_bonus(mephisto, worker, requester):
    hit = publish(mephisto)
    assert (hit["Title"], hit["Reward"], hit["Keywords"]) == (
        "Say which answer is better",
        "0.30",
        "reading,questions",
    )
    assert hit["AutoApprovalDelayInSeconds"] == 7 * 24 * 3600
    taken = worker.do(hit["HITId"], choice="the first")
    (work,) = mephisto("get_assignments_for_hit", hit["HITId"])
    assert (work["WorkerId"], work["AssignmentStatus"]) == (worker.worker_id, "Submitted")

    mephisto("approve_work", taken["assignment_id"])
    assert mephisto("get_assignment", taken["assignment_id"])["Assignment"]["AssignmentStatus"] == "Approved"
    bonus = (worker.worker_id, 0.5, taken["assignment_id"], "Careful work.")
    assert mephisto("pay_bonus", *bonus, "token-1") is True
    with pytest.raises(RaisedError, match="has already been processed"):
        mephisto("pay_bonus", *bonus, "token-1")
    payments = requester.client.list_bonus_payments(HITId=hit["HITId"])["BonusPayments"]
    assert [each["BonusAmount"] for each in payments] == ["0.50"]


def test_a_unit_goes_through_its_states(mephisto, worker):
    """What its units read off a HIT: launched, assigned, completed; and places left mean expired."""

    def state(hit_id: str) -> tuple[str, int]:
        hit = mephisto("get_hit", hit_id)["HIT"]
        return hit["HITStatus"], hit["NumberOfAssignmentsAvailable"]

    done = publish(mephisto)["HITId"]
    assert state(done) == ("Assignable", 1)
    taken = worker.accept(done)
    assert state(done) == ("Unassignable", 0)
    worker.submit(taken, answer="yes")
    assert state(done) == ("Reviewable", 0)

    expired = publish(mephisto)["HITId"]
    mephisto("expire_hit", expired)
    assert state(expired) == ("Reviewable", 1)


def test_rejected_work_is_approved_after_all(mephisto, worker):
    taken = worker.do(publish(mephisto)["HITId"])
    mephisto("reject_work", taken["assignment_id"], "Empty.")
    assert mephisto("get_assignment", taken["assignment_id"])["Assignment"]["AssignmentStatus"] == "Rejected"
    mephisto("approve_work", taken["assignment_id"], override_rejection=True)
    assert mephisto("get_assignment", taken["assignment_id"])["Assignment"]["AssignmentStatus"] == "Approved"


def test_all_work_of_a_hit_is_approved_at_once(mephisto, server, requester):
    hit_id = publish(mephisto, 3)["HITId"]
    for _ in range(3):
        server.worker(country="GB").do(hit_id)
    mephisto("approve_assignments_for_hit", hit_id)
    assert requester.client.get_hit(HITId=hit_id)["HIT"]["NumberOfAssignmentsCompleted"] == 3


def test_only_the_countries_that_it_asks_for_see_it(mephisto, server):
    group_id = publish(mephisto)["HITGroupId"]
    assert server.worker(country="BR").next(group_id) is None
    assert server.worker(country="NZ").next(group_id) is not None


def test_a_block_and_its_end(mephisto, worker, requester):
    worker.do(publish(mephisto)["HITId"])
    mephisto("block_worker", worker.worker_id, "Copies.")
    assert mephisto("is_worker_blocked", worker.worker_id) is True
    mephisto("unblock_worker", worker.worker_id, "We talked.")
    assert mephisto("is_worker_blocked", worker.worker_id) is False


def test_a_message_arrives_or_says_why_not(mephisto, worker):
    assert mephisto("email_worker", worker.worker_id, "Part two", "It is open.")[0] is False
    worker.do(publish(mephisto)["HITId"])
    assert mephisto("email_worker", worker.worker_id, "Part two", "It is open.") == [True, ""]


def test_a_soft_block_is_a_qualification(mephisto, worker):
    """`find_or_create` by name, found again at the second call; whoever holds it no longer sees the HITs."""
    asked = ("reading-lab-block", "Whoever holds this sees no more of our tasks.")
    qualification = mephisto("find_or_create_qualification", *asked)
    assert mephisto("find_or_create_qualification", *asked) == qualification
    assert mephisto("find_qualification", "reading-lab-block") == [True, qualification]
    wanted = [{"qualification_name": "reading-lab-block", "comparator": "DoesNotExist"}]
    type_id = mephisto("create_hit_type", TASK, wanted)
    hit = mephisto("create_hit_with_hit_type", 650, PAGE, type_id)[2]["HIT"]
    assert worker.next(hit["HITGroupId"])["hit_id"] == hit["HITId"]
    mephisto("give_worker_qualification", worker.worker_id, qualification)
    assert worker.next(hit["HITGroupId"]) is None
    mephisto("remove_worker_qualification", worker.worker_id, qualification, "We talked.")
    assert worker.next(hit["HITGroupId"]) is not None
    mephisto("expire_hit", hit["HITId"])


def test_a_qualification_is_deleted_once_no_hit_asks_for_it(mephisto):
    qualification = mephisto("find_or_create_qualification", "for one day", "Short.")
    mephisto("delete_qualification", qualification)
    assert mephisto("find_qualification", "for one day") == [True, None]


def test_a_compensation_is_a_form_that_we_draw(mephisto, worker):
    type_id = mephisto("create_hit_type", TASK, NO_QUALIFICATIONS)
    hit = mephisto("create_compensation_hit_with_hit_type", "a server that broke", type_id)[2]["HIT"]
    taken = worker.do(hit["HITId"], **{"answer:workerid": worker.worker_id})
    (work,) = mephisto("get_assignments_for_hit", hit["HITId"])
    assert work["AssignmentId"] == taken["assignment_id"]
    assert f"<FreeText>{worker.worker_id}</FreeText>" in work["Answer"]


def test_its_cleanup_finds_and_disposes_of_what_was_left(mephisto, worker):
    kept = publish(mephisto)["HITId"]
    worker.do(kept)
    ended = publish(mephisto)["HITId"]
    mephisto("expire_hit", ended)
    left = [hit for hits in mephisto("get_outstanding_hits").values() for hit in hits]
    assert {hit["HITId"] for hit in left} == {kept, ended}
    ids = [{"HITId": hit["HITId"]} for hit in left]
    still = mephisto("expire_and_dispose_hits", ids, quiet=True)
    assert [hit["HITId"] for hit in still] == [kept]
    assert mephisto("get_hit", ended)["HIT"]["HITStatus"] == "Disposed"
