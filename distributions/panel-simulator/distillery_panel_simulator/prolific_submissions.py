"""Submissions: who takes a place, with which code they come back, and what the researcher makes of it."""

import csv
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from urllib.parse import quote

from distillery_panel_simulator.prolific_account import (
    HOLDING,
    add_members,
    cost_of,
    count_places,
    group_of,
    need_funds,
    pay,
    refuse_filters,
    write_messages,
)
from distillery_panel_simulator.prolific_calls import Answer, Call, RefusalError, field_error, not_found, page
from distillery_panel_simulator.prolific_hooks import announce, sign_arrival
from distillery_panel_simulator.prolific_state import State, Thing
from distillery_panel_simulator.prolific_studies import follow_places, fund_place, set_study_status, study_of

STATUSES = (
    "RESERVED",
    "ACTIVE",
    "TIMED-OUT",
    "AWAITING REVIEW",
    "APPROVED",
    "PARTIALLY APPROVED",
    "RETURNED",
    "REJECTED",
    "SCREENED OUT",
)
_RESERVED_SECONDS = 600
_SHORTEST_REASON = 100
#: What an action needs and what it brings; a submission that is there already is left as it is.
_STEPS: Mapping[str, tuple[frozenset[str], str]] = {
    "APPROVE": (frozenset({"AWAITING REVIEW"}), "APPROVED"),
    "REJECT": (frozenset({"AWAITING REVIEW"}), "REJECTED"),
    "COMPLETE": (frozenset({"ACTIVE"}), "AWAITING REVIEW"),
    "RETURN": (frozenset({"RESERVED", "ACTIVE", "AWAITING REVIEW"}), "RETURNED"),
    "START": (frozenset({"RESERVED"}), "ACTIVE"),
    "SCREEN_OUT": (frozenset({"ACTIVE", "AWAITING REVIEW"}), "SCREENED OUT"),
    "UNREJECT": (frozenset({"REJECTED"}), "AWAITING REVIEW"),
    "UNRETURN": (frozenset({"RETURNED"}), "AWAITING REVIEW"),
}
_FLAGS: Mapping[str, tuple[str, ...]] = {
    "completed": ("AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "REJECTED", "SCREENED OUT"),
    "returned": ("RETURNED",),
    "awaiting_review": ("AWAITING REVIEW",),
    "approved": ("APPROVED",),
    "active": ("ACTIVE", "RESERVED"),
    "timeout": ("TIMED-OUT",),
    "rejected": ("REJECTED",),
    "screened_out": ("SCREENED OUT",),
    "completeoractive": (
        "AWAITING REVIEW",
        "APPROVED",
        "PARTIALLY APPROVED",
        "REJECTED",
        "ACTIVE",
        "RESERVED",
    ),
}
_ORDERINGS = ("started_at", "submission_reward", "study_name")
_TRUE, _FALSE = ("1", "true", "yes", "t"), ("0", "false", "no", "f")
_FREED = ("RETURNED", "TIMED-OUT", "REJECTED")


def submission_of(state: State, key: str) -> Thing:
    """What is stored of one, or their answer 404."""
    submission = state.get("submission", key)
    if submission is None:
        raise not_found("The submission")
    return submission


# What participants do


def reserve_place(state: State, study_id: str, participant_id: str) -> Thing:
    """Hold a place for ten minutes. Refused where the panel would not show the study."""
    study, person = study_of(state, study_id), state.get("participant", participant_id)
    if person is None:
        raise not_found("The participant")
    before = state.find("submission", owner=participant_id, parent=study_id)
    for each in before:
        if each["status"] in ("RESERVED", "ACTIVE"):
            return each
    _refuse_place(state, study, person, len(before))
    submission = state.add(
        "submission",
        {
            "participant_id": participant_id,
            "study_id": study_id,
            "status": "RESERVED",
            "started_at": state.stamp(),
            "completed_at": None,
            "entered_code": None,
            "return_requested": None,
            "bonus_payments": [],
            "has_siblings": bool(before),
            "address": _choose_address(state, study),
        },
        parent=study_id,
        owner=participant_id,
        status="RESERVED",
    )
    state.plan(_RESERVED_SECONDS, "lapse", {"submission_id": submission["id"]})
    _tell(state, submission)
    return submission


def open_study(state: State, submission: Thing) -> str:
    """Open the study's address: the place becomes active, and the time that is allowed begins."""
    study = study_of(state, submission["study_id"])
    if submission["status"] == "RESERVED":
        submission["started_at"] = state.stamp()
        set_status(state, submission, "ACTIVE")
        state.plan(study["maximum_allowed_time"] * 60, "time_out", {"submission_id": submission["id"]})
    address: str = submission["address"] or study["external_study_url"]
    for name, value in (
        ("PROLIFIC_PID", submission["participant_id"]),
        ("STUDY_ID", study["id"]),
        ("SESSION_ID", submission["id"]),
    ):
        address = address.replace("{{%" + name + "%}}", quote(value, safe=""))
    if study["is_external_study_url_secure"]:
        joint = "&" if "?" in address else "?"
        address = f"{address}{joint}prolific_token={sign_arrival(state, study, submission, address)}"
    return address


def complete(state: State, submission: Thing, code: str | None) -> Thing:
    """The participant is back, with a code or without: what the code brings happens at once."""
    if submission["status"] != "ACTIVE":
        raise RefusalError(f"A submission that is {submission['status']} cannot be completed.")
    study = study_of(state, submission["study_id"])
    _hand_in(state, study, submission, code or None)
    code_entry = next(
        (
            each
            for each in study["completion_codes"]
            if each["actor"] == "participant" and each["code"] == code
        ),
        None,
    )
    _run_actions(state, study["id"], submission, code_entry["actions"] if code and code_entry else [])
    return submission


def return_place(state: State, submission: Thing) -> Thing:
    """The participant gives the place back."""
    if submission["status"] not in ("RESERVED", "ACTIVE", "AWAITING REVIEW"):
        raise RefusalError(f"A submission that is {submission['status']} cannot be returned.")
    set_status(state, submission, "RETURNED")
    return submission


def lapse(state: State, submission_id: str) -> None:
    """A place that was held and never opened is free again."""
    submission = state.get("submission", submission_id)
    if submission and submission["status"] == "RESERVED":
        set_status(state, submission, "TIMED-OUT")


def time_out(state: State, submission_id: str) -> None:
    """The time that is allowed is over."""
    submission = state.get("submission", submission_id)
    if submission and submission["status"] == "ACTIVE":
        set_status(state, submission, "TIMED-OUT")


def set_status(state: State, submission: Thing, status: str) -> None:
    """Write a submission with its new status, tell it, and see what it does to its study."""
    before, submission["status"] = submission["status"], status
    if status == "REJECTED" or before == "REJECTED":
        study = study_of(state, submission["study_id"])
        study["unfunded"] = max(0, study["unfunded"] + (1 if status == "REJECTED" else -1))
        state.save(study)
    state.save(submission, status=status)
    _tell(state, submission)
    follow_places(state, submission["study_id"], freed=status in _FREED)


def _refuse_place(state: State, study: Thing, person: Thing, before: int) -> None:
    if study["status"] != "ACTIVE":
        raise RefusalError(f"The study is {study['status']}: nobody can take part.")
    config = study["submissions_config"]
    most = config.get("max_submissions_per_participant") or 1
    if most > 0 and before >= most:
        raise RefusalError(f"Participant {person['id']} has taken part in this study as often as it allows.")
    held_places, settled = count_places(state, study)
    if held_places + settled >= study["total_available_places"]:
        raise RefusalError("All places of this study are taken.")
    together = config.get("max_concurrent_submissions") or -1
    if 0 < together <= state.count("submission", parent=study["id"], statuses=["RESERVED", "ACTIVE"]):
        raise RefusalError("As many people take part at this moment as the study allows.")
    refuse_filters(state, person, study["filters"])
    fund_place(state, study)


def _choose_address(state: State, study: Thing) -> str:
    if not study["access_details"]:
        return ""
    places_by_address: dict[str, int] = {}
    for each in state.find(
        "submission", parent=study["id"], statuses=(*HOLDING, "APPROVED", "PARTIALLY APPROVED")
    ):
        places_by_address[each["address"]] = places_by_address.get(each["address"], 0) + 1
    for each in study["access_details"]:
        if places_by_address.get(each["external_url"], 0) < each["total_allocation"]:
            return str(each["external_url"])
    raise RefusalError("All places of this study are taken.")


def _hand_in(state: State, study: Thing, submission: Thing, code: str | None) -> None:
    submission |= {"completed_at": state.stamp(), "entered_code": code}
    set_status(state, submission, "AWAITING REVIEW")


def _run_actions(state: State, study_id: str, submission: Thing, actions: list[Thing]) -> None:
    for action in actions:
        name = action["action"]
        if name == "AUTOMATICALLY_APPROVE":
            _approve(state, submission)
        elif name == "ADD_TO_PARTICIPANT_GROUP":
            add_members(state, group_of(state, action["participant_group"]), [submission["participant_id"]])
        elif name == "REMOVE_FROM_PARTICIPANT_GROUP":
            group = group_of(state, action["participant_group"])
            group["members"].pop(submission["participant_id"], None)
            state.save(group)
        elif name == "REQUEST_RETURN":
            _ask_for_return(state, submission, [action["return_reason"]])
        elif name == "FIXED_SCREEN_OUT_PAYMENT":
            _screen_out(state, study_id, submission, action["fixed_screen_out_reward"])


def _screen_out(state: State, study_id: str, submission: Thing, reward: int) -> None:
    study = study_of(state, study_id)
    actions = [each for code in study["completion_codes"] for each in code["actions"]]
    slots = next(each for each in actions if each["action"] == "FIXED_SCREEN_OUT_PAYMENT")
    if slots["slots"] < 1:
        return
    slots["slots"] -= 1
    state.save(study)
    pay(state, "screen_out", submission, cost_of(state, reward))
    submission["reward"] = reward
    set_status(state, submission, "SCREENED OUT")
    study = study_of(state, study_id)
    if slots["slots"] == 0 and study["status"] == "ACTIVE":
        set_study_status(state, study, "PAUSED")


def _approve(state: State, submission: Thing) -> None:
    study = study_of(state, submission["study_id"])
    pay(state, "reward", submission, cost_of(state, study["reward"]))
    set_status(state, submission, "APPROVED")


def _ask_for_return(state: State, submission: Thing, reasons: list[str]) -> None:
    submission["return_requested"] = state.stamp()
    state.save(submission)
    text = f"Please return your submission: {'; '.join(reasons)}"
    write_messages(state, [submission["participant_id"]], text, submission["study_id"])


def _tell(state: State, submission: Thing) -> None:
    study = study_of(state, submission["study_id"])
    announce(
        state,
        "submission.status.change",
        study["workspace_id"],
        submission["id"],
        {"participant_id": submission["participant_id"], "status": submission["status"]},
    )


# What the researcher does


def list_submissions(call: Call) -> Answer:
    """Submissions of a study, filtered by status, flags and days."""
    study = study_of(call.state, call.query["study"])
    statuses = _wanted_statuses(call.query)
    if statuses is not None and not statuses:
        return Answer(200, page(call, 0, lambda _limit, _offset: [], default="page"))
    return Answer(200, _list(call, study, statuses or []))


def count_submissions(call: Call) -> Answer:
    """How many submissions have which status."""
    counts = call.state.count_statuses("submission", study_of(call.state, call.ids[0])["id"])
    return Answer(200, {**{each: counts.get(each, 0) for each in STATUSES}, "TOTAL": sum(counts.values())})


def get_submission(call: Call) -> Answer:
    """One submission."""
    submission = submission_of(call.state, call.ids[0])
    return Answer(
        200,
        {**_view(submission), "parent_study_id": None}
        | {name: submission[name] for name in ("bonus_payments", "return_requested")},
    )


def transition_submission(call: Call) -> Answer:
    """One step; a repeat of it changes nothing and is answered the same."""
    state, body = call.state, call.body
    submission = submission_of(state, call.ids[0])
    action = body["action"]
    sources, target = _STEPS[action]
    if action == "REJECT":
        _check_rejection(body)
    if action == "COMPLETE":
        return Answer(200, _view(_complete_for(state, submission, body)))
    if action == "UNRETURN" and not submission["completed_at"]:
        target = "ACTIVE"
    if submission["status"] == target:
        return Answer(200, _view(submission))
    if submission["status"] not in sources:
        raise RefusalError(f"A submission that is {submission['status']} cannot do {action}.")
    if action == "APPROVE":
        _approve(state, submission)
    elif action == "START":
        open_study(state, submission)
    elif action == "SCREEN_OUT":
        _screen_out_by_hand(state, submission)
    else:
        if action in ("UNREJECT", "UNRETURN"):
            _take_back(state, submission)
        if action == "REJECT":
            submission["rejection"] = {"category": body["rejection_category"], "message": body["message"]}
        set_status(state, submission, target)
    return Answer(200, _view(submission))


def request_return(call: Call) -> Answer:
    """Ask somebody to return a submission; they decide."""
    submission = submission_of(call.state, call.ids[0])
    reasons = [reason for reason in call.body["request_return_reasons"] if reason.strip()]
    if not reasons:
        raise field_error("request_return_reasons", "At least one reason.")
    if submission["status"] not in ("ACTIVE", "AWAITING REVIEW"):
        raise RefusalError(f"A submission that is {submission['status']} cannot be asked for.")
    _ask_for_return(call.state, submission, reasons)
    return Answer(
        200,
        {
            "id": submission["id"],
            "status": submission["status"],
            "participant": submission["participant_id"],
            "return_requested": submission["return_requested"],
        },
    )


# Bonuses


def set_up_bonuses(call: Call) -> Answer:
    """Bonuses written down; nothing is paid before `pay` is called."""
    if "study_id" not in call.body or "csv_bonuses" not in call.body:
        raise RefusalError("study_id and csv_bonuses are needed.")
    study = study_of(call.state, call.body["study_id"])
    lines = _read_bonuses(call.state, study, call.body["csv_bonuses"])
    costs = [cost_of(call.state, amount) for _, amount in lines]
    bulk_payment = call.state.add(
        "bonus",
        {
            "study": study["id"],
            "amount": sum(each.amount for each in costs),
            "fees": sum(each.fees for each in costs),
            "vat": sum(each.vat for each in costs),
            "total_amount": sum(each.total for each in costs),
            "lines": lines,
        },
        parent=study["workspace_id"],
    )
    return Answer(201, {name: value for name, value in bulk_payment.items() if name != "lines"})


def pay_bonuses(call: Call) -> Answer:
    """Pay what was set up, minutes later. Called twice, it pays twice."""
    bonus = call.state.get("bonus", call.ids[0])
    if bonus is None:
        raise not_found("The bulk bonus payment")
    workspace_id = study_of(call.state, bonus["study"])["workspace_id"]
    need_funds(call.state, workspace_id, bonus["total_amount"])
    run = call.state.add(
        "bonus run",
        {"bonus_id": bonus["id"], "total": bonus["total_amount"]},
        parent=workspace_id,
        status="PENDING",
    )
    call.state.plan(call.state.options.bonus_seconds, "pay_bonuses", {"run_id": run["id"]})
    return Answer(202, "The payments are being processed.")


def pay_planned(state: State, run_id: str) -> None:
    """The background work of a payment of bonuses."""
    run = state.get("bonus run", run_id)
    bonus = state.get("bonus", run["bonus_id"]) if run else None
    if run is None or bonus is None:
        return
    for key, amount in bonus["lines"]:
        submission = submission_of(state, key)
        pay(state, "bonus", submission, cost_of(state, amount), bulk_id=bonus["id"])
        submission["bonus_payments"].append(amount)
        state.save(submission)
    state.save(run, status="PAID")


def _read_bonuses(state: State, study: Thing, text: str) -> list[tuple[str, int]]:
    lines: list[tuple[str, int]] = []
    unknown: list[str] = []
    for number, row in enumerate(csv.reader(text.splitlines()), 1):
        if not row:
            continue
        if len(row) != 2:
            raise field_error("csv_bonuses", f"Line {number}: an id and an amount, with a comma between.")
        key, amount = row[0].strip(), _read_amount(row[1], number)
        submission = state.get("submission", key)
        if submission is None:
            submissions = state.find("submission", parent=study["id"], owner=key, newest_first=True, limit=1)
            submission = submissions[0] if submissions else None
        if submission is None or submission["study_id"] != study["id"]:
            unknown.append(key)
        else:
            lines.append((submission["id"], amount))
    if unknown:
        raise field_error("csv_bonuses", f"Not in this study: {', '.join(unknown)}.")
    if not lines:
        raise field_error("csv_bonuses", "There is no line.")
    return lines


def _read_amount(text: str, number: int) -> int:
    try:
        amount = Decimal(text.strip())
        minor = amount * 100
        if not amount.is_finite() or amount <= 0 or amount > 10_000 or minor != minor.to_integral_value():
            raise InvalidOperation
    except InvalidOperation as error:
        raise field_error(
            "csv_bonuses",
            f"Line {number}: {text.strip()!r} is no amount such as 1.50, in units of the currency.",
        ) from error
    return int(minor)


# Views, and checks of single calls


def _check_rejection(body: Thing) -> None:
    if not body.get("rejection_category"):
        raise field_error("rejection_category", "A rejection needs a category.")
    if len((body.get("message") or "").strip()) < _SHORTEST_REASON:
        raise field_error(
            "message", f"A rejection needs a message of at least {_SHORTEST_REASON} characters."
        )


def _complete_for(state: State, submission: Thing, body: Thing) -> Thing:
    study = study_of(state, submission["study_id"])
    code = next(
        (
            each
            for each in study["completion_codes"]
            if each["actor"] == "researcher" and each["code"] == body.get("completion_code")
        ),
        None,
    )
    if code is None:
        raise field_error("completion_code", "No code of this study with the actor researcher.")
    if submission["completed_at"] and submission["entered_code"] == code["code"]:
        return submission
    is_dynamic = any(each["action"] == "DYNAMIC_PAYMENT" for each in code["actions"])
    waits = is_dynamic and submission["status"] == "AWAITING REVIEW"
    if submission["status"] != "ACTIVE" and not waits:
        raise RefusalError(f"A submission that is {submission['status']} cannot do COMPLETE.")
    share = (body.get("completion_code_data") or {}).get("percentage_of_reward")
    if is_dynamic and share is None:
        raise field_error("completion_code_data", "percentage_of_reward is needed: 8 to 99.")
    _hand_in(state, study, submission, code["code"])
    _run_actions(state, study["id"], submission, code["actions"])
    if is_dynamic and share is not None:
        amount = -(-study["reward"] * share // 100)
        pay(state, "partial", submission, cost_of(state, amount))
        submission["reward"] = amount
        set_status(state, submission, "PARTIALLY APPROVED")
    return submission


def _screen_out_by_hand(state: State, submission: Thing) -> None:
    study = study_of(state, submission["study_id"])
    reward = next(
        (
            each["fixed_screen_out_reward"]
            for code in study["completion_codes"]
            for each in code["actions"]
            if each["action"] == "FIXED_SCREEN_OUT_PAYMENT" and each["slots"] > 0
        ),
        None,
    )
    if reward is None:
        raise RefusalError("This study has no screen-out with slots left.")
    submission["completed_at"] = submission["completed_at"] or state.stamp()
    _screen_out(state, study["id"], submission, reward)


def _take_back(state: State, submission: Thing) -> None:
    study = study_of(state, submission["study_id"])
    held_places, settled = count_places(state, study)
    if held_places + settled >= study["total_available_places"]:
        raise RefusalError("The place was taken by somebody else.")
    if study["status"] not in ("ACTIVE", "PAUSED") or study["unfunded"]:
        need_funds(state, study["workspace_id"], cost_of(state, study["reward"]).total)


def _wanted_statuses(query: Mapping[str, str]) -> list[str] | None:
    fitting_all: set[str] | None = None
    if "status" in query:
        name = query["status"].replace("_", " ")
        if name not in (*STATUSES, "UNKNOWN"):
            raise field_error("status", f"One of {', '.join(each.replace(' ', '_') for each in STATUSES)}.")
        fitting_all = {name}
    for flag, statuses in _FLAGS.items():
        if flag not in query:
            continue
        if query[flag].lower() not in (*_TRUE, *_FALSE):
            raise field_error(flag, "true or false.")
        fitting = set(statuses) if query[flag].lower() in _TRUE else set(STATUSES) - set(statuses)
        fitting_all = fitting if fitting_all is None else fitting_all & fitting
    return None if fitting_all is None else sorted(fitting_all)


def _list(call: Call, study: Thing, statuses: list[str]) -> Thing:
    ordering = call.query.get("ordering", "started_at")
    if ordering.removeprefix("-") not in _ORDERINGS:
        raise field_error("ordering", f"One of {', '.join(_ORDERINGS)}, with - for descending.")
    since, until = (_read_day(call.query, name) for name in ("submitted_from", "submitted_before"))
    newest_first = ordering.startswith("-")
    if since or until:
        submissions = [
            each
            for each in call.state.find(
                "submission", parent=study["id"], statuses=statuses, newest_first=newest_first
            )
            if each["completed_at"]
            and (not since or each["completed_at"] >= since)
            and (not until or each["completed_at"] < until)
        ]
        return page(
            call,
            len(submissions),
            lambda limit, offset: [
                _short(each)
                for each in (submissions[offset:] if limit < 0 else submissions[offset : offset + limit])
            ],
            default="page",
        )
    return page(
        call,
        call.state.count("submission", parent=study["id"], statuses=statuses),
        lambda limit, offset: [
            _short(each)
            for each in call.state.find(
                "submission",
                parent=study["id"],
                statuses=statuses,
                newest_first=newest_first,
                limit=limit,
                offset=offset,
            )
        ],
        default="page",
    )


def _read_day(query: Mapping[str, str], name: str) -> str:
    if name not in query:
        return ""
    try:
        day = datetime.strptime(query[name], "%d/%m/%Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise field_error(name, "A day as DD/MM/YYYY.") from error
    return day.strftime("%Y-%m-%d")


def _short(submission: Thing) -> Thing:
    names = (
        "id",
        "participant_id",
        "status",
        "started_at",
        "completed_at",
        "has_siblings",
        "return_requested",
    )
    short = {**{name: submission[name] for name in names}, "study_code": submission["entered_code"]}
    # Not in the contract; the panel's own command-line client reads it.
    return short | ({"reward": submission["reward"]} if "reward" in submission else {})


def _view(submission: Thing) -> Thing:
    names = ("id", "study_id", "status", "started_at", "completed_at", "entered_code")
    return {**{name: submission[name] for name in names}, "participant": submission["participant_id"]}


def make_participants(state: State, count: int, attributes: Thing) -> list[str]:
    """Participants with values for the screeners; the same seed makes the same people, ids apart."""
    participant_ids: list[str] = []
    first = state.count("participant")
    for number in range(first, first + count):
        chance = random.Random(f"{state.options.seed} person {number}")
        person = {
            "current-country-of-residence": chance.choice("12345"),
            "fluent-languages": ["1", *chance.sample("2345", chance.randrange(3))],
            "sex": chance.choice("01"),
            "age": chance.randrange(18, 80),
            "approval_rate": min(100, 90 + chance.randrange(12)),
            "approval_numbers": chance.randrange(2_000),
        } | attributes
        participant_ids.append(state.add("participant", {"attributes": person})["id"])
    return participant_ids
