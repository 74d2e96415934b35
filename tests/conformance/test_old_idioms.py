"""How scripts of many years write their calls: nothing here is good style, all of it has to work."""

from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from tests.clients import external_question
from tests.conformance.protocol import create_hit, get_hit, hit_properties, refused


def test_every_way_to_say_expire_now(client, subtests):
    """An epoch, one in a string, a date in a string, a naive datetime, and one of last month."""
    for past in [
        0,
        10000,
        "10000",
        "2015-01-01",
        datetime(2015, 1, 1),
        datetime.now(UTC) - timedelta(days=30),
    ]:
        with subtests.test(past=past):
            hit = create_hit(client)
            client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=past)
            assert get_hit(client, hit)["HITStatus"] == "Reviewable"


def test_amounts_that_were_floats(client):
    """`str(0.5)` has one digit, `str(1)` none, `str(2.)` a zero: all are amounts."""
    for written, meant in [(str(0.5), "0.50"), (str(1), "1.00"), (str(2.0), "2.00"), ("01.5", "1.50")]:
        assert create_hit(client, Reward=written)["Reward"] == meant
    with refused("ValidationException"):
        create_hit(client, Reward=str(0.1 + 0.2))


def test_a_loop_that_takes_the_token_before_it_looks(new_requester):
    """`while page["HITs"]: page = list(NextToken=page["NextToken"])` must never miss its token."""
    client = new_requester().client
    properties = hit_properties()
    made = {create_hit(client, **properties)["HITId"] for _ in range(7)}
    page = client.list_hits(MaxResults=3)
    found = list(page["HITs"])
    while len(page["HITs"]) > 0:
        page = client.list_hits(MaxResults=3, NextToken=page["NextToken"])
        found += page["HITs"]
    assert {hit["HITId"] for hit in found} == made


def test_a_loop_that_stops_at_a_page_that_is_not_full(new_requester):
    """`while len(page) == MaxResults`: the last full page is followed by an empty one."""
    client = new_requester().client
    properties = hit_properties()
    made = {create_hit(client, **properties)["HITId"] for _ in range(6)}
    page = client.list_hits(MaxResults=3)
    found = list(page["HITs"])
    while page["NumResults"] == 3:
        page = client.list_hits(MaxResults=3, NextToken=page["NextToken"])
        found += page["HITs"]
    assert {hit["HITId"] for hit in found} == made


def test_delete_or_else_expire(client, worker):
    """Clean-up scripts try to delete everything, and expire what cannot be deleted."""
    open_one, worked_on = create_hit(client)["HITId"], create_hit(client)["HITId"]
    assignment = worker.do(worked_on)
    for hit_id in (open_one, worked_on):
        with pytest.raises(ClientError):
            client.delete_hit(HITId=hit_id)
        client.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime(2015, 1, 1))
    client.delete_hit(HITId=open_one)
    with pytest.raises(ClientError, match="Reviewable"):
        client.delete_hit(HITId=worked_on)
    client.reject_assignment(AssignmentId=assignment["assignment_id"], RequesterFeedback="")
    client.delete_hit(HITId=worked_on)


def test_approving_what_the_clock_approved_is_recognised_by_its_words(client, worker):
    """Scripts look for "status of: Submitted" in the message and go on."""
    hit = create_hit(client, AutoApprovalDelayInSeconds=0)
    taken = worker.do(hit["HITId"])
    with pytest.raises(ClientError) as caught:
        client.approve_assignment(AssignmentId=taken["assignment_id"])
    assert "status of: Submitted" in str(caught.value)


def test_a_question_with_a_declaration_and_spaces_around_its_address(client):
    """As people paste it: an XML declaration, indentation, line breaks inside ExternalURL."""
    question = external_question("https://tasks.example.org/a").replace("><", ">\n  <")
    question = question.replace("<ExternalURL>", "<ExternalURL>\n    ").replace(
        "</ExternalURL>", "\n  </ExternalURL>"
    )
    hit = create_hit(client, Question=f"<?xml version='1.0' encoding='UTF-8'?>\n{question}\n")
    assert get_hit(client, hit)["HITStatus"] == "Assignable"
