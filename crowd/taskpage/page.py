"""A task as a page: the frame that all kinds share around what each kind shows of a unit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from crowd.kinds import kind_of
from crowd.models import Assignment, Hit
from crowd.taskpage import fields, tokens
from crowd.taskpage.names import names_in_page
from crowd.taskpage.tokens import Ticket

#: A field of the page's own in drafts, beside those of the units.
SHORTCUTS = "|shortcuts"


@dataclass(frozen=True, slots=True)
class Shown:
    """Somebody at work: their fields (those of the draft without others), and what is wrong with them."""

    assignment: Assignment
    ticket: Ticket
    values: Mapping[str, str] | None = None
    errors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    alarm: str = ""


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
    request: HttpRequest, hit: Hit, units: Sequence[str], *, shown: Shown | None = None, status: int = 200
) -> HttpResponse:
    """The page of a HIT: for the worker at work, or without one as a preview that takes nothing."""
    values = (shown.assignment.draft if shown.values is None else shown.values) if shown else {}
    errors = shown.errors if shown else {}
    names = names_in_page(hit, units)
    parts = [
        _unit(
            hit, unit, Mark(names[unit], f"u{number}-"), values, errors.get(unit, {}), preview=shown is None
        )
        for number, unit in enumerate(units, 1)
    ]
    problems = [
        Problem(f"u{number}-{name}-error", number, words)
        for number, unit in enumerate(units, 1)
        for name, words in errors.get(unit, {}).items()
    ]
    context = {
        "stage": hit.stage,
        "hit": hit,
        "units": parts,
        "problems": problems,
        "alarm": shown.alarm if shown else "",
        "preview": shown is None,
        "ticket": tokens.write(shown.ticket) if shown else "",
        "shortcuts": values.get(SHORTCUTS) != "off",
    }
    return render(request, "crowd/task.html", context, status=status)


def _unit(
    hit: Hit,
    unit: str,
    mark: Mark,
    values: Mapping[str, str],
    errors: Mapping[str, str],
    *,
    preview: bool,
) -> SafeString:
    page = kind_of(hit.stage).page(hit.stage, unit, hit.stage.seed)
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
