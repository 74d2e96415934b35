"""What goes over the wire held against botocore's service model: members, JSON types, enumerations, times.

botocore's parser drops members that it does not know and checks no type, so a client would not complain.
"""

import re
from typing import Any

from botocore import loaders, model

from tests.clients import Requester
from tests.conformance.protocol import create_hit
from tests.conformance.test_qualifications import new_qualification

MODEL = model.ServiceModel(loaders.Loader().load_service_model("mturk", "service-2"), "mturk")


def faults(shape: model.Shape, value: Any, path: str) -> list[str]:
    """What of a JSON value is not as its shape says."""
    if isinstance(shape, model.StructureShape):
        if not isinstance(value, dict):
            return [f"{path} is no object"]
        unknown = [f"{path}.{name} is no member" for name in value.keys() - shape.members.keys()]
        return unknown + [
            fault
            for name in value.keys() & shape.members.keys()
            for fault in faults(shape.members[name], value[name], f"{path}.{name}")
        ]
    if isinstance(shape, model.ListShape):
        if not isinstance(value, list):
            return [f"{path} is no list"]
        return [
            fault
            for number, each in enumerate(value)
            for fault in faults(shape.member, each, f"{path}[{number}]")
        ]
    return [] if _fits(shape, value) else [f"{path} is {value!r}, which is no {shape.type_name} {shape.name}"]


def _fits(shape: model.Shape, value: Any) -> bool:
    if shape.type_name == "boolean":
        return isinstance(value, bool)
    if shape.type_name in ("integer", "long", "timestamp"):
        return isinstance(value, int) and not isinstance(value, bool)
    pattern, values = shape.metadata.get("pattern"), shape.metadata.get("enum")
    return (
        isinstance(value, str)
        and (not pattern or re.fullmatch(pattern, value) is not None)
        and (not values or value in values)
    )


def check(requester: Requester, operation: str, **parameters: Any) -> dict[str, Any]:
    """One call whose answer is as the model has it, with the headers of the protocol."""
    answer = requester.call(operation, parameters)
    assert answer.status == 200, answer.text
    assert answer.headers["content-type"] == "application/x-amz-json-1.1"
    assert re.fullmatch(r"[0-9a-f-]{36}", answer.headers["x-amzn-requestid"])
    said: dict[str, Any] = answer.json()
    shape = MODEL.operation_model(operation).output_shape
    assert faults(shape, said, operation) == []
    return said


def test_answers_are_as_the_service_model_has_them(requester, worker):
    client = requester.client
    kind = new_qualification(client)["QualificationTypeId"]
    hit = create_hit(
        client,
        Keywords="a, b",
        RequesterAnnotation="x",
        MaxAssignments=2,
        QualificationRequirements=[{"QualificationTypeId": kind, "Comparator": "DoesNotExist"}],
    )
    named = {"HITId": hit["HITId"]}
    taken = worker.do(hit["HITId"])
    work = {"AssignmentId": taken["assignment_id"]}
    client.associate_qualification_with_worker(QualificationTypeId=kind, WorkerId=worker.worker_id)
    asked = new_qualification(client)["QualificationTypeId"]
    worker.ask_for(asked)
    client.approve_assignment(**work, RequesterFeedback="Thanks.")
    client.send_bonus(**work, WorkerId=worker.worker_id, BonusAmount="0.05", Reason="Well done.")
    client.create_worker_block(WorkerId=worker.worker_id, Reason="A test.")

    assert check(requester, "GetHIT", **named)["HIT"]["Reward"] == "0.10"
    check(requester, "ListHITs")
    check(requester, "ListReviewableHITs")
    check(requester, "ListHITsForQualificationType", QualificationTypeId=kind)
    check(requester, "GetAssignment", **work)
    assert check(requester, "ListAssignmentsForHIT", **named)["NumResults"] == 1
    assert check(requester, "ListBonusPayments", **named)["NumResults"] == 1
    check(requester, "GetAccountBalance")
    check(requester, "GetQualificationType", QualificationTypeId=kind)
    check(requester, "ListQualificationTypes", MustBeRequestable=False)
    check(requester, "GetQualificationScore", QualificationTypeId=kind, WorkerId=worker.worker_id)
    assert check(requester, "ListWorkersWithQualificationType", QualificationTypeId=kind)["NumResults"] == 1
    assert check(requester, "ListQualificationRequests", QualificationTypeId=asked)["NumResults"] == 1
    assert check(requester, "ListWorkerBlocks")["NumResults"] >= 1
    check(requester, "ListReviewPolicyResultsForHIT", **named)
    check(requester, "NotifyWorkers", Subject="a", MessageText="b", WorkerIds=["A" + "X" * 12])
    check(requester, "DeleteWorkerBlock", WorkerId=worker.worker_id)


def test_errors_are_as_the_service_model_has_them(requester):
    answer = requester.call("GetHIT", {"HITId": "3" + "A" * 29})
    said = answer.json()
    assert answer.status == 400
    assert faults(MODEL.shape_for("RequestError"), {k: v for k, v in said.items() if k != "__type"}, "") == []
    assert re.search(r" \(\d{13}\)$", said["Message"]) and said["__type"] == "RequestError"
