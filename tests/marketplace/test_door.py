"""At the door of the protocol: refusals are counted, keys have limits, and no copied call is made again."""

import json
import logging
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from core.accounts.security import Actor, acting_as
from core.rates import limits
from marketplace import activity
from marketplace.accounts import accesskeys
from marketplace.lifecycle import assignments
from marketplace.lifecycle.expiry import sweep
from marketplace.models import HIT, Activity, CallLog, RefusedCalls, SignedWrite
from marketplace.money.finance import set_payment_note
from marketplace.protocol import errors

from .conftest import QUESTION, make_hit
from .test_protocol import signed

HIT_TYPE = {
    "Title": "t",
    "Description": "d",
    "Reward": "0.01",
    "AssignmentDurationInSeconds": 60,
    "LifetimeInSeconds": 60,
    "Question": QUESTION,
}


@pytest.fixture(autouse=True)
def _no_guesses():
    limits().forget_all()


@pytest.fixture
def security(caplog):
    """The lines of the log of security events."""
    logger = logging.getLogger("distillery.security")
    logger.addHandler(caplog.handler)
    caplog.set_level(logging.INFO, logger="distillery.security")
    yield lambda: [json.loads(each.message) for each in caplog.records if each.name == logger.name]
    logger.removeHandler(caplog.handler)


@pytest.fixture
def key(requester):
    return accesskeys.issue_key(requester=requester, label="script")


def environ_of(key, operation, parameters, secret=""):
    """A signed request, which can be sent as often as one likes."""
    body = json.dumps(parameters).encode()
    return body, signed(key.row, secret or key.secret, body=body, target=operation)


def send(body, environ, address="192.0.2.7"):
    told = {name: value for name, value in environ.items() if name.startswith("HTTP_")}
    return Client().post(
        "/mturk/api/", body, content_type=environ["CONTENT_TYPE"], REMOTE_ADDR=address, **told
    )


def call(key, operation, secret="", address="192.0.2.7", **parameters):
    return send(*environ_of(key, operation, parameters, secret), address)


# Refusals


def test_refused_signatures_are_counted_by_day_and_reason_and_not_stored(key, security):
    for _ in range(3):
        assert Client().post("/mturk/api/", "{}", content_type="application/json").status_code == 403
    assert call(key, "GetAccountBalance", secret="wrong").status_code == 400
    assert Client().get("/mturk/api/").status_code == 405
    assert not CallLog.objects.exists()
    assert dict(RefusedCalls.objects.values_list("reason", "count")) == {
        "MissingAuthenticationTokenException": 3,
        "InvalidSignatureException": 1,
        "MethodNotAllowedException": 1,
    }
    [line] = [each for each in security() if each["event"] == "signature.refused"]
    assert (line["access_key"], line["address"]) == (key.access_key, "192.0.2.7")


def test_logs_older_than_the_retention_go_and_others_stay(key, settings):
    for _ in range(3):
        call(key, "GetAccountBalance")
    old = timezone.now() - timedelta(days=settings.LOGS_KEPT_DAYS + 1)
    CallLog.objects.filter(pk__in=list(CallLog.objects.values_list("pk", flat=True)[:2])).update(at=old)
    RefusedCalls.objects.create(day=old.date(), reason="x", count=1)
    assert activity.forget_logs() == 3
    assert CallLog.objects.count() == 1
    assert not RefusedCalls.objects.exists()
    settings.LOGS_KEPT_DAYS = 0
    CallLog.objects.update(at=old)
    assert activity.forget_logs() == 0


def test_an_address_that_guesses_is_slowed_and_the_owner_elsewhere_is_not(key, monkeypatch):
    # However long the guesses take, none is given back meanwhile.
    monkeypatch.setattr(errors, "SECONDS_FOR_A_GUESS", 3600.0)
    for _ in range(errors.MOST_GUESSES):
        assert b"InvalidSignature" in call(key, "GetAccountBalance", secret="wrong").content
    assert b"ThrottlingException" in call(key, "GetAccountBalance").content
    assert call(key, "GetAccountBalance", address="192.0.2.8").status_code == 200


# Calls made twice


def test_a_signed_call_that_changes_something_is_not_made_again_by_a_copy(key):
    """A script may mean the same call twice in one second; a signature that is over is forgotten."""
    copied = environ_of(key, "CreateHIT", HIT_TYPE)
    assert [send(*copied).status_code for _ in range(2)] == [200, 200]
    SignedWrite.objects.update(at=timezone.now() - timedelta(seconds=30))
    again = send(*copied)
    assert (again.status_code, b"made before" in again.content) == (400, True)
    assert HIT.objects.count() == 2
    SignedWrite.objects.update(at=timezone.now() - timedelta(minutes=12))
    sweep()
    assert not SignedWrite.objects.exists()
    call(key, "GetAccountBalance")
    call(key, "CreateHIT", **HIT_TYPE, UniqueRequestToken="once")
    assert not SignedWrite.objects.exists(), "reads and calls with a token need no memory"


# Keys


def test_a_key_that_reads_only_changes_nothing(requester):
    key = accesskeys.issue_key(requester=requester, read_only=True)
    assert call(key, "GetAccountBalance").status_code == 200
    refused = call(key, "CreateHIT", **HIT_TYPE)
    assert (refused.status_code, b"AccessDeniedException" in refused.content) == (400, True)
    assert not HIT.objects.exists()


def test_a_key_with_an_end_ends(requester):
    key = accesskeys.issue_key(requester=requester, ends_in=timedelta(days=30))
    assert call(key, "GetAccountBalance").status_code == 200
    key.row.refresh_from_db()
    assert timedelta(days=29) < key.row.ends_at - timezone.now() <= timedelta(days=30)


def test_a_new_address_of_a_key_is_told_once(key, security):
    for address in ("192.0.2.7", "192.0.2.7", "198.51.100.4", "192.0.2.7", "198.51.100.4"):
        call(key, "GetAccountBalance", address=address)
    [told] = Activity.objects.filter(action="key.new_address")
    assert (told.subject, told.details) == (key.access_key, "198.51.100.4")
    assert [line["event"] for line in security()].count("key.new_address") == 1


# Who did it


def test_what_a_script_decides_names_its_key_and_address(requester, worker, key):
    done = []
    for _ in range(2):
        holding = assignments.accept(worker=worker, hit=make_hit(requester))
        assignments.submit(holding=holding, fields=[("a", "1")])
        done.append(holding.assignment_id)
    assert call(key, "ApproveAssignment", AssignmentId=done[0]).status_code == 200
    assert call(key, "RejectAssignment", AssignmentId=done[1], RequesterFeedback="no").status_code == 200
    bonus = {"AssignmentId": done[0], "WorkerId": worker.worker_id, "BonusAmount": "0.05", "Reason": "thanks"}
    assert call(key, "SendBonus", **bonus).status_code == 200
    override = {"AssignmentId": done[1], "OverrideRejection": True}
    assert call(key, "ApproveAssignment", **override).status_code == 200
    assert call(key, "CreateWorkerBlock", WorkerId=worker.worker_id, Reason="spam").status_code == 200
    assert call(key, "DeleteWorkerBlock", WorkerId=worker.worker_id, Reason="fine").status_code == 200
    rows = Activity.objects.filter(access_key=key.access_key).order_by("pk")
    assert [(row.action, row.access_key, row.address) for row in rows] == [
        (action, key.access_key, "192.0.2.7")
        for action in (
            "assignment.approved",
            "assignment.rejected",
            "bonus.paid",
            "assignment.unrejected",
            "worker.blocked",
            "worker.unblocked",
        )
    ]
    logged = CallLog.objects.filter(operation="SendBonus").get()
    assert (logged.access_key, logged.address) == (key.access_key, "192.0.2.7")


def test_nothing_is_written_of_a_call_that_was_undone(requester, worker, key):
    before = Activity.objects.count()
    assert call(key, "ApproveAssignment", AssignmentId="3NONE").status_code == 400
    assert Activity.objects.count() == before


def test_payment_details_and_keys_are_security_events(requester, worker, key, security):
    with acting_as(lambda: Actor(address="192.0.2.9")):
        set_payment_note(worker=worker, note="IBAN DE00")
        accesskeys.end_key(key=key.row)
    events = [line["event"] for line in security()]
    assert events[-2:] == ["payment_details.changed", "key.ended"]
    assert "IBAN" not in json.dumps(security())
