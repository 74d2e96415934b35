"""Only who holds an assignment can submit it, however the post was come by."""

import random

import pytest

from tests.clients import RefusedError, post_form
from tests.conformance.protocol import answer_fields, assignments, create_hit, get_hit, places


@pytest.fixture
def client(server):
    return server.requester().client


def test_a_post_never_lands_on_another_holder(server, client):
    """Three workers take, return, let lapse and post late at random; each answer is its sender's own."""
    chance = random.Random(71)
    workers = [server.worker() for _ in range(3)]
    hits = [create_hit(client, AssignmentDurationInSeconds=60, LifetimeInSeconds=86400) for _ in range(8)]
    for hit in hits:
        past = []
        for _ in range(12):
            worker = chance.choice(workers)
            move = chance.random()
            if move < 0.45:
                try:
                    past.append((worker, worker.accept(hit["HITId"])))
                except RefusedError:
                    continue
            elif not past:
                continue
            elif move < 0.65:
                worker, taken = past[-1]
                try:
                    worker.give_back(taken)
                except RefusedError:
                    continue
            elif move < 0.75:
                server.advance(61)
            else:
                sender, taken = chance.choice(past)
                said = sender.submit(taken, sender=sender.worker_id, url=taken["submit_url"])
                assert said.status == 200 or 400 <= said.status < 500
        for assignment in assignments(client, hit):
            fields = answer_fields(assignment)
            assert fields["sender"] == assignment["WorkerId"]
            holders = [taken["submit_url"] for worker, taken in past if worker.worker_id == fields["sender"]]
            assert fields["url"] in holders
    assert any(assignments(client, hit) for hit in hits)


def test_a_bare_submit_without_a_session_is_refused(server, client):
    """assignmentId and workerId are no proof of anything."""
    worker = server.worker()
    hit = create_hit(client)
    taken = worker.accept(hit["HITId"])
    fields = {
        "assignmentId": taken["assignment_id"],
        "workerId": worker.worker_id,
        "hitId": hit["HITId"],
        "answer": "forged",
    }
    for path in ("/mturk/externalSubmit", "//mturk/externalSubmit"):
        said = post_form(f"{server.url}{path}", fields)
        assert 400 <= said.status < 500
        assert "<html" in said.text.lower()
    assert assignments(client, hit) == []
    assert places(get_hit(client, hit)) == (1, 0, 0)


def test_a_forged_or_changed_signature_is_refused(server, client):
    """The address of one assignment says nothing about another."""
    worker = server.worker()
    hits = [create_hit(client) for _ in range(2)]
    mine, other = (worker.accept(hit["HITId"]) for hit in hits)
    signed = mine["turk_submit_to"].rsplit("/", 1)[1]
    foreign = other["turk_submit_to"].rsplit("/", 1)[1]
    # Behind the tilde the marketplace vouches for the arrival at the page, not for what is sent.
    signed, foreign = (each.partition("~")[0] for each in (signed, foreign))
    number, separator, signature = signed.partition("-")
    forged = [
        foreign.partition("-")[0] + separator + signature,
        number + separator,
        number,
        signed[:-1],
        signed + "A",
        signed.swapcase(),
        "%00",
        "0-" + signature,
        "9" * 400 + separator + signature,
    ]
    for name in forged:
        url = f"{server.url}/s/{name}/mturk/externalSubmit"
        said = post_form(url, {"assignmentId": mine["assignment_id"], "answer": "forged"})
        assert 400 <= said.status < 500, name
    said = post_form(mine["submit_url"], {"assignmentId": other["assignment_id"], "answer": "mixed up"})
    assert 400 <= said.status < 500, "the signed address and the assignmentId in the form must agree"
    assert assignments(client, hits[0]) == assignments(client, hits[1]) == []
