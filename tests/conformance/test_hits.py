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
    """Check 5: idempotent by value, rewards compared as amounts."""
    properties = type_properties(Reward="0.1")
    first = client.create_hit_type(**properties)["HITTypeId"]
    assert ENTITY_ID.fullmatch(first)
    assert client.create_hit_type(**{**properties, "Reward": "0.10"})["HITTypeId"] == first
    assert client.create_hit_type(**{**properties, "Reward": "00.1"})["HITTypeId"] == first
    assert client.create_hit_type(**properties, AutoApprovalDelayInSeconds=2592000)["HITTypeId"] == first


@pytest.mark.parametrize(
    "change",
    [
        {"Title": "Another title"},
        {"Description": "Another description"},
        {"Keywords": "reading, answers"},
        {"Reward": "0.11"},
        {"AssignmentDurationInSeconds": 601},
        {"AutoApprovalDelayInSeconds": 2591999},
        {"QualificationRequirements": [{"QualificationTypeId": LOCALE, "Comparator": "Exists"}]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_05_another_property_is_another_hit_type(client, change):
    """Check 5: one property changed."""
    properties = type_properties()
    first = client.create_hit_type(**properties)["HITTypeId"]
    assert client.create_hit_type(**{**properties, **change})["HITTypeId"] != first


def test_06_a_minimal_hit_has_the_defaults_of_the_real_service(client):
    """Check 6: what CreateHIT returns."""
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
    """Check 7: CreateHIT and CreateHITType agree."""
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
    """Check 7: unknown HITTypeId."""
    with refused("RequestError", "ParameterValidationError", stem=NOBODY):
        client.create_hit_with_hit_type(HITTypeId=NOBODY, LifetimeInSeconds=60, Question=external_question())


def test_08_a_requirement_is_echoed_with_what_it_guards(client):
    """Check 8: defaults of a requirement."""
    requirement = {"QualificationTypeId": APPROVED_HITS, "Comparator": "LessThan", "IntegerValues": [1000]}
    hit = create_hit(client, QualificationRequirements=[requirement])
    echo = [{**requirement, "ActionsGuarded": "Accept", "RequiredToPreview": False}]
    assert hit["QualificationRequirements"] == echo
    assert get_hit(client, hit)["QualificationRequirements"] == echo


def test_09_a_hit_needs_a_question(client):
    """Check 9: neither Question nor HITLayoutId."""
    properties = hit_properties()
    del properties["Question"]
    with refused_request("InvalidParameterValue"):
        client.create_hit(**properties)


def test_09_a_question_and_a_layout_exclude_each_other(client):
    """Check 9: both Question and HITLayoutId."""
    with refused("RequestError"):
        client.create_hit(**hit_properties(HITLayoutId=NOBODY))


@pytest.mark.parametrize(
    "question",
    [
        "Is this XML?",
        "<ExternalQuestion>",
        external_question().replace("ExternalQuestion", "InternalQuestion"),
        external_question().replace("2006-07-14", "2006-07-15"),
        external_question().replace("&amp;", "&"),
        external_question().replace("<FrameHeight>600</FrameHeight>", ""),
        external_question().replace("600", "tall"),
        '<!DOCTYPE x [<!ENTITY e "boom">]>' + external_question("https://example.org/&e;"),
    ],
    ids=["no XML", "open tag", "unknown root", "unknown schema", "bare &", "no height", "bad height", "DTD"],
)
def test_10_a_question_that_cannot_be_read_is_an_xml_parse_error(client, question):
    """Check 10: malformed XML."""
    with refused_request("XMLParseError"):
        client.create_hit(**hit_properties(Question=question))


@pytest.mark.parametrize(
    "url", ["http://tasks.example.org/", "javascript:alert(1)", "/unit/7", "https://me:pass@example.org/"]
)
def test_10_a_task_page_must_be_an_https_url(client, url):
    """Check 10: https only (http for loopback addresses, where a lab tries things out)."""
    with refused("RequestError"):
        client.create_hit(**hit_properties(Question=external_question(url)))


def test_11_a_question_has_at_most_65535_bytes(client):
    """Check 11: the limit counts bytes, not characters."""
    question = external_question()
    fits = question + " " * (65_535 - len(question))
    assert get_hit(client, create_hit(client, Question=fits))["Question"] == fits
    with refused("RequestError", "ValidationException", stem="uestion"):
        create_hit(client, Question=fits + " ")
    with refused("RequestError", "ValidationException", stem="uestion"):
        create_hit(client, Question=f"<!--é-->{question}".ljust(65_535))


REQUIREMENT = {"QualificationTypeId": APPROVED_HITS, "Comparator": "LessThan", "IntegerValues": [1]}


@pytest.mark.parametrize(
    ("name", "value"),
    [
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
    ],
)
def test_12_a_value_beyond_the_limits_is_refused_by_name(client, name, value):
    """Check 12: limits of 2.1."""
    with refused("RequestError", "ValidationException", "ParameterValidationError") as caught:
        client.create_hit(**hit_properties(**{name: value}))
    assert name.lower() in caught.value.response["Error"]["Message"].lower()


@pytest.mark.parametrize(
    ("name", "value"),
    [
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
    ],
)
def test_12_a_value_at_the_limit_is_taken(client, name, value):
    """Check 12: the limits themselves are allowed."""
    assert create_hit(client, **{name: value})["HITStatus"] == "Assignable"


@pytest.mark.parametrize("reward", ["$0.1", "0.105", "-1", ".5", "0.1\n", "1,00", "", "1e2"])
def test_13_a_reward_that_is_no_amount_is_invalid(client, reward):
    """Check 13: the currency pattern, matched whole."""
    with invalid("reward"):
        client.create_hit(**hit_properties(Reward=reward))


@pytest.mark.parametrize("reward", ["0", "0.00", "1.", "01.00"])
def test_13_amounts_may_be_written_in_several_ways(client, reward):
    """Check 13: what the pattern accepts."""
    assert create_hit(client, Reward=reward)["Reward"] == {"0": "0.00", "0.00": "0.00"}.get(reward, "1.00")


def test_13_model_constraints_that_botocore_leaves_to_the_server(client):
    """Check 13: maximum, enumeration and pattern, each with the value and the member in the message."""
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
    """Check 13: what botocore would have refused, sent past it."""
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
    """Check 18: unicode in title, description, keywords, annotation, feedback."""
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
    """Check 18: 128 characters of four bytes each."""
    assert get_hit(client, create_hit(client, Title="🧪" * 128))["Title"] == "🧪" * 128


def test_21_an_unknown_hit_does_not_exist(client):
    """Check 21: the stem that clients match."""
    with refused_request("HITDoesNotExist") as caught:
        client.get_hit(HITId=NOBODY)
    assert caught.value.response["Message"].startswith(f"Hit {NOBODY} does not exist. (")


@pytest.mark.parametrize(
    "call",
    [
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
    ],
    ids=["get", "assignments", "delete", "expire", "review", "bonuses", "extend", "type"],
)
def test_22_a_hit_of_another_requester_is_as_good_as_none(client, new_requester, call):
    """Check 22: the same as unknown, or PermissionDenied; never data, never an effect."""
    stranger = new_requester().client
    hit = create_hit(client)
    with pytest.raises(ClientError) as caught:
        call(stranger, hit)
    error = caught.value.response
    assert error["Error"]["Code"] in ("RequestError", "AccessDeniedException", "ParameterValidationError")
    assert hit["Title"] not in str(error)
    assert get_hit(client, hit) == hit


def test_22_work_of_another_requester_is_as_good_as_none(client, worker, new_requester):
    """Check 22: assignments too."""
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
