"""The bytes of the requester protocol and of the worker API: a fixed walk through all operations.

Ids, times, page tokens, request ids and signatures differ from run to run; each gets a name by the order of
its appearance, so that it is still seen which of them are the same.
"""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpResponse
from django.test import Client

from marketplace.accounts import people
from marketplace.money import deposits
from tests.clients import TARGET, external_question, signed_headers
from tests.questionforms import KEY, TEST

HOST = "http://testserver"
PATH = "/mturk/api"
CONTENT_TYPE = "application/x-amz-json-1.1"
#: What is different in every run; the first group that matches is the name.
_CHANGING = re.compile(
    r"(?P<REQUEST>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
    r"|\b(?P<ID>3[A-Z0-9]{29})\b"
    r"|\b(?P<PERSON>A[A-Z0-9]{13})\b"
    r"|\b(?P<KEY>DSTL[A-Z0-9]{16})\b"
    r'|(?<="NextToken": ")(?P<PAGE>[^"]+)'
    r"|(?:(?<=/s/)|(?<=%2Fs%2F))(?P<SIGNATURE>[A-Za-z0-9_~.-]+)"
    r"|\b(?P<ACTION>[0-9A-F]{32})\b"
    r"|(?P<TIME>\b1[0-9]{12}\b|\b1[0-9]{9}(?:\.[0-9]+)?\b|\b20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.+Z-]+)"
)


class Recorder:
    """Makes requests as one requester and as workers, and writes down what was sent and answered."""

    def __init__(self) -> None:
        requester, issued = people.create_requester(name="A lab", fee_profile="mturk-2026")
        deposits.deposit(requester=requester, cents=100_00)
        self._key, self._secret = issued.row.access_key, issued.secret
        self._browser = Client()
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self.lines: list[str] = []

    def call(self, operation: str, /, *, secret: str = "", **parameters: Any) -> dict[str, Any]:
        """One signed call of an operation."""
        return self.send(operation, json.dumps(parameters).encode(), secret=secret)

    def send(self, operation: str, body: bytes, *, secret: str = "") -> dict[str, Any]:
        """One signed call with any bytes as its body."""
        headers = signed_headers(
            f"{HOST}{PATH}",
            self._key,
            secret or self._secret,
            body,
            {"Content-Type": CONTENT_TYPE, "Host": "testserver", "X-Amz-Target": f"{TARGET}.{operation}"},
        )
        response = self._browser.generic("POST", PATH, body, content_type=CONTENT_TYPE, headers=headers)
        assert int(response.headers["Content-Length"]) == len(response.content)
        self._write(f"{operation} {body.decode()}", response)
        found: dict[str, Any] = json.loads(response.content)
        return found

    def ask_as_worker(self, token: str, what: str, **body: str) -> dict[str, Any]:
        """One call of the worker API."""
        response = self._browser.post(
            f"/worker-api/{what}",
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        self._write(f"worker-api/{what} {json.dumps(body)}", response)
        found: dict[str, Any] = response.json()
        return found

    def post_form(self, url: str, fields: dict[str, str | list[str]], token: str = "") -> None:
        """Post a form to an address that an answer named."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        response = self._browser.post(urlsplit(url).path, fields, headers=headers)
        self._write(f"POST {urlsplit(url).path} {json.dumps(fields)}", response, body=bool(token))

    def get(self, path: str) -> None:
        """A request that is no call."""
        self._write(f"GET {path}", self._browser.get(path))

    def _write(self, request: str, response: HttpResponse, *, body: bool = True) -> None:
        kept = {name: value for name, value in response.headers.items() if name in _HEADERS}
        headers = "; ".join(f"{name}: {value}" for name, value in sorted(kept.items()))
        self.lines += [f"> {self._named(request)}", f"< {response.status_code} {self._named(headers)}"]
        if body:
            self.lines.append(f"< {self._named(_sort_keys(response.content))}")
        self.lines.append("")

    def _named(self, text: str) -> str:
        return _CHANGING.sub(self._name, text)

    def _name(self, found: re.Match[str]) -> str:
        kind = str(found.lastgroup)
        if kind == "TIME":
            return kind
        if found[0] not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[found[0]] = f"{kind}-{self._counts[kind]}"
        return self._names[found[0]]


def _sort_keys(content: bytes) -> str:
    """An answer with its keys in order: PostgreSQL gives stored JSON back in an order of its own."""
    value = json.loads(content)
    assert content == json.dumps(value).encode(), "JSON as Python's json writes it"
    return json.dumps(value, sort_keys=True)


_HEADERS = {"Content-Type", "x-amzn-RequestId", "Retry-After", "Allow"}


def record_protocol() -> str:
    """All operations, what scripted workers do between them, and the usual refusals."""
    walk = Recorder()
    workers = [people.create_scripted_worker(name=name) for name in ("ann", "bob", "cleo")]
    _walk_qualifications(walk, workers)
    hit = _walk_hits(walk)
    _walk_work(walk, hit, workers)
    _walk_the_rest(walk, hit, workers)
    _walk_refusals(walk)
    return "\n".join(walk.lines)


def _walk_qualifications(walk: Recorder, workers: list[Any]) -> None:
    (ann, ann_token), (bob, bob_token), (cleo, cleo_token) = workers
    walk.call("GetAccountBalance")
    made = walk.call(
        "CreateQualificationType",
        Name="Fruit and chess", Description="A short test.", Keywords="test, fruit",
        QualificationTypeStatus="Active", Test=TEST, AnswerKey=KEY, TestDurationInSeconds=600,
    )  # fmt: skip
    tested = made["QualificationType"]["QualificationTypeId"]
    made = walk.call(
        "CreateQualificationType",
        Name="Careful readers", Description="By hand.", QualificationTypeStatus="Active",
    )  # fmt: skip
    by_hand = made["QualificationType"]["QualificationTypeId"]
    begun = walk.ask_as_worker(ann_token, "qualification", qualification_type_id=tested)
    walk.post_form(
        begun["submit_url"], {"answer:moves": "d", "answer:fruit": ["apple", "pear"]}, token=ann_token
    )
    for token in (bob_token, cleo_token):
        walk.ask_as_worker(token, "qualification", qualification_type_id=by_hand)
    asked = walk.call("ListQualificationRequests", QualificationTypeId=by_hand)["QualificationRequests"]
    numbers = [each["QualificationRequestId"] for each in asked]
    walk.call("AcceptQualificationRequest", QualificationRequestId=numbers[0], IntegerValue=80)
    walk.call("RejectQualificationRequest", QualificationRequestId=numbers[1], Reason="Not now.")
    walk.call(
        "AssociateQualificationWithWorker",
        QualificationTypeId=by_hand, WorkerId=ann.worker_id, IntegerValue=90, SendNotification=False,
    )  # fmt: skip
    walk.call("GetQualificationScore", QualificationTypeId=tested, WorkerId=ann.worker_id)
    walk.call("ListWorkersWithQualificationType", QualificationTypeId=by_hand, MaxResults=1)
    walk.call(
        "DisassociateQualificationFromWorker",
        WorkerId=bob.worker_id, QualificationTypeId=by_hand, Reason="A mistake.",
    )  # fmt: skip
    walk.call("GetQualificationType", QualificationTypeId=tested)
    walk.call("UpdateQualificationType", QualificationTypeId=by_hand, Description="Read by us.")
    walk.call("ListQualificationTypes", MustBeRequestable=True, MustBeOwnedByCaller=True, MaxResults=1)
    walk.call("DeleteQualificationType", QualificationTypeId=by_hand)
    walk.call("CreateWorkerBlock", WorkerId=cleo.worker_id, Reason="Spam.")
    walk.call("ListWorkerBlocks")
    walk.call("DeleteWorkerBlock", WorkerId=cleo.worker_id, Reason="A mistake.")


_TYPE = {
    "Title": "Answer a question",
    "Description": "Read a passage and answer.",
    "Reward": "0.10",
    "AssignmentDurationInSeconds": 600,
    "Keywords": "question, answer",
}


def _walk_hits(walk: Recorder) -> str:
    type_id = walk.call("CreateHITType", **_TYPE, AutoApprovalDelayInSeconds=3600)["HITTypeId"]
    policy = {
        "PolicyName": "SimplePlurality/2011-09-01",
        "Parameters": [
            {"Key": "QuestionIds", "Values": ["answer"]},
            {"Key": "QuestionAgreementThreshold", "Values": ["60"]},
            {"Key": "DisregardAssignmentIfRejected", "Values": ["T"]},
        ],
    }
    hit = walk.call(
        "CreateHIT",
        **_TYPE, LifetimeInSeconds=3600, MaxAssignments=2, Question=external_question(),
        RequesterAnnotation="batch 1", UniqueRequestToken="first", HITReviewPolicy=policy,
        QualificationRequirements=[
            {"QualificationTypeId": "00000000000000000040", "Comparator": "LessThan",
             "IntegerValues": [1000], "ActionsGuarded": "Accept"}
        ],
    )["HIT"]["HITId"]  # fmt: skip
    other = walk.call(
        "CreateHITWithHITType", HITTypeId=type_id, LifetimeInSeconds=3600, Question=external_question()
    )["HIT"]["HITId"]
    walk.call(
        "CreateHIT", **_TYPE, LifetimeInSeconds=60, Question=external_question(), UniqueRequestToken="first"
    )
    walk.call("GetHIT", HITId=hit)
    page = walk.call("ListHITs", MaxResults=1)
    walk.call("ListHITs", MaxResults=1, NextToken=page["NextToken"])
    walk.call("UpdateHITTypeOfHIT", HITId=hit, HITTypeId=type_id)
    walk.call("CreateAdditionalAssignmentsForHIT", HITId=hit, NumberOfAdditionalAssignments=1)
    walk.call("UpdateExpirationForHIT", HITId=other, ExpireAt=0)
    walk.call("DeleteHIT", HITId=other)
    return str(hit)


def _walk_work(walk: Recorder, hit: str, workers: list[Any]) -> None:
    done = []
    for (_, token), answer in zip(workers, ("Paris", "Paris", "Rome"), strict=True):
        walk.ask_as_worker(token, "next")
        taken = walk.ask_as_worker(token, "accept", hit_id=hit)
        walk.post_form(
            taken["submit_url"], {"assignmentId": taken["assignment_id"], "answer": answer, "note": "<&>"}
        )
        done.append(taken["assignment_id"])
    walk.call("ListReviewableHITs", Status="Reviewable")
    walk.call("UpdateHITReviewStatus", HITId=hit, Revert=False)
    walk.call("ListReviewPolicyResultsForHIT", HITId=hit, PolicyLevels=["HIT"], RetrieveResults=True)
    walk.call("ListAssignmentsForHIT", HITId=hit, AssignmentStatuses=["Submitted"], MaxResults=2)
    walk.call("ApproveAssignment", AssignmentId=done[0], RequesterFeedback="Thank you.")
    walk.call("RejectAssignment", AssignmentId=done[2], RequesterFeedback="Not in the passage.")
    walk.call("ApproveAssignment", AssignmentId=done[2], OverrideRejection=True)
    walk.call("GetAssignment", AssignmentId=done[0])
    bonus = {"WorkerId": workers[0][0].worker_id, "AssignmentId": done[0], "Reason": "Good work."}
    walk.call("SendBonus", **bonus, BonusAmount="0.50", UniqueRequestToken="bonus")
    walk.call("SendBonus", **bonus, BonusAmount="0.51", UniqueRequestToken="bonus")
    walk.call("ListBonusPayments", HITId=hit)
    walk.call("GetAccountBalance")


def _walk_the_rest(walk: Recorder, hit: str, workers: list[Any]) -> None:
    named = [workers[0][0].worker_id, "A" * 14]
    walk.call("NotifyWorkers", Subject="News", MessageText="There is more work.", WorkerIds=named)
    type_id = walk.call("GetHIT", HITId=hit)["HIT"]["HITTypeId"]
    notification = {
        "Destination": "https://sqs.us-east-1.amazonaws.com/123456789012/events",
        "Transport": "SQS",
        "Version": "2014-08-15",
        "EventTypes": ["AssignmentSubmitted", "HITReviewable"],
    }
    walk.call("UpdateNotificationSettings", HITTypeId=type_id, Notification=notification, Active=True)
    walk.call("SendTestEventNotification", Notification=notification, TestEventType="HITReviewable")
    walk.call("ListHITsForQualificationType", QualificationTypeId="00000000000000000040")
    walk.call("GetFileUploadURL", AssignmentId="3" + "A" * 29, QuestionIdentifier="file")


def _walk_refusals(walk: Recorder) -> None:
    walk.call("GetHIT", HITId="3" + "B" * 29)
    walk.call("GetHIT")
    walk.call("GetHIT", HITId=7)
    walk.call("CreateHIT", **{**_TYPE, "Reward": "0.105"}, LifetimeInSeconds=3600)
    walk.call(
        "CreateHIT", **{**_TYPE, "Reward": "900.00"}, LifetimeInSeconds=60, Question=external_question()
    )
    walk.call("CreateHIT", **_TYPE, LifetimeInSeconds=60, Question="<Nothing/>")
    walk.call("ListHITs", MaxResults=101)
    walk.call("ListHITs", NextToken="nowhere")
    walk.call("GetAccountBalanc")
    walk.call("GetAccountBalance", secret="not the secret")
    walk.send("GetAccountBalance", b"[]")
    walk.get(PATH)
    walk.ask_as_worker("no token", "next")
