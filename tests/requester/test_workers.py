"""Workers of a requester: the table, one of them, messages, blocks, qualifications."""

import re
import uuid
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils.html import escape

from marketplace.accounts import people
from marketplace.models import Block, Holding, Message, QualificationGrant
from marketplace.qualifications import grants
from tests.site import world


@pytest.fixture
def group(lab):
    return world.make_group(lab, "Name the colour", reward_cents=20)


def took(work: Holding, seconds: int) -> None:
    Holding.objects.filter(pk=work.pk).update(accepted_at=work.submitted_at - timedelta(seconds=seconds))


def test_the_table_tells_who_did_how_much_how_well_and_how_fast(as_owner, at, group, other, rosa, ben):
    hits = [world.post(group, places=2) for _ in range(3)]
    works = [world.do(rosa, hit) for hit in hits]
    for work, seconds in zip(works, (10, 40, 90), strict=True):
        took(work, seconds)
    world.approve(works[0])
    world.approve(works[1])
    world.reject(works[2], "Empty.")
    world.do(ben, hits[0])
    world.do(ben, world.post(world.make_group(other)))
    page = as_owner.get(at("workers/?order=worker"))
    found = [
        (row.worker_id, row.answered, row.waiting, row.approved, row.rejected) for row in page.context["rows"]
    ]
    assert found == [("ABEN", 1, 1, 0, 0), ("AROSA", 3, 0, 2, 1)]
    text = page.content.decode()
    assert '<td class="number">67 %</td><td class="number">40 s</td>' in re.sub(r">\s+<", "><", text)
    assert "rosa" not in text
    lines = (
        b"".join(as_owner.get(at("workers/?format=csv&order=worker")).streaming_content).decode().splitlines()
    )
    assert lines[0] == "worker,simulated,answered,waiting,approved,rejected,rate,seconds,blocked,last"
    assert lines[2].startswith("AROSA,no,3,0,2,1,67,40,no,")


def test_the_table_is_filtered_by_work_to_review_blocks_and_words(as_owner, at, lab, group, rosa, ben):
    world.approve(world.do(rosa, world.post(group)))
    world.do(ben, world.post(group))
    never = world.make_worker("never")
    people.block(requester=lab, worker=never, reason="Sells answers.")

    def found(query: str) -> list[str]:
        return [row.worker_id for row in as_owner.get(at(f"workers/?order=worker&{query}")).context["rows"]]

    assert found("") == ["ABEN", "AROSA"]
    assert found("state=waiting") == ["ABEN"]
    assert found("state=blocked") == ["ANEVER"]
    assert found("q=ros") == ["AROSA"]


def test_a_worker_has_a_record_here_and_nothing_of_elsewhere(as_owner, at, lab, group, other, rosa):
    for seconds in (30, 60, 90):
        took(world.do(rosa, world.post(group)), seconds)
    world.do(rosa, world.post(world.make_group(other, "Secret work elsewhere")))
    page = as_owner.get(at("workers/AROSA/"))
    record = page.context["record"]
    assert (record.answered, record.waiting, record.approved, record.rate) == (3, 3, 0, None)
    assert record.median_seconds == 60
    assert len(page.context["pace"].chart.bars) == 3
    text = page.content.decode()
    assert "Secret work elsewhere" not in text
    assert ">rosa<" not in text


def test_workers_whom_a_requester_does_not_know_do_not_exist(as_owner, at, other, group, rosa, ben):
    world.do(rosa, world.post(world.make_group(other)))
    world.take(ben, world.post(group))
    for who in ("AROSA", "ABEN", "ANOBODY"):
        assert as_owner.get(at(f"workers/{who}/")).status_code == 404
        for path in ("block/", "unblock/", "grant/"):
            assert as_owner.post(at(f"workers/{who}/{path}"), {"reason": "x"}).status_code == 404
    assert not Block.objects.exists()


def test_a_block_needs_a_reason_that_the_worker_does_not_see(as_owner, at, lab, group, rosa):
    world.do(rosa, world.post(group))
    said = as_owner.post(at("workers/AROSA/block/"), follow=True).content.decode()
    assert "Reason: This field is required." in said
    as_owner.post(at("workers/AROSA/block/"), {"reason": "Sells <b>answers</b>."})
    page = as_owner.get(at("workers/AROSA/")).content.decode()
    assert escape("Sells <b>answers</b>.") in page
    assert Block.objects.get().requester == lab
    as_owner.post(at("workers/AROSA/unblock/"))
    as_owner.post(at("workers/AROSA/unblock/"))
    assert not Block.objects.exists()


def test_a_qualification_of_mine_is_given_and_one_of_others_is_not(as_owner, at, lab, group, other, rosa):
    world.do(rosa, world.post(group))
    mine, theirs = world.make_qualification(lab, "Reading"), world.make_qualification(other, "Writing")
    page = as_owner.get(at("workers/AROSA/")).content.decode()
    assert "Reading" in page and "Writing" not in page
    sent = {"kind": mine.qualification_type_id, "value": "85", "tell": "on"}
    assert (
        "“Reading” is given, value 85."
        in as_owner.post(at("workers/AROSA/grant/"), sent, follow=True).content.decode()
    )
    said = as_owner.post(
        at("workers/AROSA/grant/"), sent | {"kind": theirs.qualification_type_id}, follow=True
    ).content.decode()
    assert "Select a valid choice" in said
    assert [(each.qualification_type, each.value) for each in QualificationGrant.objects.all()] == [
        (mine, 85)
    ]
    assert Message.objects.get().subject == "You now hold the qualification “Reading”"


def test_a_message_goes_to_the_chosen_once(as_owner, at, lab, group, rosa, ben):
    world.do(rosa, world.post(group))
    assert "Choose recipients first" in as_owner.get(at("message/")).content.decode()
    form = as_owner.get(at("message/?worker=AROSA&worker=ABEN")).context["form"]
    sent = {
        "worker": ["AROSA", "ABEN"],
        "subject": "A second part",
        "body": "It begins\ntomorrow.",
        "once": form["once"].value(),
    }
    said = as_owner.post(at("message/"), sent, follow=True).content.decode()
    assert "Sent to 1 worker. 1 did not get it" in said
    assert "This was done already" in as_owner.post(at("message/"), sent, follow=True).content.decode()
    assert [(each.worker, each.body) for each in Message.objects.all()] == [(rosa, "It begins\ntomorrow.")]
    stranger = sent | {"worker": ["ABEN"], "once": str(uuid.uuid4())}
    assert (
        "It was not sent to anyone." in as_owner.post(at("message/"), stranger, follow=True).content.decode()
    )


def test_a_message_that_says_nothing_comes_back_with_what_is_wrong(as_owner, at, group, rosa):
    world.do(rosa, world.post(group))
    answer = as_owner.post(
        at("message/"), {"worker": ["AROSA"], "body": "Typed already", "once": str(uuid.uuid4())}
    )
    assert answer.status_code == 422
    assert "Typed already" in answer.content.decode()
    many = as_owner.post(at("message/"), {"worker": [f"A{number}" for number in range(101)]})
    assert "at most 100 workers" in many.content.decode()


def test_table_and_page_cost_the_same_with_one_worker_and_answer_and_with_many(
    as_owner, at, lab, group, rosa, queries_of
):
    hit = world.post(group, places=9)

    def more(number: int) -> None:
        kind = world.make_qualification(lab, f"Reading {number}")
        grants.grant(qualification_type=kind, worker=rosa, value=1, notify=False)
        world.do(rosa, world.post(group))
        world.do(world.make_worker(f"w{number}"), hit)

    more(0)
    paths = [at("workers/"), at("workers/AROSA/")]
    few = [queries_of(as_owner, path) for path in paths]
    for number in range(1, 9):
        more(number)
    assert [queries_of(as_owner, path) for path in paths] == few


def test_administrators_invite_workers_by_a_link_that_is_shown_once(as_owner, at, owner):
    assert "Invite workers" not in as_owner.get(at("workers/")).content.decode()
    assert as_owner.post(at("invite-workers/"), {"label": "Spring", "uses": "2"}).status_code == 404
    type(owner).objects.filter(pk=owner.pk).update(is_staff=True)
    assert "Invite workers" in as_owner.get(at("workers/")).content.decode()
    wrong = as_owner.post(at("invite-workers/"), {"label": "Spring", "uses": "0"})
    assert wrong.status_code == 422
    page = as_owner.post(
        at("invite-workers/"), {"label": "Spring", "uses": "2", "days": "30"}
    ).content.decode()
    address = re.search(r'id="address">([^<]+)<', page)[1]
    assert Client().get(urlsplit(address).path).status_code == 200
