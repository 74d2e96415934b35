"""A task as a page: its ticket, the names of its fields, and the frame around what a kind shows of a unit."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, TypeVar

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from crowd.kinds import Page, kind_of
from crowd.models import Assignment, Hit, Stage
from crowd.taskpage import fields

# What the fields of a unit are called in the page.

_Value = TypeVar("_Value")


def names_in_page(hit: Hit, units: Sequence[str]) -> dict[str, str]:
    """By unit, what stands before the bar in the names of its fields: its place in the HIT.

    Nothing that a worker's browser receives has the unit itself, whose name says whether it is a check and in
    what order things were stored.
    """
    places = dict(hit.units.values_list("unit", "position"))
    return {unit: str(places[unit]) for unit in units if unit in places}


def with_places(hit: Hit, fields: Mapping[str, _Value]) -> dict[str, _Value]:
    """Fields as pages name them now; some may come from a page that still named them after their units."""
    old = {name for name in fields if name.partition("|")[0] and not name.partition("|")[0].isdecimal()}
    if not any("|" in name for name in old):
        return dict(fields)
    places = dict(hit.units.values_list("unit", "position"))
    renamed = {name: _with_place(name, places) if name in old else name for name in fields}
    return {renamed[name]: value for name, value in fields.items()}


def _with_place(name: str, places: Mapping[str, int]) -> str:
    unit, bar, rest = name.partition("|")
    return f"{places[unit]}{bar}{rest}" if bar and unit in places else name


# What a task page carries instead of a cookie: signed, for one assignment, with the address to finish at.

_SALT = "crowd.taskpage"


@dataclass(frozen=True, slots=True)
class Ticket:
    """An assignment's key, where its finished form goes, and whose it is should its row be removed."""

    assignment_pk: int
    submit_to: str
    submission: str = ""
    worker: str = ""


def write_ticket(ticket: Ticket) -> str:
    """The ticket as text for a hidden field or a header."""
    return signing.dumps(list(astuple(ticket)), salt=_SALT)


def read_ticket(text: str, *, max_age_s: int) -> Ticket | None:
    """The ticket again; None where it is not ours or too old."""
    try:
        return Ticket(*signing.loads(text, salt=_SALT, max_age=max_age_s))
    except (signing.BadSignature, ValueError, TypeError):
        return None


#: A field of the page's own in drafts, beside those of the units.
SHORTCUTS = "|shortcuts"


@dataclass(frozen=True, slots=True)
class WorkerForm:
    """Somebody at work: their fields (those of the draft without others), and what is wrong with them."""

    assignment: Assignment
    ticket: Ticket
    values: Mapping[str, str] | None = None
    errors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    alarm: str = ""


@dataclass(frozen=True, slots=True)
class FormValues:
    """The fields of a page as they are, by their names in it, and by unit what is wrong with them."""

    values: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """A line of the summary: the mark to jump to, which unit it is, and the words."""

    mark: str
    number: int
    words: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What a unit goes by in the page: the name before those of its fields, and what its ids begin with."""

    name: str
    id: str


def task_page(
    request: HttpRequest,
    hit: Hit,
    units: Sequence[str],
    *,
    shown: WorkerForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page of a HIT: for the worker at work, or without one as a preview that takes nothing."""
    values = (shown.assignment.draft if shown.values is None else shown.values) if shown else {}
    filled = FormValues(values, shown.errors if shown else {})
    context = {
        "address": reverse("crowd:task", args=[hit.key]),
        "drafts": reverse("crowd:draft", args=[hit.key]),
        "alarm": shown.alarm if shown else "",
        "preview": shown is None,
        "ticket": write_ticket(shown.ticket) if shown else "",
    }
    found = names_in_page(hit, units)
    names = {unit: found[unit] for unit in units}
    return _page(request, hit.stage, names, filled, about=context, status=status)


def trial_page(
    request: HttpRequest, stage: Stage, names: Mapping[str, str], filled: FormValues, *, status: int = 200
) -> HttpResponse:
    """The page as the worker at work has it, of the units named here, for somebody who only tries it.

    It has no ticket and saves no drafts; it goes back to the address that it came from.
    """
    context = {"address": request.path, "trial": True}
    return _page(request, stage, names, filled, about=context, status=status)


def _page(
    request: HttpRequest,
    stage: Stage,
    names: Mapping[str, str],
    filled: FormValues,
    *,
    about: Mapping[str, Any],
    status: int,
) -> HttpResponse:
    values, errors, units = filled.values, filled.errors, list(names)
    preview = bool(about.get("preview"))
    pages = kind_of(stage).pages(stage, units, stage.seed)
    parts = [
        _unit(pages[unit], Mark(names[unit], f"u{number}-"), values, errors.get(unit, {}), preview=preview)
        for number, unit in enumerate(units, 1)
    ]
    problems = [
        Problem(f"u{number}-{name}-error", number, words)
        for number, unit in enumerate(units, 1)
        for name, words in errors.get(unit, {}).items()
    ]
    context = {
        **about,
        "stage": stage,
        "units": parts,
        "instructions": list(
            dict.fromkeys(page.instructions for page in pages.values() if page.instructions)
        ),
        "problems": problems,
        "shortcuts": values.get(SHORTCUTS) != "off",
    }
    return render(request, "crowd/task.html", context, status=status)


def _unit(
    page: Page,
    mark: Mark,
    values: Mapping[str, str],
    errors: Mapping[str, str],
    *,
    preview: bool,
) -> SafeString:
    return render_to_string(
        page.template,
        {
            **page.context,
            "prefix": f"{mark.name}|",
            "id": mark.id,
            "values": fields.of_unit(values, mark.name),
            "errors": errors,
            "preview": preview,
        },
    )
