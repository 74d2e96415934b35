"""DeleteQualificationType while HITs ask for the type: taken at once, finished when they are gone."""

import pytest

from tests.clients import RefusedError
from tests.conformance.protocol import create_hit, refused_request
from tests.conformance.test_qualifications import new_qualification

ENDED = "This operation can be called with a status of: Active,Inactive"


def status(client, type_id):
    return client.get_qualification_type(QualificationTypeId=type_id)["QualificationType"][
        "QualificationTypeStatus"
    ]


@pytest.fixture
def asked_for(client, worker):
    """A type that a HIT asks for and a worker holds."""
    made = new_qualification(client)
    type_id = made["QualificationTypeId"]
    client.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId=worker.worker_id)
    wanted = [{"QualificationTypeId": type_id, "Comparator": "Exists"}]
    return made, create_hit(client, QualificationRequirements=wanted, MaxAssignments=1)


def test_the_type_is_disposing_until_its_hits_are_deleted(client, worker, asked_for):
    made, hit = asked_for
    type_id = made["QualificationTypeId"]
    assert client.delete_qualification_type(QualificationTypeId=type_id)["ResponseMetadata"]
    assert status(client, type_id) == "Disposing"
    with refused_request("QualificationTypeAlreadyExists"):
        new_qualification(client, Name=made["Name"])
    # Who holds it still takes the HITs that are there.
    taken = worker.do(hit["HITId"])
    client.approve_assignment(AssignmentId=taken["assignment_id"])
    client.delete_hit(HITId=hit["HITId"])
    with refused_request("InvalidQualificationTypeState", ENDED):
        status(client, type_id)
    assert new_qualification(client, Name=made["Name"])["QualificationTypeId"] != type_id


def test_nothing_else_is_done_with_a_type_that_is_disposing(client, new_worker, asked_for):
    made, _ = asked_for
    type_id = made["QualificationTypeId"]
    waiting = new_worker().ask_for(type_id)
    client.delete_qualification_type(QualificationTypeId=type_id)
    with refused_request("InvalidQualificationRequestState"):
        client.accept_qualification_request(QualificationRequestId=waiting["request_id"])
    with refused_request("InvalidQualificationTypeState", ENDED):
        client.delete_qualification_type(QualificationTypeId=type_id)
    with refused_request("InvalidQualificationTypeState", ENDED):
        client.update_qualification_type(QualificationTypeId=type_id, QualificationTypeStatus="Active")
    with refused_request("InvalidQualificationTypeState"):
        create_hit(
            client, QualificationRequirements=[{"QualificationTypeId": type_id, "Comparator": "Exists"}]
        )
    other = new_worker()
    with refused_request("InvalidQualificationTypeState"):
        client.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId=other.worker_id)
    with pytest.raises(RefusedError):
        other.ask_for(type_id)
