"""Access keys: several valid at once, shown once, ended now or later, noted when used."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from marketplace.accounts import accesskeys, people
from marketplace.errors import Refusal
from marketplace.models import AccessKey
from marketplace.protocol import sigv4
from marketplace.protocol.errors import ProtocolError
from tests.marketplace.test_protocol import signed
from tests.site import world


def key_page(lab):
    return f"/requester/{lab.customer_id}/keys/"


def accepted(key: accesskeys.IssuedKey):
    return sigv4.authenticate(signed(key.row, key.secret), b"{}").requester


@pytest.fixture
def first(lab):
    row = lab.keys.get()
    return accesskeys.IssuedKey(row, accesskeys.secret_of(row))


def test_old_and_new_keys_work_side_by_side_until_the_old_one_ends(lab, first):
    second = accesskeys.issue_key(requester=lab, others_end_in=timedelta(days=7))
    assert accepted(first) == lab == accepted(second)
    AccessKey.objects.filter(pk=first.row.pk).update(ends_at=timezone.now())
    with pytest.raises(ProtocolError, match="UnrecognizedClient"):
        accepted(first)
    assert accepted(second) == lab


def test_an_end_can_come_sooner_and_never_later_and_at_once_is_at_once(first):
    soon = accesskeys.end_key(key=first.row, after=timedelta(days=1))
    assert accesskeys.end_key(key=first.row, after=timedelta(days=30)) == soon
    assert accesskeys.end_key(key=first.row, after=timedelta(hours=1)) < soon
    accesskeys.end_key(key=first.row)
    with pytest.raises(ProtocolError, match="UnrecognizedClient"):
        accepted(first)
    with pytest.raises(Refusal, match="has ended already"):
        accesskeys.end_key(key=first.row)


def test_a_requester_has_five_valid_keys_at_most(lab):
    for _ in range(4):
        accesskeys.issue_key(requester=lab)
    with pytest.raises(Refusal, match="at most 5 valid keys"):
        accesskeys.issue_key(requester=lab)
    accesskeys.issue_key(requester=lab, others_end_in=timedelta())
    assert lab.keys.count() == 6


def test_a_use_is_noted_once_a_minute_and_the_rest_costs_one_query(first):
    accepted(first)
    used = AccessKey.objects.get().last_used_at
    assert abs(used - timezone.now()) < timedelta(seconds=10)
    with CaptureQueriesContext(connection) as captured:
        accepted(first)
    assert len(captured) == 1
    AccessKey.objects.update(last_used_at=used - timedelta(minutes=2))
    accepted(first)
    assert AccessKey.objects.get().last_used_at >= used


def test_a_call_with_a_wrong_secret_is_no_use(first):
    with pytest.raises(ProtocolError):
        sigv4.authenticate(signed(first.row, "guessed"), b"{}")
    assert AccessKey.objects.get().last_used_at is None


def test_a_new_key_shows_its_secret_once(lab, owner, as_owner, first):
    made = as_owner.post(f"{key_page(lab)}new", {"label": "  night   run ", "others": "86400"})
    assert made.headers["Location"] == key_page(lab)
    row = lab.keys.get(label="night run")
    secret = accesskeys.secret_of(row)
    page = as_owner.get(key_page(lab))
    assert f'aws_secret_access_key="{secret}"' in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert secret not in as_owner.get(key_page(lab)).content.decode()
    first.row.refresh_from_db()
    assert timedelta(hours=23) < first.row.ends_at - timezone.now() <= timedelta(days=1)
    assert row.made_by == owner


def test_what_an_owner_made_is_not_shown_to_staff_nor_at_another_requester(lab, owner, as_owner, as_staff):
    other = world.make_requester("Other", owner=owner)
    as_owner.post(f"{key_page(lab)}new", {"label": "", "others": ""})
    secret = accesskeys.secret_of(lab.keys.latest("pk"))
    assert secret not in as_staff.get(key_page(lab)).content.decode()
    assert secret not in as_owner.get(key_page(other)).content.decode()


def test_a_key_is_ended_on_the_page(lab, as_owner, first):
    as_owner.post(f"{key_page(lab)}{first.row.pk}/end", {"after": "0"})
    with pytest.raises(ProtocolError):
        accepted(first)
    page = as_owner.get(key_page(lab)).content.decode()
    assert f"The key {first.access_key} has ended." in page
    assert "No valid key" in page
    assert first.access_key in as_owner.get(f"{key_page(lab)}?state=all").content.decode()


def test_nonsense_ends_no_key(lab, as_owner, first):
    as_owner.post(f"{key_page(lab)}{first.row.pk}/end", {"after": "-1"})
    as_owner.post(f"{key_page(lab)}{first.row.pk}/end", {})
    assert accepted(first) == lab
    refused = as_owner.post(f"{key_page(lab)}new", {"label": "x" * 81, "others": "5"})
    assert refused.status_code == 422
    assert lab.keys.count() == 1


def test_keys_of_others_do_not_exist(lab, stranger, as_owner, first):
    theirs = world.make_requester("Theirs")
    assert stranger.get(key_page(lab)).status_code == 404
    assert stranger.post(f"{key_page(lab)}new", {"label": ""}).status_code == 404
    foreign = theirs.keys.get()
    assert as_owner.post(f"{key_page(lab)}{foreign.pk}/end", {"after": "0"}).status_code == 404
    foreign.refresh_from_db()
    assert foreign.ends_at is None


def test_hostile_labels_are_text(lab, as_owner):
    accesskeys.issue_key(requester=lab, label="<script>alert(1)</script>")
    accesskeys.issue_key(requester=lab, label="=HYPERLINK(1)")
    page = as_owner.get(key_page(lab)).content.decode()
    assert "<script>alert" not in page
    file = as_owner.get(f"{key_page(lab)}?format=csv").getvalue().decode()
    assert "'=HYPERLINK(1)" in file
    assert all(accesskeys.secret_of(key) not in file for key in lab.keys.all())


def test_the_page_costs_the_same_with_one_key_and_with_thirty(lab, as_owner, queries_of):
    path = f"{key_page(lab)}?state=all"
    one = queries_of(as_owner, path)
    for _ in range(29):
        accesskeys.issue_key(requester=lab, others_end_in=timedelta())
    assert queries_of(as_owner, path) == one


def test_the_command_makes_lists_and_ends_keys(lab, capsys, first):
    from django.core.management import call_command

    call_command("marketplace", "key", "new", lab.name, "--label", "cron", "--others-end-in", "3", "--json")
    made = json.loads(capsys.readouterr().out)
    assert accesskeys.secret_of(lab.keys.get(access_key=made["access_key"])) == made["secret"]
    call_command("marketplace", "key", "list", lab.name, "--json")
    listed = json.loads(capsys.readouterr().out)
    assert [each["access_key"] for each in listed] == [first.access_key, made["access_key"]]
    assert listed[0]["ends_at"] is not None and listed[1]["label"] == "cron"
    assert "secret" not in listed[1]
    call_command("marketplace", "key", "end", made["access_key"])
    with pytest.raises(ProtocolError):
        accepted(accesskeys.IssuedKey(lab.keys.get(label="cron"), made["secret"]))


def test_creating_a_requester_still_shows_its_keys(db):
    requester, key = people.create_requester(name="Fresh")
    assert accepted(key) == requester
