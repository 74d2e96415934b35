"""The far side of CloudResearch Connect, for rehearsals: `manage.py panel-simulator --contract connect`.

Projects have drafts, states and places that only rise; people take a place and come back with a code; calls
need a key, and the tokens of calls that write are remembered for a day.

State, faults, clock and HTTP are those of the other simulated panel. The contract is from third parties: a
public client of 2024 and public scripts of 2026; the vendor's own reference was not read.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

from distillery_panel_simulator import prolific_control
from distillery_panel_simulator.prolific_calls import Answer, Call, RefusalError, field_error, not_found
from distillery_panel_simulator.prolific_server import Simulator, WireCall, parse_body
from distillery_panel_simulator.prolific_state import State, Thing

#: Per hour, in cents: nobody may offer less.
LEAST_PER_HOUR = 750
MOST_PER_PAGE = 100
#: Which states can be asked for from which; a project is completed by itself when it is full.
_MOVES = {
    "Unpublished": ("Live", "Archived"),
    "Live": ("Paused",),
    "Paused": ("Live", "Closed"),
}
#: What may still change once a project was live.
_AFTERWARDS = {"name", "projectUrl", "participants", "summary", "instructions"}
_FIELDS: dict[str, Any] = {
    "name": str,
    "projectUrl": str,
    "payment": (int, float),
    "estimatedTimeInMinutes": (int, float),
    "participants": int,
    "summary": str,
    "instructions": str,
    "internalName": str,
    "systemRequirements": list,
    "deviceRequirements": list,
    "hasSensitiveContent": bool,
    "completionSettings": dict,
    "maxTimeInMinutes": (int, float),
    "demographicTargeting": (list, dict),
    "platformTargeting": dict,
    "taskTemplate": dict,
}
_NEEDED = ("name", "payment", "estimatedTimeInMinutes", "participants")


def cents_of(amount: Any, name: str) -> int:
    """A decimal amount in cents; refused where it is none or has a part of a cent."""
    try:
        cents = Decimal(str(amount)) * 100
        if not cents.is_finite() or cents != cents.to_integral_value() or cents <= 0:
            raise InvalidOperation
    except InvalidOperation as error:
        raise RefusalError(f"{name} is an amount in dollars and cents, more than 0.") from error
    return int(cents)


def fee_on(state: State, cents: int) -> int:
    """The fee on a payment, rounded up to a cent."""
    return -(-cents * state.options.fee_percent // 100)


def project_of(state: State, key: str) -> Thing:
    """What is stored of one, or their answer 404."""
    project = state.get("project", key)
    if project is None:
        raise not_found("The project")
    return project


def balance_of(state: State) -> tuple[int, int]:
    """All of the account's money, and what of it can be spent."""
    total = int(state.fact("deposit") or 0) - state.sum_payments("account")
    locked = sum(_locked(state, each) for each in state.find("project"))
    return total, total - locked


def _locked(state: State, project: Thing) -> int:
    counts = state.count_statuses("assignment", project["id"])
    waiting = counts.get("Working", 0) + counts.get("Pending", 0)
    if project["status"] in ("Live", "Paused"):
        waiting = max(waiting, project["participants"] - counts.get("Approved", 0))
    unit = project["cents"] + fee_on(state, project["cents"])
    return 0 if project["status"] == "Unpublished" else waiting * unit


def need_funds(state: State, cents: int) -> None:
    """Refuse what cannot be paid."""
    if cents > (available := balance_of(state)[1]):
        raise RefusalError(f"Insufficient balance: {cents} cents are needed, {available} are available.")


def _check(body: Mapping[str, Any]) -> None:
    for name, value in body.items():
        if name not in _FIELDS:
            raise RefusalError(f"{name} is no field of a project.")
        if not isinstance(value, _FIELDS[name]) or (isinstance(value, bool) and _FIELDS[name] is not bool):
            raise RefusalError(f"{name} has another type.")


def create_project(call: Call) -> Answer:
    """A draft."""
    body = call.body
    _check(body)
    for name in _NEEDED:
        if name not in body:
            raise RefusalError(f"{name} is needed.")
    minutes, cents = body["estimatedTimeInMinutes"], cents_of(body["payment"], "payment")
    if minutes < 2 or body["participants"] < 1:
        raise RefusalError("A project takes at least 2 minutes and one participant.")
    if cents * 60 < LEAST_PER_HOUR * minutes:
        raise RefusalError("The payment is less than $7.50 an hour.")
    project = call.state.add(
        "project",
        {
            "id": secrets.token_hex(16),
            "given": body,
            "cents": cents,
            "participants": body["participants"],
            "status": "Unpublished",
            "createdAt": call.state.stamp(),
        },
        status="Unpublished",
    )
    return Answer(201, {"project": view(call.state, project)})


def view(state: State, project: Thing) -> Thing:
    """A project as it is shown."""
    unit = project["cents"] + fee_on(state, project["cents"])
    return {
        **project["given"],
        "participants": project["participants"],
        "projectId": project["id"],
        "status": project["status"],
        "createdAt": project["createdAt"],
        "totalCost": unit * project["participants"] / 100,
    }


def list_projects(call: Call) -> Answer:
    """Projects, newest first, in pages."""
    projects = call.state.find("project", newest_first=True)
    if status := call.query.get("Status"):
        projects = [each for each in projects if each["status"] == status]
    return Answer(200, page_of(call, "projects", [view(call.state, each) for each in projects]))


def page_of(call: Call, name: str, rows: list[Thing]) -> Thing:
    """A part of a list, and a token for the next one while there is any."""
    size = call.query.get("Size", "10")
    if not size.isdecimal() or not 1 <= int(size) <= MOST_PER_PAGE:
        raise RefusalError(f"Size is a number from 1 to {MOST_PER_PAGE}.")
    start = call.query.get("NextToken", "0")
    if not start.isdecimal():
        raise RefusalError("NextToken is not known.")
    end = int(start) + int(size)
    following = {"nextToken": str(end)} if end < len(rows) else {}
    return {name: rows[int(start) : end], **following}


def show_project(call: Call) -> Answer:
    """One project."""
    return Answer(200, {"project": view(call.state, project_of(call.state, call.ids[0]))})


def change_project(call: Call) -> Answer:
    """Change a draft; of a project that was live only a few things, and participants rise."""
    project = project_of(call.state, call.ids[0])
    _check(call.body)
    if project["status"] != "Unpublished":
        if fixed := sorted(set(call.body) - _AFTERWARDS):
            raise RefusalError(f"{fixed[0]} cannot change any more.")
        if project["status"] not in ("Live", "Paused"):
            raise RefusalError(f"A project that is {project['status']} cannot change.")
    more = call.body.get("participants", project["participants"]) - project["participants"]
    if more < 0 and project["status"] != "Unpublished":
        raise RefusalError("participants can only rise.")
    unit = project["cents"] + fee_on(call.state, project["cents"])
    if project["status"] != "Unpublished":
        need_funds(call.state, more * unit)
    if "payment" in call.body:
        project["cents"] = cents_of(call.body["payment"], "payment")
    project["given"] |= call.body
    project["participants"] += more
    call.state.save(project)
    return Answer(200, {"project": view(call.state, project)})


def move_project(call: Call) -> Answer:
    """Another status, of those that can follow."""
    project, new_status = project_of(call.state, call.ids[0]), call.body.get("status")
    if new_status not in _MOVES.get(project["status"], ()):
        raise RefusalError(f"A project that is {project['status']} cannot become {new_status}.")
    if project["status"] == "Unpublished" and new_status == "Live":
        unit = project["cents"] + fee_on(call.state, project["cents"])
        need_funds(call.state, unit * project["participants"])
    set_status(call.state, project, str(new_status))
    return Answer(200, {"project": view(call.state, project)})


def set_status(state: State, project: Thing, status: str) -> None:
    """Write a project with its status."""
    project["status"] = status
    state.save(project, status=status)


def show_account(call: Call) -> Answer:
    """What can be spent."""
    return Answer(200, {"accountBalance": balance_of(call.state)[1] / 100})


# People's work

#: Pending work is approved by itself after so long.
_APPROVED_AFTER_SECONDS = 14 * 24 * 3600
#: From which status a decision takes work to which.
_DECISIONS = {
    "approve": ("Pending", "Approved"),
    "reject": ("Pending", "Rejected"),
    "reverse-reject": ("Rejected", "Pending"),
}


def assignment_of(state: State, key: str) -> Thing:
    """One piece of work."""
    assignment = state.get("assignment", key)
    if assignment is None:
        raise not_found("The assignment")
    return assignment


# What participants do


def take_place(state: State, project_id: str, participant_id: str) -> Thing:
    """Somebody takes a place, once for each project."""
    project = project_of(state, project_id)
    if state.get("participant", participant_id) is None:
        raise not_found("The participant")
    for each in state.find("assignment", parent=project_id, owner=participant_id):
        return each
    counts = state.count_statuses("assignment", project_id)
    used_places = sum(counts.get(each, 0) for each in ("Working", "Pending", "Approved"))
    if project["status"] != "Live" or used_places >= project["participants"]:
        raise RefusalError(f"The project is {project['status']} and has no free place.")
    assignment = state.add(
        "assignment",
        {
            "id": secrets.token_hex(16),
            "projectId": project_id,
            "participantId": participant_id,
            "status": "Working",
            "startTime": state.stamp(),
            "completionTime": None,
            "code": None,
            "bonus": 0,
        },
        parent=project_id,
        owner=participant_id,
        status="Working",
    )
    minutes = project["given"].get("maxTimeInMinutes") or project["given"]["estimatedTimeInMinutes"] * 3
    state.plan(minutes * 60, "leave", {"assignment_id": assignment["id"]})
    return assignment


def address_of(state: State, assignment: Thing) -> str:
    """Where the participant is sent, with the three ids."""
    address = str(project_of(state, assignment["projectId"])["given"].get("projectUrl", ""))
    ids = {
        "participantId": assignment["participantId"],
        "assignmentId": assignment["id"],
        "projectId": assignment["projectId"],
    }
    return f"{address}{'&' if '?' in address else '?'}{urlencode(ids)}"


def finish(state: State, assignment: Thing, code: str | None) -> Thing:
    """The participant is back: with the project's code the work is pending, with another it is refused."""
    if assignment["status"] != "Working":
        raise RefusalError(f"Work that is {assignment['status']} cannot be finished.")
    settings = project_of(state, assignment["projectId"])["given"].get("completionSettings") or {}
    if settings.get("projectCompletionType") == "CompletionCode" and code != settings.get("value"):
        raise RefusalError("This is not the code of the project.")
    assignment |= {"status": "Pending", "completionTime": state.stamp(), "code": code}
    state.save(assignment, status="Pending")
    state.plan(_APPROVED_AFTER_SECONDS, "approve", {"assignment_id": assignment["id"]})
    return assignment


def leave(state: State, assignment_id: str) -> None:
    """Somebody gave up, or their time was over: the place is free again."""
    assignment = state.get("assignment", assignment_id)
    if assignment and assignment["status"] == "Working":
        assignment["status"] = "Left"
        state.save(assignment, status="Left")


def approve_by_time(state: State, assignment_id: str) -> None:
    """Nobody decided."""
    assignment = state.get("assignment", assignment_id)
    if assignment and assignment["status"] == "Pending":
        _approve(state, assignment)


def _approve(state: State, assignment: Thing) -> None:
    project = project_of(state, assignment["projectId"])
    _pay(state, "reward", assignment, project["cents"])
    assignment["status"] = "Approved"
    state.save(assignment, status="Approved")
    approved = state.count("assignment", parent=project["id"], statuses=["Approved"])
    if project["status"] == "Live" and approved >= project["participants"]:
        set_status(state, project, "Completed")


def _pay(state: State, kind: str, assignment: Thing, cents: int) -> None:
    state.write_payment(
        {
            "at": state.stamp(),
            "kind": kind,
            "workspace_id": "account",
            "study_id": assignment["projectId"],
            "submission_id": assignment["id"],
            "participant_id": assignment["participantId"],
            "amount": cents,
            "fees": fee_on(state, cents),
            "vat": 0,
            "currency": "USD",
            "bulk_id": None,
        }
    )


# What the researcher does


def list_assignments(call: Call) -> Answer:
    """Finished work; who is at work is not listed, as it is not known whether Connect lists them."""
    project = project_of(call.state, call.ids[0])
    assignments = call.state.find(
        "assignment", parent=project["id"], statuses=["Pending", "Approved", "Rejected"]
    )
    return Answer(200, page_of(call, "assignments", [_view(project, each) for each in assignments]))


def _view(project: Thing, assignment: Thing) -> Thing:
    return {
        "participantId": assignment["participantId"],
        "assignmentId": assignment["id"],
        "startTime": assignment["startTime"],
        "completionTime": assignment["completionTime"],
        "status": assignment["status"],
        "payment": project["cents"] / 100,
        "bonus": assignment["bonus"] / 100,
        "completion": {"completionCode": assignment["code"], "submissionType": "CompletionCode"},
    }


def _read_assignments(call: Call, rows: object) -> list[tuple[Thing, Thing]]:
    if not isinstance(rows, list) or not rows or not all(isinstance(each, dict) for each in rows):
        raise RefusalError("A list of objects with id and message is needed.")
    project = project_of(call.state, call.ids[0])
    pairs = []
    for each in rows:
        key = str(each.get("id", ""))
        mine = call.state.get("assignment", key)
        if mine is None:
            owned = call.state.find("assignment", parent=project["id"], owner=key, limit=1)
            mine = owned[0] if owned else None
        if mine is None or mine["projectId"] != project["id"]:
            raise not_found(f"The assignment {key}")
        if not str(each.get("message", "")).strip():
            raise RefusalError("Each needs a message.")
        pairs.append((mine, each))
    return pairs


def decide(call: Call) -> Answer:
    """Approve, reject, or take a rejection back; all or none."""
    source, target = _DECISIONS[call.ids[1]]
    pairs = _read_assignments(call, call.body.get("participants"))
    for assignment, _ in pairs:
        if assignment["status"] != source:
            raise RefusalError(f"Work that is {assignment['status']} cannot become {target}.")
    for assignment, _ in pairs:
        if target == "Approved":
            _approve(call.state, assignment)
        else:
            assignment["status"] = target
            call.state.save(assignment, status=target)
    return Answer(200, {})


def pay_bonuses(call: Call) -> Answer:
    """Bonuses, all or none where the balance is too small. Without a token, each call pays again."""
    pairs = _read_assignments(call, call.body.get("bonusPayment"))
    amounts = [cents_of(each.get("amount"), "amount") for _, each in pairs]
    need_funds(call.state, sum(each + fee_on(call.state, each) for each in amounts))
    for (assignment, _), cents in zip(pairs, amounts, strict=True):
        fresh = assignment_of(call.state, assignment["id"])
        _pay(call.state, "bonus", fresh, cents)
        fresh["bonus"] += cents
        call.state.save(fresh)
    return Answer(200, {})


def send_message(call: Call) -> Answer:
    """Write to one participant."""
    project_of(call.state, str(call.body.get("projectId", "")))
    person = str(call.body.get("recipientId", ""))
    if call.state.get("participant", person) is None:
        raise not_found("The participant")
    for name in ("subject", "message"):
        if not str(call.body.get(name, "")).strip():
            raise RefusalError(f"{name} is needed.")
    call.state.add(
        "message",
        {"subject": call.body["subject"], "message": call.body["message"], "sentAt": call.state.stamp()},
        parent=person,
    )
    return Answer(200, {})


_V1 = "/api/v1"
# Calls in front of the rules

_TOKEN_SECONDS = 24 * 3600
_TITLES = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 422: "Unprocessable Entity"}
_DECIDING = "approve|reject|reverse-reject"
_ROUTES: tuple[tuple[str, str, Callable[[Call], Answer]], ...] = (
    ("GET", "/account", show_account),
    ("GET", "/project", list_projects),
    ("POST", "/project", create_project),
    ("GET", "/project/([^/]+)", show_project),
    ("POST", "/project/([^/]+)", change_project),
    ("POST", "/project/([^/]+)/update-status", move_project),
    ("GET", "/assignments/([^/]+)", list_assignments),
    ("POST", f"/assignments/([^/]+)/({_DECIDING})", decide),
    ("POST", "/assignments/([^/]+)/bonus", pay_bonuses),
    ("POST", "/conversations/send-message", send_message),
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
            "leave": lambda body: leave(self.state, **body),
            "approve": lambda body: approve_by_time(self.state, **body),
        }

    def controls(self) -> dict[tuple[str, str], Callable[[Call], Answer]]:
        """What no panel offers; the same words as at the other simulated panel."""
        return {
            ("POST", "clock"): prolific_control.move_clock,
            ("POST", "participants"): _add_participants,
            ("POST", "arrive"): _arrive,
            ("POST", "complete"): _complete,
            ("POST", "return"): _return,
            ("POST", "faults"): prolific_control.change_faults,
            ("GET", "faults"): prolific_control.show_faults,
            ("GET", "payments"): prolific_control.show_payments,
            ("GET", "state"): _show_state,
            ("POST", "deposit"): _deposit,
            ("POST", "reset"): prolific_control.reset,
        }

    def refuse(self, status: int, detail: Any) -> Answer:
        """An error in the envelope that is told of."""
        text = detail if isinstance(detail, str) else json.dumps(detail)
        error = {"type": "about:blank", "title": _TITLES.get(status, "Error"), "status": status}
        return Answer(status, {"error": {**error, "detail": text, "instance": secrets.token_hex(8)}})

    def answer_route(
        self, wire_call: WireCall, path: str, query: dict[str, str], delay: float | None
    ) -> Answer:
        """The answer of a call, once for each token."""
        if not hmac.compare_digest(wire_call.headers.get("X-API-KEY", "").encode(), self._token.encode()):
            return self.refuse(401, "The key is wrong.")
        for method, pattern, handler in _PATTERNS:
            match = pattern.fullmatch(path)
            if match and method == wire_call.method:
                call = Call(self.state, match.groups(), query, parse_body(wire_call.raw), self.site, path)
                self.wait(delay)
                try:
                    return self._once(wire_call, call, handler)
                except RefusalError as refusal:
                    return self.refuse(refusal.status, refusal.detail)
        return self.refuse(404, "There is no such path.")

    def _once(self, wire_call: WireCall, call: Call, handler: Callable[[Call], Answer]) -> Answer:
        token = wire_call.headers.get("IDEMPOTENCY-TOKEN", "") if wire_call.method == "POST" else ""
        name = f"token {token}"
        print_of_call = hashlib.sha256(call.path.encode() + b"\n" + wire_call.raw).hexdigest()
        with self.state.call():
            earlier = self.state.fact(name) if token else None
            if earlier and earlier["until"] > self.state.now():
                if earlier["print"] != print_of_call:
                    raise RefusalError("This token was used for another call.", status=422)
                return Answer(earlier["status"], earlier["body"])
            answer = handler(call)
            if token:
                until = self.state.now() + _TOKEN_SECONDS
                memo = {"until": until, "print": print_of_call, "status": answer.status, "body": answer.body}
                self.state.keep(name, memo)
        return answer


def _add_participants(call: Call) -> Answer:
    count = call.body.get("n")
    if not isinstance(count, int) or not 1 <= count <= 100_000:
        raise field_error("n", "A number from 1 to 100000.")
    new_ids = [call.state.add("participant", {"id": secrets.token_hex(16)})["id"] for _ in range(count)]
    return Answer(200, {"ids": new_ids})


def _arrive(call: Call) -> Answer:
    assignment = take_place(
        call.state, str(call.body.get("study_id", "")), str(call.body.get("participant_id", ""))
    )
    url = address_of(call.state, assignment)
    return Answer(200, {"submission_id": assignment["id"], "url": url, "status": assignment["status"]})


def _complete(call: Call) -> Answer:
    assignment = assignment_of(call.state, str(call.body.get("submission_id", "")))
    done = finish(call.state, assignment, call.body.get("code"))
    return Answer(200, {"submission_id": done["id"], "status": done["status"]})


def _return(call: Call) -> Answer:
    assignment = assignment_of(call.state, str(call.body.get("submission_id", "")))
    leave(call.state, assignment["id"])
    return Answer(200, {"submission_id": assignment["id"], "status": "Left"})


def _deposit(call: Call) -> Answer:
    cents = call.body.get("cents")
    if not isinstance(cents, int) or not 0 <= cents <= 10**12:
        raise field_error("cents", "A number from 0 on.")
    call.state.keep("deposit", int(call.state.fact("deposit")) + cents)
    return Answer(200, {"total_balance": balance_of(call.state)[0]})


def _show_state(call: Call) -> Answer:
    total, available = balance_of(call.state)
    counts = {kind: call.state.count(kind) for kind in ("project", "participant", "assignment", "message")}
    balances = {"now": call.state.stamp(), "total_balance": total, "available_balance": available}
    return Answer(200, {**balances, "currency": "USD", "counts": counts})
