"""Checks 23-32: a worker's way through a HIT, as the requester sees it."""

import threading
from datetime import timedelta
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.clients import RefusedError, ask, external_question, post_form
from tests.conformance.protocol import (
    ENTITY_ID,
    answer_fields,
    assignments,
    create_hit,
    get_hit,
    places,
    refused_request,
)

NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"
TASK_PAGE = "https://tasks.example.org/unit?id=7&lang=en&q=a%26b"


class Frames(HTMLParser):
    """Sources of the iframes of a page."""

    def __init__(self, page):
        super().__init__()
        self.sources = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "iframe":
            self.sources.append(dict(attrs)["src"])


def query_of(url):
    assert url.count("?") == 1
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


@pytest.fixture
def preview(market, worker):
    """The task page's address in the preview of a HIT, as a visitor of the worker site gets it."""

    def get(hit):
        page = ask("GET", f"{market.site_url}/projects/{hit['HITGroupId']}/tasks")
        assert page.status == 200, page.text[:300]
        [source] = Frames(page.text).sources
        return source

    return get


def test_23_the_preview_shows_the_task_page_without_an_assignment(client, preview):
    source = preview(create_hit(client, Question=external_question(TASK_PAGE)))
    query = query_of(source)
    assert source.startswith(TASK_PAGE)
    assert (query["id"], query["lang"], query["q"]) == ("7", "en", "a&b")
    assert query["assignmentId"] == NOT_AVAILABLE
    assert not query.get("turkSubmitTo", "").endswith("/")


def test_23_the_working_page_gets_the_assignment_and_where_to_submit(client, worker):
    hit = create_hit(client, Question=external_question(TASK_PAGE))
    taken = worker.accept(hit["HITId"])
    query = query_of(taken["frame_url"])
    assert taken["frame_url"].startswith(TASK_PAGE)
    assert (query["id"], query["lang"], query["q"]) == ("7", "en", "a&b")
    assert query["assignmentId"] == taken["assignment_id"]
    assert query["hitId"] == hit["HITId"]
    assert query["workerId"] == worker.worker_id
    assert query["turkSubmitTo"] == taken["turk_submit_to"]
    assert not query["turkSubmitTo"].endswith("/")
    assert taken["submit_url"] == f"{query['turkSubmitTo']}/mturk/externalSubmit"


def test_23_a_task_page_without_a_query_gets_one(client, worker):
    hit = create_hit(client, Question=external_question("https://tasks.example.org/unit#top"))
    url = worker.accept(hit["HITId"])["frame_url"]
    assert query_of(url)["hitId"] == hit["HITId"]
    assert urlsplit(url).fragment == "top"


def test_24_accepting_takes_a_place_and_shows_nothing_to_the_requester(client, worker):
    hit = create_hit(client, MaxAssignments=3)
    assert worker.next(hit["HITGroupId"])["hit_id"] == hit["HITId"]
    taken = worker.accept(group_id=hit["HITGroupId"])
    assert taken["hit_id"] == hit["HITId"]
    assert ENTITY_ID.fullmatch(taken["assignment_id"])
    assert places(get_hit(client, hit)) == (1, 2, 0)
    with refused_request(
        "InvalidAssignmentState",
        "This operation can be called with a status of: Reviewable,Approved,Rejected",
    ):
        client.get_assignment(AssignmentId=taken["assignment_id"])
    assert assignments(client, hit) == []


def test_24_an_assignment_of_nobody_does_not_exist(client):
    nobody = "3" + "Z" * 29
    with refused_request("AssignmentDoesNotExist", f"Assignment {nobody} does not exist."):
        client.get_assignment(AssignmentId=nobody)


def test_25_a_submitted_answer_reaches_the_requester(client, worker):
    hit = create_hit(client, AutoApprovalDelayInSeconds=7200)
    taken = worker.accept(hit["HITId"])
    fields = {"a": "1", "b": "x", "c": "Größe <b>&amp;</b> 🧪\r\nline two", "empty": ""}
    reserved = {"hitId": hit["HITId"], "workerId": worker.worker_id, "turkSubmitTo": "x"}
    assert worker.submit(taken, **fields, **reserved).status == 200
    [assignment] = assignments(client, hit)
    got = answer_fields(assignment)
    assert {name: text.replace("\r\n", "\n") for name, text in got.items()} == {
        name: text.replace("\r\n", "\n") for name, text in fields.items()
    }
    assert assignment["AssignmentId"] == taken["assignment_id"]
    assert assignment["WorkerId"] == worker.worker_id
    assert assignment["HITId"] == hit["HITId"]
    assert assignment["AssignmentStatus"] == "Submitted"
    assert assignment["AutoApprovalTime"] - assignment["SubmitTime"] == timedelta(seconds=7200)
    assert assignment["Deadline"] - assignment["AcceptTime"] == timedelta(seconds=600)
    assert assignment["AcceptTime"] <= assignment["SubmitTime"]
    assert not {"ApprovalTime", "RejectionTime", "RequesterFeedback"} & set(assignment)
    assert places(get_hit(client, hit)) == (0, 0, 0)
    both = client.get_assignment(AssignmentId=taken["assignment_id"])
    assert both["Assignment"] == assignment
    assert both["HIT"] == get_hit(client, hit)


def test_25_a_client_that_doubles_the_slash_submits_too(client, worker):
    hit = create_hit(client)
    taken = worker.accept(hit["HITId"])
    url = f"{taken['turk_submit_to']}//mturk/externalSubmit"
    assert post_form(url, {"assignmentId": taken["assignment_id"], "a": "1"}).status == 200
    assert answer_fields(assignments(client, hit)[0]) == {"a": "1"}


def test_26_submitting_twice_records_the_first_answer_once(client, worker):
    hit = create_hit(client)
    taken = worker.accept(hit["HITId"])
    first, second = worker.submit(taken, a="first"), worker.submit(taken, a="second")
    assert (first.status, second.status) == (200, 200)
    [assignment] = assignments(client, hit)
    assert answer_fields(assignment) == {"a": "first"}


def test_27_submitting_from_the_preview_is_an_error(client, market, worker, preview):
    hit = create_hit(client)
    target = query_of(preview(hit)).get("turkSubmitTo") or market.site_url
    answer = post_form(f"{target}/mturk/externalSubmit", {"assignmentId": NOT_AVAILABLE, "a": "1"})
    assert 400 <= answer.status < 500
    assert assignments(client, hit) == []
    assert places(get_hit(client, hit)) == (0, 1, 0)
    taken = worker.accept(hit["HITId"])
    assert post_form(taken["submit_url"], {"assignmentId": NOT_AVAILABLE, "a": "1"}).status == 200
    assert [each["AssignmentId"] for each in assignments(client, hit)] == [taken["assignment_id"]]


def test_28_after_the_deadline_a_post_is_refused_and_the_place_is_open_again(client, worker, advance):
    hit = create_hit(client, AssignmentDurationInSeconds=30)
    taken = worker.accept(hit["HITId"])
    advance(31)
    answer = worker.submit(taken, a="late")
    assert 400 <= answer.status < 500
    assert assignments(client, hit) == []
    assert places(get_hit(client, hit)) == (0, 1, 0)
    assert worker.accept(hit["HITId"])["assignment_id"] == taken["assignment_id"]


def test_29_the_next_holder_of_a_returned_place_gets_the_same_assignment_id(client, workers):
    first, second, _ = workers
    hit = create_hit(client)
    given_back = first.accept(hit["HITId"])
    first.give_back(given_back)
    assert places(get_hit(client, hit)) == (0, 1, 0)
    taken = second.accept(hit["HITId"])
    assert taken["assignment_id"] == given_back["assignment_id"]
    assert taken["submit_url"] != given_back["submit_url"]
    late = first.submit(given_back, a="late")
    assert 400 <= late.status < 500
    assert assignments(client, hit) == []
    assert second.submit(taken, a="in time").status == 200
    assert 400 <= first.submit(given_back, a="later still").status < 500
    [assignment] = assignments(client, hit)
    assert assignment["WorkerId"] == second.worker_id
    assert answer_fields(assignment) == {"a": "in time"}


def test_29_nobody_returns_what_another_worker_holds(client, workers):
    first, second, _ = workers
    hit = create_hit(client)
    taken = first.accept(hit["HITId"])
    with pytest.raises(RefusedError) as caught:
        second.give_back(taken)
    assert caught.value.status == 404
    assert places(get_hit(client, hit)) == (1, 0, 0)
    assert first.submit(taken, a="1").status == 200


def test_30_a_worker_does_a_hit_once_but_may_return_and_take_it_again(client, worker):
    hit = create_hit(client, MaxAssignments=3)
    worker.give_back(worker.accept(hit["HITId"]))
    taken = worker.accept(hit["HITId"])
    with pytest.raises(RefusedError) as caught:
        worker.accept(hit["HITId"])
    assert 400 <= caught.value.status < 500
    assert worker.submit(taken, a="1").status == 200
    with pytest.raises(RefusedError):
        worker.accept(hit["HITId"])
    assert worker.next(hit["HITGroupId"]) is None
    with pytest.raises(RefusedError):
        worker.accept(group_id=hit["HITGroupId"])
    assert places(get_hit(client, hit)) == (0, 2, 0)


def test_31_three_workers_racing_for_two_places_never_hold_three(client, workers):
    properties = {"Title": "A race for two places", "MaxAssignments": 2}
    hits = [create_hit(client, **properties) for _ in range(20)]
    gate = threading.Barrier(len(workers), timeout=60)
    held = {hit["HITId"]: 0 for hit in hits}
    lock = threading.Lock()

    def race(worker):
        for hit in hits:
            gate.wait()
            try:
                taken = worker.accept(hit["HITId"])
            except RefusedError:
                continue
            with lock:
                held[hit["HITId"]] += 1
            worker.submit(taken, a="1")

    threads = [threading.Thread(target=race, args=[worker]) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(held.values()) == {2}
    for hit in hits:
        assert places(get_hit(client, hit)) == (0, 0, 0)
        assert len(assignments(client, hit)) == 2


def test_32_a_hit_is_reviewable_when_all_its_work_is_submitted(client, workers):
    first, second, _ = workers
    hit = create_hit(client, MaxAssignments=2)

    def reviewable():
        found = client.list_reviewable_hits(HITTypeId=hit["HITTypeId"])["HITs"]
        return [item["HITId"] for item in found]

    taken = first.accept(hit["HITId"])
    assert get_hit(client, hit)["HITStatus"] == "Assignable"
    other = second.accept(hit["HITId"])
    assert get_hit(client, hit)["HITStatus"] == "Unassignable"
    first.submit(taken, a="1")
    assert get_hit(client, hit)["HITStatus"] == "Unassignable"
    assert reviewable() == []
    second.submit(other, a="1")
    assert get_hit(client, hit)["HITStatus"] == "Reviewable"
    assert reviewable() == [hit["HITId"]]
