"""Checks 19 and 20: pages, in the real service's habit."""

import pytest
from botocore.exceptions import ClientError

from tests.conformance.protocol import create_hit, hit_properties


def page_sizes(list_page, **parameters):
    """Sizes of the pages from first to last, checking the habit: a token iff the page is not empty."""
    sizes, tokens, token = [], set(), {}
    while True:
        page = list_page(**parameters, **token)
        items = next(value for value in page.values() if isinstance(value, list))
        sizes.append(len(items))
        assert page["NumResults"] == len(items)
        assert ("NextToken" in page) == bool(items)
        if not items:
            return sizes
        assert page["NextToken"] not in tokens
        assert len(page["NextToken"]) <= 255
        tokens.add(page["NextToken"])
        token = {"NextToken": page["NextToken"]}


def test_19_twenty_five_hits_are_three_pages_and_an_empty_one(new_requester):
    client = new_requester().client
    properties = hit_properties()
    made = [create_hit(client, **properties)["HITId"] for _ in range(25)]
    assert page_sizes(client.list_hits) == [10, 10, 5, 0]
    assert page_sizes(client.list_hits, MaxResults=100) == [25, 0]
    assert page_sizes(client.list_hits, MaxResults=25) == [25, 0]
    paginator = client.get_paginator("list_hits")
    listed = [hit["HITId"] for page in paginator.paginate() for hit in page["HITs"]]
    assert listed == made[::-1]
    pages = list(paginator.paginate(PaginationConfig={"PageSize": 100}))
    assert [page["NumResults"] for page in pages] == [25, 0]


def test_19_a_hit_made_while_paging_neither_hides_nor_doubles_another(new_requester):
    client = new_requester().client
    properties = hit_properties()
    made = {create_hit(client, **properties)["HITId"] for _ in range(6)}
    page = client.list_hits(MaxResults=3)
    seen = [hit["HITId"] for hit in page["HITs"]]
    create_hit(client, **properties)
    while "NextToken" in page:
        page = client.list_hits(MaxResults=3, NextToken=page["NextToken"])
        seen += [hit["HITId"] for hit in page["HITs"]]
    assert len(seen) == len(set(seen))
    assert set(seen) == made


def test_19_reviewable_hits_that_are_full_and_that_have_ended_are_one_list(new_requester, workers):
    client = new_requester().client
    properties = hit_properties()
    made = [create_hit(client, **properties)["HITId"] for _ in range(7)]
    for number, hit_id in enumerate(made[:6]):
        if number % 2:
            client.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
        else:
            workers[number % 3].do(hit_id)
    for size in (1, 2, 5, 100):
        pages = client.get_paginator("list_reviewable_hits").paginate(PaginationConfig={"PageSize": size})
        assert [hit["HITId"] for page in pages for hit in page["HITs"]] == made[5::-1]


def test_19_a_listing_without_anything_is_one_empty_page(new_requester):
    client = new_requester().client
    for list_page in (client.list_hits, client.list_reviewable_hits, client.list_worker_blocks):
        assert page_sizes(list_page) == [0]
    hit = create_hit(client)
    assert page_sizes(client.list_assignments_for_hit, HITId=hit["HITId"]) == [0]
    assert page_sizes(client.list_bonus_payments, HITId=hit["HITId"]) == [0]


def test_19_assignments_come_in_pages_in_order_of_submission(client, workers):
    hit = create_hit(client, MaxAssignments=3)
    taken = [worker.do(hit["HITId"])["assignment_id"] for worker in workers]
    client.reject_assignment(AssignmentId=taken[1], RequesterFeedback="empty")
    pages = client.get_paginator("list_assignments_for_hit").paginate(
        HITId=hit["HITId"], PaginationConfig={"PageSize": 1}
    )
    assert [a["AssignmentId"] for page in pages for a in page["Assignments"]] == taken
    assert page_sizes(client.list_assignments_for_hit, HITId=hit["HITId"], MaxResults=2) == [2, 1, 0]
    assert page_sizes(
        client.list_assignments_for_hit, HITId=hit["HITId"], AssignmentStatuses=["Submitted"], MaxResults=2
    ) == [2, 0]


def test_20_a_token_that_nobody_made_is_refused(client, subtests):
    for token in ["garbage", "p1:AAAA==", "é", "a" * 255, "a" * 256]:
        with subtests.test(token=token):
            with pytest.raises(ClientError) as caught:
                client.list_hits(NextToken=token)
            assert caught.value.response["Error"]["Code"] in ("ValidationException", "RequestError")


def test_20_a_token_belongs_to_its_operation_filters_and_requester(client, new_requester):
    hits = [create_hit(client) for _ in range(2)]
    token = client.list_hits(MaxResults=1)["NextToken"]
    stranger = new_requester().client
    create_hit(stranger)
    for call in (
        lambda: client.list_reviewable_hits(NextToken=token),
        lambda: client.list_worker_blocks(NextToken=token),
        lambda: client.list_assignments_for_hit(HITId=hits[0]["HITId"], NextToken=token),
        lambda: stranger.list_hits(NextToken=token),
        lambda: client.list_hits(NextToken=token[:-1] + ("A" if token[-1] != "A" else "B")),
    ):
        with pytest.raises(ClientError) as caught:
            call()
        assert caught.value.response["Error"]["Code"] in ("ValidationException", "RequestError")
    for hit in hits:
        client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    token = client.list_reviewable_hits(HITTypeId=hits[0]["HITTypeId"], MaxResults=1)["NextToken"]
    with pytest.raises(ClientError):
        client.list_reviewable_hits(HITTypeId=hits[1]["HITTypeId"], NextToken=token)
    assert client.list_reviewable_hits(HITTypeId=hits[0]["HITTypeId"], NextToken=token)["NumResults"] == 0
