"""Shapes, signatures and page tokens of the protocol, against botocore itself."""

import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import botocore.session
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.utils import timezone

from marketplace.accounts import people
from marketplace.models import HIT, CallLog, LedgerEntry
from marketplace.money import deposits
from marketplace.protocol import endpoint, render, sigv4
from marketplace.protocol.calls import OPERATIONS, Call
from marketplace.protocol.constraints import Flag, IntegerShape, ListOf, Moment, Structure, Text, checked
from marketplace.protocol.errors import ProtocolError
from marketplace.protocol.shapes import input_shapes

from .conftest import make_hit, make_requester

MODEL = botocore.session.get_session().get_service_model("mturk")
SHAPES = input_shapes()
TARGET = "MTurkRequesterServiceV20170117."


def differences(path, shape, theirs):
    kind = theirs.type_name
    if kind == "structure":
        assert isinstance(shape, Structure), path
        members = {**shape.required, **shape.optional}
        if set(members) != set(theirs.members):
            yield path, "members"
        if set(shape.required) != set(theirs.required_members):
            yield path, "required"
        for name, member in members.items():
            yield from differences(f"{path}.{name}", member, theirs.members[name])
    elif kind == "list":
        assert isinstance(shape, ListOf), path
        yield from differences(f"{path}[]", shape.item, theirs.member)
    elif kind == "string":
        assert isinstance(shape, Text), path
        facts = theirs.metadata
        pattern = facts.get("pattern", "").removeprefix("^").removesuffix("$") or None
        wanted = (facts.get("min", 0), facts.get("max"), pattern, tuple(facts.get("enum", ())))
        if wanted != (shape.least, shape.most, shape.pattern, shape.enum):
            yield path, wanted
    elif kind in ("integer", "long"):
        assert isinstance(shape, IntegerShape), path
        wanted = (theirs.metadata.get("min"), theirs.metadata.get("max"), 64 if kind == "long" else 32)
        if wanted != (shape.least, shape.most, shape.bits):
            yield path, wanted
    else:
        assert isinstance(shape, {"boolean": Flag, "timestamp": Moment}[kind]), path


def test_our_shapes_are_those_of_the_service_model():
    assert set(SHAPES) == set(MODEL.operation_names)
    found = [
        difference
        for name in MODEL.operation_names
        for difference in differences(name, SHAPES[name], MODEL.operation_model(name).input_shape)
    ]
    assert found == []


def test_every_operation_is_performed_and_none_documented_as_missing():
    assert set(OPERATIONS) == set(SHAPES)
    text = (Path(__file__).parents[2] / "docs" / "marketplace.md").read_text(encoding="utf-8")
    section = text.split("## What is not there yet")[1].split("\n## ")[0]
    assert [name for name in SHAPES if f"`{name}`" in section] == []
    assert f"All {len(SHAPES)} operations are there" in section


def test_a_violated_constraint_is_named(subtests):
    for operation, parameters, named in [
        (
            "SendBonus",
            {"WorkerId": "A1", "BonusAmount": "0.9752", "AssignmentId": "3", "Reason": "r"},
            "bonusAmount",
        ),
        ("ListHITs", {"MaxResults": 101}, "maxResults"),
        (
            "ListAssignmentsForHIT",
            {"HITId": "3", "AssignmentStatuses": ["Nope"]},
            "assignmentStatuses.1.member",
        ),
        ("GetHIT", {"HITId": "abc-def"}, "hITId"),
        ("GetHIT", {"HITId": "3\n"}, "hITId"),
        ("GetHIT", {}, "hITId"),
        ("GetHIT", {"HITId": "3", "Extra": 1}, "Extra"),
        ("CreateWorkerBlock", {"WorkerId": "A1", "Reason": "a\0b"}, "reason"),
        ("CreateWorkerBlock", {"WorkerId": "A1", "Reason": "\ud800"}, "reason"),
    ]:
        with subtests.test(operation=operation, parameters=parameters):
            with pytest.raises(ProtocolError) as error:
                checked(SHAPES[operation], parameters)
            assert error.value.kind == "ValidationException"
            assert "1 validation error detected" in error.value.message
            assert f"'{named}'" in error.value.message


def test_a_wrong_type_is_a_serialization_error_or_counts_as_absent(subtests):
    for value in ["3", 3.0, True, None, [3], 2**31]:
        with subtests.test(value=value):
            parameters = {"HITId": "3", "NumberOfAdditionalAssignments": value}
            with pytest.raises(ProtocolError) as error:
                checked(SHAPES["CreateAdditionalAssignmentsForHIT"], parameters)
            expected = "ValidationException" if value is None else "SerializationException"
            assert error.value.kind == expected


def signed(key, secret, *, body=b"{}", path="/mturk/api/", target="GetAccountBalance", tweak=None):
    """The environ of a request that botocore signed, of which `target` is a part unless it is empty."""
    headers = {"X-Amz-Target": f"{TARGET}{target}"} if target else {}
    request = AWSRequest(
        "POST",
        f"http://market.example.org:8000{path}",
        data=body,
        headers={**headers, "Content-Type": "application/x-amz-json-1.1"},
    )
    request.headers["Host"] = "market.example.org:8000"
    SigV4Auth(Credentials(key.access_key, secret), "mturk-requester", "eu-west-1").add_auth(request)
    if tweak:
        tweak(request.headers)
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": path, "QUERY_STRING": ""}
    for name, value in request.headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    return environ


@pytest.fixture
def keyed(db):
    _, key = people.create_requester(name=f"Keyed {uuid.uuid4()}")
    return key.row, key.secret


def test_a_signature_of_botocore_is_accepted_on_any_path(keyed):
    for path in ("/", "/mturk/api", "/mturk/api/"):
        assert sigv4.authenticate(signed(*keyed, path=path), b"{}").requester == keyed[0].requester


def unsigned(headers):
    del headers["Authorization"]


def other_scheme(headers):
    headers.replace_header("Authorization", "Basic abc")


def other_service(headers):
    headers.replace_header("Authorization", headers["Authorization"].replace("mturk-requester", "s3"))


def no_target_signed(headers):
    headers.replace_header("Authorization", headers["Authorization"].replace(";x-amz-target", ""))


def other_target(headers):
    headers.replace_header("X-Amz-Target", f"{TARGET}DeleteHIT")


def old_date(headers):
    then = timezone.now() - timedelta(minutes=20)
    headers.replace_header("X-Amz-Date", f"{then:%Y%m%dT%H%M%SZ}")


def no_date(headers):
    headers.replace_header("X-Amz-Date", "yesterday")


def test_a_request_that_was_tampered_with_is_refused(keyed, subtests):
    for tweak, kind in [
        (unsigned, "MissingAuthenticationTokenException"),
        (other_scheme, "IncompleteSignatureException"),
        (other_service, "InvalidSignatureException"),
        (no_target_signed, "InvalidSignatureException"),
        (other_target, "InvalidSignatureException"),
        (old_date, "InvalidSignatureException"),
        (no_date, "IncompleteSignatureException"),
    ]:
        with subtests.test(tweak=tweak, kind=kind):
            with pytest.raises(ProtocolError) as error:
                sigv4.authenticate(signed(*keyed, tweak=tweak), b"{}")
            assert error.value.kind == kind


def test_a_signature_that_leaves_the_operation_open_is_refused(keyed):
    environ = signed(*keyed, target="") | {"HTTP_X_AMZ_TARGET": f"{TARGET}DeleteHIT"}

    with pytest.raises(ProtocolError, match="headers must be signed: host, x-amz-date, x-amz-target"):
        sigv4.authenticate(environ, b"{}")


def test_a_signature_is_good_for_five_minutes_before_and_after_its_date(keyed, monkeypatch):
    environ = signed(*keyed)
    signed_at = datetime.strptime(environ["HTTP_X_AMZ_DATE"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)

    def authenticate(seconds):
        monkeypatch.setattr(timezone, "now", lambda: signed_at + timedelta(seconds=seconds))
        return sigv4.authenticate(environ, b"{}")

    for seconds in (-300, 300):
        assert authenticate(seconds).requester == keyed[0].requester
    for seconds in (-301, 301):
        with pytest.raises(ProtocolError, match="Signature expired"):
            authenticate(seconds)


def test_another_body_or_secret_does_not_pass(keyed):
    key, secret = keyed
    with pytest.raises(ProtocolError, match="InvalidSignature"):
        sigv4.authenticate(signed(key, secret), b'{"x": 1}')
    with pytest.raises(ProtocolError, match="InvalidSignature"):
        sigv4.authenticate(signed(key, secret + "x"), b"{}")


def test_the_secret_is_not_readable_in_the_database_and_dies_with_the_installations_key(keyed, settings):
    key, secret = keyed
    environ = signed(key, secret)
    assert secret not in key.secret_sealed
    settings.SECRET_KEY = "another key " * 5
    with pytest.raises(ProtocolError, match="UnrecognizedClient"):
        sigv4.authenticate(environ, b"{}")


def call(requester, operation="ListHITs", **parameters):
    return Call(operation, requester, parameters, timezone.now())


def test_pages_go_on_where_the_last_one_ended(requester):
    made = {make_hit(requester, title=f"T{number}").pk for number in range(5)}
    rows = HIT.objects.filter(requester=requester)
    seen, token, sizes = [], None, []
    while True:
        parameters = {"MaxResults": 2} | ({"NextToken": token} if token else {})
        found, token = render.load_page(
            call(requester, **parameters), rows, by="created_at", newest_first=True
        )
        sizes.append(len(found))
        seen += [row.pk for row in found]
        if token is None:
            break
        assert len(token) <= 255
    assert sizes == [2, 2, 1, 0]
    assert seen == sorted(made, reverse=True)


def test_a_page_token_of_another_list_is_refused(requester):
    make_hit(requester)
    rows = HIT.objects.filter(requester=requester)
    _, token = render.load_page(call(requester), rows, by="created_at")
    _, of_a_type = render.load_page(call(requester, HITTypeId="3X"), rows, by="created_at")
    for stranger in (
        call(make_requester(), NextToken=token),
        call(requester, "ListReviewableHITs", NextToken=token),
        call(requester, NextToken=of_a_type),
        call(requester, HITTypeId="3X", NextToken=token),
        call(requester, HITTypeId="3Y", NextToken=of_a_type),
        call(requester, NextToken=token[:-2]),
        call(requester, NextToken="p1:garbage"),
    ):
        with pytest.raises(ProtocolError, match="nextToken"):
            render.load_page(stranger, rows, by="created_at")


def test_a_call_that_fails_inside_is_a_fault_and_leaves_nothing(client, keyed, monkeypatch, caplog):
    key, secret = keyed
    requester = key.requester

    def breaks(_call):
        make_hit(deposits.deposit(requester=requester, cents=1000))
        raise RuntimeError("broken inside")

    monkeypatch.setitem(
        endpoint.OPERATIONS, "DeleteHIT", endpoint.OPERATIONS["DeleteHIT"].__class__(breaks, True)
    )
    body = json.dumps({"HITId": "3X"}).encode()
    environ = signed(key, secret, body=body, target="DeleteHIT")
    response = client.generic(
        "POST", "/mturk/api/", body, content_type="application/x-amz-json-1.1", **environ
    )
    assert response.status_code == 500
    assert json.loads(response.content)["__type"] == "ServiceFault"
    assert response["x-amzn-RequestId"] in caplog.text
    assert not HIT.objects.filter(requester=requester).exists()
    requester.refresh_from_db()
    assert requester.deposited_cents == 0


@pytest.mark.django_db(transaction=True)
def test_a_call_whose_commit_fails_is_a_fault_and_has_its_line_in_the_log(client, keyed, monkeypatch):
    key, secret = keyed

    def breaks(_call):
        # The key of no requester: foreign keys are checked by the commit.
        LedgerEntry.objects.create(
            requester_id=-1, at=timezone.now(), kind="deposit", debit="outside", credit="available", cents=1
        )
        return {}

    operation = endpoint.OPERATIONS["DeleteHIT"].__class__(breaks, True)
    monkeypatch.setitem(endpoint.OPERATIONS, "DeleteHIT", operation)
    body = json.dumps({"HITId": "3X"}).encode()
    for _ in range(2):
        environ = signed(key, secret, body=body, target="DeleteHIT")
        response = client.generic(
            "POST", "/mturk/api/", body, content_type="application/x-amz-json-1.1", **environ
        )
        assert response.status_code == 500
    assert list(CallLog.objects.values_list("result", "executed")) == [("ServiceFault", False)] * 2
    assert not LedgerEntry.objects.filter(requester_id=-1).exists()
