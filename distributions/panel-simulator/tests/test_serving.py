"""The simulated panel over HTTP: faults on the way, the wallet, hooks, and kills."""

import base64
import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import urllib3
from distillery_panel_simulator.prolific_server import serve

from tests.crowd.panels.worlds import TOKEN, Panel, draft

ROOT = Path(__file__).resolve().parents[3]


class Wire:
    """Calls over HTTP, never repeated."""

    def __init__(self, site):
        self.site = site
        self.pool = urllib3.PoolManager(retries=False, timeout=20, maxsize=8)

    def send(self, method, path, body=None):
        prefix = "" if path.startswith("/_control") else "/api/v1"
        return self.pool.request(
            method,
            f"{self.site}{prefix}{path}",
            json=body,
            headers={"Authorization": f"Token {TOKEN}"},
        )

    def post(self, path, body=None):
        answer = self.send("POST", path, body)
        assert answer.status < 300, answer.data
        return answer.json()

    def get(self, path):
        answer = self.send("GET", path)
        assert answer.status == 200, answer.data
        return answer.json()


@pytest.fixture
def panel():
    made = Panel()
    server = serve(made.simulator, 0)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    made.wire = Wire(made.simulator.site)
    yield made
    server.shutdown()
    server.server_close()
    made.simulator.close()


def test_replies_are_lost_before_and_after_the_effect(panel):
    for fault, studies in (("lost_before", 0), ("lost_after", 1)):
        panel.control("faults", **{fault: 1})
        with pytest.raises(urllib3.exceptions.ProtocolError):
            panel.wire.send("POST", "/studies/", draft())
        assert len(panel.wire.get("/studies/")["results"]) == studies
        panel.control("faults")


def test_every_post_can_lose_its_reply_after_the_effect(panel):
    study = panel.publish()
    submission = panel.submit(study)
    bonus = panel.post(
        "/submissions/bonus-payments/", {"study_id": study["id"], "csv_bonuses": f"{submission},1.50"}
    )
    panel.control("faults", lost_after=1.0)
    for path, body in (
        (f"/submissions/{submission}/transition/", {"action": "APPROVE"}),
        (f"/bulk-bonus-payments/{bonus['id']}/pay/", None),
        ("/participant-groups/", {"name": "lost"}),
    ):
        with pytest.raises(urllib3.exceptions.ProtocolError):
            panel.wire.send("POST", path, body)
    panel.control("clock", seconds=300)
    assert panel.payments() == [("reward", 160), ("bonus", 150)]
    assert [each["name"] for each in panel.wire.get("/participant-groups/")["results"]] == ["lost"]


def test_errors_come_in_three_forms_and_change_nothing(panel):
    panel.control("faults", error=3, path="/studies/")
    answers = [panel.wire.send("POST", "/studies/", draft()) for _ in range(3)]
    assert [each.status for each in answers] == [500, 503, 502]
    assert "error" in answers[0].json() and set(answers[1].json()) == {"message", "detail"}
    assert answers[2].data.startswith(b"<html>")
    assert panel.wire.get("/studies/")["results"] == []
    assert panel.wire.send("POST", "/studies/", draft()).status == 201


def test_faults_by_count_path_and_method(panel):
    panel.control("faults", throttle=2, path="*/transition/")
    study = panel.draft()
    path = f"/studies/{study['id']}/transition/"
    statuses = [panel.wire.send("POST", path, {"action": "PUBLISH"}).status for _ in range(3)]
    assert statuses == [429, 429, 200]
    panel.control("faults", error=1, method="GET", error_form="text")
    assert panel.call("POST", "/studies/", draft()).status == 201
    assert panel.wire.send("GET", "/studies/").status == 502


def test_two_calls_at_the_wallet_at_once_are_one_too_many(panel):
    study = panel.publish()
    submissions = [panel.submit(study) for _ in range(2)]
    panel.control("faults", delay=1, delay_seconds=0.3)
    answers = []

    def approve(submission):
        answers.append(
            panel.wire.send("POST", f"/submissions/{submission}/transition/", {"action": "APPROVE"})
        )

    threads = [threading.Thread(target=approve, args=(each,)) for each in submissions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.status for each in answers) == [200, 429]
    assert panel.payments() == [("reward", 160)]


def test_what_is_no_call_is_refused_without_an_effect(panel):
    site = panel.simulator.site
    headers = {"Authorization": f"Token {TOKEN}"}
    pool = panel.wire.pool
    for body in (b"{", b"[]", b"\xff", b'"x"', b"[" * 100_000):
        assert pool.request("POST", f"{site}/api/v1/studies/", body=body, headers=headers).status == 400
    assert pool.request("POST", f"{site}/_control/reset", headers={"Origin": "https://evil"}).status == 404
    assert pool.request("POST", f"{site}/_control/reset", headers={"Host": "evil.example"}).status == 404
    assert pool.request("PUT", f"{site}/api/v1/studies/", headers=headers).status == 405


# Hooks


class Receiver(ThreadingHTTPServer):
    """Keeps what it is sent; answers with the next of `statuses`, then 200."""

    daemon_threads = True

    def __init__(self):
        self.calls, self.statuses = [], []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                self.server.calls.append((dict(self.headers), raw))
                self.send_response(self.server.statuses.pop(0) if self.server.statuses else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/hook"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def events(self):
        return [headers["X-Event-ID"] for headers, _ in self.calls]

    def seen(self):
        return [json.loads(raw)["status"] for _, raw in self.calls]


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def hooked(panel, receiver):
    panel.workspace = panel.get("/_control/state")["workspace_id"]
    panel.secret = panel.post("/hooks/secrets/", {"workspace_id": panel.workspace})["value"]
    answer = panel.wire.send(
        "POST",
        "/hooks/subscriptions/",
        {
            "workspace_id": panel.workspace,
            "event_type": "submission.status.change",
            "target_url": receiver.url,
        },
    )
    panel.hook, panel.hook_secret = answer.json()["id"], answer.headers["X-Hook-Secret"]
    return panel


def confirm(panel):
    panel.post(f"/hooks/subscriptions/{panel.hook}/", {"secret": panel.hook_secret})


def test_events_flow_after_confirmation_signed_over_the_raw_body(hooked, receiver):
    study = hooked.publish()
    hooked.submit(study)
    assert hooked.control("deliver")["delivered"] == 0
    hooked.refused(f"/hooks/subscriptions/{hooked.hook}/", {"secret": "wrong"})
    confirm(hooked)
    person = hooked.people()[0]
    submission = hooked.submit(study, person=person)
    assert hooked.control("deliver") == {"delivered": 3, "failed": 0, "waiting": 0}
    assert receiver.seen() == ["RESERVED", "ACTIVE", "AWAITING REVIEW"]
    headers, raw = receiver.calls[-1]
    signed = headers["X-Prolific-Request-Timestamp"].encode() + raw
    digest = hmac.new(hooked.secret.encode(), signed, hashlib.sha256).digest()
    assert headers["X-Prolific-Request-Signature"] == base64.b64encode(digest).decode()
    assert json.loads(raw) == {
        "resource_id": submission,
        "event_type": "submission.status.change",
        "participant_id": person,
        "status": "AWAITING REVIEW",
    }


def test_failed_deliveries_come_again_with_the_same_id(hooked, receiver):
    confirm(hooked)
    receiver.statuses = [500, 302, 404]
    study = hooked.publish()
    hooked.control("reserve", study_id=study["id"], participant_id=hooked.people()[0])
    assert hooked.control("deliver") == {"delivered": 0, "failed": 1, "waiting": 1}
    for seconds in (61, 121, 241):
        hooked.control("clock", seconds=seconds)
        hooked.control("deliver")
    assert receiver.seen() == ["RESERVED"] * 4
    assert len(set(receiver.events())) == 1
    assert [each["status"] for each in hooked.state.find("event")] == ["SUCCEEDED"]


def test_events_come_twice_overtake_each_other_and_get_lost_but_are_listed(hooked, receiver):
    confirm(hooked)
    study, people = hooked.publish(), hooked.people(3)
    hooked.control("faults", hook_duplicate=1, hook_reorder=1)
    hooked.arrive(study, people[0])
    hooked.control("deliver")
    hooked.control("clock", seconds=2)
    hooked.control("deliver")
    assert receiver.seen() == ["ACTIVE", "RESERVED", "RESERVED"]
    assert receiver.events()[1] == receiver.events()[2]
    receiver.calls.clear()
    hooked.control("faults", hook_lost=1.0)
    lost = hooked.submit(study, person=people[1])
    hooked.control("clock", seconds=3600)
    hooked.control("faults")
    hooked.control("deliver")
    events = hooked.state.find("event", owner=lost, statuses=["LOST"])
    assert [each["payload"]["status"] for each in events] == ["RESERVED", "ACTIVE", "AWAITING REVIEW"]
    assert lost not in {json.loads(raw)["resource_id"] for _, raw in receiver.calls}


def test_a_subscription_that_only_fails_is_disabled_after_five_days(hooked, receiver):
    confirm(hooked)
    study = hooked.publish(total_available_places=50)
    receiver.statuses = [503] * 1000
    for _ in range(7):
        hooked.control("reserve", study_id=study["id"], participant_id=hooked.people()[0])
        hooked.control("deliver")
        hooked.control("clock", seconds=24 * 3600)
        hooked.control("deliver")
    [subscription] = hooked.get("/hooks/subscriptions/")["results"]
    assert subscription["is_enabled"] is False
    assert "FAILED" in {each["status"] for each in hooked.state.find("event")}


def test_subscriptions_need_a_secret_a_known_type_and_a_safe_address(panel):
    workspace = panel.get("/_control/state")["workspace_id"]
    body = {
        "workspace_id": workspace,
        "event_type": "submission.status.change",
        "target_url": "https://lab.example.org/hook",
    }
    assert "secret" in panel.refused("/hooks/subscriptions/", body)
    first = panel.post("/hooks/secrets/", {"workspace_id": workspace})
    second = panel.post("/hooks/secrets/", {"workspace_id": workspace})
    assert panel.get(f"/hooks/secrets/?workspace_id={workspace}")["results"] == [second] != [first]
    for url in ("http://lab.example.org/", "file:///etc/passwd", "https://", "gopher://x", "http://[::1"):
        panel.refused("/hooks/subscriptions/", body | {"target_url": url})
    panel.refused("/hooks/subscriptions/", body | {"event_type": "weather.change"})


# Kills


def start(state):
    process = subprocess.Popen(
        [
            sys.executable,
            "manage.py",
            "panel-simulator",
            "--port",
            "0",
            "--token",
            TOKEN,
            "--state",
            str(state),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings_test"},
    )
    return process, Wire(process.stdout.readline().split()[3].removesuffix("/api/v1/,"))


def test_a_kill_loses_no_payment_and_makes_none_twice(tmp_path):
    process, wire = start(tmp_path / "state.sqlite3")
    try:
        study = wire.post("/studies/", draft(total_available_places=40))["id"]
        wire.post(f"/studies/{study}/transition/", {"action": "PUBLISH"})
        people = wire.post("/_control/participants", {"n": 30})["ids"]
        submissions = []
        for person in people:
            came = wire.post("/_control/arrive", {"study_id": study, "participant_id": person})
            wire.post("/_control/complete", {"submission_id": came["submission_id"], "code": "DONE"})
            submissions.append(came["submission_id"])
        answered = []

        def approve_all():
            for submission in submissions:
                try:
                    wire.post(f"/submissions/{submission}/transition/", {"action": "APPROVE"})
                except (urllib3.exceptions.HTTPError, OSError):
                    return
                answered.append(submission)
                if len(answered) == 10:
                    under_way.set()

        under_way = threading.Event()
        thread = threading.Thread(target=approve_all)
        thread.start()
        assert under_way.wait(30)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        thread.join()
        process, wire = start(tmp_path / "state.sqlite3")
        paid = [each["submission_id"] for each in wire.get("/_control/payments")["payments"]]
        approved = [each for each in submissions if wire.get(f"/submissions/{each}/")["status"] == "APPROVED"]
        assert sorted(paid) == sorted(approved)
        assert set(answered) <= set(paid)
        for submission in submissions:
            wire.post(f"/submissions/{submission}/transition/", {"action": "APPROVE"})
        paid = [each["submission_id"] for each in wire.get("/_control/payments")["payments"]]
        assert sorted(paid) == sorted(submissions)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
