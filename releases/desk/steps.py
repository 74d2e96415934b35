"""The steps of the wizard. What was chosen travels in the address, so that one can go back and nothing is
stored before the build begins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from core.projects.models import Project
from releases.desk.forms import CHOICES, FORMAT_CHOICES, ContentForm

_STEPS = {
    "content": "What goes in",
    "formats": "Formats",
    "privacy": "Privacy",
    "preview": "Preview",
    "card": "Data card",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step as the page draws it; `address` keeps what was chosen."""

    name: str
    label: str
    address: str


@dataclass(frozen=True, slots=True)
class Way:
    """Where somebody is in the wizard. `chosen` are the choices as a query string."""

    here: str
    steps: list[Step]
    chosen: str
    given: QueryDict

    def others(self) -> list[tuple[str, str]]:
        """Choices of the other one of the first two steps, for the form of this one."""
        names = FORMAT_CHOICES if self.here == "content" else ("include",)
        return [(name, value) for name in names for value in self.given.getlist(name)]

    def address(self, name: str) -> str:
        """Of a step."""
        return next(step.address for step in self.steps if step.name == name)

    @property
    def following(self) -> str:
        """The address of the next step; empty at the last."""
        names = [step.name for step in self.steps]
        place = names.index(self.here) + 1
        return self.steps[place].address if place < len(names) else ""

    @property
    def number(self) -> int:
        """Which step it is, from one."""
        return [step.name for step in self.steps].index(self.here) + 1


def chosen(given: QueryDict) -> str:
    """The choices of the first two steps alone, as a query string."""
    return _kept(given).urlencode()


def _kept(given: QueryDict) -> QueryDict:
    kept = QueryDict(mutable=True)
    for name in CHOICES:
        if name in given:
            kept.setlist(name, given.getlist(name)[:20])
    return kept


def way(project: Project, here: str, given: QueryDict) -> Way:
    """The steps with the choices that the address has."""
    query = chosen(given)
    steps = [
        Step(name, label, f"{reverse(f'releases:{name}', args=[project.slug])}{'?' if query else ''}{query}")
        for name, label in _STEPS.items()
    ]
    return Way(here, steps, query, _kept(given))


def content_form(given: QueryDict) -> ContentForm:
    """The form with what the address has; the defaults where it says nothing about formats and splits."""
    if any(name in given for name in FORMAT_CHOICES):
        return ContentForm(given)
    first: Mapping[str, Any] = {name: field.initial for name, field in ContentForm().fields.items()}
    defaults = QueryDict(mutable=True)
    defaults.setlist("include", given.getlist("include")[:20])
    for name, value in first.items():
        if name == "include":
            continue
        if isinstance(value, list):
            defaults.setlist(name, [str(each) for each in value])
        elif value is not None:
            defaults[name] = str(value)
    return ContentForm(defaults)


def read_choices(request: HttpRequest) -> ContentForm:
    """The form of the choices in the address, whatever the method."""
    return content_form(request.GET)
