"""The Activity page: who did what for a requester, as a page and as a file."""

import json
import logging

from core.audit import chain as audit
from marketplace.accounts import accesskeys
from marketplace.models import Activity
from tests.site import world


def rows_of(page):
    return page.context["rows"].object_list


def test_a_person_who_blocks_is_named_with_their_address(lab, rosa, owner, as_owner, at):
    world.do(rosa, world.post(world.make_group(lab)))
    as_owner.post(at(f"workers/{rosa.worker_id}/block/"), {"reason": "Spam"}, REMOTE_ADDR="192.0.2.7")
    row = Activity.objects.get(action="worker.blocked")
    assert (row.user, row.actor, row.address) == (owner, "olga", "192.0.2.7")
    assert (row.subject, row.details) == (rosa.worker_id, "Spam")
    page = as_owner.get(at("activity/"))
    assert "Blocked a worker" in page.content.decode()
    assert "192.0.2.7" in page.content.decode()


def test_approving_on_the_page_names_the_person(lab, rosa, as_owner, at):
    holding = world.do(rosa, world.post(world.make_group(lab)))
    as_owner.post(at(f"work/{holding.pk}/approve/"), {"feedback": ""})
    row = Activity.objects.get(action="assignment.approved")
    assert (row.actor, row.subject) == ("olga", holding.assignment_id)


def test_a_key_made_on_the_page_is_there_and_can_be_read_only_with_an_end(lab, as_owner, at):
    as_owner.post(at("keys/new"), {"label": "reader", "ends": str(90 * 86_400), "read_only": "on"})
    key = lab.keys.get(label="reader")
    assert key.read_only
    assert key.ends_at is not None
    assert Activity.objects.filter(action="key.made", actor="olga", subject=key.access_key).exists()
    assert "reads only" in as_owner.get(at("keys/")).content.decode()


def test_it_is_filtered_paged_and_a_file(lab, rosa, as_owner, at):
    audit.empty("requester", why="another test")
    for number in range(30):
        Activity.objects.create(
            requester=lab, at="2026-11-01T00:00Z", action="bonus.paid", subject=f"3A{number}", actor="olga"
        )
    Activity.objects.create(
        requester=lab, at="2026-11-02T00:00Z", action="key.ended", subject="KEY", access_key="AKEY"
    )
    assert len(rows_of(as_owner.get(at("activity/")))) == 25
    assert len(rows_of(as_owner.get(at("activity/?page=2")))) == 6
    assert [row.subject for row in rows_of(as_owner.get(at("activity/?by=keys")))] == ["KEY"]
    assert len(rows_of(as_owner.get(at("activity/?action=bonus.paid&q=3A2")))) == 11
    lines = b"".join(as_owner.get(at("activity/?format=csv"))).decode().splitlines()
    assert len(lines) == 32
    assert "access_key" in lines[0]
    assert "address" in lines[0]


def test_it_asks_the_database_as_often_for_one_entry_as_for_many(lab, as_owner, at, queries_of):
    as_owner.get(at("activity/"))
    few = queries_of(as_owner, at("activity/"))
    for _ in range(20):
        accesskeys.note(lab.pk, "key.ended", "KEY")
    assert queries_of(as_owner, at("activity/")) <= few


def test_it_is_the_owners_and_others_are_written_down(lab, stranger, at, caplog):
    logger = logging.getLogger("distillery.security")
    logger.addHandler(caplog.handler)
    caplog.set_level(logging.INFO, logger="distillery.security")
    assert stranger.get(at("activity/")).status_code == 404
    logger.removeHandler(caplog.handler)
    lines = [json.loads(each.message) for each in caplog.records if each.name == logger.name]
    assert [(line["event"], line["actor"]) for line in lines] == [("role.refused", "sam")]
