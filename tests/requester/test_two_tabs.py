"""Two tabs or two people on one form of a requester: the second save changes nothing."""

import pytest

from marketplace.models import Batch, Chaos, QualificationType, Template
from tests.batches import making
from tests.batches.test_pages import PROPERTIES
from tests.desk.test_two_tabs import shown_again
from tests.requester.test_qualifications import TYPE
from tests.saving import revision, save, versions

pytestmark = pytest.mark.django_db


def test_a_template_keeps_what_was_saved_first(lab, as_owner, at):
    template = making.template(lab)
    page = at(f"templates/{template.pk}/")
    mine = PROPERTIES | {"name": "Mine", "html": "<p>${word}</p>", "frame_height": "0"}
    mine |= revision(as_owner, page)
    assert save(as_owner, page, mine | {"name": "Theirs", "places": "5"}).status_code == 302
    answer = as_owner.post(page, mine)
    assert answer.status_code == 409
    compared = versions(answer)
    assert compared["Name"] == ("Mine", "Theirs")
    assert compared["Assignments per task"] == ("3", "5")
    assert "Time allotted per assignment" not in compared
    assert Template.objects.get().name == "Theirs"
    for _ in range(2):
        assert as_owner.post(page, mine | shown_again(answer)).status_code == 302
    assert Template.objects.get().name == "Mine"


def test_a_template_cannot_take_the_name_of_another(lab, as_owner, at):
    taken, own = making.template(lab), making.template(lab)
    page = at(f"templates/{own.pk}/")
    fields = PROPERTIES | {"name": taken.name, "html": "<p>${word}</p>", "frame_height": "0"}
    answer = save(as_owner, page, fields)
    assert answer.status_code == 422
    assert "You have a template of this name already." in answer.content.decode()


def test_properties_and_hosts_of_a_draft_keep_what_was_saved_first(lab, as_owner, at):
    making.draft(lab)
    batch, properties, hosts = at("batches/1/"), at("batches/1/properties/"), at("batches/1/hosts/")
    mine = PROPERTIES | revision(as_owner, properties)
    ours = {"more": "https://mine.example.org"} | revision(as_owner, batch, to=hosts)
    assert save(as_owner, properties, PROPERTIES | {"reward": "0.50"}).status_code == 302
    theirs = save(as_owner, batch, {"more": "https://theirs.example.org"}, to=hosts)
    assert theirs.status_code == 302
    first, second = as_owner.post(properties, mine), as_owner.post(hosts, ours)
    assert first.status_code == 409
    assert versions(first)["Reward per assignment"] == ("0.25", "0.50")
    assert second.status_code == 409
    assert "https://theirs.example.org" in second.content.decode()
    kept = Batch.objects.get()
    assert (kept.properties["reward_cents"], kept.hosts) == (50, ["https://theirs.example.org"])


def test_a_qualification_keeps_what_was_saved_first(as_owner, at):
    as_owner.post(at("qualifications/new/"), TYPE)
    page = at(f"qualifications/{QualificationType.objects.get().qualification_type_id}/edit/")
    mine = TYPE | {"description": "Mine."} | revision(as_owner, page)
    assert save(as_owner, page, TYPE | {"description": "Theirs."}).status_code == 302
    answer = as_owner.post(page, mine)
    assert answer.status_code == 409
    assert versions(answer)["Description"] == ("Mine.", "Theirs.")
    assert QualificationType.objects.get().description == "Theirs."


def test_faults_keep_what_was_saved_first_and_may_be_counted_down(as_owner, at, settings):
    settings.MARKETPLACE_TEST_TOKEN = "token"
    page = at("controls/")
    save(as_owner, page, {"throttle_next": "5", "error_rate": "0.5"})
    mine = {"error_rate": "0.25"} | revision(as_owner, page)
    Chaos.objects.update(throttle_next=4)
    assert as_owner.post(page, mine).status_code == 302
    assert as_owner.post(page, mine | {"error_rate": "0.1"}).status_code == 409
    assert Chaos.objects.get().error_rate == 0.25
