"""Checks 5-13, 18, 21, 22: HIT types, HITs, and what is wrong with their parameters."""

from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

from tests.clients import external_question
from tests.conformance.protocol import (
    ENTITY_ID,
    NOBODY,
    create_hit,
    get_hit,
    hit_properties,
    invalid,
    places,
    refused,
    refused_request,
    type_properties,
)

LOCALE = "00000000000000000071"
APPROVED_HITS = "00000000000000000040"


def test_05_the_same_properties_are_the_same_hit_type(client):
    properties = type_properties(Reward="0.1")
    first = client.create_hit_type(**properties)["HITTypeId"]
    assert ENTITY_ID.fullmatch(first)
    assert client.create_hit_type(**{**properties, "Reward": "0.10"})["HITTypeId"] == first
    assert client.create_hit_type(**{**properties, "Reward": "00.1"})["HITTypeId"] == first
    assert client.create_hit_type(**properties, AutoApprovalDelayInSeconds=2592000)["HITTypeId"] == first


def test_05_another_property_is_another_hit_type(client, subtests):
    for change in [
        {"Title": "Another title"},
        {"Description": "Another description"},
        {"Keywords": "reading, answers"},
        {"Reward": "0.11"},
        {"AssignmentDurationInSeconds": 601},
        {"AutoApprovalDelayInSeconds": 2591999},
        {"QualificationRequirements": [{"QualificationTypeId": LOCALE, "Comparator": "Exists"}]},
    ]:
        with subtests.test(change=change):
            properties = type_properties()
            first = client.create_hit_type(**properties)["HITTypeId"]
            assert client.create_hit_type(**{**properties, **change})["HITTypeId"] != first


def test_06_a_minimal_hit_has_the_defaults_of_the_real_service(client):
    properties = hit_properties()
    hit = create_hit(client, **properties)
    assert hit["HITStatus"] == "Assignable"
    assert hit["HITReviewStatus"] == "NotReviewed"
    assert hit["MaxAssignments"] == 1
    assert places(hit) == (0, 1, 0)
    assert hit["AutoApprovalDelayInSeconds"] == 2592000
    assert hit["AssignmentDurationInSeconds"] == 600
    assert hit["Expiration"] - hit["CreationTime"] == timedelta(seconds=3600)
    assert all(ENTITY_ID.fullmatch(hit[name]) for name in ("HITId", "HITTypeId", "HITGroupId"))
    assert hit["HITGroupId"] != hit["HITTypeId"]
    assert "RequesterAnnotation" not in hit
    assert "HITLayoutId" not in hit
    assert (hit["Title"], hit["Description"]) == (properties["Title"], properties["Description"])
    assert hit["Reward"] == "0.10"
    assert hit["Question"] == properties["Question"]
    assert hit["QualificationRequirements"] == []
    assert get_hit(client, hit) == hit


def test_07_create_hit_finds_the_hit_type_with_its_properties(client):
    properties = type_properties()
    hit_type = client.create_hit_type(**properties)["HITTypeId"]
    first, second = create_hit(client, **properties), create_hit(client, **properties)
    assert first["HITTypeId"] == second["HITTypeId"] == hit_type
    assert first["HITGroupId"] == second["HITGroupId"]
    by_type = client.create_hit_with_hit_type(
        HITTypeId=hit_type, LifetimeInSeconds=60, Question=external_question()
    )["HIT"]
    assert by_type["HITGroupId"] == first["HITGroupId"]
    assert by_type["Title"] == properties["Title"]


def test_07_a_hit_type_of_nobody_makes_no_hit(client):
    with refused("RequestError", "ParameterValidationError", stem=NOBODY):
        client.create_hit_with_hit_type(HITTypeId=NOBODY, LifetimeInSeconds=60, Question=external_question())


def test_08_a_requirement_is_echoed_with_what_it_guards(client):
    requirement = {"QualificationTypeId": APPROVED_HITS, "Comparator": "LessThan", "IntegerValues": [1000]}
    hit = create_hit(client, QualificationRequirements=[requirement])
    echo = [{**requirement, "ActionsGuarded": "Accept", "RequiredToPreview": False}]
    assert hit["QualificationRequirements"] == echo
    assert get_hit(client, hit)["QualificationRequirements"] == echo


def test_09_a_hit_needs_a_question_or_a_layout_and_not_both(client):
    properties = hit_properties()
    question = properties.pop("Question")
    with refused_request("InvalidParameterValue"):
        client.create_hit(**properties)
    with refused("RequestError"):
        client.create_hit(**properties, Question=question, HITLayoutId=NOBODY)


def test_10_a_question_that_cannot_be_read_or_shown_is_refused(client):
    for question in (
        "<ExternalQuestion>",
        external_question().replace("ExternalQuestion", "InternalQuestion"),
        external_question().replace("2006-07-14", "2006-07-15"),
        '<!DOCTYPE x [<!ENTITY e "boom">]>' + external_question("https://example.org/&e;"),
    ):
        with refused_request("XMLParseError"):
            client.create_hit(**hit_properties(Question=question))
    with refused("RequestError"):
        client.create_hit(**hit_properties(Question=external_question("http://tasks.example.org/")))


def test_11_a_question_has_at_most_65535_bytes(client):
    question = external_question()
    fits = question + " " * (65_535 - len(question))
    assert get_hit(client, create_hit(client, Question=fits))["Question"] == fits
    with refused("RequestError", "ValidationException", stem="uestion"):
        create_hit(client, Question=fits + " ")
    with refused("RequestError", "ValidationException", stem="uestion"):
        create_hit(client, Question=f"<!--é-->{question}".ljust(65_535))


REQUIREMENT = {"QualificationTypeId": APPROVED_HITS, "Comparator": "LessThan", "IntegerValues": [1]}


def test_12_a_value_beyond_the_limits_is_refused_by_name(client, subtests):
    for name, value in [
        ("Title", "t" * 129),
        ("Title", ""),
        ("Description", "d" * 2001),
        ("Keywords", "k" * 1001),
        ("RequesterAnnotation", "a" * 256),
        ("LifetimeInSeconds", 29),
        ("LifetimeInSeconds", 31_536_001),
        ("AssignmentDurationInSeconds", 29),
        ("AssignmentDurationInSeconds", 31_536_001),
        ("AutoApprovalDelayInSeconds", 2_592_001),
        ("AutoApprovalDelayInSeconds", -1),
        ("MaxAssignments", 0),
        ("MaxAssignments", 1_000_000_001),
        ("QualificationRequirements", [REQUIREMENT] * 11),
    ]:
        with subtests.test(name=name, value=value):
            with refused("RequestError", "ValidationException", "ParameterValidationError") as caught:
                client.create_hit(**hit_properties(**{name: value}))
            assert name.lower() in caught.value.response["Error"]["Message"].lower()


def test_12_a_value_at_the_limit_is_taken(client, subtests):
    for name, value in [
        ("Title", "t" * 128),
        ("Description", "d" * 2000),
        ("Keywords", "k" * 1000),
        ("RequesterAnnotation", "a" * 255),
        ("LifetimeInSeconds", 30),
        ("LifetimeInSeconds", 31_536_000),
        ("AssignmentDurationInSeconds", 30),
        ("AssignmentDurationInSeconds", 31_536_000),
        ("AutoApprovalDelayInSeconds", 0),
        ("QualificationRequirements", [REQUIREMENT] * 10),
    ]:
        with subtests.test(name=name, value=value):
            assert create_hit(client, **{name: value})["HITStatus"] == "Assignable"


def test_13_a_reward_is_an_amount_in_one_of_several_spellings(client):
    for wrong in ("$0.1", "0.105", "-1", "0.1\n", "1e2"):
        with invalid("reward"):
            client.create_hit(**hit_properties(Reward=wrong))
    for written, meant in (("0", "0.00"), ("1.", "1.00"), ("01.00", "1.00")):
        assert create_hit(client, Reward=written)["Reward"] == meant


def test_13_model_constraints_that_botocore_leaves_to_the_server(client):
    hit = create_hit(client)
    with invalid("'maxResults' failed to satisfy constraint") as caught:
        client.list_hits(MaxResults=101)
    message = caught.value.response["Error"]["Message"]
    assert message.startswith("1 validation error detected: Value '101' at")
    with invalid("Nope"):
        client.list_assignments_for_hit(HITId=hit["HITId"], AssignmentStatuses=["Nope"])
    with invalid("^[A-Z0-9]+$"):
        client.get_hit(HITId="abc-def")
    with invalid("uniqueRequestToken"):
        client.create_hit(**hit_properties(UniqueRequestToken="t" * 65))
    with invalid("workerId"):
        client.create_worker_block(WorkerId="B1234", Reason="no worker id starts with B")


def test_13_unknown_members_and_wrong_types_are_refused(requester):
    for parameters in (
        {"MaxResult": 5},
        {"MaxResults": "5"},
        {"MaxResults": 5.5},
        {"MaxResults": True},
        {"NextToken": 7},
        [],
        "ListHITs",
        7,
    ):
        answer = requester.call("ListHITs", parameters)
        assert answer.status == 400, (parameters, answer.text)
        assert answer.json()["__type"] in ("ValidationException", "SerializationException")
    answer = requester.call("GetHIT", {})
    assert (answer.status, answer.json()["__type"]) == (400, "ValidationException")
    assert "hITId" in answer.json()["Message"]


def test_18_text_of_any_script_comes_back_as_it_was(client, worker):
    text = "Größe 測定 🧪 \u202eright to left\u202c <b>&amp;</b> \"quoted\" 'single'"
    hit = create_hit(client, Title=text, Description=text, Keywords=text, RequesterAnnotation=text)
    found = get_hit(client, hit)
    for name in ("Title", "Description", "Keywords", "RequesterAnnotation"):
        assert found[name] == text
    taken = worker.do(hit["HITId"])
    client.reject_assignment(AssignmentId=taken["assignment_id"], RequesterFeedback=text)
    [assignment] = client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert assignment["RequesterFeedback"] == text


def test_18_a_title_counts_characters_not_bytes(client):
    assert get_hit(client, create_hit(client, Title="🧪" * 128))["Title"] == "🧪" * 128


def test_21_an_unknown_hit_does_not_exist(client):
    with refused_request("HITDoesNotExist") as caught:
        client.get_hit(HITId=NOBODY)
    assert caught.value.response["Message"].startswith(f"Hit {NOBODY} does not exist. (")


def test_22_a_hit_of_another_requester_is_as_good_as_none(client, new_requester, subtests):
    for call in [
        lambda c, hit: c.get_hit(HITId=hit["HITId"]),
        lambda c, hit: c.list_assignments_for_hit(HITId=hit["HITId"]),
        lambda c, hit: c.delete_hit(HITId=hit["HITId"]),
        lambda c, hit: c.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0),
        lambda c, hit: c.update_hit_review_status(HITId=hit["HITId"]),
        lambda c, hit: c.list_bonus_payments(HITId=hit["HITId"]),
        lambda c, hit: c.create_additional_assignments_for_hit(
            HITId=hit["HITId"], NumberOfAdditionalAssignments=1
        ),
        lambda c, hit: c.create_hit_with_hit_type(
            HITTypeId=hit["HITTypeId"], LifetimeInSeconds=60, Question=external_question()
        ),
    ]:
        with subtests.test(call=call):
            stranger = new_requester().client
            hit = create_hit(client)
            with pytest.raises(ClientError) as caught:
                call(stranger, hit)
            error = caught.value.response
            assert error["Error"]["Code"] in (
                "RequestError",
                "AccessDeniedException",
                "ParameterValidationError",
            )
            assert hit["Title"] not in str(error)
            assert get_hit(client, hit) == hit


def test_22_work_of_another_requester_is_as_good_as_none(client, worker, new_requester):
    stranger = new_requester().client
    taken = worker.do(create_hit(client)["HITId"])
    assignment_id = taken["assignment_id"]
    for call in (
        lambda: stranger.get_assignment(AssignmentId=assignment_id),
        lambda: stranger.approve_assignment(AssignmentId=assignment_id),
        lambda: stranger.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="mine now"),
        lambda: stranger.list_bonus_payments(AssignmentId=assignment_id),
        lambda: stranger.send_bonus(
            AssignmentId=assignment_id, WorkerId=worker.worker_id, BonusAmount="1.00", Reason="theft"
        ),
    ):
        with refused_request("AssignmentDoesNotExist", f"Assignment {assignment_id} does not exist."):
            call()
