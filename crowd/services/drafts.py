"""Drafts and telemetry of work that goes on.

Both are merged into what is there while the row is held: two tabs, or a reload in the middle of saving, take
nothing from each other.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone

from crowd import bundles
from crowd.bundles import order_for
from crowd.errors import TooLongError
from crowd.kinds import kind_of
from crowd.models import Assignment, Stage
from crowd.selectors.stage_sizes import is_large

# A stage's first HIT as a worker would get it, for somebody who tries the task before it is published.
#
# Nothing of it stays: what kinds prepare to show it (candidates, attention checks) is taken back, too.


@contextmanager
def roll_back_after() -> Iterator[None]:
    """Whatever is written in here is undone at its end."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def units_to_try(stage: Stage) -> dict[str, str]:
    """Units of a HIT with their places, in a worker's order: what is next to ask, else what was asked first.

    Attention checks and units that everybody gets are among them. Empty where there is nothing to ask about.
    In a large stage it is what was asked first: looking for what is next reads all that was answered, which
    takes minutes where there are millions.
    """
    kind = kind_of(stage)
    pending = [] if is_large(stage) else list(islice(kind.pending(stage), stage.units_per_hit))
    made = bundles.bundle(
        pending,
        units_per_hit=stage.units_per_hit,
        overlap=kind.overlap(stage),
        checks=kind.checks(stage),
        checks_per_hit=stage.checks_per_hit,
        seed=stage.seed,
        together=kind.together(stage, [item.unit for item in pending]) if len(pending) > 1 else {},
    )
    units = [unit for unit, _ in made[0].units] if made else _asked_first(stage)
    places = {unit: str(place) for place, unit in enumerate(units)}
    together = kind.together(stage, units) if len(units) > 1 else {}
    ordered = order_for(units, seed=stage.seed, worker="trial", together=together)
    return {unit: places[unit] for unit in ordered}


def _asked_first(stage: Stage) -> list[str]:
    hit = stage.hits.filter(compensates=None).order_by("ordinal").first()
    return list(hit.units.order_by("position").values_list("unit", flat=True)) if hit else []


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
LARGEST_DRAFT = 200_000
#: Before the names of fields that a kind remembers.
REMEMBERED = "+"
_LARGEST_MEASURE = 10**9
_MOST_VISITS = 100
_LONGEST_VISIT = 40


def is_remembered(name: str) -> bool:
    """Whether a field is one that a kind remembers, and not one of the worker's."""
    return name.rpartition("|")[2].startswith(REMEMBERED)


def keep_draft(
    assignment: Assignment,
    fields: Mapping[str, str | None],
    telemetry: Mapping[str, Any] | None = None,
    *,
    whole: bool = False,
    ours: bool = False,
) -> bool:
    """Store the fields so far; False where the assignment is no longer being worked on.

    `fields` change those that are there (None takes one away), or with `whole` replace them. `telemetry` has
    the measures of one visit to the page and, as `visit`, its name; the sums over visits are kept beside.
    What a kind remembers from one try to the next is changed with `ours` alone.

    Raises TooLongError where all fields together are longer than LARGEST_DRAFT characters.
    """
    with transaction.atomic():
        row = (
            Assignment.objects.select_for_update(of=("self",), no_key=True)
            .filter(pk=assignment.pk, state=Assignment.State.WORKING)
            .first()
        )
        if row is None:
            return False
        told = {name: value for name, value in fields.items() if ours or not is_remembered(name)}
        kept = {name: value for name, value in row.draft.items() if not whole or is_remembered(name)}
        merged = {**kept, **told}
        draft = {name: value for name, value in merged.items() if value is not None and "|" in name}
        if sum(len(name) + len(value) for name, value in draft.items()) > LARGEST_DRAFT:
            raise TooLongError(
                f"All answers together are longer than {LARGEST_DRAFT:,} characters. Shorten them, please."
            )
        row.draft, row.telemetry = draft, add_telemetry(row.telemetry, telemetry or {})
        row.saved_at = timezone.now()
        row.save(update_fields=["draft", "telemetry", "saved_at"])
    assignment.draft, assignment.telemetry = row.draft, row.telemetry
    return True


def add_telemetry(before: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of all visits with one visit's newest measures: sums, and the first key of the first.

    A visit only counts upwards, so the larger of two reports is the later one.
    """
    visit = told.get("visit", "")
    visits: dict[str, dict[str, int]] = dict(before.get("visits", {}))
    if not isinstance(visit, str) or len(visit) > _LONGEST_VISIT:
        return dict(before)
    if visit not in visits and len(visits) >= _MOST_VISITS:
        return dict(before)
    measures = dict(visits.get(visit, {}))
    for name in MEASURES:
        value = told.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_MEASURE:
            measures[name] = max(value, measures.get(name, 0))
    if not measures:
        return dict(before)
    visits[visit] = measures
    sums = {name: sum(each.get(name, 0) for each in visits.values()) for name in MEASURES}
    first_key = before.get("first_key_ms", measures.get("first_key_ms"))
    sums.pop("first_key_ms")
    return {**({} if first_key is None else {"first_key_ms": first_key}), **sums, "visits": visits}
