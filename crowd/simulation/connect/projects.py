"""Projects: drafts, their states, places that only rise, and what they cost."""

import secrets
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from crowd.simulation.prolific.answers import Answer, Call, RefusalError, not_found
from crowd.simulation.prolific.state import State, Thing

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
    found = state.get("project", key)
    if found is None:
        raise not_found("The project")
    return found


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
    made = call.state.add(
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
    return Answer(201, {"project": view(call.state, made)})


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
    found = call.state.find("project", newest_first=True)
    if status := call.query.get("Status"):
        found = [each for each in found if each["status"] == status]
    return Answer(200, page_of(call, "projects", [view(call.state, each) for each in found]))


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
    project, wanted = project_of(call.state, call.ids[0]), call.body.get("status")
    if wanted not in _MOVES.get(project["status"], ()):
        raise RefusalError(f"A project that is {project['status']} cannot become {wanted}.")
    if project["status"] == "Unpublished" and wanted == "Live":
        unit = project["cents"] + fee_on(call.state, project["cents"])
        need_funds(call.state, unit * project["participants"])
    set_status(call.state, project, str(wanted))
    return Answer(200, {"project": view(call.state, project)})


def set_status(state: State, project: Thing, status: str) -> None:
    """Write a project with its status."""
    project["status"] = status
    state.save(project, status=status)


def show_account(call: Call) -> Answer:
    """What can be spent."""
    return Answer(200, {"accountBalance": balance_of(call.state)[1] / 100})
