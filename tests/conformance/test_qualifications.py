"""Checks 48-51: qualifications and their guards, blocks, messages."""

import uuid

import pytest

from tests.clients import RefusedError, ask
from tests.conformance.protocol import ENTITY_ID, create_hit, refused, refused_request

LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
APPROVED_HITS = "00000000000000000040"
PERCENT_APPROVED = "000000000000000000L0"
MASTERS = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"


def new_qualification(client, **changes):
    said = client.create_qualification_type(
        **{
            "Name": f"Read the guide {uuid.uuid4().hex[:12]}",
            "Description": "Has read the guide.",
            "QualificationTypeStatus": "Active",
            **changes,
        }
    )
    return said["QualificationType"]


def may_accept(worker, hit):
    """Whether the worker is let to accept; the HIT is given back."""
    try:
        taken = worker.accept(hit["HITId"])
    except RefusedError as refusal:
        assert 400 <= refusal.status < 500
        assert refusal.message
        return False
    worker.give_back(taken)
    return True


def requirement(type_id, comparator, **values):
    return {"QualificationTypeId": type_id, "Comparator": comparator, **values}


def test_48_a_qualification_type_has_a_name_of_its_own(client, new_requester):
    made = new_qualification(client, Keywords="guide, reading")
    assert ENTITY_ID.fullmatch(made["QualificationTypeId"])
    assert made["CreationTime"]
    assert made["QualificationTypeStatus"] == "Active"
    assert made["IsRequestable"] is True
    assert made["Keywords"] == "guide, reading"
    found = client.get_qualification_type(QualificationTypeId=made["QualificationTypeId"])
    assert found["QualificationType"] == made
    with refused_request(
        "QualificationTypeAlreadyExists", "You have already created a QualificationType with this name."
    ):
        new_qualification(client, Name=made["Name"])
    assert new_qualification(new_requester().client, Name=made["Name"])


def test_48_a_qualification_is_given_scored_and_taken_away(client, workers):
    type_id = new_qualification(client)["QualificationTypeId"]
    first, second, third = (worker.worker_id for worker in workers)
    with refused_request("QualificationDoesNotExist", "does not exist"):
        client.get_qualification_score(QualificationTypeId=type_id, WorkerId=first)
    for worker_id, value in ((first, {}), (second, {"IntegerValue": 7}), (third, {"IntegerValue": 0})):
        client.associate_qualification_with_worker(
            QualificationTypeId=type_id, WorkerId=worker_id, SendNotification=False, **value
        )
    scores = [
        client.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker_id)["Qualification"]
        for worker_id in (first, second, third)
    ]
    assert [score["IntegerValue"] for score in scores] == [1, 7, 0]
    assert {score["Status"] for score in scores} == {"Granted"}
    assert scores[1]["QualificationTypeId"] == type_id
    assert scores[1]["GrantTime"]
    client.associate_qualification_with_worker(
        QualificationTypeId=type_id, WorkerId=second, IntegerValue=9, SendNotification=False
    )
    again = client.get_qualification_score(QualificationTypeId=type_id, WorkerId=second)
    assert again["Qualification"]["IntegerValue"] == 9
    client.disassociate_qualification_from_worker(
        QualificationTypeId=type_id, WorkerId=first, Reason="The guide has changed."
    )
    with refused_request("InvalidQualificationState", "operation can be called with a status of: Granted"):
        client.get_qualification_score(QualificationTypeId=type_id, WorkerId=first)

    def holders(**status):
        said = client.list_workers_with_qualification_type(QualificationTypeId=type_id, **status)
        return sorted(grant["WorkerId"] for grant in said["Qualifications"])

    assert holders() == holders(Status="Granted") == sorted([second, third])
    assert holders(Status="Revoked") == [first]


def test_48_workers_and_types_that_nobody_knows_are_refused(client, worker):
    made = new_qualification(client)
    with refused(
        "ParameterValidationError",
        "RequestError",
        stem='The value "A143XRCI1YXAFE" is not valid for the parameter WorkerId.',
    ):
        client.associate_qualification_with_worker(
            QualificationTypeId=made["QualificationTypeId"], WorkerId="A143XRCI1YXAFE"
        )
    with refused_request("QualificationTypeDoesNotExist"):
        client.get_qualification_type(QualificationTypeId="3" + "Q" * 29)
    with refused("RequestError", "ParameterValidationError"):
        client.associate_qualification_with_worker(
            QualificationTypeId="3" + "Q" * 29, WorkerId=worker.worker_id
        )


def test_48_a_qualification_type_is_changed_and_deleted(client):
    made = new_qualification(client)
    type_id = made["QualificationTypeId"]
    changed = client.update_qualification_type(
        QualificationTypeId=type_id, Description="New words.", QualificationTypeStatus="Inactive"
    )["QualificationType"]
    assert changed == {**made, "Description": "New words.", "QualificationTypeStatus": "Inactive"}
    client.delete_qualification_type(QualificationTypeId=type_id)
    with refused_request(
        "InvalidQualificationTypeState", "This operation can be called with a status of: Active,Inactive"
    ):
        client.get_qualification_type(QualificationTypeId=type_id)
    assert new_qualification(client, Name=made["Name"])["QualificationTypeId"] != type_id


#: Comparator and values against a worker who has 5, one without, and one who has 7.
COMPARATORS = [
    ("LessThan", [6], (True, False, False)),
    ("LessThanOrEqualTo", [5], (True, False, False)),
    ("GreaterThan", [5], (False, False, True)),
    ("GreaterThanOrEqualTo", [5], (True, False, True)),
    ("EqualTo", [5], (True, False, False)),
    ("NotEqualTo", [5], (False, False, True)),
    ("In", [4, 5, 6], (True, False, False)),
    ("NotIn", [4, 5, 6], (False, False, True)),
    ("Exists", [], (True, False, True)),
    ("DoesNotExist", [], (False, True, False)),
]


def test_49_each_comparator_lets_in_whom_it_should(client, workers):
    type_id = new_qualification(client)["QualificationTypeId"]
    for worker, value in ((workers[0], 5), (workers[2], 7)):
        client.associate_qualification_with_worker(
            QualificationTypeId=type_id,
            WorkerId=worker.worker_id,
            IntegerValue=value,
            SendNotification=False,
        )
    let_in = {}
    for comparator, values, _ in COMPARATORS:
        asked = requirement(type_id, comparator, **({"IntegerValues": values} if values else {}))
        hit = create_hit(client, QualificationRequirements=[asked])
        let_in[comparator] = tuple(may_accept(worker, hit) for worker in workers)
    assert let_in == {comparator: expected for comparator, _, expected in COMPARATORS}
    client.disassociate_qualification_from_worker(QualificationTypeId=type_id, WorkerId=workers[0].worker_id)
    for comparator, expected in (("Exists", False), ("DoesNotExist", True)):
        hit = create_hit(client, QualificationRequirements=[requirement(type_id, comparator)])
        assert may_accept(workers[0], hit) == expected, "it was revoked"


def test_49_all_requirements_must_be_met(client, worker):
    held, lacked = (new_qualification(client)["QualificationTypeId"] for _ in range(2))
    client.associate_qualification_with_worker(
        QualificationTypeId=held, WorkerId=worker.worker_id, SendNotification=False
    )
    asked = [requirement(held, "Exists"), requirement(lacked, "Exists")]
    assert not may_accept(worker, create_hit(client, QualificationRequirements=asked))
    client.associate_qualification_with_worker(
        QualificationTypeId=lacked, WorkerId=worker.worker_id, SendNotification=False
    )
    assert may_accept(worker, create_hit(client, QualificationRequirements=asked))


def test_49_a_country_includes_its_states(client, new_worker, subtests):
    for comparator, locales, american, pennsylvanian, nobody_knows in [
        ("EqualTo", [{"Country": "US"}], True, True, False),
        ("EqualTo", [{"Country": "US", "Subdivision": "PA"}], False, True, False),
        ("NotEqualTo", [{"Country": "KR"}], True, True, False),
        ("NotEqualTo", [{"Country": "US", "Subdivision": "PA"}], True, False, False),
        ("In", [{"Country": "KR"}, {"Country": "US", "Subdivision": "PA"}], False, True, False),
        ("NotIn", [{"Country": "KR"}, {"Country": "US"}], False, False, False),
    ]:
        with subtests.test(comparator=comparator, locales=locales):
            asked = requirement(LOCALE, comparator, LocaleValues=locales)
            hit = create_hit(client, QualificationRequirements=[asked])
            people = (
                new_worker(country="US", subdivision="NY"),
                new_worker(country="US", subdivision="PA"),
                new_worker(),
            )
            assert tuple(may_accept(worker, hit) for worker in people) == (
                american,
                pennsylvanian,
                nobody_knows,
            )


@pytest.mark.paid
def test_49_system_qualifications_follow_a_workers_record(client, new_worker):
    worker, grown_up = new_worker(), new_worker(adult=True)

    def hit_for(*asked):
        return create_hit(client, QualificationRequirements=list(asked))

    one_approved = hit_for(requirement(APPROVED_HITS, "GreaterThanOrEqualTo", IntegerValues=[1]))
    perfect = hit_for(requirement(PERCENT_APPROVED, "EqualTo", IntegerValues=[100]))
    adult = hit_for(requirement(ADULT, "EqualTo", IntegerValues=[1]))
    masters = hit_for(requirement(MASTERS, "Exists"))
    assert [may_accept(worker, hit) for hit in (one_approved, perfect, adult, masters)] == [
        False,
        True,
        False,
        False,
    ]
    assert may_accept(grown_up, adult)
    done = create_hit(client, MaxAssignments=2)
    client.approve_assignment(AssignmentId=worker.do(done["HITId"])["assignment_id"])
    client.reject_assignment(
        AssignmentId=grown_up.do(done["HITId"])["assignment_id"], RequesterFeedback="This is empty."
    )
    assert may_accept(worker, one_approved)
    assert not may_accept(grown_up, one_approved)
    assert may_accept(grown_up, perfect)


def test_49_a_requirement_guards_discovery_preview_and_acceptance(client, market, worker, subtests):
    for guarded, listed, shown in [
        ("Accept", True, True),
        ("PreviewAndAccept", True, False),
        ("DiscoverPreviewAndAccept", False, False),
    ]:
        with subtests.test(guarded=guarded, listed=listed):
            type_id = new_qualification(client)["QualificationTypeId"]
            asked = requirement(type_id, "Exists", ActionsGuarded=guarded)
            hit = create_hit(client, QualificationRequirements=[asked])
            assert hit["QualificationRequirements"] == [{**asked, "RequiredToPreview": False}]
            groups = ask("GET", f"{market.site_url}/?q={hit['Title'].replace(' ', '+')}")
            assert groups.status == 200
            assert (hit["HITGroupId"] in groups.text) == listed
            page = ask("GET", f"{market.site_url}/projects/{hit['HITGroupId']}/tasks")
            assert (page.status == 200 and "<iframe" in page.text) == shown
            assert not may_accept(worker, hit)
            client.associate_qualification_with_worker(
                QualificationTypeId=type_id, WorkerId=worker.worker_id, SendNotification=False
            )
            assert worker.next(hit["HITGroupId"])["hit_id"] == hit["HITId"]
            assert may_accept(worker, hit)


def test_49_required_to_preview_is_preview_and_accept(client):
    type_id = new_qualification(client)["QualificationTypeId"]
    asked = requirement(type_id, "Exists", RequiredToPreview=True)
    [echo] = create_hit(client, QualificationRequirements=[asked])["QualificationRequirements"]
    assert (echo["RequiredToPreview"], echo["ActionsGuarded"]) == (True, "PreviewAndAccept")
    with refused("RequestError", "ValidationException"):
        create_hit(
            client, QualificationRequirements=[{**asked, "ActionsGuarded": "DiscoverPreviewAndAccept"}]
        )


def test_49_requirements_that_mean_nothing_are_refused(client):
    for asked in (
        requirement(APPROVED_HITS, "In", IntegerValues=list(range(16))),
        requirement(APPROVED_HITS, "DoesNotExist", IntegerValues=[1]),
        requirement(APPROVED_HITS, "EqualTo", LocaleValues=[{"Country": "US"}]),
        requirement(LOCALE, "In", LocaleValues=[{"Country": "US"}] * 31),
        requirement(LOCALE, "EqualTo", LocaleValues=[{"Country": "UK"}]),
        requirement(LOCALE, "EqualTo", LocaleValues=[{"Country": "US", "Subdivision": "ZZ"}]),
        requirement(APPROVED_HITS, "Resembles", IntegerValues=[1]),
        requirement("3" + "Q" * 29, "Exists"),
    ):
        with refused("RequestError", "ValidationException", "ParameterValidationError"):
            create_hit(client, QualificationRequirements=[asked])


def test_50_a_blocked_worker_cannot_accept(client, workers):
    blocked, other, _ = workers
    hit = create_hit(client, MaxAssignments=3)
    client.create_worker_block(WorkerId=blocked.worker_id, Reason="Answers at random.")
    with pytest.raises(RefusedError) as caught:
        blocked.accept(hit["HITId"])
    assert "Answers at random" not in caught.value.message
    assert may_accept(other, hit)
    [block] = [
        item
        for item in client.list_worker_blocks(MaxResults=100)["WorkerBlocks"]
        if item["WorkerId"] == blocked.worker_id
    ]
    assert block["Reason"] == "Answers at random."
    for _ in range(2):
        client.delete_worker_block(WorkerId=blocked.worker_id, Reason="A mistake of ours.")
    assert may_accept(blocked, hit)


def test_51_messages_go_to_known_workers_and_failures_are_reported(client, workers):
    known, unknown = workers[0].worker_id, "A143XRCI1YXAFE"
    workers[0].do(create_hit(client)["HITId"])
    message = {"Subject": "New HITs", "MessageText": "There are new HITs for readers of the guide."}
    for changes in (
        {"WorkerIds": [f"A{number:013d}" for number in range(101)]},
        {"Subject": "s" * 201},
        {"MessageText": "m" * 4097},
    ):
        with refused("RequestError", "ValidationException", "ParameterValidationError"):
            client.notify_workers(**{**message, "WorkerIds": [known], **changes})
    assert client.notify_workers(**message, WorkerIds=[known])["NotifyWorkersFailureStatuses"] == []
    [failure] = client.notify_workers(**message, WorkerIds=[known, unknown])["NotifyWorkersFailureStatuses"]
    assert failure["WorkerId"] == unknown
    assert failure["NotifyWorkersFailureCode"] in ("SoftFailure", "HardFailure")
    assert failure["NotifyWorkersFailureMessage"]
