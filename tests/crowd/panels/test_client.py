"""The client of Prolific's API against the simulated panel over HTTP, with what goes wrong on the way."""

import json
import socket
import threading
from contextlib import contextmanager
from datetime import date, timedelta

import pytest
from distillery_panel_simulator.prolific_hooks import sign_delivery

from crowd.adapters.base import (
    CallRefusal,
    CallSuccess,
    CallThrottling,
    MarketplaceDownError,
    MarketplaceRefusedError,
    Unknown,
)
from crowd.adapters.panel import SignatureError, verify_hook
from crowd.adapters.panel_http import NotFoundError
from crowd.adapters.prolific_client import ProlificClient
from tests.crowd.panels.worlds import REASON, TOKEN, Panel, draft, served

LOST = {"lost_before": "not done", "lost_after": "done"}


@pytest.fixture(scope="module")
def server():
    with served(Panel()) as panel:
        yield panel


@pytest.fixture
def panel(server):
    server.control("faults")
    server.control("reset")
    return server


@pytest.fixture
def client(panel):
    return ProlificClient(url=panel.simulator.site, token=TOKEN)


@pytest.fixture
def workspace(panel):
    return panel.get("/_control/state")["workspace_id"]


@contextmanager
def answering(raw):
    """The address of something that answers everything with these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def talk():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65_536)
                    connection.sendall(raw)

        threading.Thread(target=talk, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def answer_of(status, body, *headers, kind="application/json"):
    lines = [
        f"HTTP/1.1 {status} X",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return "\r\n".join([*lines, *headers, "", body]).encode()


def publish(client, **fields):
    made = client.create_study(draft(**fields))
    assert isinstance(made, CallSuccess)
    assert client.move_study(made.ref, "PUBLISH").raw["status"] == "ACTIVE"
    return made.ref


# Every operation that we use


def test_a_study_from_draft_to_its_end(client, panel, workspace):
    assert client.least_reward_per_hour(workspace, "USD") == (800, 1200)
    assert client.total_cost(reward=160, places=3) == 3 * 224
    study = publish(client, internal_name="distillery/1")
    assert client.find_study("distillery/1")["id"] == study
    assert client.find_study("distillery/2") is None
    assert client.balance(workspace)["available_balance"] == 1_000_000 - 3 * 224
    assert client.change_study(study, {"total_available_places": 4}).raw["total_available_places"] == 4
    assert isinstance(client.change_study(study, {"total_available_places": 3}), CallRefusal)
    assert [client.move_study(study, each).raw["status"] for each in ("PAUSE", "START", "STOP")] == [
        "PAUSED",
        "ACTIVE",
        "COMPLETED",
    ]
    assert client.cost(study, is_projected=True)["rewards"]["rewards"]["amount"] == 640
    with pytest.raises(NotFoundError):
        client.study("0" * 24)


def test_submissions_are_listed_looked_at_and_decided(client, panel):
    study = publish(client, total_available_places=8)
    first, second, third = (panel.submit({"id": study}) for _ in range(3))
    assert [each["id"] for each in client.submissions(study)] == [first, second, third]
    assert client.submission(first)["entered_code"] == "DONE"
    assert client.move_submission(first, "APPROVE").raw["status"] == "APPROVED"
    assert client.move_submission(first, "APPROVE").raw["status"] == "APPROVED"
    short = client.move_submission(second, "REJECT", message="No.", rejection_category="NO_DATA")
    assert isinstance(short, CallRefusal) and "100" in short.text
    assert isinstance(
        client.move_submission(second, "REJECT", message=REASON, rejection_category="NO_DATA"), CallSuccess
    )
    assert isinstance(client.request_return(third, ["No answers came."]), CallSuccess)
    assert client.submission(third)["return_requested"]
    assert [each["id"] for each in client.submissions(study, status="AWAITING_REVIEW")] == [third]
    today = date.fromisoformat(panel.state.stamp()[:10])
    assert len(list(client.submissions(study, since=today, until=today + timedelta(1)))) == 3
    assert list(client.submissions(study, until=today)) == []
    assert client.count_submissions(study)["APPROVED"] == 1
    assert isinstance(client.move_submission(third, "APPROVE"), CallSuccess)
    assert panel.payments() == [("reward", 160)] * 2


def test_bonuses_are_set_up_in_decimals_and_paid_in_minor_units(client, panel):
    study = publish(client)
    submission = panel.submit({"id": study})
    prepared = client.set_up_bonuses(study, [(submission, 5), (submission, 123456)])
    assert (prepared.raw["amount"], panel.payments()) == (123461, [])
    assert isinstance(client.pay_bonuses(prepared.ref), CallSuccess)
    panel.control("clock", seconds=200)
    assert client.submission(submission)["bonus_payments"] == [5, 123456]
    unknown = client.set_up_bonuses(study, [("0" * 24, 5)])
    assert isinstance(unknown, CallRefusal) and "0" * 24 in unknown.text
    for lines in ([], [(submission, 1)] * 201):
        with pytest.raises(ValueError, match="1 to 200"):
            client.set_up_bonuses(study, lines)


def test_groups_and_messages(client, panel, workspace):
    people = panel.people(30)
    group = client.create_group(workspace, "seen", "Who took part").ref
    assert client.find_group(workspace, "seen") == group
    assert client.find_group(workspace, "unseen") is None
    for _ in range(2):
        assert isinstance(client.add_to_group(group, people[:2]), CallSuccess)
        assert isinstance(client.remove_from_group(group, people[:1]), CallSuccess)
    assert list(panel.state.get("group", group)["members"]) == [people[1]]
    study = publish(client)
    assert isinstance(client.send_message(people[0], "Hello", study), CallSuccess)
    assert isinstance(client.send_messages(people, "Hello", study), CallSuccess)
    panel.control("message", participant_id=people[0], body="My page was empty.")
    assert [each["body"] for each in client.unread_messages()] == ["My page was empty."]


def test_hooks_are_subscribed_and_listed(client, panel, workspace):
    secret = client.hook_secret(workspace)
    assert client.hook_secret(workspace) == secret
    hook = client.subscribe(workspace, "submission.status.change", "https://lab.example.org/hook")
    assert [(each["id"], each["is_enabled"]) for each in client.subscriptions(workspace)] == [(hook, True)]
    with pytest.raises(MarketplaceRefusedError, match="target_url"):
        client.subscribe(workspace, "submission.status.change", "http://lab.example.org/")


def test_all_pages_of_lists_are_read_in_each_of_their_forms(client, panel, workspace):
    study = publish(client, total_available_places=130)
    submissions = [panel.submit({"id": study}) for _ in range(120)]
    assert [each["id"] for each in client.submissions(study)] == submissions
    for number in range(101):
        client.create_group(workspace, f"group {number}", "")
    assert client.find_group(workspace, "group 100")
    made = {client.create_study(draft()).ref for _ in range(25)} | {study}
    assert {each["id"] for each in client.chain("/api/v1/studies/", page=1)} == made


# What goes wrong


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_reply_of_a_call_that_writes_says_nothing(client, panel, workspace, fault):
    study = publish(client, total_available_places=9)
    submission = panel.submit({"id": study})
    prepared = client.set_up_bonuses(study, [(submission, 100)]).ref
    people = panel.people(2)
    group = client.create_group(workspace, "seen", "").ref
    calls = {
        "create_study": lambda: client.create_study(draft(internal_name="lost")),
        "change_study": lambda: client.change_study(study, {"total_available_places": 10}),
        "approve": lambda: client.move_submission(submission, "APPROVE"),
        "set_up": lambda: client.set_up_bonuses(study, [(submission, 200)]),
        "pay": lambda: client.pay_bonuses(prepared),
        "group": lambda: client.add_to_group(group, people),
        "message": lambda: client.send_message(people[0], "Hello", study),
        "stop": lambda: client.move_study(study, "STOP"),
    }
    for name, call in calls.items():
        panel.control("faults", **{fault: 1})
        assert isinstance(call(), Unknown), name
    panel.control("faults")
    panel.control("clock", seconds=300)
    effects = {
        "create_study": client.find_study("lost") is not None,
        "change_study": client.study(study)["total_available_places"] == 10,
        "approve": ("reward", 160) in panel.payments(),
        "pay": client.submission(submission)["bonus_payments"] == [100],
        "group": set(panel.state.get("group", group)["members"]) == set(people),
        "stop": client.study(study)["status"] == "COMPLETED",
    }
    assert effects == dict.fromkeys(effects, LOST[fault] == "done")


def test_errors_in_all_forms_say_nothing_of_a_write_and_are_down_for_a_read(client, panel, workspace):
    panel.control("faults", error=3)
    texts = [client.create_study(draft()).text for _ in range(3)]
    assert texts[0].startswith("500: Error: An unexpected error")
    assert texts[1].startswith("503: Service unavailable: The service")
    assert texts[2].startswith("502: HTTP 502: <html>")
    for form in ("error", "message", "text"):
        panel.control("faults", error=1, error_form=form)
        with pytest.raises(MarketplaceDownError, match=r"50[023]"):
            client.balance(workspace)


def test_too_many_calls_are_a_pause_and_no_answer(client, panel, workspace):
    panel.control("faults", throttle=2)
    assert client.create_study(draft()) == CallThrottling(2.0)
    with pytest.raises(MarketplaceDownError, match="429"):
        client.total_cost(reward=160, places=1)
    for told, seconds in (("7", 7.0), ("Mon, 23 Nov 2026 23:00:00 GMT", 2.0), ("1e9", 2.0), ("99999", 600.0)):
        with answering(answer_of(429, "{}", f"Retry-After: {told}")) as url:
            assert ProlificClient(url=url, token=TOKEN).pay_bonuses("x") == CallThrottling(seconds)


def test_a_wrong_token_and_foreign_ids_are_refused(client, panel, workspace):
    wrong = ProlificClient(url=panel.simulator.site, token="wrong")
    assert wrong.create_study(draft()).code == "AWS.NotAuthorized"
    with pytest.raises(MarketplaceRefusedError, match="401"):
        wrong.balance(workspace)
    with pytest.raises(NotFoundError):
        client.submission("0" * 24)
    assert client.move_submission("0" * 24, "APPROVE").code == "404"


def test_what_is_no_answer_of_the_panel_is_unknown_for_what_makes_something(subtests):
    for raw in [
        answer_of(403, "<html>Blocked by the firewall</html>", kind="text/html"),
        answer_of(404, "not here"),
        answer_of(200, "<html>Please log in</html>", kind="text/html"),
        answer_of(201, "{}"),
        answer_of(201, "[]"),
        answer_of(201, '"text"'),
        answer_of(302, "", "Location: https://elsewhere.example.org/"),
        answer_of(500, '{"error": null}'),
        answer_of(500, '{"error": {"detail": {"a": [1, null]}}}'),
        b"HTTP/1.1 201 X\r\nContent-Length: 100\r\n\r\n{",
        b"garbage",
        b"",
    ]:
        with subtests.test(raw=raw), answering(raw) as url:
            client = ProlificClient(url=url, token=TOKEN)
            assert isinstance(client.create_study(draft()), Unknown)
            assert isinstance(client.set_up_bonuses("s", [("x", 1)]), Unknown)
            with pytest.raises(MarketplaceDownError):
                list(client.submissions("s"))
            with pytest.raises(MarketplaceDownError):
                client.total_cost(reward=1, places=1)


def test_a_list_does_not_lead_the_token_to_another_address():
    body = json.dumps(
        {"results": [], "_links": {"next": {"href": "http://127.0.0.1:9/api/v1/studies/?page=2"}}}
    )
    last = json.dumps({"results": [{"internal_name": "x", "id": "1"}]})
    asked = []

    class Reader(ProlificClient):
        def call(self, method, path, *, query=None, body=None):
            asked.append((path, dict(query or {})))
            return super().call(method, path, query=query, body=body)

    with answering(answer_of(200, body)) as url:
        reader = Reader(url=url, token=TOKEN)
        pages = reader.chain("/api/v1/studies/")
        real = reader.call
        answers = iter([body, last])

        def call(method, path, *, query=None, body=None):
            found = real(method, path, query=query)
            return type(found)(200, next(answers).encode(), {})

        reader.call = call
        assert [each["id"] for each in pages] == ["1"]
    assert asked == [("/api/v1/studies/", {}), ("/api/v1/studies/", {"page": "2"})]


# Signatures


def test_a_hook_is_believed_only_with_the_signature_of_its_bytes_and_while_it_is_fresh():
    body, moment = b'{"resource_id": "1",  "status": "\xc3\xa9"}', 1_800_000_000
    given = {"secret": "s", "timestamp": str(moment), "body": body, "now": moment + 10.0}
    signature = sign_delivery("s", str(moment), body)
    verify_hook(**given, signature=signature)
    for change in (
        {"body": body.replace(b"  ", b" ")},
        {"secret": "t"},
        {"timestamp": str(moment + 1)},
        {"now": moment + 301.0},
        {"now": moment - 301.0},
        {"timestamp": "x"},
    ):
        with pytest.raises(SignatureError):
            verify_hook(**(given | change), signature=signature)
    for wrong in ("", "x", signature[:-4], signature + "=", "é"):
        with pytest.raises(SignatureError):
            verify_hook(**given, signature=wrong)
