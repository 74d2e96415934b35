"""Odd posts from task pages and worker scripts: recorded as sent, or refused in words; never a fault."""

import json

import pytest

from tests.clients import ask, external_question
from tests.conformance.protocol import answer_fields, assignments, create_hit, get_hit, places

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=B"


def part(disposition, text):
    return f"--B\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{text}\r\n--B--\r\n".encode()


@pytest.fixture
def client(server):
    return server.requester().client


@pytest.fixture(scope="module")
def worker(server):
    return server.worker()


def test_an_odd_form_is_recorded_as_far_as_xml_can_carry_it(client, worker, subtests):
    """The answer is what the requester gets, so it must parse."""
    for content_type, body, recorded in [
        (FORM, b"a=1&a=2&a=3", {"a": "1|2|3"}),
        (FORM, b"a=%00x&b=%01%1b", {"a": "\ufffdx", "b": "\ufffd\ufffd"}),
        (FORM, b"a=%ff%fe&b=%ed%a0%80", {"a": "\ufffd" * 2, "b": "\ufffd" * 3}),
        (FORM, "a=\uffff🧪".encode(), {"a": "\ufffd🧪"}),
        (FORM, b"=no+name&a=1", {"": "no name", "a": "1"}),
        (FORM, b"a=%3C/FreeText%3E%26amp%3B]]%3E", {"a": "</FreeText>&amp;]]>"}),
        (FORM, b"a=" + b"x" * 1_000_000, {"a": "x" * 1_000_000}),
        (FORM, "&".join(f"f{n}={n}" for n in range(5000)).encode(), {f"f{n}": str(n) for n in range(5000)}),
        (f"{FORM}; charset=nonsense", b"a=1", {"a": "1"}),
        (MULTIPART, part('name="a"', "1"), {"a": "1"}),
    ]:
        with subtests.test(content_type=content_type, body=body):
            hit = create_hit(client)
            taken = worker.accept(hit["HITId"])
            said = ask("POST", taken["submit_url"], body, {"Content-Type": content_type})
            assert said.status == 200
            worker.in_hand.clear()
            [assignment] = assignments(client, hit)
            assert answer_fields(assignment) == recorded


def test_what_is_no_web_form_is_refused_and_can_be_sent_again(client, worker, subtests):
    """Never recorded as an empty answer; the page that says so may be framed."""
    for content_type, body in [
        (FORM, b""),
        ("application/json", b'{"assignmentId": "", "a": 1}'),
        ("text/plain", b"a=1"),
        (f"{FORM}; charset=utf-16", b"a=1"),
        ("multipart/form-data", b"a=1"),
        (MULTIPART, b"--B\r\nnot a part"),
        (MULTIPART, part('name="a"; filename="a.txt"', "1")),
        (FORM, "&".join(f"f{n}={n}" for n in range(20_000)).encode()),
    ]:
        with subtests.test(content_type=content_type, body=body):
            hit = create_hit(client)
            taken = worker.accept(hit["HITId"])
            said = ask("POST", taken["submit_url"], body, {"Content-Type": content_type})
            assert said.status == 400
            assert "nothing was recorded" in said.text.lower()
            assert "x-frame-options" not in said.headers
            assert "frame-ancestors" not in said.headers["content-security-policy"]
            assert assignments(client, hit) == []
            assert places(get_hit(client, hit)) == (1, 0, 0)
            assert worker.submit(taken, a="1").status == 200


def test_only_a_post_submits(client, worker, subtests):
    for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]:
        with subtests.test(method=method):
            hit = create_hit(client)
            taken = worker.accept(hit["HITId"])
            assert ask(method, taken["submit_url"]).status == 405
            assert assignments(client, hit) == []
            worker.give_back(taken)


@pytest.mark.parametrize("what", ["next", "accept", "return"])
def test_garbage_at_the_worker_api_is_refused_in_json(server, worker, what):
    for body in (
        *(b"[]", b"null", b"{", b'{"hit_id": 1}', b'{"hit_id": null}', b'{"hit_id": "\\u0000"}'),
        *(b'{"group_id": "\\ud800"}', b'{"assignment_id": "' + b"9" * 100_000 + b'"}'),
        *(b"[" * 100_000, b"9" * 5000, b"\xff", b"x" * 2_600_000),
    ):
        headers = {"Authorization": f"Bearer {worker.token}"}
        said = ask("POST", f"{server.url}/worker-api/{what}", body, headers)
        assert said.status == 400, body[:40]
        assert set(said.json()) == {"error", "message"}


def test_the_worker_api_wants_a_token(server, subtests):
    for token in ["", "x", "Bearer", "é" * 20, "a" * 5000]:
        with subtests.test(token=token):
            said = ask("POST", f"{server.url}/worker-api/next", b"{}", {"Authorization": f"Bearer {token}"})
            assert (said.status, said.json()["error"]) == (401, "Unauthorized")


def test_garbage_at_the_test_controls_is_refused_in_json(server, subtests):
    for what, value in [
        ("clock", {}),
        ("clock", {"advance_seconds": -1}),
        ("clock", {"advance_seconds": True}),
        ("clock", {"advance_seconds": 1.5}),
        ("clock", {"advance_seconds": 10**13}),
        ("chaos", {"access_key": []}),
        ("chaos", {"access_key": "\0"}),
        ("chaos", {"earthquake": 1}),
        ("chaos", {"error_rate": 2}),
        ("reset", {"data": 1}),
        ("reset", {"everything": True}),
        ("reset", []),
    ]:
        with subtests.test(what=what, value=value):
            before = server.advance(0)
            headers = {"Authorization": f"Bearer {server.test_token}"}
            said = ask("POST", f"{server.url}/mturk/test/{what}", json.dumps(value).encode(), headers)
            assert said.status == 400
            assert said.json()["error"]
            assert server.advance(0) - before < 60


def test_the_test_controls_want_their_token(server):
    """A worker's or requester's word is not enough."""
    before = server.advance(0)
    for what, value in (("clock", b'{"advance_seconds": 3600}'), ("reset", b'{"data": true}')):
        for bearer in ("", "x", "é"):
            headers = {"Authorization": f"Bearer {bearer}"}
            assert ask("POST", f"{server.url}/mturk/test/{what}", value, headers).status == 401
    assert server.advance(0) - before < 60


def test_a_question_with_every_kind_of_url_is_shown_or_refused(client, worker):
    """What CreateHIT takes, the frame can show."""
    for url in (
        "https://tasks.example.org",
        "https://tasks.example.org?",
        "https://tasks.example.org/?a=1&",
        "https://tasks.example.org/?a=1&a=2#frag?ment",
        "https://tasks.example.org:8443/ü?q=ö",
        "https://[2001:db8::1]/x",
        "https://tasks.example.org/a%20b?c=%3D",
    ):
        try:
            hit = create_hit(client, Question=external_question(url))
        except client.exceptions.RequestError:
            continue
        taken = worker.accept(hit["HITId"])
        assert taken["frame_url"].count("?") - url.count("#frag?") == 1
        assert f"assignmentId={taken['assignment_id']}" in taken["frame_url"]
        worker.give_back(taken)
