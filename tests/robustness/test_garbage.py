"""Garbage at the protocol endpoint: protocol errors or true successes, never a page, never a fault."""

import json
import math
import socket
from urllib.parse import urlsplit

import hypothesis
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.clients import TARGET, ask, external_question, signed_headers
from tests.conformance.protocol import create_hit, hit_properties
from tests.robustness.fuzzing import random_for
from tests.robustness.garbage import (
    MODEL,
    OPERATIONS,
    check_headers,
    check_success,
    error_of,
    structures,
    violations,
)
from tests.scale import limit_cases

JSON = "application/x-amz-json-1.1"
#: The same examples for the same seed, whatever was drawn before.
STEADY = {"deadline": None, "derandomize": False, "database": None, "print_blob": True}
FRONT_DOOR = {"ValidationException", "SerializationException"}


@pytest.fixture(scope="session")
def requester(server):
    return server.requester("100000.00")


@pytest.fixture
def known(server, requester):
    """Ids that exist and values that mean something, so that garbage gets past the look-up too."""
    client, worker = requester.client, server.worker()
    hits = [create_hit(client, MaxAssignments=3) for _ in range(3)]
    client.update_expiration_for_hit(HITId=hits[2]["HITId"], ExpireAt=0)
    submitted = worker.do(hits[0]["HITId"])["assignment_id"]
    accepted = worker.accept(hits[1]["HITId"])["assignment_id"]
    qualification = client.create_qualification_type(
        Name=f"Garbage {hits[0]['HITId']}", Description="For garbage.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    type_ids = [qualification, "00000000000000000040", "00000000000000000071"]
    return {
        "HITId": [hit["HITId"] for hit in hits],
        "HITTypeId": [hits[0]["HITTypeId"]],
        "AssignmentId": [submitted, accepted],
        "WorkerId": [worker.worker_id, "A1NOBODY12345"],
        "WorkerIds": [worker.worker_id, "A1NOBODY12345"],
        "QualificationTypeId": type_ids,
        "Question": [external_question(), "<a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"],
        "CurrencyAmount": ["0.01", "1", "999999999999999999999.99", "00000.1"],
        "CountryParameters": ["US", "KR", "us"],
        "Title": ["Answer a question"],
        "Description": ["Read a passage."],
        "LifetimeInSeconds": [30, 3600],
        "AssignmentDurationInSeconds": [30, 3600],
        "AutoApprovalDelayInSeconds": [0, 3600],
        "MaxAssignments": [1, 3, 12, 1_000_000_000],
        "NumberOfAdditionalAssignments": [1, 2, 1_000_000_000],
    }


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_with_fuzzed_parameters_answers_in_the_protocol(
    server, requester, known, operation, seed
):
    """Every operation, with parameters drawn from botocore's model and beside it."""
    shape = MODEL.operation_model(operation).input_shape

    @hypothesis.seed(seed)
    @settings(max_examples=limit_cases(30, least=3), suppress_health_check=list(HealthCheck), **STEADY)
    @given(parameters=structures(shape, known))
    def check(parameters):
        answer = requester.send(operation, json.dumps(parameters).encode())
        if answer.status != 200:
            kind = error_of(answer)
            assert kind in FRONT_DOOR or not violations(shape, parameters), answer.text
            return
        said = check_success(operation, parameters, answer)
        if "HIT" in said and operation.startswith("Create"):
            assert requester.client.get_hit(HITId=said["HIT"]["HITId"])["HIT"]["HITStatus"] == "Assignable"
        if "QualificationType" in said:
            type_id = said["QualificationType"]["QualificationTypeId"]
            assert requester.client.get_qualification_type(QualificationTypeId=type_id)

    check()
    assert_no_faults(server)
    assert server.console("marketplace", "audit", "--json") == {"faults": []}


ABSURD = {
    "white space": b" \n",
    "a list": b"[]",
    "a list of errors": b'[{"__type": "RequestError"}]',
    "a string": b'"ListHITs"',
    "a number": b"7",
    "null": b"null",
    "NaN": b"NaN",
    "not JSON": b"MaxResults=5",
    "XML": b"<ListHITs/>",
    "two objects": b"{}{}",
    "half an object": b'{"MaxResults": ',
    "a key twice": b'{"MaxResults": 1, "MaxResults": 0}',
    "NaN as a number": b'{"MaxResults": NaN}',
    "infinity": b'{"MaxResults": Infinity}',
    "a huge exponent": b'{"MaxResults": 1e999}',
    "five thousand digits": b'{"MaxResults": ' + b"9" * 5000 + b"}",
    "a NUL byte": b'{"MaxResults": 1}\0',
    "a NUL in a string": b'{"NextToken": "\\u0000"}',
    "half a surrogate": b'{"NextToken": "\\ud800"}',
    "invalid UTF-8": b'{"NextToken": "\xff\xfe"}',
    "UTF-16": '{"MaxResults": 0}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"MaxResults": 0}',
    "a hundred thousand lists": b"[" * 100_000,
    "a hundred thousand objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a deep member": b'{"NextToken": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "another operation's members": b'{"HITId": "3AAA", "Reward": "0.10"}',
    "a prototype": b'{"__proto__": {}, "constructor": {}}',
    "more than a megabyte": b'{"NextToken": "' + b"a" * 1_100_000 + b'"}',
}


def test_an_absurd_body_is_a_protocol_error(server, requester, subtests):
    """Correctly signed, but nothing that ListHITs could mean."""
    for name, body in ABSURD.items():
        with subtests.test(body=name):
            error_of(requester.send("ListHITs", body))
    assert_no_faults(server)


def test_random_bytes_are_a_protocol_error(server, requester, seed):
    """Whatever the bytes, signed or not."""

    @hypothesis.seed(seed)
    @settings(max_examples=limit_cases(100), **STEADY)
    @given(
        body=st.binary(min_size=1, max_size=300).filter(lambda body: body.strip() != b"{}"),  # no parameters
        operation=st.sampled_from(["ListHITs", "CreateHIT", "SendBonus", "?", "é"]),
    )
    def check(body, operation):
        if operation.isascii():
            error_of(requester.send(operation, body))
        target = f"{TARGET}.{operation}".encode()
        headers = {"Content-Type": JSON, "X-Amz-Target": target.decode("latin-1")}
        error_of(ask("POST", requester.api_url, body, headers))

    check()


header_text = st.text(
    st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=120
)
scopes = st.builds(
    "AWS4-HMAC-SHA256 Credential={}/{}/us-east-1/mturk-requester/aws4_request, SignedHeaders={}, "
    "Signature={}".format,
    st.sampled_from(["AKIA", "", "A" * 70, "é", "%00"]) | st.text("AZ09/", max_size=12),
    st.sampled_from(["20261120", "99999999", "2026", ""]),
    st.sampled_from(
        ["host;x-amz-date;x-amz-target", "host", "", ";;;", "content-type;host;no-such;x-amz-date"]
    ),
    st.sampled_from(["0" * 64, "", "zz", "é" * 8]),
)


def test_a_garbled_front_door_is_a_protocol_error(requester, seed):
    """Authorization, X-Amz-Date, X-Amz-Target and Content-Type of any text that a header can carry."""

    @hypothesis.seed(seed)
    @settings(max_examples=limit_cases(100), **STEADY)
    @given(
        authorization=header_text | scopes,
        date=header_text | st.sampled_from(["20261120T180736Z", "99999999T999999Z", ""]),
        target=header_text | st.just(f"{TARGET}.ListHITs"),
        content_type=header_text | st.just(JSON),
    )
    def check(authorization, date, target, content_type):
        headers = {
            "Authorization": authorization.strip(),
            "X-Amz-Date": date.strip(),
            "X-Amz-Target": target.strip(),
            "Content-Type": content_type.strip(),
        }
        error_of(ask("POST", requester.api_url, b"{}", headers))

    check()


SIGNED = ("authorization", "x-amz-date", "x-amz-target")


def test_a_good_call_that_was_damaged_on_its_way_is_refused(server, seed):
    """Its body or a signed header is not what was signed; or it is signed, and not whole."""
    whole = json.dumps(hit_properties()).encode()
    for number in range(limit_cases(60, least=15)):
        if number % 15 == 0:  # more wrong signatures would be throttled
            requester = server.requester("1.00")
        chance = random_for(seed, "damaged", number)
        headers = {"Content-Type": JSON, "X-Amz-Target": f"{TARGET}.CreateHIT"}
        body, cut = whole, whole[: chance.randrange(1, len(whole))]
        kind = chance.randrange(3)
        signed = signed_headers(
            requester.api_url, requester.access_key, requester.secret, cut if kind == 0 else whole, headers
        )
        if kind == 2:
            name = chance.choice([each for each in signed if each.lower() in SIGNED])
            value = signed[name]
            at = len(value) - 1 - chance.randrange(min(len(value), 64))  # in Authorization the signature
            signed[name] = f"{value[:at]}{chance.choice('~é}')}{value[at + 1 + chance.randrange(3) :]}"
        else:
            body = cut
        error_of(ask("POST", requester.api_url, body, signed))
        if number % 15 == 14:
            assert requester.client.get_account_balance()["AvailableBalance"] == "1.00"
    assert_no_faults(server)


def test_a_call_whose_end_never_comes_is_no_success(server, requester):
    parts = urlsplit(requester.api_url)
    headers = {"Content-Type": JSON, "X-Amz-Target": f"{TARGET}.ListHITs", "Host": parts.netloc}
    body = b'{"MaxResults": 1}'
    signed = signed_headers(requester.api_url, requester.access_key, requester.secret, body, headers)
    head = "".join(f"{name}: {value}\r\n" for name, value in signed.items() if name != "Content-Length")
    for length in range(len(body)):
        with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
            sent = f"POST {parts.path} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode()
            connection.sendall(sent + body[:length])
            connection.shutdown(socket.SHUT_WR)
            answer = connection.makefile("rb").read()
        assert not answer or answer.startswith(b"HTTP/1.1 4"), answer[:300]
    assert_no_faults(server)


def test_another_content_type_is_an_error_or_makes_no_difference(requester, subtests):
    for content_type in ["text/plain", "application/json", "multipart/form-data", ""]:
        with subtests.test(content_type=content_type):
            answer = requester.send("ListHITs", b'{"MaxResults": 1}', content_type=content_type)
            if answer.status == 200:
                check_success("ListHITs", {"MaxResults": 1}, answer)
                assert math.isclose(answer.json()["NumResults"], len(answer.json()["HITs"]))
            else:
                error_of(answer)


def test_another_method_is_never_a_page(requester):
    parts = urlsplit(requester.api_url)
    for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"):
        for path in ("/mturk/api", "/mturk/api/", "/mturk/api?Action=ListHITs"):
            answer = ask(method, f"{parts.scheme}://{parts.netloc}{path}", b"" if method == "PUT" else None)
            assert answer.status in (400, 404, 405, 501), (method, path)
            assert "html" not in answer.headers.get("content-type", "")


def test_a_call_at_the_root_is_answered_and_a_page_there_is_not_a_success(server, requester):
    """`POST /` with a target is the protocol; `POST /` without one must not look like an empty success."""
    headers = {"Content-Type": JSON, "X-Amz-Target": f"{TARGET}.ListHITs"}
    error_of(ask("POST", f"{server.url}/", b"{}", headers))
    answer = ask("POST", f"{server.url}/", b"{}", {"Content-Type": JSON})
    assert answer.status >= 400


def assert_no_faults(server):
    log = server.log()
    assert "Traceback" not in log, log[-4000:]
    assert "ERROR" not in log, log[-4000:]


def test_answers_are_the_protocols_json(requester):
    """The judge itself: a plain call passes it."""
    answer = requester.call("ListHITs", {})
    check_headers(answer)
    check_success("ListHITs", {}, answer)
