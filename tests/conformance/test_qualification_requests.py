"""Check 48, the rest of it: types are found, requests are decided, HITs that ask for a type are listed."""

import uuid

import pytest

from tests.clients import RefusedError
from tests.conformance.protocol import ENTITY_ID, NOBODY, create_hit, invalid, refused, refused_request
from tests.conformance.test_paging import page_sizes
from tests.conformance.test_qualifications import LOCALE, may_accept, new_qualification, requirement


def listed(client, **parameters):
    """Ids of all qualification types that a list has, over all its pages."""
    pages = client.get_paginator("list_qualification_types").paginate(
        **{"MustBeRequestable": True, **parameters}
    )
    return [kind["QualificationTypeId"] for page in pages for kind in page["QualificationTypes"]]


def requests(client, **parameters):
    pages = client.get_paginator("list_qualification_requests").paginate(**parameters)
    return [asked for page in pages for asked in page["QualificationRequests"]]


def test_48_own_types_are_found_by_their_words(client):
    word = uuid.uuid4().hex[:10]
    named = new_qualification(client, Name=f"Reader {word}")["QualificationTypeId"]
    described = new_qualification(client, Description=f"Reads {word} aloud.")["QualificationTypeId"]
    keyed = new_qualification(client, Keywords=f"patience, {word}")["QualificationTypeId"]
    assert listed(client, Query=word, MustBeOwnedByCaller=True) == [named, described, keyed]
    assert listed(client, Query=word.upper(), MustBeOwnedByCaller=True) == [named, described, keyed]
    assert listed(client, Query=f"{word} aloud", MustBeOwnedByCaller=True) == [described]
    assert listed(client, Query=f"{word} nowhere", MustBeOwnedByCaller=True) == []
    assert listed(client, Query=f"{word} {'x' * 200}", MustBeOwnedByCaller=True) == []
    with invalid("at 'query'"):
        listed(client, Query="x" * 60_000)
    assert set(listed(client, MustBeOwnedByCaller=True)) >= {named, described, keyed}


def test_48_types_of_others_are_listed_while_workers_can_ask_for_them(client, new_requester):
    word = uuid.uuid4().hex[:10]
    other = new_requester().client
    active, inactive, gone = (
        new_qualification(other, Keywords=word, QualificationTypeStatus=status)["QualificationTypeId"]
        for status in ("Active", "Inactive", "Active")
    )
    other.delete_qualification_type(QualificationTypeId=gone)
    assert listed(client, Query=word) == [active]
    assert listed(client, Query=word, MustBeOwnedByCaller=True) == []
    assert listed(other, Query=word) == [active, inactive]
    kind = client.get_qualification_type(QualificationTypeId=active)["QualificationType"]
    assert (kind["QualificationTypeId"], kind["Keywords"]) == (active, word)


def test_48_types_of_the_system_are_listed_where_they_need_not_be_requestable(client):
    assert LOCALE in listed(client, MustBeRequestable=False, Query="location")
    assert LOCALE not in listed(client, Query="location")
    assert LOCALE not in listed(client, MustBeRequestable=False, MustBeOwnedByCaller=True)
    kind = client.get_qualification_type(QualificationTypeId=LOCALE)["QualificationType"]
    assert (kind["IsRequestable"], kind["QualificationTypeStatus"]) == (False, "Active")
    with refused_request("QualificationTypeDoesNotExist"):
        client.update_qualification_type(QualificationTypeId=LOCALE, Description="Ours now.")


def test_48_lists_of_types_have_pages(new_requester):
    client = new_requester().client
    own = [new_qualification(client)["QualificationTypeId"] for _ in range(12)]
    assert page_sizes(client.list_qualification_types, MustBeRequestable=True, MustBeOwnedByCaller=True) == [
        10,
        2,
        0,
    ]
    found = listed(client, MustBeRequestable=False, PaginationConfig={"PageSize": 7})
    assert len(found) == len(set(found))
    assert [type_id for type_id in found if type_id in own] == own
    assert found.index(LOCALE) < found.index(own[0])


def test_48_hits_that_ask_for_a_type_are_listed(client, new_requester, workers):
    type_id, other_id = (new_qualification(client)["QualificationTypeId"] for _ in range(2))
    asked = [
        requirement(type_id, "DoesNotExist"),
        requirement(LOCALE, "In", LocaleValues=[{"Country": "US"}]),
    ]
    first, second, gone = (create_hit(client, QualificationRequirements=asked[:1]) for _ in range(3))
    create_hit(client, QualificationRequirements=[requirement(other_id, "Exists")])
    create_hit(new_requester().client, QualificationRequirements=asked[:1])
    client.update_expiration_for_hit(HITId=first["HITId"], ExpireAt=0)
    client.update_expiration_for_hit(HITId=gone["HITId"], ExpireAt=0)
    client.delete_hit(HITId=gone["HITId"])

    def found(named, **parameters):
        pages = client.get_paginator("list_hits_for_qualification_type").paginate(
            QualificationTypeId=named, **parameters
        )
        return [(hit["HITId"], hit["HITStatus"]) for page in pages for hit in page["HITs"]]

    expected = [(second["HITId"], "Assignable"), (first["HITId"], "Reviewable")]
    assert found(type_id) == found(type_id, PaginationConfig={"PageSize": 1}) == expected
    both = create_hit(client, QualificationRequirements=asked)
    assert found(type_id)[0] == (both["HITId"], "Assignable")
    assert (both["HITId"], "Assignable") in found(LOCALE)
    with refused_request("QualificationTypeDoesNotExist"):
        client.list_hits_for_qualification_type(QualificationTypeId=NOBODY)


def test_48_a_request_waits_until_it_is_accepted(client, workers):
    made = new_qualification(client)
    type_id = made["QualificationTypeId"]
    hit = create_hit(client, QualificationRequirements=[requirement(type_id, "EqualTo", IntegerValues=[7])])
    asker, other, _ = workers
    assert asker.ask_for(type_id)["state"] == "pending"
    assert other.ask_for(type_id)["state"] == "pending"
    assert not may_accept(asker, hit)
    [first, second] = requests(client, QualificationTypeId=type_id)
    assert (first["WorkerId"], second["WorkerId"]) == (asker.worker_id, other.worker_id)
    assert first["QualificationTypeId"] == type_id
    assert ENTITY_ID.fullmatch(first["QualificationRequestId"])
    assert first["SubmitTime"]
    assert "Test" not in first
    assert "Answer" not in first
    assert {asked["QualificationRequestId"] for asked in requests(client)} >= {
        first["QualificationRequestId"],
        second["QualificationRequestId"],
    }
    with pytest.raises(RefusedError) as again:
        asker.ask_for(type_id)
    assert again.value.code == "InvalidQualificationRequestState"
    client.accept_qualification_request(
        QualificationRequestId=first["QualificationRequestId"], IntegerValue=7
    )
    client.accept_qualification_request(QualificationRequestId=second["QualificationRequestId"])
    scores = [
        client.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker.worker_id)
        for worker in (asker, other)
    ]
    assert [score["Qualification"]["IntegerValue"] for score in scores] == [7, 1]
    assert may_accept(asker, hit)
    assert requests(client, QualificationTypeId=type_id) == []
    for decide in (client.accept_qualification_request, client.reject_qualification_request):
        with refused_request("InvalidQualificationRequestState", "called with a status of: Submitted"):
            decide(QualificationRequestId=first["QualificationRequestId"])


def test_48_a_rejected_request_gives_nothing_and_cannot_be_repeated(client, worker):
    type_id = new_qualification(client)["QualificationTypeId"]
    asked = worker.ask_for(type_id)
    client.reject_qualification_request(
        QualificationRequestId=asked["request_id"], Reason="We look for native speakers."
    )
    with refused_request("QualificationDoesNotExist"):
        client.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker.worker_id)
    with pytest.raises(RefusedError) as again:
        worker.ask_for(type_id)
    assert again.value.code == "QualificationTypeDoesNotAllowRetake"


def test_48_after_the_retry_delay_a_worker_may_ask_again(client, worker, advance):
    type_id = new_qualification(client, RetryDelayInSeconds=3600)["QualificationTypeId"]
    asked = worker.ask_for(type_id)
    client.reject_qualification_request(QualificationRequestId=asked["request_id"])
    advance(3500)
    with pytest.raises(RefusedError) as early:
        worker.ask_for(type_id)
    assert early.value.code == "QualificationTypeRetryDelayNotElapsed"
    advance(100)
    assert worker.ask_for(type_id)["state"] == "pending"


def test_48_what_is_auto_granted_is_given_at_once_and_once_taken_back_not_again(client, worker):
    type_id = new_qualification(client, AutoGranted=True, AutoGrantedValue=42)["QualificationTypeId"]
    assert worker.ask_for(type_id)["value"] == 42
    assert requests(client, QualificationTypeId=type_id) == []
    client.disassociate_qualification_from_worker(QualificationTypeId=type_id, WorkerId=worker.worker_id)
    with pytest.raises(RefusedError) as again:
        worker.ask_for(type_id)
    assert again.value.code == "PermissionDeniedException"


def test_48_inactive_types_are_neither_asked_for_nor_required(client, worker):
    type_id = new_qualification(client)["QualificationTypeId"]
    asked = worker.ask_for(type_id)
    client.update_qualification_type(QualificationTypeId=type_id, QualificationTypeStatus="Inactive")
    other = new_qualification(client, QualificationTypeStatus="Inactive")["QualificationTypeId"]
    with pytest.raises(RefusedError) as refusal:
        worker.ask_for(other)
    assert refusal.value.code == "InvalidQualificationTypeState"
    with refused_request("InvalidQualificationTypeState"):
        create_hit(client, QualificationRequirements=[requirement(other, "Exists")])
    client.accept_qualification_request(QualificationRequestId=asked["request_id"])
    score = client.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker.worker_id)
    assert score["Qualification"]["IntegerValue"] == 1


def test_48_with_its_type_a_pending_request_goes(client, worker):
    type_id = new_qualification(client)["QualificationTypeId"]
    asked = worker.ask_for(type_id)
    client.delete_qualification_type(QualificationTypeId=type_id)
    assert asked["request_id"] not in {one["QualificationRequestId"] for one in requests(client)}
    with refused_request("InvalidQualificationRequestState"):
        client.accept_qualification_request(QualificationRequestId=asked["request_id"])
    with pytest.raises(RefusedError) as gone:
        worker.ask_for(type_id)
    assert gone.value.status == 404


def test_48_requests_of_another_requesters_types_do_not_exist(client, new_requester, worker):
    type_id = new_qualification(client)["QualificationTypeId"]
    asked = worker.ask_for(type_id)
    other = new_requester().client
    assert requests(other) == []
    with refused_request("QualificationTypeDoesNotExist"):
        other.list_qualification_requests(QualificationTypeId=type_id)
    for decide in (other.accept_qualification_request, other.reject_qualification_request):
        for named in (asked["request_id"], "no such request"):
            with refused_request("QualificationRequestDoesNotExist", "does not exist"):
                decide(QualificationRequestId=named)


def test_48_a_reason_has_a_length(client, worker):
    asked = worker.ask_for(new_qualification(client)["QualificationTypeId"])
    with refused("RequestError", "ValidationException", stem="Reason"):
        client.reject_qualification_request(QualificationRequestId=asked["request_id"], Reason="r" * 1025)
    client.reject_qualification_request(QualificationRequestId=asked["request_id"], Reason="r" * 1024)
