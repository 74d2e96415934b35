"""The paths that are walked most ask the database few questions, and the answers are those of the moment."""

import json
import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from marketplace.accounts import accesskeys
from marketplace.models import HIT, AccessKey, Holding, Requester
from marketplace.money import ledger
from marketplace.qualifications import eligibility
from marketplace.site.lookup import group_named
from tests.clients import TARGET, signed_headers

from .conftest import QUESTION, make_hit, make_worker


def test_balances_move_as_movements_say_and_never_below_zero(requester):
    hit = make_hit(requester, reward_cents=100)
    before = Requester.objects.get(pk=requester.pk)
    assert before.held_cents == 120
    with pytest.raises(Exception, match="insufficient funds"), transaction.atomic():
        ledger.post(
            requester.pk,
            [ledger.Movement(ledger.Kind.HOLD, before.available_cents + 1, hit=hit)],
            at=timezone.now(),
        )
    after = Requester.objects.get(pk=requester.pk)
    assert (after.available_cents, after.held_cents) == (before.available_cents, 120)
    assert ledger.audit() == []


def test_keys_groups_and_blocks_are_read_as_they_are_now(requester, worker):
    key = AccessKey.objects.get(requester=requester)
    assert accesskeys.signing_key(key.access_key) == key
    assert len(accesskeys.proofs(requester.pk, "text")) == 1
    accesskeys.end_key(key=key)
    assert accesskeys.signing_key(key.access_key) is None
    assert accesskeys.proofs(requester.pk, "text") == []
    hit_type = make_hit(requester).hit_type
    assert group_named(hit_type.group_id) == group_named(hit_type.type_id) == hit_type
    assert eligibility.verdict(worker=worker, hit_type=hit_type).accept
    worker.blocks.create(requester=requester, reason="", created_at=timezone.now())
    assert eligibility.verdict(worker=worker, hit_type=hit_type).missing == [eligibility.BLOCKED]


# Guards: how many questions the paths ask that are walked most


@pytest.fixture
def as_installed(settings):
    settings.MARKETPLACE_TEST_TOKEN = ""
    settings.TASK_URL = settings.PUBLIC_URL = ""


def test_accepting_working_and_submitting_ask_27_questions(
    requester, as_installed, django_assert_num_queries
):
    person = make_worker()
    person.user = User.objects.create_user("rosa", password="still warm copper")
    person.save()
    browser = Client()
    browser.force_login(person.user)
    hit_type = make_hit(requester, places=2).hit_type
    make_hit(requester, places=2)
    for accepting in (20, 15):  # the first of a day notes where the person comes from
        with django_assert_num_queries(accepting):
            accepted = browser.post(f"/projects/{hit_type.group_id}/tasks/accept")
        with django_assert_num_queries(5):
            page = browser.get(accepted["Location"])
        asked = parse_qs(
            urlsplit(unescape(re.search(r'<iframe[^>]*\ssrc="([^"]+)"', page.content.decode())[1])).query
        )
        path = urlsplit(asked["turkSubmitTo"][0]).path + "/mturk/externalSubmit"
        with django_assert_num_queries(7):
            sent = Client().post(path, {"assignmentId": asked["assignmentId"][0], "answer": "Blue."})
        assert sent.status_code == 200
    assert Holding.objects.filter(worker=person, state="submitted").count() == 2


def test_creating_a_hit_asks_twelve_questions(requester, as_installed, django_assert_num_queries):
    key = AccessKey.objects.get(requester=requester)
    hit_type = make_hit(requester).hit_type
    url, browser = "http://testserver/mturk/api", Client()
    for number in range(2):
        wanted = {
            "HITTypeId": hit_type.type_id,
            "LifetimeInSeconds": 3600,
            "MaxAssignments": 3,
            "Question": QUESTION,
            "UniqueRequestToken": f"token {number}",
        }
        body = json.dumps(wanted).encode()
        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"{TARGET}.CreateHITWithHITType",
        }
        signed = signed_headers(url, key.access_key, accesskeys.secret_of(key), body, headers)
        type_ = signed.pop("Content-Type")
        # The first use of a key is noted in two questions more.
        with django_assert_num_queries(12) if number else transaction.atomic():
            made = browser.post(
                "/mturk/api", body, content_type=type_, headers={**signed, "Host": "testserver"}
            )
        assert made.status_code == 200, made.content
    assert HIT.objects.filter(hit_type=hit_type, open_places=3).count() == 2
