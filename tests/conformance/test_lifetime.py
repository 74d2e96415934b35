"""Checks 39-43: expiring, extending, deleting, and the flag for reviewing."""

from datetime import datetime, timedelta

from tests.conformance.protocol import balance, create_hit, get_hit, places, refused, refused_request


def expire(client, hit):
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)


def wrong_state(status):
    return refused_request(
        "InvalidHITState",
        f"This HIT is currently in the state '{status}'.  "
        "This operation can be called with a status of: Reviewing, Reviewable",
    )


def test_39_a_moment_that_has_passed_expires_a_hit_at_once(client, worker):
    for moment in (0, datetime(2015, 1, 1)):
        hit = create_hit(client, MaxAssignments=2)
        client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=moment)
        found = get_hit(client, hit)
        assert (found["HITStatus"], found["NumberOfAssignmentsAvailable"]) == ("Reviewable", 2), moment
        assert hit["CreationTime"] <= found["Expiration"] < hit["Expiration"]
        assert worker.next(hit["HITGroupId"]) is None


def test_39_work_in_progress_outlives_the_hit(client, worker):
    hit = create_hit(client, MaxAssignments=2)
    taken = worker.accept(hit["HITId"])
    expire(client, hit)
    assert get_hit(client, hit)["HITStatus"] == "Unassignable"
    assert places(get_hit(client, hit)) == (1, 1, 0)
    assert worker.submit(taken, a="1").status == 200
    assert get_hit(client, hit)["HITStatus"] == "Reviewable"
    assert places(get_hit(client, hit)) == (0, 1, 0)


def test_39_expiry_releases_the_money_of_places_nobody_took(new_requester, worker):
    client = new_requester("10.00").client
    hit = create_hit(client, Reward="1.00", MaxAssignments=3)
    worker.do(hit["HITId"])
    assert balance(client) == ("7.00", "3.00")
    expire(client, hit)
    assert balance(client) == ("9.00", "1.00")


def test_39_a_hit_expires_by_the_clock(new_requester, worker, advance):
    client = new_requester("10.00").client
    hit = create_hit(client, Reward="1.00", LifetimeInSeconds=7200)
    advance(7100)
    assert get_hit(client, hit)["HITStatus"] == "Assignable"
    advance(101)
    assert get_hit(client, hit)["HITStatus"] == "Reviewable"
    assert balance(client) == ("10.00", "0.00")
    assert worker.next(hit["HITGroupId"]) is None


def test_40_a_hit_cannot_be_shortened(client):
    hit = create_hit(client)
    with refused("RequestError"):
        client.update_expiration_for_hit(
            HITId=hit["HITId"], ExpireAt=hit["Expiration"] - timedelta(seconds=600)
        )
    assert get_hit(client, hit)["Expiration"] == hit["Expiration"]


def test_40_extending_an_expired_hit_opens_it_again(new_requester, worker):
    client = new_requester("10.00").client
    hit = create_hit(client, Reward="1.00")
    expire(client, hit)
    assert balance(client) == ("10.00", "0.00")
    later = hit["Expiration"] + timedelta(hours=5)
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=later)
    found = get_hit(client, hit)
    assert (found["HITStatus"], found["Expiration"]) == ("Assignable", later)
    assert balance(client) == ("9.00", "1.00")
    assert worker.accept(hit["HITId"])["hit_id"] == hit["HITId"]


def test_40_the_same_end_is_a_new_change_once_the_hit_ended_elsewhere(client):
    """T, 0, T opens it again; T twice is a repetition, the refusal that stopped people's scripts."""
    hit = create_hit(client)
    later = hit["CreationTime"] + timedelta(days=30)
    for _ in range(2):
        client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=later)
        assert get_hit(client, hit)["HITStatus"] == "Assignable"
        with refused_request("DuplicateRequest", f'The idempotency token "{hit["HITId"]}') as caught:
            client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=later)
        assert '" has already been processed.' in caught.value.response["Message"]
        assert get_hit(client, hit)["Expiration"] == later
        client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
        assert get_hit(client, hit)["HITStatus"] == "Reviewable"


def test_40_an_extension_without_funds_is_refused(new_requester):
    client = new_requester("1.00").client
    hit = create_hit(client, Reward="1.00")
    expire(client, hit)
    create_hit(client, Reward="0.50")
    with refused_request("InsufficientFunds"):
        client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=hit["Expiration"] + timedelta(hours=1))
    assert get_hit(client, hit)["HITStatus"] == "Reviewable"
    assert balance(client) == ("0.50", "0.50")


def test_40_a_life_ends_within_a_year(client, subtests):
    for moment in [253_402_300_799, datetime(9999, 9, 2), timedelta(days=366)]:
        with subtests.test(moment=moment):
            hit = create_hit(client)
            at = hit["CreationTime"] + moment if isinstance(moment, timedelta) else moment
            with refused("ValidationException", stem="expireAt"):
                client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=at)
            assert get_hit(client, hit)["Expiration"] == hit["Expiration"]
            within = hit["CreationTime"] + timedelta(days=364)
            client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=within)
            assert get_hit(client, hit)["Expiration"] == within
            assert hit["HITId"] in [each["HITId"] for each in client.list_hits()["HITs"]]


def test_41_nine_assignments_cannot_become_ten_and_none_are_taken_away(client):
    hit = create_hit(client, MaxAssignments=5)
    call = {"HITId": hit["HITId"]}
    client.create_additional_assignments_for_hit(**call, NumberOfAdditionalAssignments=4)
    assert get_hit(client, hit)["MaxAssignments"] == 9
    with refused_request("InvalidMaximumAssignmentsIncrease"):
        client.create_additional_assignments_for_hit(**call, NumberOfAdditionalAssignments=1)
    for number in (0, -1):
        with refused("RequestError", "ValidationException"):
            client.create_additional_assignments_for_hit(**call, NumberOfAdditionalAssignments=number)
    assert get_hit(client, hit)["MaxAssignments"] == 9


def test_41_ten_assignments_can_become_fifteen_once_per_token(new_requester):
    client = new_requester("100.00").client
    hit = create_hit(client, MaxAssignments=10, Reward="1.00")
    call = {
        "HITId": hit["HITId"],
        "NumberOfAdditionalAssignments": 5,
        "UniqueRequestToken": f"extend-{hit['HITId']}",
    }
    client.create_additional_assignments_for_hit(**call)
    with refused_request(
        "DuplicateRequest",
        f'The idempotency token "{call["UniqueRequestToken"]}" has already been processed.',
    ):
        client.create_additional_assignments_for_hit(**call)
    found = get_hit(client, hit)
    assert found["MaxAssignments"] == 15
    assert found["Expiration"] == hit["Expiration"]
    assert places(found) == (0, 15, 0)
    assert balance(client) == ("85.00", "15.00")


def test_41_more_places_reopen_a_full_hit(client, workers):
    hit = create_hit(client)
    workers[0].do(hit["HITId"])
    assert get_hit(client, hit)["HITStatus"] == "Reviewable"
    client.create_additional_assignments_for_hit(HITId=hit["HITId"], NumberOfAdditionalAssignments=1)
    assert get_hit(client, hit)["HITStatus"] == "Assignable"
    assert workers[1].accept(hit["HITId"])["assignment_id"]


def test_42_a_hit_on_offer_or_with_undecided_work_cannot_be_deleted(client, worker):
    """For undecided work the message contradicts itself, as on the real service."""
    hit = create_hit(client)
    with wrong_state("Assignable"):
        client.delete_hit(HITId=hit["HITId"])
    taken = worker.accept(hit["HITId"])
    with wrong_state("Unassignable"):
        client.delete_hit(HITId=hit["HITId"])
    worker.submit(taken, answer="yes")
    with wrong_state("Reviewable"):
        client.delete_hit(HITId=hit["HITId"])


def test_42_a_deleted_hit_is_gone_from_the_lists_and_cannot_be_deleted_again(client, worker):
    hit = create_hit(client)
    assignment_id = worker.do(hit["HITId"])["assignment_id"]
    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="This is empty.")
    client.delete_hit(HITId=hit["HITId"])
    with refused_request("InvalidHITState", "currently in the state 'Disposed'"):
        client.delete_hit(HITId=hit["HITId"])
    assert get_hit(client, hit)["HITStatus"] == "Disposed"
    listed = client.list_hits(MaxResults=100)["HITs"]
    assert hit["HITId"] not in [item["HITId"] for item in listed]
    assert client.list_reviewable_hits(HITTypeId=hit["HITTypeId"])["HITs"] == []


def test_43_the_reviewing_flag_is_set_and_taken_back(client):
    hit = create_hit(client)

    def listed(status):
        found = client.list_reviewable_hits(HITTypeId=hit["HITTypeId"], Status=status)["HITs"]
        return [item["HITId"] for item in found]

    with refused_request("InvalidHITState"):
        client.update_hit_review_status(HITId=hit["HITId"])
    expire(client, hit)
    assert (listed("Reviewable"), listed("Reviewing")) == ([hit["HITId"]], [])
    with refused_request("InvalidHITState"):
        client.update_hit_review_status(HITId=hit["HITId"], Revert=True)
    client.update_hit_review_status(HITId=hit["HITId"])
    assert get_hit(client, hit)["HITStatus"] == "Reviewing"
    assert (listed("Reviewable"), listed("Reviewing")) == ([], [hit["HITId"]])
    with refused_request("InvalidHITState"):
        client.update_hit_review_status(HITId=hit["HITId"], Revert=False)
    client.update_hit_review_status(HITId=hit["HITId"], Revert=True)
    assert get_hit(client, hit)["HITStatus"] == "Reviewable"
    # A HIT that opens again loses the flag.
    client.update_hit_review_status(HITId=hit["HITId"])
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=hit["Expiration"] + timedelta(hours=1))
    assert get_hit(client, hit)["HITStatus"] == "Assignable"
    expire(client, hit)
    assert get_hit(client, hit)["HITStatus"] == "Reviewable"
