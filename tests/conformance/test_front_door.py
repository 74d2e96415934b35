"""Checks 1-4: who may call, when, and what."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from tests.clients import ask, mturk_client
from tests.conformance.protocol import balance, hit_properties

JSON = "application/x-amz-json-1.1"


def titles(client):
    return [hit["Title"] for hit in client.list_hits(MaxResults=100)["HITs"]]


def test_01_a_wrong_key_or_secret_or_no_signature_is_refused_and_nothing_is_done(requester):
    properties = hit_properties()
    strangers = (requester.access_key, "not-the-secret"), ("AKIDOESNOTEXIST00000", requester.secret)
    for access_key, secret in strangers:
        with pytest.raises(ClientError) as caught:
            mturk_client(requester.api_url, access_key, secret).create_hit(**properties)
        code = caught.value.response["Error"]["Code"]
        assert code in ("UnrecognizedClientException", "InvalidSignatureException")
        assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] in (400, 403)
    headers = {"Content-Type": JSON, "X-Amz-Target": "MTurkRequesterServiceV20170117.GetAccountBalance"}
    answer = ask("POST", requester.api_url, b"{}", headers)
    assert 400 <= answer.status < 500
    assert answer.json()["__type"]
    assert properties["Title"] not in titles(requester.client)


def test_02_a_request_dated_twenty_minutes_off_is_refused(requester):
    for minutes in (-20, 20):
        at = datetime.now(UTC).replace(tzinfo=None) + timedelta(minutes=minutes)
        answer = requester.send("GetAccountBalance", b"{}", at=at)
        assert 400 <= answer.status < 500, minutes
        assert answer.json()["__type"]
    assert requester.send("GetAccountBalance", b"{}").status == 200


def test_02_a_body_other_than_the_signed_one_is_refused(requester):
    from tests.clients import TARGET, signed_headers

    headers = {"Content-Type": JSON, "X-Amz-Target": f"{TARGET}.ListHITs"}
    headers = signed_headers(
        requester.api_url, requester.access_key, requester.secret, b'{"MaxResults": 1}', headers
    )
    answer = ask("POST", requester.api_url, b'{"MaxResults": 9}', headers)
    assert 400 <= answer.status < 500
    assert answer.json()["__type"]


def test_03_an_operation_or_method_outside_the_protocol_is_refused(requester):
    for operation in ("MakeCoffee", "createHIT", ""):
        answer = requester.send(operation, b"{}")
        assert (answer.status, answer.json()["__type"]) == (400, "UnknownOperationException"), operation
    for method in ("GET", "HEAD", "PUT", "DELETE"):
        answer = ask(method, requester.api_url)
        assert answer.status in (404, 405), method
        assert "html" not in answer.headers.get("content-type", "")


def test_03_the_endpoint_answers_with_and_without_final_slash(requester):
    with_slash = mturk_client(requester.api_url.rstrip("/") + "/", requester.access_key, requester.secret)
    assert balance(with_slash) == balance(requester.client)


def test_04_a_balance_is_a_string_with_two_decimals(client):
    said = client.get_account_balance()
    assert re.fullmatch(r"\d+\.\d\d", said["AvailableBalance"])
    assert re.fullmatch(r"\d+\.\d\d", said["OnHoldBalance"])
    assert said["ResponseMetadata"]["RequestId"]
    assert said["ResponseMetadata"]["HTTPHeaders"]["content-type"] == JSON


def test_a_call_as_the_paws_package_of_r_makes_it(requester):
    """The length is signed, the body is "{}" where nothing is asked, and its reader takes one message."""
    answer = paws_request(requester, "GetAccountBalance", b"{}")
    assert answer.json()["AvailableBalance"] == balance(requester.client)[0]
    for name, body in (("GetHIT", b'{"HITId":"3AAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}'), ("GetHIT", b"{}")):
        refused = paws_request(requester, name, body)
        assert refused.status == 400
        assert len([each for each in refused.json() if "message" in each.lower()]) == 1


def paws_request(requester, operation: str, body: bytes):
    request = AWSRequest(
        "POST",
        requester.api_url,
        data=body,
        headers={
            "Content-Type": JSON,
            "Content-Length": str(len(body)),
            "X-Amz-Target": f"MTurkRequesterServiceV20170117.{operation}",
        },
    )
    credentials = Credentials(requester.access_key, requester.secret)
    SigV4Auth(credentials, "mturk-requester", "us-east-1").add_auth(request)
    assert "content-length" in request.headers["Authorization"]
    return ask("POST", requester.api_url, body, dict(request.headers.items()))
