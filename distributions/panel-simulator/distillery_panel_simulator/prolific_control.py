"""What no panel offers: the clock, participants who come and go, faults, and the list of payments."""

import html
import random
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from distillery_panel_simulator import prolific_hooks, prolific_submissions
from distillery_panel_simulator.prolific_account import balance_of, is_eligible, write_messages
from distillery_panel_simulator.prolific_calls import Answer, Call, RefusalError, field_error
from distillery_panel_simulator.prolific_hooks import set_faults
from distillery_panel_simulator.prolific_state import State, Thing

_MOST_PARTICIPANTS = 100_000
_YEAR_SECONDS = 366 * 24 * 3600
_PEOPLE = {"arrive_per_minute": 6.0, "complete_share": 0.8, "leave_share": 0.1, "work_seconds": 120.0}


def move_clock(call: Call) -> Answer:
    """Put the clock forward; what becomes due on the way happens in its order."""
    seconds = _number(call.body, "seconds", least=0, most=10 * _YEAR_SECONDS)
    call.state.move_clock(seconds)
    call.state.wake.set()
    return Answer(200, {"now": call.state.stamp()})


def add_participants(call: Call) -> Answer:
    """New participants, with values for the screeners unless some are given."""
    count = _number(call.body, "n", least=1, most=_MOST_PARTICIPANTS)
    attributes = call.body.get("attributes", {})
    if not isinstance(attributes, dict):
        raise field_error("attributes", "An object: screener to value.")
    return Answer(200, {"ids": prolific_submissions.make_participants(call.state, int(count), attributes)})


def arrive(call: Call) -> Answer:
    """A participant takes a place and opens the study's address; `open: false` leaves the place reserved."""
    submission = prolific_submissions.reserve_place(
        call.state, _text(call.body, "study_id"), _text(call.body, "participant_id")
    )
    url = prolific_submissions.open_study(call.state, submission) if call.body.get("open", True) else None
    return Answer(200, {"submission_id": submission["id"], "url": url, "status": submission["status"]})


def reserve(call: Call) -> Answer:
    """A participant takes a place and does not open the address yet; `arrive` opens it."""
    call.body["open"] = False
    return arrive(call)


def complete(call: Call) -> Answer:
    """A participant comes back with a code, any text, or none."""
    code = call.body.get("code")
    if code is not None and not isinstance(code, str):
        raise field_error("code", "A text, or null.")
    return _moved(prolific_submissions.complete(call.state, _submission(call), code))


def give_back(call: Call) -> Answer:
    """A participant returns a submission."""
    return _moved(prolific_submissions.return_place(call.state, _submission(call)))


def write(call: Call) -> Answer:
    """A participant writes to the researcher."""
    study_id = call.body.get("study_id")
    write_messages(
        call.state, [_text(call.body, "participant_id")], _text(call.body, "body"), study_id, from_them=True
    )
    return Answer(200, {})


def change_faults(call: Call) -> Answer:
    """Replace the faults; an empty object takes all away."""
    return Answer(200, {"faults": set_faults(call.state, call.body)})


def show_faults(call: Call) -> Answer:
    """The faults as they are, with what is left of counts."""
    return Answer(200, {"faults": call.state.fact("faults") or {}})


def show_payments(call: Call) -> Answer:
    """Every payment and bonus with its time, in the order in which they were made."""
    payments = call.state.payments()
    return Answer(200, {"payments": payments, "total": sum(each["amount"] for each in payments)})


def show_state(call: Call) -> Answer:
    """The moment, the balance, and how much of everything there is."""
    total, available = balance_of(call.state, str(call.state.fact("workspace")))
    kinds = ("study", "participant", "submission", "group", "subscription", "event", "message")
    return Answer(
        200,
        {
            "now": call.state.stamp(),
            "workspace_id": call.state.fact("workspace"),
            "project_id": call.state.fact("project"),
            "currency": call.state.options.currency,
            "total_balance": total,
            "available_balance": available,
            "counts": {kind: call.state.count(kind) for kind in kinds},
        },
    )


def deposit(call: Call) -> Answer:
    """Money into the wallet of a workspace, which the panel takes on the web only."""
    workspace = prolific_hooks.workspace_of(call.state, call.body.get("workspace_id"))
    workspace["deposit"] += int(_number(call.body, "cents", least=0, most=10**12))
    call.state.save(workspace)
    return Answer(200, {"total_balance": balance_of(call.state, workspace["id"])[0]})


def rotate_keys(call: Call) -> Answer:
    """A new key for secure links; `drop_old` takes the old one out of the document at once."""
    return Answer(
        200, {"kid": prolific_hooks.rotate_keys(call.state, drop_old=bool(call.body.get("drop_old")))}
    )


def reset(call: Call) -> Answer:
    """Forget everything: a new account with the same options."""
    call.state.reset()
    return Answer(200, {})


# People who come by themselves


def set_people(call: Call) -> Answer:
    """People who arrive by the clock, finish with the study's code, leave, or run out of time."""
    unknown = sorted(set(call.body) - {*_PEOPLE, "study_id"})
    if unknown:
        raise field_error(unknown[0], f"Known are {', '.join((*_PEOPLE, 'study_id'))}.")
    people: Thing = dict(_PEOPLE)
    for name in _PEOPLE:
        if name in call.body:
            people[name] = _number(call.body, name, least=0, most=1 if name.endswith("share") else 100_000)
    if people["complete_share"] + people["leave_share"] > 1:
        raise field_error("leave_share", "The shares are together more than 1.")
    people["study_id"] = call.body.get("study_id")
    people["turn"] = int((call.state.fact("people") or {}).get("turn", 0)) + 1
    call.state.keep("people", people)
    _plan_arrival(call.state, people)
    return Answer(200, {"people": people})


def let_arrive(state: State, turn: int) -> None:
    """Somebody comes, if there is a study for them, and the next one is planned."""
    people: Thing = state.fact("people") or {}
    if people.get("turn") != turn:
        return
    chance = random.Random(f"{state.options.seed} {state.count('submission')} {state.now()}")
    study_id = people.get("study_id")
    open_studies = [
        each for each in state.find("study", statuses=["ACTIVE"]) if study_id in (None, each["id"])
    ]
    if open_studies:
        study = chance.choice(open_studies)
        person = next(
            (
                each["id"]
                for each in state.find("participant")
                if not state.count("submission", owner=each["id"])
                and is_eligible(state, each, study["filters"])
            ),
            None,
        )
        person = person or prolific_submissions.make_participants(state, 1, {})[0]
        try:
            submission = prolific_submissions.reserve_place(state, study["id"], person)
        except RefusalError:
            pass
        else:
            prolific_submissions.open_study(state, submission)
            after = people["work_seconds"] * chance.uniform(0.5, 1.5)
            state.plan(after, "leave", {"submission_id": submission["id"], "draw": chance.random()})
    _plan_arrival(state, people)


def let_leave(state: State, submission_id: str, draw: float) -> None:
    """Somebody is done, or gives up, or is not heard of again."""
    people: Thing = state.fact("people") or _PEOPLE
    submission = state.get("submission", submission_id)
    if submission is None or submission["status"] != "ACTIVE":
        return
    if draw < people["complete_share"]:
        study = state.get("study", submission["study_id"]) or {"completion_codes": []}
        codes = [each["code"] for each in study["completion_codes"] if each["actor"] == "participant"]
        prolific_submissions.complete(state, submission, codes[0] if codes else None)
    elif draw < people["complete_share"] + people["leave_share"]:
        prolific_submissions.return_place(state, submission)


def _plan_arrival(state: State, people: Thing) -> None:
    if people["arrive_per_minute"] > 0:
        state.plan(60 / people["arrive_per_minute"], "arrive", {"turn": people["turn"]})


# The page to which a study sends its participants back


def return_page(call: Call) -> Answer:
    """`/submissions/complete?cc=CODE`: completes the only submission at work, or asks which one it is."""
    code, key = call.query.get("cc", ""), call.query.get("submission_id")
    at_work = call.state.find("submission", statuses=["ACTIVE"], newest_first=True, limit=50)
    if key or len(at_work) == 1:
        submission = prolific_submissions.submission_of(call.state, key or at_work[0]["id"])
        done = prolific_submissions.complete(call.state, submission, code)
        return _html(f"<p>Submission {done['id']} is {html.escape(done['status'])}.</p>")
    links = "".join(
        f'<li><a href="?{html.escape(urlencode({"cc": code, "submission_id": each["id"]}))}">'
        f"{each['id']} of participant {each['participant_id']}</a></li>"
        for each in at_work
    )
    return _html(
        f"<p>Who comes back with the code {html.escape(code)}?</p><ul>{links}</ul>"
        if links
        else "<p>Nobody is at work.</p>"
    )


def _html(text: str) -> Answer:
    return Answer(
        200,
        f"<!doctype html><title>Panel simulator</title>{text}",
        {"Content-Type": "text/html; charset=utf-8"},
    )


def _moved(submission: Thing) -> Answer:
    return Answer(200, {"submission_id": submission["id"], "status": submission["status"]})


def _submission(call: Call) -> Thing:
    return prolific_submissions.submission_of(call.state, _text(call.body, "submission_id"))


def _text(body: Thing, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise field_error(name, "A text is needed.")
    return value


def _number(body: Thing, name: str, *, least: float, most: float) -> float:
    value: Any = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise field_error(name, f"A number from {least} to {most}.")
    return value


#: The control surface: method and last part of the path.
CONTROLS: Mapping[tuple[str, str], Callable[[Call], Answer]] = {
    ("POST", "clock"): move_clock,
    ("POST", "participants"): add_participants,
    ("POST", "arrive"): arrive,
    ("POST", "reserve"): reserve,
    ("POST", "complete"): complete,
    ("POST", "return"): give_back,
    ("POST", "message"): write,
    ("POST", "faults"): change_faults,
    ("GET", "faults"): show_faults,
    ("GET", "payments"): show_payments,
    ("GET", "state"): show_state,
    ("POST", "deposit"): deposit,
    ("POST", "keys"): rotate_keys,
    ("POST", "people"): set_people,
    ("POST", "reset"): reset,
}
