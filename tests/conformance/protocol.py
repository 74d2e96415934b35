"""Words of the protocol that many checks use: a HIT's properties, and what a refusal looks like."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

import pytest
from botocore.exceptions import ClientError

from tests.clients import external_question

TURK = "AWS.MechanicalTurk."
ENTITY_ID = re.compile(r"3[A-Z0-9]{29}")
NOBODY = "3" + "A" * 29
ANSWERS_SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
)


def type_properties(**changes: Any) -> dict[str, Any]:
    """Properties of a HIT type that no other check uses."""
    return {
        "Title": f"Answer a question {uuid.uuid4().hex[:12]}",
        "Description": "Read a passage and answer one question about it.",
        "Reward": "0.10",
        "AssignmentDurationInSeconds": 600,
        **changes,
    }


def hit_properties(**changes: Any) -> dict[str, Any]:
    """Parameters of CreateHIT, minimal but for `changes`."""
    return type_properties(**{"LifetimeInSeconds": 3600, "Question": external_question(), **changes})


def create_hit(client: Any, **changes: Any) -> dict[str, Any]:
    """A new HIT, as CreateHIT returns it."""
    hit: dict[str, Any] = client.create_hit(**hit_properties(**changes))["HIT"]
    return hit


def get_hit(client: Any, hit: dict[str, Any]) -> dict[str, Any]:
    """The HIT as it is now."""
    found: dict[str, Any] = client.get_hit(HITId=hit["HITId"])["HIT"]
    return found


def places(hit: dict[str, Any]) -> tuple[int, int, int]:
    """Pending, available and completed assignments of a HIT."""
    return (
        hit["NumberOfAssignmentsPending"],
        hit["NumberOfAssignmentsAvailable"],
        hit["NumberOfAssignmentsCompleted"],
    )


def assignments(client: Any, hit: dict[str, Any], *statuses: str) -> list[dict[str, Any]]:
    """Assignments of a HIT that the requester sees, all pages."""
    pages = client.get_paginator("list_assignments_for_hit").paginate(
        HITId=hit["HITId"], **({"AssignmentStatuses": list(statuses)} if statuses else {})
    )
    return [assignment for page in pages for assignment in page["Assignments"]]


def get_assignment(client: Any, assignment_id: str) -> dict[str, Any]:
    """One submitted assignment."""
    found: dict[str, Any] = client.get_assignment(AssignmentId=assignment_id)["Assignment"]
    return found


def balance(client: Any) -> tuple[str, str]:
    """Available and on-hold balance, as the wire has them."""
    said = client.get_account_balance()
    return said["AvailableBalance"], said["OnHoldBalance"]


def answer_fields(assignment: dict[str, Any]) -> dict[str, str]:
    """Field name -> text of an assignment's QuestionFormAnswers."""
    root = ElementTree.fromstring(assignment["Answer"])
    name = f"{{{ANSWERS_SCHEMA}}}"
    assert root.tag == f"{name}QuestionFormAnswers"
    return {
        answer.findtext(f"{name}QuestionIdentifier", ""): answer.findtext(f"{name}FreeText", "")
        for answer in root.findall(f"{name}Answer")
    }


def utc(moment: datetime) -> datetime:
    """A response's moment, which botocore gives in the local zone, in UTC."""
    return moment.astimezone(UTC)


@contextmanager
def refused(*codes: str, turk: str = "", stem: str = "") -> Iterator[pytest.ExceptionInfo[ClientError]]:
    """The block must end in an error of one of these codes, with HTTP 400.

    A RequestError must carry a TurkErrorCode (the one that `turk` names, whatever its case; one that all of
    Amazon's services share begins with AWS.), and its message
    must end with the time in milliseconds. `stem` must be part of the message.
    """
    with pytest.raises(ClientError) as caught:
        yield caught
    answer: dict[str, Any] = dict(caught.value.response)
    code, message = answer["Error"]["Code"], answer["Error"]["Message"]
    assert code in codes, f"{code}: {message}"
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400, answer
    assert stem in message
    if code == "RequestError":
        assert type(caught.value).__name__ == "RequestError"
        said = answer.get("TurkErrorCode", "")
        assert said.startswith("AWS." if turk.startswith("AWS.") else TURK), answer
        wanted = turk if turk.startswith("AWS.") else f"{TURK}{turk}"
        assert not turk or said.lower() == wanted.lower(), f"{said}: {message}"
        assert re.search(r"\(\d{13}( s)?\)$", message), message
        assert answer["Message"] == message


def refused_request(turk: str, stem: str = "") -> Any:
    """The block must end in a RequestError with this TurkErrorCode."""
    return refused("RequestError", turk=turk, stem=stem)


def invalid(stem: str = "") -> Any:
    """The block must end in the ValidationException of a violated model constraint."""
    return refused("ValidationException", stem=stem)
