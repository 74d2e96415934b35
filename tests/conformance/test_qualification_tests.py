"""Check 48, tests: what they must be, who reads them, how they are scored, when they are taken again."""

import pytest

from tests.clients import RefusedError, external_question
from tests.conformance.protocol import create_hit, refused, refused_request
from tests.conformance.test_qualification_requests import requests
from tests.conformance.test_qualifications import may_accept, new_qualification, requirement
from tests.questionforms import KEY, TEST, answer_key, free_text, percentage, question_form, scored, selection

TESTED = {"Test": TEST, "AnswerKey": KEY, "TestDurationInSeconds": 600}
RIGHT = {"moves": "d", "fruit": ["apple", "pear"]}


def score(client, type_id, worker):
    said = client.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker.worker_id)
    return said["Qualification"]["IntegerValue"]


def test_48_a_test_is_its_owners_to_read(client, new_requester):
    made = new_qualification(client, **TESTED)
    for name, value in TESTED.items():
        assert made[name] == value
    type_id = made["QualificationTypeId"]
    assert client.get_qualification_type(QualificationTypeId=type_id)["QualificationType"] == made

    def listed(by):
        said = by.list_qualification_types(MustBeRequestable=True, Query=made["Name"])
        return said["QualificationTypes"]

    assert listed(client) == [made]
    other = new_requester().client
    [seen] = listed(other)
    assert seen == other.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]
    assert seen == {name: value for name, value in made.items() if name not in ("Test", "AnswerKey")}
    with refused_request("QualificationTypeDoesNotExist"):
        other.update_qualification_type(QualificationTypeId=type_id, Description="Ours.")


def test_48_a_worker_who_takes_the_test_has_the_score_at_once(client, workers):
    type_id = new_qualification(client, **TESTED)["QualificationTypeId"]
    asked = requirement(type_id, "GreaterThanOrEqualTo", IntegerValues=[80])
    hit = create_hit(client, QualificationRequirements=[asked])
    good, poor, _ = workers
    for worker in (good, poor):
        begun = worker.ask_for(type_id)
        assert (begun["state"], begun["test"]) == ("started", TEST)
        assert worker.ask_for(type_id) == begun
        assert not may_accept(worker, hit)
        answers = RIGHT if worker is good else {"moves": "a", "fruit": "apple"}
        done = worker.hand_in(begun, **answers)
        assert (done["state"], done["value"]) == ("granted", 100 if worker is good else 27)
    assert (score(client, type_id, good), score(client, type_id, poor)) == (100, 27)
    assert (may_accept(good, hit), may_accept(poor, hit)) == (True, False)
    assert requests(client, QualificationTypeId=type_id) == []


def test_48_without_an_answer_key_the_requester_reads_test_and_answer(client, worker):
    test = question_form(free_text("why"))
    type_id = new_qualification(client, Test=test, TestDurationInSeconds=600)["QualificationTypeId"]
    begun = worker.ask_for(type_id)
    assert requests(client, QualificationTypeId=type_id) == []
    for decide in (client.accept_qualification_request, client.reject_qualification_request):
        with refused_request("QualificationRequestDoesNotExist"):
            decide(QualificationRequestId=begun["request_id"])
    assert worker.hand_in(begun, why="Because of “this” & that.")["state"] == "pending"
    [asked] = requests(client, QualificationTypeId=type_id)
    assert asked["Test"] == test
    assert "<FreeText>Because of “this” &amp; that.</FreeText>" in asked["Answer"]
    client.accept_qualification_request(
        QualificationRequestId=asked["QualificationRequestId"], IntegerValue=90
    )
    assert score(client, type_id, worker) == 90


def test_48_answers_are_those_of_the_test_and_come_once(client, workers):
    type_id = new_qualification(client, **TESTED)["QualificationTypeId"]
    worker, other, _ = workers
    begun = worker.ask_for(type_id)
    for answers in ({}, {"moves": "d"}, {"moves": "queen", "fruit": "apple"}):
        with pytest.raises(RefusedError) as wrong:
            worker.hand_in(begun, **answers)
        assert wrong.value.code == "InvalidParameterValue"
    with pytest.raises(RefusedError) as foreign:
        other.hand_in(begun, **RIGHT)
    assert foreign.value.status == 404
    worker.hand_in(begun, **RIGHT)
    with pytest.raises(RefusedError) as again:
        worker.hand_in(begun, moves="a", fruit="plum")
    assert again.value.code == "InvalidQualificationRequestState"
    assert score(client, type_id, worker) == 100


def test_48_a_test_has_its_time(client, worker, advance):
    type_id = new_qualification(client, **TESTED)["QualificationTypeId"]
    begun = worker.ask_for(type_id)
    advance(601)
    with pytest.raises(RefusedError) as late:
        worker.hand_in(begun, **RIGHT)
    assert late.value.code == "InvalidQualificationRequestState"
    with pytest.raises(RefusedError) as again:
        worker.ask_for(type_id)
    assert again.value.code == "QualificationTypeDoesNotAllowRetake"
    with refused_request("QualificationDoesNotExist"):
        score(client, type_id, worker)


def test_48_a_test_is_taken_again_after_the_retry_delay(client, worker, advance):
    type_id = new_qualification(client, **TESTED, RetryDelayInSeconds=3600)["QualificationTypeId"]
    worker.hand_in(worker.ask_for(type_id), moves="a", fruit="apple")
    with pytest.raises(RefusedError) as early:
        worker.ask_for(type_id)
    assert early.value.code == "QualificationTypeRetryDelayNotElapsed"
    advance(3600)
    again = worker.ask_for(type_id)
    assert score(client, type_id, worker) == 27
    worker.hand_in(again, **RIGHT)
    assert score(client, type_id, worker) == 100


def test_48_a_test_is_replaced_as_a_whole(client, worker):
    type_id = new_qualification(client, **TESTED)["QualificationTypeId"]
    begun = worker.ask_for(type_id)
    other = question_form(selection("colours", "red blue"))
    changed = client.update_qualification_type(
        QualificationTypeId=type_id, Test=other, TestDurationInSeconds=60
    )["QualificationType"]
    assert (changed["Test"], changed["TestDurationInSeconds"]) == (other, 60)
    assert "AnswerKey" not in changed
    same = client.update_qualification_type(QualificationTypeId=type_id, Description="New words.")
    assert same["QualificationType"] == {**changed, "Description": "New words."}
    assert worker.hand_in(begun, **RIGHT)["value"] == 100
    for parameters in (
        {"AnswerKey": KEY},
        {"TestDurationInSeconds": 60},
        {"Test": other},
        {"AutoGranted": True},
        {"Test": other, "TestDurationInSeconds": 60, "AnswerKey": KEY},
    ):
        with refused_request("InvalidParameterValue"):
            client.update_qualification_type(QualificationTypeId=type_id, **parameters)
    found = client.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]
    assert found == same["QualificationType"]


def test_48_tests_that_cannot_be_meant_are_refused(client, subtests):
    for changes, code in [
        ({"Test": TEST}, "InvalidParameterValue"),
        ({"AnswerKey": KEY}, "InvalidParameterValue"),
        ({**TESTED, "AutoGranted": True}, "InvalidParameterValue"),
        ({**TESTED, "TestDurationInSeconds": 0}, "InvalidParameterValue"),
        ({**TESTED, "TestDurationInSeconds": 2**62}, "InvalidParameterValue"),
        ({**TESTED, "RetryDelayInSeconds": -1}, "InvalidParameterValue"),
        ({**TESTED, "RetryDelayInSeconds": 2**62}, "InvalidParameterValue"),
        ({**TESTED, "Test": external_question()}, "XMLParseError"),
        ({**TESTED, "Test": "What is the best move?"}, "XMLParseError"),
        ({**TESTED, "Test": TEST + " " * 65_536}, "InvalidParameterValue"),
        ({**TESTED, "AnswerKey": TEST}, "XMLParseError"),
        ({**TESTED, "AnswerKey": KEY + " " * 65_536}, "InvalidParameterValue"),
        (
            {**TESTED, "AnswerKey": answer_key(scored("moves", queen=1), percentage(1))},
            "InvalidParameterValue",
        ),
    ]:
        with subtests.test(changes=changes, code=code):
            name = "Refused"
            with refused("RequestError", turk=code):
                new_qualification(client, Name=name, **changes)
            found = client.list_qualification_types(
                MustBeRequestable=True, MustBeOwnedByCaller=True, Query=name
            )
            assert found["QualificationTypes"] == []


def test_48_a_test_duration_without_a_test_is_accepted(client):
    """Scripts send it with every type that they make, and MTurk accepted it."""
    made = new_qualification(client, Name="Took part before", TestDurationInSeconds=3600)
    assert "TestDurationInSeconds" not in made
    assert "Test" not in made
