"""Files of bonuses and grants: looked at, confirmed, done once, and counted."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from core.money import dollars
from marketplace.errors import Refusal
from marketplace.forms.sheets import Sheet, SheetError
from marketplace.heritage import workerfiles
from marketplace.heritage.models import WorkerFile
from marketplace.models import Activity, Bonus, Holding, QualificationGrant
from marketplace.money import deposits, ledger
from marketplace.qualifications import grants
from tests.batches.making import run_jobs
from tests.batches.test_publishing import spend
from tests.site import world


@pytest.fixture
def work(lab, rosa, ben) -> list[Holding]:
    group = world.make_group(lab)
    return [world.do(worker, world.post(group)) for worker in (rosa, ben, rosa)]


def read(lab, text: str) -> WorkerFile:
    made = workerfiles.make_file(requester=lab, sheet=Sheet(io.BytesIO(text.encode()), "bonuses.csv"))
    return WorkerFile.objects.select_related("requester").get(pk=made.pk)


def pay(file: WorkerFile) -> WorkerFile:
    file.requester.refresh_from_db()
    workerfiles.confirm(file=file, cents=file.cents + file.fee_cents)
    run_jobs()
    file.refresh_from_db()
    return file


def outcomes(file: WorkerFile) -> list[str]:
    return list(file.lines.order_by("line").values_list("state", flat=True))


def table(work: list[Holding]) -> str:
    first, second, third = (each.assignment_id for each in work)
    return (
        f"WorkerId,AssignmentId,Amount,Reason\nAROSA,{first},1.00,Careful\n,{second},0.50,Careful\n"
        f"AROSA,,2,For the month\n,{third},0.50,Careful\n"
    )


def test_bonuses_are_paid_once_and_a_file_that_comes_back_pays_nothing(lab, work):
    file = read(lab, table(work))
    assert (file.cents, file.line_count, outcomes(file)) == (400, 4, ["waiting"] * 4)
    assert not Bonus.objects.exists()
    file = pay(file)
    assert (file.state, outcomes(file)) == ("done", ["done"] * 4)
    paid = Bonus.objects.order_by("pk").values_list("assignment_id", "cents", "reason")
    ids = [each.assignment_id for each in work]
    assert list(paid) == [
        (ids[0], 100, "Careful"),
        (ids[1], 50, "Careful"),
        (ids[2], 200, "For the month"),
        (ids[2], 50, "Careful"),
    ]
    again = read(lab, table(work) + f",{ids[0]},0.25,More\n")
    assert (outcomes(again), again.cents) == (["same"] * 4 + ["waiting"], 25)
    pay(again)
    assert Bonus.objects.count() == 5
    assert sum(workerfiles.count_lines(again).values()) == again.line_count == 5
    nothing = read(lab, table(work))
    with pytest.raises(Refusal, match="Nothing is left"):
        workerfiles.confirm(file=nothing, cents=0)
    assert ledger.audit() == []


def test_two_drafts_of_one_file_pay_once(lab, work):
    drafts = [read(lab, table(work)) for _ in range(2)]
    for file in drafts:
        workerfiles.confirm(file=file, cents=file.cents + file.fee_cents)
    run_jobs()
    assert [outcomes(file) for file in drafts] == [["done"] * 4, ["same"] * 4]
    assert Bonus.objects.count() == 4
    with pytest.raises(Refusal, match="confirmed or withdrawn already"):
        workerfiles.confirm(file=drafts[0], cents=1)


def test_what_was_paid_one_by_one_is_paid_before(lab, work):
    world.bonus(work[0], 100, "Careful")
    assert outcomes(read(lab, table(work))) == ["same", "waiting", "waiting", "waiting"]


def test_every_fault_is_told_with_its_line_and_nothing_is_kept(lab, other, work, rosa):
    theirs = world.do(rosa, world.post(world.make_group(other)))
    text = (
        "worker,assignment,amount,reason\nAROSA,,1.00,Good\nAROSA,,1.00,Good\nANOBODY,,1,Good\n"
        f",{theirs.assignment_id},1,Good\nABEN,{work[0].assignment_id},1,Good\nAROSA,,lots,Good\n"
        "AROSA,,0,Good\nAROSA,,1,\n,,1,Good\nAROSA,,99999999,Good\nAROSA,,€2,Good\n"
    )
    with pytest.raises(workerfiles.FileFaults) as caught:
        read(lab, text)
    assert [each.line for each in caught.value.faults] == list(range(3, 13))
    words = " ".join(each.message for each in caught.value.faults)
    told = ("the same as line 2", "'ANOBODY'", "not of worker ABEN", "'lots'", "no reason", "neither")
    for part in (*told, "Sums here are in USD, not in €"):
        assert part in words
    assert not WorkerFile.objects.exists()


def test_two_columns_that_may_hold_the_sum_are_asked_about(lab):
    text = "worker,amount,bonus,reason\nAROSA,5,1.00,Good\n"
    with pytest.raises(SheetError, match=r"line 1: the amount may be in any of 'amount', 'bonus'. Rename"):
        read(lab, text)


def test_money_that_does_not_last_stops_the_file_and_it_goes_on(lab, work):
    file = read(lab, table(work))
    with pytest.raises(Refusal, match="Type that"):
        workerfiles.confirm(file=file, cents=1)
    lab.refresh_from_db()
    workerfiles.confirm(file=file, cents=file.cents + file.fee_cents)
    lab.refresh_from_db()
    spend(lab, lab.available_cents - 240)
    run_jobs()
    file.refresh_from_db()
    assert (file.state, "Stopped after" in file.error) == ("stopped", True)
    deposits.deposit(requester=lab, cents=10_000)
    workerfiles.go_on(file=file)
    run_jobs()
    file.refresh_from_db()
    assert (file.state, outcomes(file), Bonus.objects.count()) == ("done", ["done"] * 4, 4)
    assert ledger.audit() == []


def test_the_pages_preview_pay_and_report(lab, at, as_owner, work, owner):
    def send(text: str):
        return as_owner.post(
            at("bonuses/"), {"file": SimpleUploadedFile("b.csv", text.encode()), "encoding": "auto"}
        )

    wrong = send("worker,amount,reason\nANOBODY,1,x\n")
    assert (wrong.status_code, "no worker &#x27;ANOBODY&#x27;" in wrong.content.decode()) == (422, True)
    answer = send(table(work))
    page = " ".join(as_owner.get(answer.url).content.decode().split())
    assert "Pay 4" in page and "For the month" in page
    assert (
        "Read as: worker from WorkerId; amount from Amount; assignment from AssignmentId; "
        "reason from Reason; utf-8; separated by commas; columns named in row 1."
    ) in page
    assert "4 rows read = 4 used + 0 merged + 0 identical repeats + 0 refused." in page
    file = WorkerFile.objects.get()
    confirm = at(f"files/{file.number}/confirm/")
    assert as_owner.post(confirm, {"amount": "4.00x"}).status_code == 422
    for _ in range(2):
        assert as_owner.post(confirm, {"amount": dollars(file.cents + file.fee_cents)}).status_code == 302
        run_jobs()
    assert Bonus.objects.count() == 4
    assert Activity.objects.filter(action="bonus.paid", user=owner).count() == 4
    report = as_owner.get(at(f"files/{file.number}/?format=csv"))
    assert b"".join(report.streaming_content).decode().count(",Paid,") == 4
    assert "b.csv" in as_owner.get(at("bonuses/")).content.decode()
    send("worker,amount,reason\nAROSA,1,x\n")
    as_owner.post(at("files/2/withdraw/"))
    assert as_owner.get(at("files/2/")).status_code == 404


def test_grants_are_previewed_and_given_all_or_none(lab, at, as_owner, rosa, ben):
    kind = world.make_qualification(lab, "Reading")
    for worker in (rosa, ben):
        grants.grant(qualification_type=kind, worker=worker, value=1, notify=False)
    world.make_worker("carl")
    upload = at(f"qualifications/{kind.qualification_type_id}/upload/")
    text = b"worker,value,status\nAROSA,1,\nABEN,7,\nACARL,,\n"
    answer = as_owner.post(upload, {"preview": "1", "file": SimpleUploadedFile("g.csv", text)})
    page = " ".join(as_owner.get(answer.url).content.decode().split())
    assert "2 lines change something" in page and "Changed; the value was 1." in page
    assert QualificationGrant.objects.filter(value=7).count() == 0
    as_owner.post(at("files/1/confirm/"))
    run_jobs()
    assert QualificationGrant.objects.count() == 3
    assert outcomes(WorkerFile.objects.get()) == ["same", "done", "done"]
    wrong = as_owner.post(
        upload,
        {"preview": "1", "file": SimpleUploadedFile("g.csv", b"worker,value\nX,1\nABEN,1_0\n")},
        follow=True,
    ).content.decode()
    assert "Line 2: there is no worker" in wrong and "Line 3: value" in wrong
