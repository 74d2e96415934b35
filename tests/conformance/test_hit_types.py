"""Check 53: a HIT takes on the properties of another type, and what is on hold follows its price."""

import pytest

from tests.conformance.protocol import (
    NOBODY,
    assignments,
    balance,
    create_hit,
    get_assignment,
    get_hit,
    refused_request,
    type_properties,
)


def new_type(client, **changes):
    properties = type_properties(**changes)
    return client.create_hit_type(**properties)["HITTypeId"], properties


def change(client, hit, type_id):
    client.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=type_id)
    return get_hit(client, hit)


def test_53_a_hit_takes_on_the_properties_of_another_type(client):
    hit = create_hit(client, RequesterAnnotation="mine", MaxAssignments=3)
    type_id, wanted = new_type(client, Reward="0.25", Keywords="new, words", AutoApprovalDelayInSeconds=7)
    changed = change(client, hit, type_id)
    assert changed["HITTypeId"] == type_id
    assert changed["HITGroupId"] not in (hit["HITGroupId"], type_id)
    assert {name: changed[name] for name in wanted} == wanted
    kept = ("HITId", "CreationTime", "Expiration", "Question", "RequesterAnnotation", "MaxAssignments")
    assert {name: changed[name] for name in kept} == {name: hit[name] for name in kept}
    assert change(client, hit, type_id) == changed


def test_53_workers_find_the_hit_in_its_new_group(client, worker):
    hit = create_hit(client)
    type_id, _ = new_type(client)
    group_id = change(client, hit, type_id)["HITGroupId"]
    assert worker.next(hit["HITGroupId"]) is None
    assert worker.next(group_id)["hit_id"] == hit["HITId"]


def test_53_what_is_on_hold_follows_the_price_at_the_fee_of_the_hits_size(new_requester):
    client = new_requester("100.00", "mturk-2026").client
    hit = create_hit(client, Reward="1.00", MaxAssignments=4)
    assert balance(client) == ("95.20", "4.80")
    change(client, hit, new_type(client, Reward="2.00")[0])
    assert balance(client) == ("90.40", "9.60")
    change(client, hit, new_type(client, Reward="0.50")[0])
    assert balance(client) == ("97.60", "2.40")
    large = create_hit(client, Reward="1.00", MaxAssignments=10)
    assert balance(client) == ("83.60", "16.40")
    change(client, large, new_type(client, Reward="2.00")[0])
    assert balance(client) == ("69.60", "30.40")


def test_53_a_dearer_type_without_funds_is_refused_and_changes_nothing(new_requester):
    client = new_requester("1.00").client
    hit = create_hit(client, Reward="0.10", MaxAssignments=5)
    with refused_request("InsufficientFunds"):
        change(client, hit, new_type(client, Reward="0.21")[0])
    assert get_hit(client, hit) == hit
    assert balance(client) == ("0.50", "0.50")


@pytest.mark.paid
def test_53_who_was_paid_before_stays_paid_and_who_comes_later_gets_the_new_reward(new_requester, workers):
    client = new_requester("10.00").client
    hit = create_hit(client, Reward="1.00", MaxAssignments=3)
    done = workers[0].do(hit["HITId"])
    client.approve_assignment(AssignmentId=done["assignment_id"])
    taken = workers[1].accept(hit["HITId"])
    change(client, hit, new_type(client, Reward="2.00")[0])
    assert balance(client) == ("5.00", "4.00")
    assert workers[1].submit(taken, answer="yes").status == 200
    client.approve_assignment(AssignmentId=taken["assignment_id"])
    assert balance(client) == ("5.00", "2.00")


def test_53_work_that_was_taken_at_a_price_is_never_paid_less(client, worker, subtests):
    for stage in ["accepted", "submitted", "rejected"]:
        with subtests.test(stage=stage):
            hit = create_hit(client, Reward="0.20", MaxAssignments=2)
            taken = worker.accept(hit["HITId"])
            if stage != "accepted":
                assert worker.submit(taken, answer="yes").status == 200
            if stage == "rejected":
                client.reject_assignment(AssignmentId=taken["assignment_id"], RequesterFeedback="empty")
            before = get_hit(client, hit)
            with refused_request("InvalidParameterValue", "HITTypeId"):
                change(client, hit, new_type(client, Reward="0.10")[0])
            assert get_hit(client, hit) == before
            if stage == "accepted":
                worker.give_back(taken)
                assert change(client, hit, new_type(client, Reward="0.10")[0])["Reward"] == "0.10"


def test_53_submitted_work_keeps_its_date_of_automatic_approval(client, worker):
    hit = create_hit(client, MaxAssignments=2, AutoApprovalDelayInSeconds=3600)
    done = worker.do(hit["HITId"])
    before = get_assignment(client, done["assignment_id"])["AutoApprovalTime"]
    change(client, hit, new_type(client, AutoApprovalDelayInSeconds=10)[0])
    [after] = assignments(client, hit)
    assert after["AutoApprovalTime"] == before


def test_53_the_types_and_hits_of_others_do_not_exist(client, new_requester):
    stranger = new_requester().client
    hit, theirs = create_hit(client), create_hit(stranger)
    with refused_request("HITTypeDoesNotExist", f"HITType {theirs['HITTypeId']} does not exist."):
        change(client, hit, theirs["HITTypeId"])
    with refused_request("HITDoesNotExist", f"Hit {hit['HITId']} does not exist."):
        stranger.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=theirs["HITTypeId"])
    with refused_request("HITTypeDoesNotExist"):
        change(client, hit, NOBODY)
    assert get_hit(client, hit) == hit
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    client.delete_hit(HITId=hit["HITId"])
    with refused_request("InvalidHITState", "currently in the state 'Disposed'"):
        change(client, hit, new_type(client)[0])
