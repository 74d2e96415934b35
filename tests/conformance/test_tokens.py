"""Checks 14-17 and 54-56: tokens, lost answers, throttling, faults, and fifty calls at once."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from tests.clients import external_question
from tests.conformance.protocol import balance, create_hit, hit_properties, refused, refused_request

LEGACY = {"retries": {"mode": "legacy"}}


def hits_titled(client, title):
    pages = client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100})
    return [hit["HITId"] for page in pages for hit in page["HITs"] if hit["Title"] == title]


def bonuses(client, assignment_id):
    return client.list_bonus_payments(AssignmentId=assignment_id)["BonusPayments"]


def test_14_a_token_makes_one_hit(client):
    properties = hit_properties(UniqueRequestToken=uuid4().hex)
    first = client.create_hit(**properties)["HIT"]["HITId"]
    with refused_request("HITAlreadyExists", first):
        client.create_hit(**properties)
    assert hits_titled(client, properties["Title"]) == [first]


def test_14_a_token_makes_one_hit_of_a_hit_type(client):
    properties = hit_properties()
    hit_type = create_hit(client, **properties)["HITTypeId"]
    call = {"HITTypeId": hit_type, "Question": external_question(), "UniqueRequestToken": uuid4().hex}
    first = client.create_hit_with_hit_type(**call, LifetimeInSeconds=60)["HIT"]["HITId"]
    with refused_request("HITAlreadyExists", first):
        client.create_hit_with_hit_type(**call, LifetimeInSeconds=90)
    assert len(hits_titled(client, properties["Title"])) == 2


def test_14_a_refused_call_leaves_its_token_unused(client):
    properties = hit_properties(UniqueRequestToken=uuid4().hex)
    with refused("RequestError"):
        client.create_hit(**{**properties, "Question": "no XML"})
    assert client.create_hit(**properties)["HIT"]["HITId"]


def test_14_requesters_do_not_share_tokens(client, new_requester):
    token = uuid4().hex
    first = create_hit(client, UniqueRequestToken=token)
    second = create_hit(new_requester().client, UniqueRequestToken=token)
    assert first["HITId"] != second["HITId"]


def test_15_a_token_is_forgotten_after_a_day(client, advance):
    properties = hit_properties(UniqueRequestToken=uuid4().hex, LifetimeInSeconds=200_000)
    first = client.create_hit(**properties)["HIT"]["HITId"]
    advance(24 * 3600 - 60)
    with refused_request("HITAlreadyExists", first):
        client.create_hit(**properties)
    advance(61)
    second = client.create_hit(**properties)["HIT"]["HITId"]
    assert second != first
    assert sorted(hits_titled(client, properties["Title"])) == sorted([first, second])


@pytest.mark.paid
def test_16_operations_do_not_share_tokens(client, worker):
    token = uuid4().hex
    hit = create_hit(client, UniqueRequestToken=token)
    client.create_hit_with_hit_type(
        HITTypeId=hit["HITTypeId"],
        LifetimeInSeconds=60,
        Question=external_question(),
        UniqueRequestToken=token,
    )
    client.create_additional_assignments_for_hit(
        HITId=hit["HITId"], NumberOfAdditionalAssignments=1, UniqueRequestToken=token
    )
    taken = worker.do(hit["HITId"])
    client.send_bonus(
        WorkerId=worker.worker_id,
        AssignmentId=taken["assignment_id"],
        BonusAmount="0.01",
        Reason="thank you",
        UniqueRequestToken=token,
    )
    assert len(bonuses(client, taken["assignment_id"])) == 1


def test_17_a_lost_answer_with_a_token_makes_one_hit(requester, chaos):
    client = requester.new_client(**LEGACY)
    properties = hit_properties()
    hit_type = create_hit(requester.client, **properties)["HITTypeId"]
    chaos(lose_response_after_commit=1)
    with refused_request("HITAlreadyExists") as caught:
        client.create_hit_with_hit_type(
            HITTypeId=hit_type,
            LifetimeInSeconds=60,
            Question=external_question(),
            UniqueRequestToken=uuid4().hex,
        )
    assert caught.value.response["ResponseMetadata"]["RetryAttempts"] == 1
    made = hits_titled(client, properties["Title"])
    assert len(made) == 2
    assert made[0] in caught.value.response["Message"] or made[1] in caught.value.response["Message"]


def test_17_a_lost_answer_without_a_token_makes_two_hits(requester, chaos):
    client = requester.new_client(**LEGACY)
    properties = hit_properties()
    chaos(lose_response_after_commit=1)
    client.create_hit(**properties)
    assert len(hits_titled(client, properties["Title"])) == 2


@pytest.mark.paid
def test_17_a_lost_answer_with_a_token_pays_one_bonus(requester, worker, chaos):
    client = requester.new_client(**LEGACY)
    taken = worker.do(create_hit(client)["HITId"])
    token = uuid4().hex
    before = float(balance(client)[0])
    chaos(lose_response_after_commit=1)
    with refused_request("DuplicateRequest", f'The idempotency token "{token}" has already been processed.'):
        client.send_bonus(
            WorkerId=worker.worker_id,
            AssignmentId=taken["assignment_id"],
            BonusAmount="1.50",
            Reason="thank you",
            UniqueRequestToken=token,
        )
    assert [bonus["BonusAmount"] for bonus in bonuses(client, taken["assignment_id"])] == ["1.50"]
    assert before - float(balance(client)[0]) == pytest.approx(1.50)


def test_54_a_throttled_call_is_repeated_by_botocore(requester, chaos):
    patient = requester.new_client(**LEGACY)
    chaos(throttle_next=1)
    said = patient.get_account_balance()
    assert said["ResponseMetadata"]["RetryAttempts"] == 1
    chaos(throttle_next=1)
    with refused("ThrottlingException", stem="Rate exceeded"):
        requester.client.get_account_balance()
    assert requester.client.get_account_balance()["AvailableBalance"]


def test_55_a_fault_inside_an_operation_does_nothing_by_halves(requester, chaos):
    client = requester.client
    properties = hit_properties(UniqueRequestToken=uuid4().hex)
    before = balance(client)
    chaos(error_rate=1.0)
    with pytest.raises(ClientError) as caught:
        client.create_hit(**properties)
    answer = caught.value.response
    assert answer["Error"]["Code"] == "ServiceFault"
    assert "temporarily unable to process your request" in answer["Error"]["Message"]
    assert type(caught.value).__name__ == "ServiceFault"
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert answer["ResponseMetadata"]["RequestId"]
    chaos(error_rate=0)
    assert hits_titled(client, properties["Title"]) == []
    assert balance(client) == before
    assert client.create_hit(**properties)["HIT"]["HITStatus"] == "Assignable"


def test_56_fifty_calls_at_once_with_distinct_tokens_make_fifty_hits(requester):
    client = requester.client
    properties = hit_properties()
    with ThreadPoolExecutor(50) as pool:
        made = list(
            pool.map(
                lambda _: client.create_hit(**properties, UniqueRequestToken=uuid4().hex)["HIT"]["HITId"],
                range(50),
            )
        )
    assert len(set(made)) == 50
    assert sorted(hits_titled(client, properties["Title"])) == sorted(made)


def test_56_fifty_calls_at_once_with_one_token_make_one_hit(requester):
    client = requester.client
    properties = hit_properties(UniqueRequestToken=uuid4().hex)

    def create(_):
        try:
            return "made", client.create_hit(**properties)["HIT"]["HITId"]
        except ClientError as error:
            return error.response["TurkErrorCode"].lower().rsplit(".")[-1], error.response["Message"]

    with ThreadPoolExecutor(50) as pool:
        results = list(pool.map(create, range(50)))
    [made] = hits_titled(client, properties["Title"])
    assert [message for kind, message in results if kind == "made"] == [made]
    told = [message for kind, message in results if kind == "hitalreadyexists"]
    assert len(told) == 49
    assert all(made in message for message in told)
