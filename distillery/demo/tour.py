"""The tour of the demonstration: a few steps in words over the pages of its two campaigns.

An event marks a project as the demonstration's and says where each step lies. Other installations ask for it
nowhere: the tour is there only in the processes of `manage.py demo`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse

from core.projects.models import Event, Project
from core.projects.services import record
from distillery.demo import place

ACTION = "demo.made"
#: In a session: the person does not want to see it.
HIDDEN = "demo_tour_hidden"


@dataclass(frozen=True, slots=True)
class Step:
    """A page of the tour and what to see there; `here` where one is on it."""

    number: int
    label: str
    words: str
    address: str
    here: bool


@dataclass(frozen=True, slots=True)
class Tour:
    """All steps, and the two that matter now."""

    steps: tuple[Step, ...]
    here: Step | None
    following: Step | None


@dataclass(frozen=True, slots=True)
class _Stop:
    """A step before its address is known. `campaign` is the project's part in the demonstration."""

    label: str
    words: str
    url_name: str
    campaign: str
    stage: str = ""


_STOPS = (
    _Stop(
        "Overview",
        "A campaign that is finished. The funnel says what became of the queries at each step; each "
        "number opens the list behind it.",
        "desk:project",
        "finished",
    ),
    _Stop(
        "Queries",
        "Everything that was imported, with its status and the reason. A query's page has its whole history.",
        "annotation:queries",
        "finished",
    ),
    _Stop(
        "Work in progress",
        "The second campaign is in the middle of its work. What waits for a person comes first.",
        "desk:project",
        "middle",
    ),
    _Stop(
        "Adjudication",
        "Editors were of two minds about these queries. Decide one: accept it, or exclude it with a reason.",
        "annotation:adjudication",
        "middle",
    ),
    _Stop(
        "Answers",
        "Several people answered each query. Flags say what to look at and remove nothing; you approve, ask "
        "for a rewrite, or exclude.",
        "annotation:answers",
        "middle",
        "distillation",
    ),
    _Stop(
        "Agreement",
        "Judges scored two systems' answers. The report says how far they agree, before and after the "
        "filters, with intervals.",
        "judgments:agreement",
        "finished",
        "judging",
    ),
    _Stop(
        "Filters",
        "What removed whom, and why. A filter deletes nothing: it can be undone, and others were "
        "asked in place of those removed.",
        "judgments:filters",
        "finished",
        "judging",
    ),
    _Stop(
        "Release",
        "The data set that lasts: files with checksums, a data card, every format. Download it, or "
        "compare it with the next one.",
        "releases:list",
        "finished",
    ),
    _Stop(
        "Evaluation",
        "What the data are made for: which metric agrees with people, with intervals, tests and plots; and "
        "the public leaderboard.",
        "evaluations:list",
        "finished",
    ),
)


def mark(*, finished: Project, middle: Project, actor: object) -> None:
    """Note in both campaigns that the demonstration made them, so that the tour is shown there."""
    for project in (finished, middle):
        record(
            project=project,
            action=ACTION,
            subject=project.slug,
            actor=actor,
            details={"finished": finished.slug, "middle": middle.slug},
        )


def tour_of(project: Project, path: str) -> Tour | None:
    """The tour as a page at `path` shows it; None where the project is not the demonstration's."""
    if place.started_at() is None:
        return None
    event = Event.objects.filter(project=project, action=ACTION).order_by("pk").first()
    if event is None:
        return None
    found = [(stop, _address(stop, event.details)) for stop in _STOPS]
    steps = tuple(
        Step(number, stop.label, stop.words, address, address == path)
        for number, (stop, address) in enumerate(((stop, to) for stop, to in found if to), 1)
    )
    here = next((step for step in steps if step.here), None)
    following = steps[here.number % len(steps)] if here else steps[0]
    return Tour(steps, here, following)


def _address(stop: _Stop, slugs: Mapping[str, str]) -> str:
    """Where it lies; empty where this installation has no such page."""
    parts = [slugs[stop.campaign], *([stop.stage] if stop.stage else [])]
    try:
        return reverse(stop.url_name, args=parts)
    except NoReverseMatch:
        return ""
