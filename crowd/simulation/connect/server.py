"""Connect's calls in front of its rules: keys, tokens that are remembered for a day, and its errors."""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable
from typing import Any

from crowd.simulation.connect import assignments, projects
from crowd.simulation.prolific import control
from crowd.simulation.prolific.answers import Answer, Call, RefusalError, field_error
from crowd.simulation.prolific.server import Simulator, WireCall, parse_body
from crowd.simulation.prolific.state import Thing

_V1 = "/api/v1"
_TOKEN_SECONDS = 24 * 3600
_TITLES = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 422: "Unprocessable Entity"}
_DECIDING = "approve|reject|reverse-reject"
_ROUTES: tuple[tuple[str, str, Callable[[Call], Answer]], ...] = (
    ("GET", "/account", projects.show_account),
    ("POST", "/account/validate-participants", assignments.validate_participants),
    ("GET", "/project", projects.list_projects),
    ("POST", "/project", projects.create_project),
    ("GET", "/project/([^/]+)", projects.show_project),
    ("POST", "/project/([^/]+)", projects.change_project),
    ("POST", "/project/([^/]+)/update-status", projects.move_project),
    ("GET", "/assignments/([^/]+)", assignments.list_assignments),
    ("POST", f"/assignments/([^/]+)/({_DECIDING})", assignments.decide),
    ("POST", "/assignments/([^/]+)/approve-all", assignments.approve_all),
    ("POST", "/assignments/([^/]+)/bonus", assignments.pay_bonuses),
    ("POST", "/conversations/send-message", assignments.send_message),
)
_PATTERNS = [(method, re.compile(f"{_V1}{path}/?"), handler) for method, path, handler in _ROUTES]


class ConnectSimulator(Simulator):
    """The panel behind its HTTP surface."""

    contract = "connect"
    has_return_page = False

    def start_account(self) -> None:
        """A new account with its money."""
        self.state.keep("user", {"id": secrets.token_hex(16)})
        self.state.keep("deposit", self.state.options.balance)

    def list_tasks(self) -> dict[str, Callable[[Thing], None]]:
        """What is done when the clock comes to it."""
        return {
            "leave": lambda body: assignments.leave(self.state, **body),
            "approve": lambda body: assignments.approve_by_time(self.state, **body),
        }

    def controls(self) -> dict[tuple[str, str], Callable[[Call], Answer]]:
        """What no panel offers; the same words as at the other simulated panel."""
        return {
            ("POST", "clock"): control.move_clock,
            ("POST", "participants"): _add_participants,
            ("POST", "arrive"): _arrive,
            ("POST", "complete"): _complete,
            ("POST", "return"): _return,
            ("POST", "faults"): control.change_faults,
            ("GET", "faults"): control.show_faults,
            ("GET", "payments"): control.show_payments,
            ("GET", "state"): _show_state,
            ("POST", "deposit"): _deposit,
            ("POST", "reset"): control.reset,
        }

    def refuse(self, status: int, detail: Any) -> Answer:
        """An error in the envelope that is told of."""
        words = detail if isinstance(detail, str) else json.dumps(detail)
        error = {"type": "about:blank", "title": _TITLES.get(status, "Error"), "status": status}
        return Answer(status, {"error": {**error, "detail": words, "instance": secrets.token_hex(8)}})

    def answer_route(self, asked: WireCall, path: str, query: dict[str, str], delay: float | None) -> Answer:
        """The answer of a call, once for each token."""
        if not hmac.compare_digest(asked.headers.get("X-API-KEY", "").encode(), self._token.encode()):
            return self.refuse(401, "The key is wrong.")
        for method, pattern, handler in _PATTERNS:
            found = pattern.fullmatch(path)
            if found and method == asked.method:
                call = Call(self.state, found.groups(), query, parse_body(asked.raw), self.site, path)
                self.wait(delay)
                try:
                    return self._once(asked, call, handler)
                except RefusalError as refusal:
                    return self.refuse(refusal.status, refusal.detail)
        return self.refuse(404, "There is no such path.")

    def _once(self, asked: WireCall, call: Call, handler: Callable[[Call], Answer]) -> Answer:
        token = asked.headers.get("IDEMPOTENCY-TOKEN", "") if asked.method == "POST" else ""
        name = f"token {token}"
        print_of_call = hashlib.sha256(call.path.encode() + b"\n" + asked.raw).hexdigest()
        with self.state.call():
            known = self.state.fact(name) if token else None
            if known and known["until"] > self.state.now():
                if known["print"] != print_of_call:
                    raise RefusalError("This token was used for another call.", status=422)
                return Answer(known["status"], known["body"])
            answer = handler(call)
            if token:
                until = self.state.now() + _TOKEN_SECONDS
                kept = {"until": until, "print": print_of_call, "status": answer.status, "body": answer.body}
                self.state.keep(name, kept)
        return answer


def _add_participants(call: Call) -> Answer:
    count = call.body.get("n")
    if not isinstance(count, int) or not 1 <= count <= 100_000:
        raise field_error("n", "A number from 1 to 100000.")
    made = [call.state.add("participant", {"id": secrets.token_hex(16)})["id"] for _ in range(count)]
    return Answer(200, {"ids": made})


def _arrive(call: Call) -> Answer:
    made = assignments.take_place(
        call.state, str(call.body.get("study_id", "")), str(call.body.get("participant_id", ""))
    )
    url = assignments.address_of(call.state, made)
    return Answer(200, {"submission_id": made["id"], "url": url, "status": made["status"]})


def _complete(call: Call) -> Answer:
    assignment = assignments.assignment_of(call.state, str(call.body.get("submission_id", "")))
    done = assignments.finish(call.state, assignment, call.body.get("code"))
    return Answer(200, {"submission_id": done["id"], "status": done["status"]})


def _return(call: Call) -> Answer:
    assignment = assignments.assignment_of(call.state, str(call.body.get("submission_id", "")))
    assignments.leave(call.state, assignment["id"])
    return Answer(200, {"submission_id": assignment["id"], "status": "Left"})


def _deposit(call: Call) -> Answer:
    cents = call.body.get("cents")
    if not isinstance(cents, int) or not 0 <= cents <= 10**12:
        raise field_error("cents", "A number from 0 on.")
    call.state.keep("deposit", int(call.state.fact("deposit")) + cents)
    return Answer(200, {"total_balance": projects.balance_of(call.state)[0]})


def _show_state(call: Call) -> Answer:
    total, available = projects.balance_of(call.state)
    counts = {kind: call.state.count(kind) for kind in ("project", "participant", "assignment", "message")}
    found = {"now": call.state.stamp(), "total_balance": total, "available_balance": available}
    return Answer(200, {**found, "currency": "USD", "counts": counts})
