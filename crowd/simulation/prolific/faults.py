"""Faults on the way, drawn by share or by count: of calls, and of deliveries of hooks."""

import random
from fnmatch import fnmatchcase
from typing import Any

from crowd.simulation.prolific.answers import field_error
from crowd.simulation.prolific.state import State, Thing

#: Of calls: the call or its reply gets lost, it waits, a gateway's error, too many calls. Then hooks.
CALL_FAULTS = ("lost_before", "lost_after", "delay", "error", "throttle")
HOOK_FAULTS = ("hook_lost", "hook_duplicate", "hook_reorder")
_OPTIONS = ("path", "method", "delay_seconds", "error_form")
_WRITES = ("POST", "PATCH", "PUT", "DELETE")
ERROR_FORMS = ("error", "message", "text")

_random: dict[int, random.Random] = {}


def set_faults(state: State, given: Thing) -> Thing:
    """Replace all faults. Raises `RefusalError` where one is not understood."""
    unknown = sorted(set(given) - {*CALL_FAULTS, *HOOK_FAULTS, *_OPTIONS})
    if unknown:
        raise field_error(unknown[0], f"Known are {', '.join((*CALL_FAULTS, *HOOK_FAULTS, *_OPTIONS))}.")
    for name in (*CALL_FAULTS, *HOOK_FAULTS):
        if name in given and not _is_measure(given[name]):
            raise field_error(name, "A share from 0.0 to 1.0, or a whole number: so many of the next calls.")
    if not _is_number(given.get("delay_seconds", 1)) or not 0 <= given.get("delay_seconds", 1) <= 600:
        raise field_error("delay_seconds", "Seconds, at most 600.")
    for name in ("path", "method"):
        if not isinstance(given.get(name, ""), str):
            raise field_error(name, "A pattern, such as */transition/.")
    if given.get("error_form", "error") not in ERROR_FORMS:
        raise field_error("error_form", f"One of {', '.join(ERROR_FORMS)}.")
    state.keep("faults", given)
    return given


def draw_fault(state: State, name: str, method: str, path: str) -> bool:
    """Whether this call, or this event, has the fault; a count goes down by one."""
    faults: Thing = state.fact("faults") or {}
    measure = faults.get(name)
    if not measure or not _concerns(faults, name, method, path):
        return False
    if isinstance(measure, int):
        state.keep("faults", faults | {name: measure - 1})
        return True
    chance = _random.setdefault(id(state), random.Random(state.options.seed))
    return bool(chance.random() < measure)


def draw_error_form(state: State) -> str:
    """The form of the next error: the one that is asked for, else each in its turn."""
    faults: Thing = state.fact("faults") or {}
    turn = int(state.fact("errors") or 0)
    state.keep("errors", turn + 1)
    return str(faults.get("error_form") or ERROR_FORMS[turn % len(ERROR_FORMS)])


def _concerns(faults: Thing, name: str, method: str, path: str) -> bool:
    if name in HOOK_FAULTS:
        return True
    wanted = faults.get("method")
    if wanted:
        if not fnmatchcase(method, wanted.upper()):
            return False
    elif name.startswith("lost") and method not in _WRITES:
        return False
    pattern = faults.get("path")
    return not pattern or fnmatchcase(path, pattern) or (("*" not in pattern) and pattern in path)


def _is_measure(value: Any) -> bool:
    return _is_number(value) and (value >= 0 if isinstance(value, int) else 0.0 <= value <= 1.0)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
