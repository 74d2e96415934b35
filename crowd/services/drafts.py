"""Drafts and telemetry of work that goes on."""

from collections.abc import Mapping
from typing import Any

from crowd.models import Assignment

#: What a browser may tell, all of them numbers: times in milliseconds, counts, lengths in characters.
MEASURES = (
    "first_key_ms",
    "active_ms",
    "keystrokes",
    "pastes",
    "pasted_characters",
    "focus_losses",
    "edits",
)
_LARGEST_DRAFT = 200_000
_LARGEST_MEASURE = 10**9


def keep(
    assignment: Assignment, fields: Mapping[str, str], telemetry: Mapping[str, Any] | None = None
) -> bool:
    """Store the fields so far; False where the assignment is no longer being worked on.

    Telemetry only grows: a reloaded page starts counting anew, and its counts are added by the page itself.
    """
    draft = {name: value for name, value in fields.items() if name not in ("ticket",) and "|" in name}
    if sum(len(name) + len(value) for name, value in draft.items()) > _LARGEST_DRAFT:
        return False
    measured = dict(assignment.telemetry)
    for name in MEASURES:
        value = (telemetry or {}).get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_MEASURE:
            measured[name] = max(value, measured.get(name, 0))
    kept = Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.WORKING).update(
        draft=draft, telemetry=measured
    )
    assignment.draft, assignment.telemetry = draft, measured
    return bool(kept)
