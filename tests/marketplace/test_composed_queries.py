"""What is composed once says what Django would say, and the paths that are walked most ask few questions."""

import json
import re
import uuid
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist
from django.db import connection, transaction
from django.db.models import F
from django.db.transaction import TransactionManagementError
from django.db.utils import IntegrityError
from django.test import Client
from django.utils import timezone

from core.composed_queries import ComposedInBulk, ComposedInsert, ComposedQuery, ComposedUpdate
from marketplace import eligibility, ledger
from marketplace.models import HIT, AccessKey, CallLog, Holding, Place, Requester
from marketplace.services import accesskeys, assignments, holds
from marketplace.site.lookup import group_named
from tests.clients import TARGET, signed_headers

from .conftest import QUESTION, make_hit, make_worker


def fields_of(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_rows_are_those_of_the_queryset_with_what_it_joins(requester, worker):
    hit = make_hit(requester, places=2)
    taken = assignments.accept(worker=worker, hit=hit)
    other = assignments.accept(worker=make_worker(), hit=hit)
    rows = Holding.objects.select_related("worker__user", "hit__hit_type__requester")
    query = ComposedQuery(
        Holding,
        ["assignment_id", "hit__hit_id"],
        lambda assignment_id, hit_id: rows.filter(assignment_id=assignment_id, hit__hit_id=hit_id),
    )

    for holding in (taken, other, taken):
        found, stored = query.get(holding.assignment_id, hit.hit_id), rows.get(pk=holding.pk)
        for one, two in (
            (found, stored),
            (found.hit, stored.hit),
            (found.hit.hit_type, stored.hit.hit_type),
            (found.hit.hit_type.requester, stored.hit.hit_type.requester),
            (found.worker, stored.worker),
        ):
            assert fields_of(one) == fields_of(two)
        assert found.worker.user is None
        assert not found._state.adding
    assert query.first("", hit.hit_id) is None
    with pytest.raises(ObjectDoesNotExist, match="Holding matching query does not exist"):
        query.get(taken.assignment_id, "")


def test_what_it_joins_is_read_with_it_and_what_it_defers_when_asked_for(
    requester, django_assert_num_queries
):
    hit = make_hit(requester)
    query = ComposedQuery(
        HIT,
        ["id"],
        lambda pk: HIT.objects.select_related("hit_type").only("hit_id", "hit_type__title").filter(pk=pk),
    )
    query.get(hit.pk)

    with django_assert_num_queries(1):
        found = query.get(hit.pk)
        assert (found.hit_id, found.hit_type.title) == (hit.hit_id, "Answer a question")
    with django_assert_num_queries(1):
        assert found.question == QUESTION


def test_rows_by_key_are_those_that_are_there_whatever_their_number(requester, django_assert_num_queries):
    hits = [make_hit(requester) for _ in range(5)]
    by_key = ComposedInBulk(HIT)
    assert by_key.get([]) == {}
    for keys in ([hit.pk for hit in hits], [hits[3].pk], [hits[0].pk, 0, hits[1].pk]):
        stored = HIT.objects.in_bulk(keys)
        with django_assert_num_queries(1):
            found = by_key.get(keys)
        assert {pk: fields_of(row) for pk, row in found.items()} == {
            pk: fields_of(row) for pk, row in stored.items()
        }


def test_an_update_is_of_the_rows_that_its_values_name(requester):
    hit, other = make_hit(requester, places=3), make_hit(requester, places=3)
    update = ComposedUpdate(
        HIT,
        ["id", "reviewing", "expires_at", "reward_cents"],
        lambda pk, reviewing, expires_at, more: (
            HIT.objects.filter(pk=pk, reward_cents__lt=15),
            {"reviewing": reviewing, "expires_at": expires_at, "reward_cents": F("reward_cents") + more},
        ),
    )
    moment = timezone.now() + timedelta(days=3)

    assert [update.run(hit.pk, True, moment, 4), update.run(hit.pk, True, moment, 4)] == [1, 1]
    assert update.run(hit.pk, False, moment, 1) == 0
    hit.refresh_from_db()
    assert (hit.reviewing, hit.expires_at, hit.reward_cents) == (True, moment, 18)
    assert HIT.objects.get(pk=other.pk).reward_cents == 10


def test_an_inserted_row_is_the_stored_one(requester, worker):
    hit = make_hit(requester)
    place = ComposedInsert(Place).run(Place(hit=hit, ordinal=7, assignment_id="3PLACE"))

    assert fields_of(Place.objects.get(pk=place.pk)) == fields_of(place)
    assert not place._state.adding
    logged = CallLog(
        requester=requester,
        request_id=uuid.uuid4(),
        operation="GetHIT",
        parameters={"HITId": "é", "n": [1, None]},
        at=timezone.now(),
        milliseconds=1.5,
    )
    ComposedInsert(CallLog).run(logged)
    assert fields_of(CallLog.objects.get(pk=logged.pk)) == fields_of(logged)
    with pytest.raises(IntegrityError), transaction.atomic():
        ComposedInsert(Place).run(Place(hit=hit, ordinal=7, assignment_id="3OTHER"))


@pytest.mark.django_db(transaction=True)
def test_a_lock_is_refused_outside_of_a_transaction():
    worker = make_worker()
    if not connection.features.has_select_for_update:
        assert holds.lock_worker(worker.pk) == worker
        return
    for _ in range(2):
        with transaction.atomic():
            assert holds.lock_worker(worker.pk) == worker
        with pytest.raises(TransactionManagementError):
            holds.lock_worker(worker.pk)


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


def test_creating_a_hit_asks_ten_questions_and_fewer_of_postgresql(
    requester, as_installed, django_assert_num_queries
):
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
        # PostgreSQL inserts HIT and hold with the balance; within a test the call's log is a statement, too.
        questions = 8 if connection.vendor == "postgresql" else 10
        with django_assert_num_queries(questions) if number else transaction.atomic():
            made = browser.post(
                "/mturk/api", body, content_type=type_, headers={**signed, "Host": "testserver"}
            )
        assert made.status_code == 200, made.content
    assert HIT.objects.filter(hit_type=hit_type, open_places=3).count() == 2
