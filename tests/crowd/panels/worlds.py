"""A simulated panel in this process, and short words for calls."""

import json
import threading
from contextlib import contextmanager

from distillery_panel_simulator.prolific_server import Simulator, WireCall, serve
from distillery_panel_simulator.prolific_state import Options

TOKEN = "a-token"
NO_WAIT = {"wallet_seconds": 0.0}
CODES = [
    {
        "code": "DONE",
        "code_type": "COMPLETED",
        "actor": "participant",
        "actions": [{"action": "MANUALLY_REVIEW"}],
    },
    {
        "code": "AUTO",
        "code_type": "OTHER",
        "actor": "participant",
        "actions": [{"action": "AUTOMATICALLY_APPROVE"}],
    },
]
REASON = (
    "The answers were given within two seconds each, and every one of the checks was answered wrong, sadly."
)


class Panel:
    """Calls of a simulator, without sockets."""

    def __init__(self, path=":memory:", **options):
        self.simulator = Simulator(path, TOKEN, Options(**{**NO_WAIT, **options}))
        self.state = self.simulator.state

    def call(self, method, path, body=None, *, token=TOKEN):
        if not path.startswith(("/_control", "/.well-known", "/submissions/complete")):
            path = f"/api/v1{path}"
        raw = b"" if body is None else json.dumps(body).encode()
        return self.simulator.answer(WireCall(method, path, token, raw))

    def get(self, path):
        answer = self.call("GET", path)
        assert answer.status == 200, answer
        return answer.body

    def post(self, path, body=None, status=None):
        answer = self.call("POST", path, body)
        assert answer.status == status if status else answer.status < 300, answer
        return answer.body

    def control(self, name, **body):
        return self.post(f"/_control/{name}", body)

    def refused(self, path, body=None, *, method="POST", status=400):
        answer = self.call(method, path, body)
        assert answer.status == status, answer
        return json.dumps(answer.body)

    def draft(self, **fields):
        return self.post("/studies/", draft(**fields), 201)

    def publish(self, **fields):
        study = self.draft(**fields)
        return self.post(f"/studies/{study['id']}/transition/", {"action": "PUBLISH"})

    def people(self, count=1, **attributes):
        return self.control("participants", n=count, attributes=attributes)["ids"]

    def arrive(self, study, person=None):
        person = person or self.people()[0]
        return self.control("arrive", study_id=study["id"], participant_id=person)["submission_id"]

    def submit(self, study, code="DONE", person=None):
        submission = self.arrive(study, person)
        self.control("complete", submission_id=submission, code=code)
        return submission

    def step(self, submission, action, **more):
        return self.post(f"/submissions/{submission}/transition/", {"action": action, **more})

    def status(self, submission):
        return self.get(f"/submissions/{submission}/")["status"]

    def study_status(self, study):
        return self.get(f"/studies/{study['id']}/")["status"]

    def balance(self):
        state = self.get("/_control/state")
        return state["total_balance"], state["available_balance"]

    def payments(self):
        return [(each["kind"], each["amount"]) for each in self.get("/_control/payments")["payments"]]


@contextmanager
def served(panel):
    """The panel over HTTP."""
    running = serve(panel.simulator, 0)
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    yield panel
    running.shutdown()
    running.server_close()
    panel.simulator.close()


def draft(**fields):
    return {
        "name": "A study",
        "description": "What it is about",
        "external_study_url": "https://lab.example.org/p/1?PROLIFIC_PID={{%PROLIFIC_PID%}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        "prolific_id_option": "url_parameters",
        "completion_codes": CODES,
        "total_available_places": 3,
        "estimated_completion_time": 8,
        "reward": 160,
        **fields,
    }
