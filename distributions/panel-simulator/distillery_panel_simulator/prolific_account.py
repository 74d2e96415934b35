"""What belongs to an account: user, workspaces and their money, projects, groups, messages, screeners.

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
    """Make a payment; who only tests a draft gets none."""
    if submission["is_test"]:
        return
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
_COUNTRIES = {"1": "United States", "2": "United Kingdom", "3": "Germany", "4": "South Africa", "5": "Poland"}
_LANGUAGES = {"1": "English", "2": "German", "3": "French", "4": "Polish", "5": "Spanish"}


def _select(filter_id: str, title: str, data_type: str, choices: dict[str, str] | None = None) -> Thing:
    return {
        "filter_id": filter_id,
        "title": title,
        "description": title,
        "question": title,
        "type": "select",
        "choices": choices or {},
        "data_type": data_type,
    }


def _range(filter_id: str, title: str, least: int, most: int) -> Thing:
    return {
        "filter_id": filter_id,
        "title": title,
        "description": title,
        "question": title,
        "type": "range",
        "data_type": "integer",
        "min": least,
        "max": most,
    }


#: Screeners, read at run time by clients; participants have a value for each of the lower ones.
SCREENERS: dict[str, Thing] = {
    each["filter_id"]: each
    for each in (
        *(_select(name, "Participant groups", "ParticipantGroupID") for name in _GROUP_LISTS),
        *(_select(name, "Previous studies", "StudyID") for name in _STUDY_LISTS),
        *(_select(name, "Participants by id", "ParticipantID") for name in _PERSON_LISTS),
        _select("current-country-of-residence", "Country of residence", "ChoiceID", _COUNTRIES),
        _select("fluent-languages", "Fluent languages", "ChoiceID", _LANGUAGES),
        _select("sex", "Sex", "ChoiceID", {"0": "Male", "1": "Female"}),
        _range("age", "Age", 18, 100),
        _range("approval_rate", "Approval rate", 0, 100),
        _range("approval_numbers", "Number of approvals", 0, 10_000),
    )
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


# User, workspaces, projects


def get_user(call: Call) -> Answer:
    """Whose token it is."""
    return Answer(200, call.state.fact("user"))


def list_workspaces(call: Call) -> Answer:
    """All workspaces."""
    return Answer(
        200,
        page(
            call,
            call.state.count("workspace"),
            lambda limit, offset: [
                _short_workspace(each) for each in call.state.find("workspace", limit=limit, offset=offset)
            ],
        ),
    )


def create_workspace(call: Call) -> Answer:
    """A new workspace, with an empty wallet: money is put in on the web only."""
    user = call.state.fact("user")["id"]
    workspace = call.state.add(
        "workspace", _new_workspace(call.state, call.body["title"], user) | {"deposit": 0} | call.body
    )
    return Answer(201, _view_workspace(call.state, workspace))


def get_workspace(call: Call) -> Answer:
    """One workspace."""
    return Answer(200, _view_workspace(call.state, workspace_of(call.state, call.ids[0])))


def change_workspace(call: Call) -> Answer:
    """Title and description."""
    workspace = workspace_of(call.state, call.ids[0])
    for name in ("title", "description", "naivety_distribution_rate"):
        if name in call.body:
            workspace[name] = call.body[name]
    call.state.save(workspace)
    return Answer(200, _view_workspace(call.state, workspace))


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


def list_projects(call: Call) -> Answer:
    """Projects of a workspace."""
    workspace = workspace_of(call.state, call.ids[0])
    return Answer(
        200,
        page(
            call,
            call.state.count("project", parent=workspace["id"]),
            lambda limit, offset: call.state.find(
                "project", parent=workspace["id"], limit=limit, offset=offset
            ),
        ),
    )


def create_project(call: Call) -> Answer:
    """A new project."""
    return Answer(201, _add_project(call.state, workspace_of(call.state, call.ids[0])["id"], call.body))


def get_project(call: Call) -> Answer:
    """One project."""
    return Answer(200, project_of(call.state, call.ids[0]))


def change_project(call: Call) -> Answer:
    """Its texts."""
    project = project_of(call.state, call.ids[0]) | {
        name: value for name, value in call.body.items() if value is not None
    }
    call.state.save(project)
    return Answer(200, project)


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


def _short_workspace(workspace: Thing) -> Thing:
    names = ("id", "title", "description", "owner", "users", "naivety_distribution_rate")
    return {name: workspace[name] for name in names}


def _view_workspace(state: State, workspace: Thing) -> Thing:
    return {
        **_short_workspace(workspace),
        "wallet": workspace["wallet"],
        "projects": state.find("project", parent=workspace["id"]),
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


def get_group(call: Call) -> Answer:
    """One group."""
    return Answer(200, _view_group(call.state, group_of(call.state, call.ids[0])))


def change_group(call: Call) -> Answer:
    """Another name; a list of participants takes the place of the whole list."""
    group = group_of(call.state, call.ids[0])
    if call.body.get("name"):
        group["name"] = call.body["name"]
    if call.body.get("participant_ids") is not None:
        group["members"] = {}
        add_members(call.state, group, call.body["participant_ids"])
    call.state.save(group)
    return Answer(200, _view_group(call.state, group))


def delete_group(call: Call) -> Answer:
    """Gone from the lists; its id is still known."""
    call.state.save(group_of(call.state, call.ids[0]) | {"is_deleted": True}, status="off")
    return Answer(204)


def list_members(call: Call) -> Answer:
    """Who is in a group."""
    return Answer(200, _members(group_of(call.state, call.ids[0])))


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


def list_screeners(call: Call) -> Answer:
    """What can be filtered by."""
    more: Thing = {}
    if call.query.get("detailed", "").lower() in ("1", "true"):
        more = {
            "category": None,
            "subcategory": None,
            "display_order": None,
            "participant_help_text": None,
            "researcher_help_text": None,
            "tags": [],
        }
    screeners = [each | more for each in SCREENERS.values()]
    return Answer(200, {"results": screeners, "_links": {}, "meta": {"count": len(screeners)}})


def get_distribution(call: Call) -> Answer:
    """How the participants are spread over the values of a screener."""
    screener = SCREENERS.get(call.ids[0])
    if screener is None:
        raise not_found("The filter")
    workspace_of(call.state, call.query["workspace_id"])
    spread: dict[str, int] = {}
    for person in call.state.find("participant"):
        value = person["attributes"].get(call.ids[0])
        for each in value if isinstance(value, list) else [value]:
            if each is not None:
                spread[str(each)] = spread.get(str(each), 0) + 1
    return Answer(200, {"distribution": {call.ids[0]: spread}})


def count_eligible(call: Call) -> Answer:
    """How many participants fit; 0 where they are fewer than 25, as the panel says it."""
    check_filters(call.state, call.body["filters"])
    fitting = sum(
        is_eligible(call.state, each, call.body["filters"]) for each in call.state.find("participant")
    )
    return Answer(200, {"count": fitting if fitting >= 25 else 0})


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


def create_test_participant(call: Call) -> Answer:
    """A participant for `test-study`; an address can be used once."""
    if any(each.get("email") == call.body["email"] for each in call.state.find("participant")):
        raise field_error("email", "There is a participant with this address.")
    participant = call.state.add(
        "participant", {"email": call.body["email"], "attributes": {}, "is_tester": True}
    )
    return Answer(201, {"participant_id": participant["id"]})


def check_filters(state: State, filters: list[Thing] | None) -> None:
    """Refuse filters that the panel does not have, and ids that do not exist."""
    for each in filters or []:
        if "selected_filters" in each:
            check_filters(state, each["selected_filters"])
            continue
        screener = SCREENERS.get(each["filter_id"])
        if screener is None:
            raise field_error("filters", f"There is no filter {each['filter_id']}.")
        if ("selected_range" in each) != (screener["type"] == "range"):
            raise field_error("filters", f"{each['filter_id']} is a {screener['type']} filter.")
        kind = {"ParticipantGroupID": "group", "StudyID": "study"}.get(screener["data_type"])
        for value in each.get("selected_values", []):
            if kind and state.get(kind, value) is None:
                raise field_error("filters", f"{each['filter_id']}: there is no {kind} {value}.")
            if screener["data_type"] == "ChoiceID" and value not in screener["choices"]:
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
