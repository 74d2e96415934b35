"""Worker ids of MTurk in calls: kept until a worker states the id, then that worker's."""

import uuid

import pytest
from botocore.exceptions import ClientError

from tests.clients import RefusedError
from tests.conformance.protocol import balance, create_hit, refused
from tests.conformance.test_qualifications import new_qualification


def new_id():
    return "A" + uuid.uuid4().hex[:13].upper()


@pytest.fixture
def bring_in(manage, requester, tmp_path):
    """Brings in a table of ids."""

    def bring(text):
        path = tmp_path / f"{uuid.uuid4().hex}.csv"
        path.write_text(text, encoding="utf-8")
        return manage("former-ids", "import", requester.name, str(path))

    return bring


def test_a_loop_over_old_ids_goes_through_and_counts_when_they_are_stated(
    client, manage, bring_in, new_worker
):
    former_id, kind = new_id(), new_qualification(client)["QualificationTypeId"]
    brought_in = bring_in(f"Worker-ID,note\n{former_id},old\n")
    read_as = brought_in.pop("read_as")
    assert brought_in == {"rows": 1, "new": 1, "same": 0}
    assert (read_as["columns"], read_as["left_out"]) == ({"worker_id": ["Worker-ID"]}, ["note"])
    client.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId=former_id, IntegerValue=70, SendNotification=False
    )
    score = client.get_qualification_score(QualificationTypeId=kind, WorkerId=former_id)["Qualification"]
    assert (score["WorkerId"], score["IntegerValue"], score["Status"]) == (former_id, 70, "Granted")
    [told] = client.notify_workers(Subject="Hello", MessageText="It moved.", WorkerIds=[former_id])[
        "NotifyWorkersFailureStatuses"
    ]
    assert "id of MTurk" in told["NotifyWorkersFailureMessage"]
    worker = new_worker()
    assert manage("former-ids", "state", worker.worker_id, former_id)["accepted"] is True
    score = client.get_qualification_score(QualificationTypeId=kind, WorkerId=former_id)["Qualification"]
    assert (score["WorkerId"], score["IntegerValue"]) == (worker.worker_id, 70)
    client.disassociate_qualification_from_worker(QualificationTypeId=kind, WorkerId=former_id)
    assert client.list_workers_with_qualification_type(QualificationTypeId=kind)["Qualifications"] == []


def test_a_block_on_an_old_id_keeps_the_worker_out(client, manage, bring_in, new_worker):
    former_id, other = new_id(), new_id()
    bring_in(f"Worker ID,block\n{former_id},Copied\n{other},\n")
    client.create_worker_block(WorkerId=other, Reason="Copied, too.")
    client.delete_worker_block(WorkerId=other)
    hit = create_hit(client)
    worker, fine = new_worker(), new_worker()
    manage("former-ids", "state", worker.worker_id, former_id)
    manage("former-ids", "state", fine.worker_id, other)
    with pytest.raises(RefusedError, match="does not accept work"):
        worker.accept(hit["HITId"])
    fine.give_back(fine.accept(hit["HITId"]))
    blocked = [each["WorkerId"] for each in client.list_worker_blocks()["WorkerBlocks"]]
    assert worker.worker_id in blocked and fine.worker_id not in blocked
    client.delete_worker_block(WorkerId=former_id)
    assert worker.worker_id not in [each["WorkerId"] for each in client.list_worker_blocks()["WorkerBlocks"]]


def test_a_bonus_is_paid_once_on_the_first_answer(client, manage, bring_in, requester, new_worker):
    former_id = new_id()
    table = f"worker_id,bonus,reason\n{former_id},1.25,For March\n"
    bring_in(table)
    assert {**bring_in(table), "read_as": None} == {"rows": 1, "new": 0, "same": 2, "read_as": None}
    worker = new_worker()
    manage("former-ids", "state", worker.worker_id, former_id)
    assert manage("former-ids", "pay")["paid"] == 0  # no answer yet
    hit = create_hit(client)
    taken = worker.do(hit["HITId"])
    before = balance(client)
    assert [manage("former-ids", "pay")["paid"] for _ in range(3)] == [1, 0, 0]
    [paid] = client.list_bonus_payments(AssignmentId=taken["assignment_id"])["BonusPayments"]
    assert (paid["BonusAmount"], paid["Reason"], paid["WorkerId"]) == ("1.25", "For March", worker.worker_id)
    assert float(before[0]) - float(balance(client)[0]) == pytest.approx(1.25)
    bring_in(table)
    assert manage("former-ids", "pay")["paid"] == 0
    client.send_bonus(
        WorkerId=former_id, AssignmentId=taken["assignment_id"], BonusAmount="0.10", Reason="By the old id."
    )


def test_two_who_state_one_id_are_shown_and_nothing_is_done_twice(client, manage, bring_in, new_worker):
    former_id, kind = new_id(), new_qualification(client)
    bring_in(f"worker_id,qualification,value,bonus\n{former_id},{kind['Name']},5,0.50\n")
    first, second = new_worker(), new_worker()
    assert manage("former-ids", "state", first.worker_id, former_id)["accepted"] is True
    assert manage("former-ids", "state", second.worker_id, former_id)["accepted"] is False
    stated = [each for each in manage("former-ids", "conflicts") if each["former_id"] == former_id]
    assert {each["worker_id"]: each["accepted"] for each in stated} == {
        first.worker_id: True,
        second.worker_id: False,
    }
    for worker in (first, second):
        worker.do(create_hit(client)["HITId"])
    assert manage("former-ids", "pay")["paid"] == 1
    manage("former-ids", "settle", former_id, second.worker_id)
    assert manage("former-ids", "pay")["paid"] == 0
    holders = client.list_workers_with_qualification_type(QualificationTypeId=kind["QualificationTypeId"])
    assert [each["WorkerId"] for each in holders["Qualifications"]] == [first.worker_id]


def test_an_id_that_nobody_brought_in_stays_unknown(client):
    with refused("ParameterValidationError"):
        client.create_worker_block(WorkerId=new_id(), Reason="Copies.")


def test_a_table_with_a_fault_brings_in_nothing(manage, requester, bring_in, subtests):
    for table, says in [
        ("name\nx\n", "no column worker_id"),
        ("worker_id\nnobody\n", "line 2"),
        ("worker_id,qualification\nA1234567,Nope\n", "you have no qualification"),
        ("worker_id,bonus\nA1234567,many\n", "bonus"),
        ("worker_id,bonus\nA1234567,10000.01\n", "between"),
        ("worker_id\n", ""),
    ]:
        with subtests.test(table=table, says=says):
            before = manage("former-ids", "list", requester.name)
            with pytest.raises((RuntimeError, ClientError), match=f"(?i){says}"):
                bring_in(table)
            assert manage("former-ids", "list", requester.name) == before
