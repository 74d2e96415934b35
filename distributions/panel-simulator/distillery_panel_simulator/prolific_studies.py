"""Studies: drafts, what may change when, publishing and the money for it, costs."""

import json
import math
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from distillery_panel_simulator.prolific_account import (
    HOURLY,
    SETTLED,
    check_filters,
    cost_of,
    count_places,
    need_funds,
    project_of,
)
from distillery_panel_simulator.prolific_calls import Answer, Call, RefusalError, field_error, not_found, page
from distillery_panel_simulator.prolific_hooks import announce
from distillery_panel_simulator.prolific_state import State, Thing

STATUSES = (
    "UNPUBLISHED",
    "SCHEDULED",
    "PUBLISHING",
    "ACTIVE",
    "AWAITING REVIEW",
    "PAUSED",
    "COMPLETED",
)
#: What a transition needs and what it brings.
_STEPS: Mapping[str, tuple[frozenset[str], str]] = {
    "PUBLISH": (frozenset({"UNPUBLISHED"}), "ACTIVE"),
    "SCHEDULE_PUBLISH": (frozenset({"UNPUBLISHED"}), "SCHEDULED"),
    "CANCEL_PUBLISH": (frozenset({"SCHEDULED"}), "UNPUBLISHED"),
    "PAUSE": (frozenset({"ACTIVE"}), "PAUSED"),
    "START": (frozenset({"PAUSED"}), "ACTIVE"),
    "STOP": (frozenset({"ACTIVE", "PAUSED"}), "COMPLETED"),
}
_DEFAULTS: Thing = {
    "internal_name": None,
    "external_study_url": "",
    "device_compatibility": ["desktop", "tablet", "mobile"],
    "peripheral_requirements": [],
    "filters": [],
    "filter_set_id": None,
    "filter_set_version": None,
    "naivety_distribution_rate": None,
    "study_labels": [],
    "content_warnings": [],
    "content_warning_details": "",
    "metadata": None,
    "is_external_study_url_secure": False,
    "access_details": None,
    "data_collection_method": None,
    "data_collection_id": None,
    "data_collection_metadata": None,
    "credential_pool_id": None,
    "has_credentials": False,
    "submissions_config": {},
}
_PUBLISHED_MAY_CHANGE = {
    "internal_name",
    "total_available_places",
    "access_details",
    "data_collection_metadata",
    "submissions_config",
    "completion_codes",
}
_A_DAY = 24 * 60
_RETURNS_TO_TELL = 5


def study_of(state: State, key: str) -> Thing:
    """What is stored of one, or their answer 404."""
    study = state.get("study", key)
    if study is None:
        raise not_found("The study")
    return study


def list_studies(call: Call) -> Answer:
    """Studies of the account, newest first, and of one state where it is named."""
    state_name = call.query.get("state")
    if state_name is not None and state_name not in (*STATUSES, "UNKNOWN"):
        raise field_error("state", f"One of {', '.join(STATUSES)}.")
    statuses = [state_name] if state_name else []

    def fetch(limit: int, offset: int) -> list[Thing]:
        studies = call.state.find("study", statuses=statuses, newest_first=True, limit=limit, offset=offset)
        return [_short(call.state, each) for each in studies]

    return Answer(200, page(call, call.state.count("study", statuses=statuses), fetch))


def create_study(call: Call) -> Answer:
    """A draft. Sent twice it is there twice: a call has no key."""
    project = project_of(call.state, call.body.get("project"))
    config = {
        "max_submissions_per_participant": 1,
        "max_concurrent_submissions": -1,
        "auto_rejection_categories": [],
    }
    study = _DEFAULTS | call.body
    study |= {
        "project": project["id"],
        "workspace_id": project["workspace"],
        "status": "UNPUBLISHED",
        "submissions_config": config | study["submissions_config"],
        "date_created": call.state.stamp(),
        "published_at": None,
        "publish_at": None,
        "unfunded": 0,
    }
    if not study.get("completion_codes"):
        study["completion_codes"] = [
            {
                "code": f"C{secrets.token_hex(4).upper()}",
                "code_type": "COMPLETED",
                "actor": "participant",
                "actions": [{"action": "MANUALLY_REVIEW"}],
            }
        ]
    study.setdefault("maximum_allowed_time", _longest(study["estimated_completion_time"]))
    check_study(call.state, study)
    stored_study = call.state.add(
        "study", study, parent=study["workspace_id"], owner=study["project"], status="UNPUBLISHED"
    )
    return Answer(201, view_study(call.state, stored_study, call.site))


def get_study(call: Call) -> Answer:
    """One study."""
    return Answer(200, view_study(call.state, study_of(call.state, call.ids[0]), call.site))


def change_study(call: Call) -> Answer:
    """Anything in a draft; few fields once it is published, and places only upwards."""
    study = study_of(call.state, call.ids[0])
    changed = study | call.body
    if "submissions_config" in call.body:
        changed["submissions_config"] = study["submissions_config"] | call.body["submissions_config"]
    if "project" in call.body:
        changed["workspace_id"] = project_of(call.state, call.body["project"])["workspace"]
    if study["status"] == "UNPUBLISHED":
        if "estimated_completion_time" in call.body and "maximum_allowed_time" not in call.body:
            changed["maximum_allowed_time"] = max(
                study["maximum_allowed_time"], _longest(changed["estimated_completion_time"])
            )
        check_study(call.state, changed)
        call.state.save(changed)
        return Answer(200, view_study(call.state, changed, call.site))
    _check_published_change(study, changed)
    check_study(call.state, changed)
    more = changed["total_available_places"] - study["total_available_places"]
    more_slots = _slots_worth(call.state, changed) - _slots_worth(call.state, study)
    price = cost_of(call.state, study["reward"]).times(more).total + more_slots
    if price > 0:
        need_funds(call.state, study["workspace_id"], price)
    call.state.save(changed)
    if more > 0 and study["status"] in ("AWAITING REVIEW", "COMPLETED"):
        set_study_status(call.state, changed, "ACTIVE")
    return Answer(200, view_study(call.state, changed, call.site))


def transition_study(call: Call) -> Answer:
    """One step of a study's life; a step that its state does not allow is refused."""
    study, action = study_of(call.state, call.ids[0]), call.body["action"]
    sources, target = _STEPS[action]
    if study["status"] not in sources:
        raise RefusalError(f"A study that is {study['status']} cannot do {action}.")
    if action == "SCHEDULE_PUBLISH":
        moment = read_moment(call.body.get("publish_at"), call.state.now())
        study["publish_at"] = call.state.stamp(moment)
        call.state.plan(
            moment - call.state.now(), "publish", {"study_id": study["id"], "publish_at": study["publish_at"]}
        )
    elif action == "CANCEL_PUBLISH":
        study["publish_at"] = None
    elif action == "PUBLISH":
        publish(call.state, study)
        return Answer(200, view_study(call.state, study, call.site))
    set_study_status(call.state, study, target)
    if action == "START":
        follow_places(call.state, study["id"], freed=False)
    return get_study(call)


def publish(state: State, study: Thing) -> None:
    """Lock the whole cost and open the places."""
    price = cost_of(state, study["reward"]).times(study["total_available_places"]).total
    need_funds(state, study["workspace_id"], price + _slots_worth(state, study))
    study |= {"published_at": state.stamp(), "publish_at": None, "unfunded": 0}
    set_study_status(state, study, "ACTIVE")


def publish_as_planned(state: State, study_id: str, publish_at: str) -> None:
    """The moment for which a study was scheduled; without funds it is a draft again."""
    study = state.get("study", study_id)
    if study is None or study["status"] != "SCHEDULED" or study["publish_at"] != publish_at:
        return
    try:
        publish(state, study)
    except RefusalError:
        study["publish_at"] = None
        set_study_status(state, study, "UNPUBLISHED")


def get_cost(call: Call) -> Answer:
    """What a study costs, and its bonuses: paid so far, or with all places."""
    study, state = study_of(call.state, call.ids[0]), call.state
    paid = [each for each in state.payments() if each["study_id"] == study["id"]]
    if call.query.get("is_projected", "false").lower() == "true":
        total_cost = cost_of(state, study["reward"]).times(study["total_available_places"])
        rewards = {"amount": total_cost.amount, "fees": total_cost.fees, "vat": total_cost.vat}
    else:
        rewards = _sum([each for each in paid if each["kind"] != "bonus"])
    bonuses = _sum([each for each in paid if each["kind"] == "bonus"])
    return Answer(200, {"rewards": _costs(state, rewards), "bonuses": _costs(state, bonuses), "_links": {}})


def quote_cost(call: Call) -> Answer:
    """What places would cost, with this account's fee and tax."""
    price = cost_of(call.state, call.body["reward"]).times(call.body["total_available_places"])
    return Answer(200, {"total_cost": price.total})


def set_study_status(state: State, study: Thing, status: str) -> None:
    """Write a study with its new status, and tell it."""
    study["status"] = status
    state.save(study, status=status)
    announce(
        state, "study.status.change", study["workspace_id"], study["id"], {"status": status, "metadata": {}}
    )


def follow_places(state: State, study_id: str, *, freed: bool) -> None:
    """What a submission's new status does to its study: full, all reviewed, many returns."""
    study = study_of(state, study_id)
    counts = state.count_statuses("submission", study_id)
    waiting = counts.get("AWAITING REVIEW", 0)
    settled = sum(counts.get(each, 0) for each in SETTLED)
    announce(state, "study.progress.change", study["workspace_id"], study_id, {})
    if study["status"] == "ACTIVE" and waiting + settled >= study["total_available_places"]:
        set_study_status(state, study, "AWAITING REVIEW")
    if study["status"] == "AWAITING REVIEW" and not waiting + counts.get("ACTIVE", 0) + counts.get(
        "RESERVED", 0
    ):
        set_study_status(state, study, "COMPLETED")
    returned = counts.get("RETURNED", 0)
    if (
        freed
        and returned >= _RETURNS_TO_TELL
        and returned > waiting + settled
        and not study.get("told_returns")
    ):
        study["told_returns"] = True
        state.save(study)
        announce(state, "study.has_high_return_rate", study["workspace_id"], study_id, {"metadata": {}})


def fund_place(state: State, study: Thing) -> None:
    """Before somebody takes a place: a place that a rejection freed has to be paid for anew."""
    held_places, settled = count_places(state, study)
    free = study["total_available_places"] - held_places - settled
    if study["unfunded"] and free <= study["unfunded"]:
        need_funds(state, study["workspace_id"], cost_of(state, study["reward"]).total)
        study["unfunded"] -= 1
        state.save(study)


def check_study(state: State, study: Thing) -> None:
    """Refuse a study that the panel would not take."""
    least, _ = HOURLY[state.options.currency]
    minutes = study["estimated_completion_time"]
    if study["reward"] * 60 < least * minutes:
        raise field_error(
            "reward", f"The reward is below the minimum of {least} per hour in {state.options.currency}."
        )
    if not 2 + 2 * minutes + math.floor(2 * math.sqrt(minutes)) <= study["maximum_allowed_time"] < _A_DAY:
        raise field_error(
            "maximum_allowed_time",
            f"At least {_longest(minutes)} minutes for an estimate of {minutes}, and less than a day.",
        )
    if study["access_details"]:
        allocated = sum(each["total_allocation"] for each in study["access_details"])
        if allocated != study["total_available_places"]:
            raise field_error("access_details", "The allocations do not sum up to total_available_places.")
    elif not study["external_study_url"].startswith(("http://", "https://")):
        raise field_error("external_study_url", "An address that begins with https://.")
    _check_codes(state, study)
    check_filters(state, study["filters"])
    for name in ("max_submissions_per_participant", "max_concurrent_submissions"):
        if (study["submissions_config"].get(name) or -1) < -1:
            raise field_error("submissions_config", f"{name} is -1 or a number from 1 on.")


def view_study(state: State, study: Thing, site: str) -> Thing:
    """A study as one call returns it."""
    hidden = {"workspace_id", "unfunded", "told_returns"}
    codes = [
        code["code"] for code in study["completion_codes"] if code["actor"] == "participant" and code["code"]
    ]
    return {
        **{name: value for name, value in study.items() if name not in hidden},
        **_figures(state, study),
        "is_ready_to_publish": study["status"] == "UNPUBLISHED",
        "study_type": "SINGLE",
        "presentment_currency_code": state.options.currency,
        "completion_url": f"{site}/submissions/complete?cc={codes[0]}" if codes else None,
        "average_reward_per_hour": round(study["reward"] * 60 / study["estimated_completion_time"]),
        "estimated_reward_per_hour": round(study["reward"] * 60 / study["estimated_completion_time"]),
        "is_underpaying": False,
    }


def read_moment(text: Any, now: float) -> float:
    """A moment in the future, as ISO 8601; raises `RefusalError`."""
    try:
        when = datetime.fromisoformat(str(text))
    except ValueError as error:
        raise field_error("publish_at", "A moment such as 2026-01-31T09:00:00Z.") from error
    moment = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    if moment <= now:
        raise field_error("publish_at", "A moment in the future.")
    return moment


def _short(state: State, study: Thing) -> Thing:
    names = (
        "id",
        "name",
        "internal_name",
        "status",
        "reward",
        "total_available_places",
        "estimated_completion_time",
        "date_created",
        "published_at",
        "publish_at",
        "credential_pool_id",
        "metadata",
    )
    return {
        **{name: study[name] for name in names},
        **_figures(state, study),
        "study_type": "SINGLE",
        "is_ready_to_publish": study["status"] == "UNPUBLISHED",
    }


def _figures(state: State, study: Thing) -> Thing:
    held_places, settled = count_places(state, study)
    return {
        "places_taken": held_places + settled,
        "number_of_submissions": state.count("submission", parent=study["id"]),
        "total_cost": cost_of(state, study["reward"]).times(study["total_available_places"]).total,
    }


def _longest(minutes: int) -> int:
    return min(_A_DAY - 1, math.ceil(2 + 2 * minutes + 2 * math.sqrt(minutes)))


def _check_published_change(study: Thing, changed: Thing) -> None:
    for name in changed:
        if changed[name] != study.get(name) and name not in _PUBLISHED_MAY_CHANGE:
            raise field_error(name, "This cannot be changed once a study is published.")
    if changed["total_available_places"] < study["total_available_places"]:
        raise field_error("total_available_places", "Places can only be added.")
    if _without_slots(changed) != _without_slots(study):
        raise field_error(
            "completion_codes", "Only slots of a screen-out can be changed once a study is published."
        )
    annotators = [
        (each["data_collection_metadata"] or {}).get("annotators_per_task") or 0 for each in (study, changed)
    ]
    if annotators[1] < annotators[0]:
        raise field_error("data_collection_metadata", "annotators_per_task can only grow.")


def _without_slots(study: Thing) -> str:
    return json.dumps(
        [
            code
            | {"actions": [{k: v for k, v in each.items() if k != "slots"} for each in code["actions"]]}
            | {"actor": code.get("actor", "participant")}
            for code in study["completion_codes"]
        ],
        sort_keys=True,
    )


def _slots_worth(state: State, study: Thing) -> int:
    return sum(
        cost_of(state, action["fixed_screen_out_reward"]).times(action["slots"]).total
        for code in study["completion_codes"]
        for action in code["actions"]
        if action["action"] == "FIXED_SCREEN_OUT_PAYMENT"
    )


def _check_codes(state: State, study: Thing) -> None:
    codes = study["completion_codes"]
    for code in codes:
        code.setdefault("actor", "participant")
    texts = [code["code"] for code in codes]
    if len(set(texts)) < len(texts):
        raise field_error("completion_codes", "Codes are unique within a study.")
    for code in codes:
        actions = [each["action"] for each in code["actions"]]
        alone = [each for each in codes if each["actor"] == "participant"] == [code]
        if code["code"] is None and (code["actor"] != "participant" or actions or not alone):
            raise field_error(
                "completion_codes", "Null is allowed for the sole code of participants, without actions."
            )
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= set(actions):
            raise field_error("completion_codes", "A code is approved automatically or reviewed, not both.")
        if "DYNAMIC_PAYMENT" in actions and code["actor"] != "researcher":
            raise field_error("completion_codes", "DYNAMIC_PAYMENT needs the actor researcher.")
        for each in code["actions"]:
            if "participant_group" in each and state.get("group", each["participant_group"]) is None:
                raise field_error("completion_codes", f"There is no group {each['participant_group']}.")
            if (
                each["action"] == "FIXED_SCREEN_OUT_PAYMENT"
                and not 0 < each["fixed_screen_out_reward"] < study["reward"]
            ):
                raise field_error(
                    "completion_codes", "fixed_screen_out_reward is more than 0 and less than the reward."
                )


def _sum(payments: list[Thing]) -> Thing:
    return {name: sum(each[name] for each in payments) for name in ("amount", "fees", "vat")}


def _costs(state: State, sums: Thing) -> Thing:
    names = {"rewards": "amount", "fees": "fees", "tax": "vat"}
    return {name: {"amount": sums[of], "currency": state.options.currency} for name, of in names.items()}
