"""People's work: who takes a place and comes back with a code, decisions, bonuses, messages."""

import secrets
from urllib.parse import urlencode

from crowd.simulation.connect.projects import (
    cents_of,
    fee_on,
    need_funds,
    page_of,
    project_of,
    set_status,
)
from crowd.simulation.prolific.answers import Answer, Call, RefusalError, not_found
from crowd.simulation.prolific.state import State, Thing

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
    found = state.get("assignment", key)
    if found is None:
        raise not_found("The assignment")
    return found


# What participants do


def take_place(state: State, project_id: str, participant_id: str) -> Thing:
    """Somebody takes a place, once for each project."""
    project = project_of(state, project_id)
    if state.get("participant", participant_id) is None:
        raise not_found("The participant")
    for each in state.find("assignment", parent=project_id, owner=participant_id):
        return each
    counts = state.count_statuses("assignment", project_id)
    taken = sum(counts.get(each, 0) for each in ("Working", "Pending", "Approved"))
    if project["status"] != "Live" or taken >= project["participants"]:
        raise RefusalError(f"The project is {project['status']} and has no free place.")
    made = state.add(
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
    state.plan(minutes * 60, "leave", {"assignment_id": made["id"]})
    return made


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
    shown = call.state.find("assignment", parent=project["id"], statuses=["Pending", "Approved", "Rejected"])
    return Answer(200, page_of(call, "assignments", [_view(project, each) for each in shown]))


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


def _chosen(call: Call, rows: object) -> list[tuple[Thing, Thing]]:
    if not isinstance(rows, list) or not rows or not all(isinstance(each, dict) for each in rows):
        raise RefusalError("A list of objects with id and message is needed.")
    project = project_of(call.state, call.ids[0])
    found = []
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
        found.append((mine, each))
    return found


def decide(call: Call) -> Answer:
    """Approve, reject, or take a rejection back; all or none."""
    source, target = _DECISIONS[call.ids[1]]
    chosen = _chosen(call, call.body.get("participants"))
    for assignment, _ in chosen:
        if assignment["status"] != source:
            raise RefusalError(f"Work that is {assignment['status']} cannot become {target}.")
    for assignment, _ in chosen:
        if target == "Approved":
            _approve(call.state, assignment)
        else:
            assignment["status"] = target
            call.state.save(assignment, status=target)
    return Answer(200, {})


def approve_all(call: Call) -> Answer:
    """Approve all pending work of a project."""
    project = project_of(call.state, call.ids[0])
    for assignment in call.state.find("assignment", parent=project["id"], statuses=["Pending"]):
        _approve(call.state, assignment)
    return Answer(200, {})


def pay_bonuses(call: Call) -> Answer:
    """Bonuses, all or none where the balance is too small. Without a token, each call pays again."""
    chosen = _chosen(call, call.body.get("bonusPayment"))
    amounts = [cents_of(each.get("amount"), "amount") for _, each in chosen]
    need_funds(call.state, sum(each + fee_on(call.state, each) for each in amounts))
    for (assignment, _), cents in zip(chosen, amounts, strict=True):
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


def validate_participants(call: Call) -> Answer:
    """Which of these are participants; the real shape of the reply is not public."""
    ids = call.body.get("participantIds")
    if not isinstance(ids, list):
        raise RefusalError("participantIds is a list.")
    known = [each for each in ids if call.state.get("participant", each) is not None]
    return Answer(200, {"validParticipantIds": known})
