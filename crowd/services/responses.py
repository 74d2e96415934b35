"""Keeping what people answer: drafts of work that goes on, the answer itself, and the receipt for it.

Our record is written first; then the worker's browser hands a receipt to the marketplace. It names our
record and holds a signed copy of the answer, so that even the loss of our server loses no answer. The copy
names units by their places in the HIT, as the page did: workers can read it, and checks come again.

Drafts and telemetry are merged into what is there while the row is held: two tabs, or a reload in the
middle of saving, take nothing from each other.
"""

import hashlib
import json
import uuid
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.core import signing
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from crowd import bundles
from crowd.bundles import order_for
from crowd.errors import TooLongError
from crowd.kinds import kind_of
from crowd.models import Assignment, Exclusion, HitUnit, Stage
from crowd.services.groups import keep_out
from crowd.watch import tell_arrival

State = Assignment.State
_SALT = "crowd.receipt"
#: Before a unit's place in the copies; those from before have units' names.
_PLACE = "#"
#: Longest copy that travels with a receipt, in characters; longer answers travel without one.
_LONGEST_COPY = 60_000


def canonical(response: Mapping[str, Any]) -> str:
    """The response as text, the same for the same response."""
    return json.dumps(response, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def receipt_fields(assignment: Assignment) -> dict[str, str]:
    """What the worker's browser posts to the marketplace besides the assignment's id."""
    assert assignment.response is not None
    text = canonical(assignment.response)
    fields = {
        "receipt": str(assignment.receipt),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    places = {unit: f"{_PLACE}{place}" for unit, place in _places(assignment)}
    answer_text = canonical({places.get(unit, unit): answer for unit, answer in assignment.response.items()})
    packed = urlsafe_b64encode(zlib.compress(answer_text.encode(), 9)).decode()
    copy = signing.Signer(salt=_SALT).sign(f"{assignment.receipt}.{packed}")
    if len(copy) <= _LONGEST_COPY:
        fields["copy"] = copy
    return fields


def read_copy(answer: Mapping[str, str], assignment: Assignment) -> dict[str, Any] | None:
    """The response from a receipt's copy, where it is ours and belongs to this assignment."""
    receipt, packed = _signed(answer)
    if receipt != str(assignment.receipt):
        return None
    try:
        response = json.loads(zlib.decompress(urlsafe_b64decode(packed)))
    except (ValueError, zlib.error):
        return None
    if not isinstance(response, dict):
        return None
    units: dict[str, str] = {f"{_PLACE}{place}": unit for unit, place in _places(assignment)}
    return {units.get(str(name), str(name)): answer_to_unit for name, answer_to_unit in response.items()}


def receipt_in(answer: Mapping[str, str]) -> uuid.UUID | None:
    """The receipt that a copy was given out with, where we signed it: of an answer that was stored once."""
    try:
        return uuid.UUID(_signed(answer)[0])
    except ValueError:
        return None


def _signed(answer: Mapping[str, str]) -> tuple[str, str]:
    """The receipt and the packed answer of a copy; empty where it is not ours."""
    try:
        receipt, _, packed = signing.Signer(salt=_SALT).unsign(answer.get("copy", "")).partition(".")
    except signing.BadSignature:
        return "", ""
    return receipt, packed


def _places(assignment: Assignment) -> Iterable[tuple[str, int]]:
    """The units of an assignment's HIT with their places."""
    return HitUnit.objects.filter(hit=assignment.hit_id).values_list("unit", "position")


@transaction.atomic
def store_response(
    assignment: Assignment,
    response: dict[str, Any],
    *,
    at: datetime,
    states: Collection[str] = (State.WORKING, State.ENDED),
) -> bool:
    """Store the whole answer of an assignment and tell its kind; once, however often it is sent.

    `response` maps units to responses. Checks are counted, and the worker of a proven arrival is barred from
    what the kind says this work bars from; of another one when the marketplace lists it. False where there is
    an answer already, or the assignment is in none of `states`: a worker's form counts only while they work,
    a receipt's copy also after we gave them up.
    """
    stored = Assignment.objects.filter(pk=assignment.pk, response__isnull=True, state__in=states).update(
        response=response, state=State.STORED, stored_at=at
    )
    if not stored:
        return False
    assignment.response, assignment.state, assignment.stored_at = response, State.STORED, at
    stage, kind = assignment.stage, kind_of(assignment.stage)
    roles = dict(HitUnit.objects.filter(hit=assignment.hit_id).values_list("unit", "role"))
    checks = {unit: answer for unit, answer in response.items() if roles.get(unit) == HitUnit.Role.CHECK}
    failed = sum(not kind.passes(stage, unit, answer) for unit, answer in checks.items())
    kind.record_all(assignment, response)
    if failed:
        Assignment.objects.filter(pk=assignment.pk).update(failed_checks=failed)
        assignment.failed_checks = failed
    if assignment.proven or assignment.submitted_at is not None:
        bar_from_more(assignment)
    tell_arrival(assignment, at)
    return True


def page_seed(assignment: Assignment) -> int:
    """The seed of an assignment's pages: the stage's, or one of the person's own where the kind wants it.

    The lowest bit of a person's own changes from each assignment of a HIT to the next.
    """
    stage = assignment.stage
    if not getattr(kind_of(stage), "seeded_by_person", False):
        return stage.seed
    digest = hashlib.sha256(f"page:{stage.seed}:{assignment.worker.external_id}".encode()).digest()
    before = Assignment.objects.filter(hit=assignment.hit_id, pk__lt=assignment.pk).count()
    return int.from_bytes(digest[:6], "big") << 1 | before & 1


def bar_from_more(assignment: Assignment) -> None:
    """Bar the worker from what the kind says this work bars from: once it is certain whose work it is."""
    stage, response = assignment.stage, assignment.response or {}
    Exclusion.objects.bulk_create(
        [
            Exclusion(
                worker=assignment.worker,
                scope=scope,
                reason=f"Worked on {stage.slug}",
                created_at=timezone.now(),
            )
            for scope in sorted(kind_of(stage).all_marks(stage, list(response)))
        ],
        ignore_conflicts=True,
    )
    keep_out(assignment)


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
    """Units of a HIT with their places, in a worker's order: of the first HIT, or of what it will be.

    Attention checks and units that everybody gets are among them. Empty where there is nothing to ask about.
    """
    kind = kind_of(stage)
    units = _units_of_first_hit(stage) or _units_to_ask_first(stage)
    places = {unit: str(place) for place, unit in enumerate(units)}
    together = kind.together(stage, units) if len(units) > 1 else {}
    ordered = order_for(units, seed=stage.seed, worker="trial", together=together)
    return {unit: places[unit] for unit in ordered}


def _units_to_ask_first(stage: Stage) -> list[str]:
    kind = kind_of(stage)
    pending = list(islice(kind.pending(stage), stage.units_per_hit))
    parts = bundles.bundle(
        pending,
        units_per_hit=stage.units_per_hit,
        overlap=kind.overlap(stage),
        checks=kind.checks(stage),
        checks_per_hit=stage.checks_per_hit,
        seed=stage.seed,
        together=kind.together(stage, [item.unit for item in pending]) if len(pending) > 1 else {},
    )
    return [unit for unit, _ in parts[0].units] if parts else []


def _units_of_first_hit(stage: Stage) -> list[str]:
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
    replaces_all: bool = False,
    ours: bool = False,
) -> bool:
    """Store the fields so far; False where the assignment is no longer being worked on.

    `fields` change those that are there (None takes one away), or with `replaces_all` replace them.
    `telemetry` has the measures of one visit to the page and, as `visit`, its name; the sums over visits are
    kept beside. What a kind remembers from one try to the next is changed with `ours` alone.

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
        new_fields = {name: value for name, value in fields.items() if ours or not is_remembered(name)}
        old_fields = {
            name: value for name, value in row.draft.items() if not replaces_all or is_remembered(name)
        }
        merged = {**old_fields, **new_fields}
        draft = {name: value for name, value in merged.items() if value is not None and "|" in name}
        if sum(len(name) + len(value) for name, value in draft.items()) > LARGEST_DRAFT:
            raise TooLongError(
                gettext(
                    "All answers together are longer than %(largest_draft)s characters. Shorten them, please."
                )
                % {"largest_draft": intcomma(LARGEST_DRAFT)}
            )
        row.draft, row.telemetry = draft, add_telemetry(row.telemetry, telemetry or {})
        row.saved_at = timezone.now()
        row.save(update_fields=["draft", "telemetry", "saved_at"])
    assignment.draft, assignment.telemetry = row.draft, row.telemetry
    return True


def add_telemetry(before: Mapping[str, Any], visit_measures: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of all visits with one visit's newest measures: sums, and the first key of the first.

    A visit only counts upwards, so the larger of two reports is the later one.
    """
    visit = visit_measures.get("visit", "")
    visits: dict[str, dict[str, int]] = dict(before.get("visits", {}))
    if not isinstance(visit, str) or len(visit) > _LONGEST_VISIT:
        return dict(before)
    if visit not in visits and len(visits) >= _MOST_VISITS:
        return dict(before)
    measures = dict(visits.get(visit, {}))
    for name in MEASURES:
        value = visit_measures.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_MEASURE:
            measures[name] = max(value, measures.get(name, 0))
    if not measures:
        return dict(before)
    visits[visit] = measures
    sums = {name: sum(each.get(name, 0) for each in visits.values()) for name in MEASURES}
    first_key = before.get("first_key_ms", measures.get("first_key_ms"))
    sums.pop("first_key_ms")
    return {**({} if first_key is None else {"first_key_ms": first_key}), **sums, "visits": visits}
