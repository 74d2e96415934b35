"""What belongs to an account: its workspace and money, groups, messages, screeners.

Money is in minor units. The balance is never kept as a number of its own: it is the deposit less the
payments listed, and what is locked follows from the studies. A payment that is listed is a payment that is
made.
"""

import secrets
from dataclasses import dataclass
from datetime import date
from typing import Any

from distillery_panel_simulator.prolific_calls import Answer, Call, RefusalError, field_error, not_found, page
from distillery_panel_simulator.prolific_hooks import workspace_of
from distillery_panel_simulator.prolific_state import State, Thing

#: Who holds a place without being paid yet, and who was paid for one.
HOLDING = ("RESERVED", "ACTIVE", "AWAITING REVIEW")
SETTLED = ("APPROVED", "PARTIALLY APPROVED")
_RECRUITING = ("PUBLISHING", "ACTIVE", "PAUSED")
#: Per hour, in minor units: the least, and what is recommended.
HOURLY = {"USD": (800, 1_200), "GBP": (600, 900)}


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount with the panel's fee and the tax on that."""

    amount: int
    fees: int
    vat: int

    @property
    def total(self) -> int:
        """All three."""
        return self.amount + self.fees + self.vat

    def times(self, count: int) -> "Cost":
        """The same for several."""
        return Cost(self.amount * count, self.fees * count, self.vat * count)


def cost_of(state: State, amount: int) -> Cost:
    """What a payment costs; fee and tax are rounded up for each payment."""
    fees = -(-amount * state.options.fee_percent // 100)
    return Cost(amount, fees, -(-fees * state.options.vat_percent // 100))


def count_places(state: State, study: Thing) -> tuple[int, int]:
    """How many places of a study are held, and how many are paid for."""
    counts = state.count_statuses("submission", study["id"])
    return sum(counts.get(each, 0) for each in HOLDING), sum(counts.get(each, 0) for each in SETTLED)


def locked_by(state: State, study: Thing) -> int:
    """What a study keeps from being spent: its places not yet paid, and its screen-outs.

    A rejected place is not locked any more; whoever takes it has it locked again (`studies.fund_place`).
    """
    held_places, settled = count_places(state, study)
    if study["status"] in _RECRUITING:
        free = max(0, study["total_available_places"] - held_places - settled)
        held_places += max(0, free - study["unfunded"])
        slots = sum(
            cost_of(state, action["fixed_screen_out_reward"]).times(action["slots"]).total
            for code in study["completion_codes"]
            for action in code["actions"]
            if action["action"] == "FIXED_SCREEN_OUT_PAYMENT"
        )
    else:
        slots = 0
    return cost_of(state, study["reward"]).times(held_places).total + slots


def balance_of(state: State, workspace_id: str) -> tuple[int, int]:
    """The whole balance, and what of it can be spent."""
    workspace = state.get("workspace", workspace_id)
    total = (workspace["deposit"] if workspace else 0) - state.sum_payments(workspace_id)
    locked = sum(
        locked_by(state, study)
        for study in state.find("study", parent=workspace_id)
        if study["status"] not in ("UNPUBLISHED", "SCHEDULED")
    )
    on_the_way = sum(
        each["total"] for each in state.find("bonus run", parent=workspace_id, statuses=["PENDING"])
    )
    return total, total - locked - on_the_way


def need_funds(state: State, workspace_id: str, amount: int) -> None:
    """Refuse what cannot be paid."""
    _, available = balance_of(state, workspace_id)
    if amount > available:
        raise RefusalError(
            f"There are not enough funds in this workspace: {amount} are needed, {available} are available."
        )


def pay(state: State, kind: str, submission: Thing, cost: Cost, *, bulk_id: str | None = None) -> None:
    """Make a payment."""
    study = state.get("study", submission["study_id"]) or {}
    state.write_payment(
        {
            "at": state.stamp(),
            "kind": kind,
            "workspace_id": study.get("workspace_id", ""),
            "study_id": submission["study_id"],
            "submission_id": submission["id"],
            "participant_id": submission["participant_id"],
            "amount": cost.amount,
            "fees": cost.fees,
            "vat": cost.vat,
            "currency": state.options.currency,
            "bulk_id": bulk_id,
        }
    )


_GROUP_LISTS = {"participant_group_allowlist": True, "participant_group_blocklist": False}
_STUDY_LISTS = {"previous_studies_allowlist": True, "previous_studies_blocklist": False}
_PERSON_LISTS = {"custom_allowlist": True, "custom_blocklist": False}


@dataclass(frozen=True, slots=True)
class Screener:
    """What people can be chosen by: a range, or values of a kind, of which there may be only these."""

    data_type: str
    choices: tuple[str, ...] = ()

    @property
    def is_range(self) -> bool:
        """Whether it is asked for by bounds."""
        return self.data_type == "integer"


#: By filter; participants have a value for each of the lower ones.
SCREENERS = {
    **dict.fromkeys(_GROUP_LISTS, Screener("ParticipantGroupID")),
    **dict.fromkeys(_STUDY_LISTS, Screener("StudyID")),
    **dict.fromkeys(_PERSON_LISTS, Screener("ParticipantID")),
    "current-country-of-residence": Screener("ChoiceID", ("1", "2", "3", "4", "5")),
    "fluent-languages": Screener("ChoiceID", ("1", "2", "3", "4", "5")),
    "sex": Screener("ChoiceID", ("0", "1")),
    "age": Screener("integer"),
    "approval_rate": Screener("integer"),
    "approval_numbers": Screener("integer"),
}


def begin(state: State) -> None:
    """An account with one workspace and one project."""
    user = secrets.token_hex(12)
    state.keep("user", {"id": user, "email": "researcher@example.org", "name": "Researcher"})
    workspace = state.add(
        "workspace", _new_workspace(state, "My workspace", user) | {"deposit": state.options.balance}
    )
    state.keep("workspace", workspace["id"])
    state.keep("project", _add_project(state, workspace["id"], {"title": "Project"})["id"])


# Workspace and project


def get_balance(call: Call) -> Answer:
    """What a workspace has, and what of it can be spent."""
    workspace = workspace_of(call.state, call.ids[0])
    total, available = balance_of(call.state, workspace["id"])
    return Answer(
        200,
        {
            "currency_code": call.state.options.currency,
            "total_balance": total,
            "balance_breakdown": {"rewards": total, "fees": 0, "vat": 0},
            "available_balance": available,
            "available_balance_breakdown": {"rewards": available, "fees": 0, "vat": 0},
        },
    )


def project_of(state: State, key: str | None) -> Thing:
    """A project; the account's first where none is named."""
    project = state.get("project", key or str(state.fact("project")))
    if project is None:
        raise not_found("The project")
    return project


def _new_workspace(state: State, title: str, user: str) -> Thing:
    return {
        "title": title,
        "description": "",
        "owner": user,
        "users": [
            {
                "id": user,
                "email": "researcher@example.org",
                "name": "Researcher",
                "roles": ["WORKSPACE_ADMIN"],
            }
        ],
        "naivety_distribution_rate": None,
        "wallet": secrets.token_hex(12),
        "currency_code": state.options.currency,
    }


def _add_project(state: State, workspace_id: str, fields: Thing) -> Thing:
    user = state.fact("user")["id"]
    defaults = {
        "description": "",
        "owner": user,
        "users": [{"id": user, "roles": ["PROJECT_EDITOR"]}],
        "workspace": workspace_id,
        "type": "PRIVATE",
        "is_longitudinal": False,
        "longitudinal": None,
        "naivety_distribution_rate": None,
        "public_details": None,
    }
    return state.add("project", defaults | fields, parent=workspace_id)


# Groups of participants


def list_groups(call: Call) -> Answer:
    """Groups that are not deleted; `active=false` gives those that are."""
    active = call.query.get("active", "true").lower()
    if active not in ("true", "false"):
        raise field_error("active", "true or false.")
    parent = call.query.get("workspace_id") or None
    if call.query.get("project_id"):
        parent = project_of(call.state, call.query["project_id"])["workspace"]
    statuses = ["on" if active == "true" else "off"]
    return Answer(
        200,
        page(
            call,
            call.state.count("group", parent=parent, statuses=statuses),
            lambda limit, offset: [
                _view_group(call.state, each)
                for each in call.state.find(
                    "group", parent=parent, statuses=statuses, limit=limit, offset=offset
                )
            ],
        ),
    )


def create_group(call: Call) -> Answer:
    """A new group."""
    if "workspace_id" in call.body and "organisation_id" in call.body:
        # The contract documents both fields; a group of a workspace is what is kept.
        call.body["organisation_id"] = None
    workspace = workspace_of(call.state, call.body.get("workspace_id"))
    people = call.body.pop("participant_ids", [])
    group = call.state.add(
        "group",
        {"description": None, "organisation_id": None, "project_id": None, "is_deleted": False, "members": {}}
        | call.body
        | {"workspace_id": workspace["id"]},
        parent=workspace["id"],
        status="on",
    )
    return Answer(201, _view_group(call.state, add_members(call.state, group, people)))


def put_members(call: Call) -> Answer:
    """Put participants into a group; who is in it already stays in it."""
    group = group_of(call.state, call.ids[0])
    return Answer(200, _members(add_members(call.state, group, call.body.get("participant_ids", []))))


def remove_members(call: Call) -> Answer:
    """Take participants out of a group; who is not in it is ignored."""
    group = group_of(call.state, call.ids[0])
    for person in call.body.get("participant_ids", []):
        group["members"].pop(person, None)
    call.state.save(group)
    return Answer(200, _members(group))


def group_of(state: State, key: str) -> Thing:
    """A group, also a deleted one."""
    group = state.get("group", key)
    if group is None:
        raise not_found("The participant group")
    return group


def add_members(state: State, group: Thing, people: list[str]) -> Thing:
    """Put participants into a group."""
    for person in people:
        if state.get("participant", person) is None:
            raise field_error("participant_ids", f"There is no participant {person}.")
        group["members"].setdefault(person, state.stamp())
    state.save(group)
    return group


def _members(group: Thing) -> Thing:
    return {
        "results": [
            {"participant_id": person, "datetime_created": when} for person, when in group["members"].items()
        ]
    }


def _view_group(state: State, group: Thing) -> Thing:
    names = ("id", "name", "description", "workspace_id", "organisation_id", "project_id", "is_deleted")
    return {
        **{name: group[name] for name in names},
        "participant_count": len(group["members"]),
        "feeder_studies": _feeders(state, group["id"]),
    }


def _feeders(state: State, group_id: str) -> list[Thing]:
    feeders = []
    for study in state.find("study"):
        codes = [
            {"code": code["code"] or "", "code_type": code["code_type"], "action": action["action"]}
            for code in study["completion_codes"]
            for action in code["actions"]
            if action.get("participant_group") == group_id
        ]
        if codes:
            feeders.append(
                {
                    "id": study["id"],
                    "name": study["name"],
                    "internal_name": study["internal_name"] or "",
                    "status": study["status"],
                    "feeder_completion_codes": codes,
                }
            )
    return feeders


# Messages


def list_messages(call: Call) -> Answer:
    """Messages with a participant, or since a date."""
    return Answer(200, {"results": _messages(call, unread_only=False)})


def list_unread(call: Call) -> Answer:
    """What participants wrote and was not read: `/_control/message` writes such."""
    return Answer(200, {"results": _messages(call, unread_only=True)})


def send_message(call: Call) -> Answer:
    """To one participant."""
    write_messages(call.state, [call.body["recipient_id"]], call.body["body"], call.body["study_id"])
    return Answer(204)


def send_bulk_message(call: Call) -> Answer:
    """To several."""
    write_messages(call.state, call.body["ids"], call.body["body"], call.body["study_id"])
    return Answer(204)


def send_group_message(call: Call) -> Answer:
    """One message to every member, present ones only: later members do not get it."""
    group = group_of(call.state, call.body["participant_group_id"])
    write_messages(call.state, list(group["members"]), call.body["body"], call.body.get("study_id"))
    return Answer(204)


def write_messages(
    state: State, people: list[str], text: str, study_id: str | None, *, from_them: bool = False
) -> None:
    """Messages between the account and participants; all of them, or none where somebody is not known."""
    if not text.strip():
        raise field_error("body", "A message needs words.")
    if study_id is not None and state.get("study", study_id) is None:
        raise not_found("The study")
    for person in people:
        if state.get("participant", person) is None:
            raise not_found(f"The participant {person}")
        state.add(
            "message",
            {
                "sender_id": person if from_them else state.fact("user")["id"],
                "channel_id": person,
                "body": text,
                "sent_at": state.stamp(),
                "type": "message",
                "data": {"category": "other", **({"study_id": study_id} if study_id else {})},
                "is_unread": from_them,
            },
            parent=person,
        )


def _messages(call: Call, *, unread_only: bool) -> list[Thing]:
    after = call.query.get("created_after", "")
    if after:
        try:
            date.fromisoformat(after[:10])
        except ValueError as error:
            raise field_error("created_after", "A date such as 2026-01-31.") from error
    left_out = call.query.get("excluded_sender_ids", "").split(",")
    return [
        {name: value for name, value in message.items() if name != "is_unread"}
        for message in call.state.find("message", parent=call.query.get("user_id"))
        if message["sent_at"] >= after
        and message["sender_id"] not in left_out
        and (message["is_unread"] or not unread_only)
    ]


# Screeners, eligibility


def recommend_rewards(call: Call) -> Answer:
    """The least per hour, and what is recommended."""
    workspace_of(call.state, call.query["workspace_id"])
    currency = call.query["currency"]
    if currency not in HOURLY:
        raise field_error("currency", f"One of {', '.join(HOURLY)}.")
    least, good = HOURLY[currency]
    return Answer(
        200, [{"currency": currency, "min_reward_per_hour": least, "recommended_reward_per_hour": good}]
    )


def check_filters(state: State, filters: list[Thing] | None) -> None:
    """Refuse filters that the panel does not have, and ids that do not exist."""
    for each in filters or []:
        if "selected_filters" in each:
            check_filters(state, each["selected_filters"])
            continue
        screener = SCREENERS.get(each["filter_id"])
        if screener is None:
            raise field_error("filters", f"There is no filter {each['filter_id']}.")
        if ("selected_range" in each) != screener.is_range:
            raise field_error(
                "filters", f"{each['filter_id']} takes {'bounds' if screener.is_range else 'values'}."
            )
        kind = {"ParticipantGroupID": "group", "StudyID": "study"}.get(screener.data_type)
        for value in each.get("selected_values", []):
            if kind and state.get(kind, value) is None:
                raise field_error("filters", f"{each['filter_id']}: there is no {kind} {value}.")
            if screener.choices and value not in screener.choices:
                raise field_error("filters", f"{each['filter_id']} has no choice {value}.")


def is_eligible(state: State, person: Thing, filters: list[Thing] | None) -> bool:
    """Whether a participant passes all filters."""
    return all(_fits(state, person, each) for each in filters or [])


def _fits(state: State, person: Thing, condition: Thing) -> bool:
    name = condition["filter_id"]
    if "selected_filters" in condition:
        fitting = [_fits(state, person, each) for each in condition["selected_filters"]]
        return all(fitting) if name == "and" else any(fitting)
    if name in _PERSON_LISTS:
        return (person["id"] in condition["selected_values"]) == _PERSON_LISTS[name]
    if name in _GROUP_LISTS:
        groups = (state.get("group", each) for each in condition["selected_values"])
        return any(person["id"] in group["members"] for group in groups if group) == _GROUP_LISTS[name]
    if name in _STUDY_LISTS:
        took_part = any(
            state.count("submission", owner=person["id"], parent=each)
            for each in condition["selected_values"]
        )
        return took_part == _STUDY_LISTS[name]
    value = person["attributes"].get(name)
    return value is None or _fits_value(value, condition)


def _fits_value(value: Any, condition: Thing) -> bool:
    if "selected_range" in condition:
        lower, upper = condition["selected_range"].get("lower"), condition["selected_range"].get("upper")
        return (lower is None or value >= float(lower)) and (upper is None or value <= float(upper))
    values = value if isinstance(value, list) else [value]
    return not set(values).isdisjoint(condition["selected_values"])


def refuse_filters(state: State, person: Thing, filters: list[Thing] | None) -> None:
    """Raise `RefusalError` where a participant does not see a study."""
    if not is_eligible(state, person, filters):
        raise RefusalError(f"Participant {person['id']} does not pass the filters of this study.")
