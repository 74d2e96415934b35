"""Navigation of the desk: the sidebar of every page, and the row of parts of a place or of a stage.

Inside a project the sidebar has its places in the order of the work, each with a count or a state; outside,
the pages over all projects of the user. Apps bring both as parts of their extensions:

    Place("Queries", "queries", "annotation:queries", Group.COLLECT, 20, icon="list", count=count_queries)
    Page("Search", "annotation:search", "search", place="passages")
    Page("Answers", "annotation:answers", "answers", kinds=("distillation",))
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.core.cache import cache
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from core.extensions import parts_of
from core.projects.models import Project
from core.projects.selectors import last_event

#: How many matches of a kind the search of the bar shows.
MATCHES = 6
#: Answers arrive without an event: after so long counts are taken again.
_COUNTED_SECONDS = 30


class Group(StrEnum):
    """What a place is for; the sidebar has its groups in this order."""

    FIRST = ""
    COLLECT = gettext_noop("Collect")
    QUALITY = gettext_noop("Quality")
    PUBLISH = gettext_noop("Publish")
    PROJECT = gettext_noop("Project")


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the sidebar; `name` is what a page gives as `sidebar` or `tab` to be marked there.

    `in_project` is the name of an address that takes the project's slug, `everywhere` of the page over all
    projects; a place without one of them is absent there. `count` says how many there are, or a state in a
    word; with `waits` it is work for the user, and is marked while there is some. Projects to which it does
    not apply lack it.
    """

    label: str
    name: str
    in_project: str
    group: Group
    position: int
    everywhere: str = ""
    icon: str = "list"
    count: Callable[[Project], int | str] | None = None
    waits: bool = False
    anchor: str = ""
    applies: Callable[[Project], bool] | None = None


@dataclass(frozen=True, slots=True)
class NavLink:
    """A place as templates draw it; `current` is "page", "true" (a page below it) or empty."""

    label: str
    icon: str
    address: str
    current: str
    count: int | str = ""
    waits: bool = False


#: A heading, empty for the first, with its links.
NavGroup = tuple[str, list[NavLink]]


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a place of the project, or with `kinds` of the stages of those kinds, beside others.

    Its address takes the project's slug, and the stage's. `name` is what the page gives as `tab`.
    """

    label: str
    url_name: str
    name: str
    kinds: tuple[str, ...] = ()
    position: int = 50
    place: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """A part as templates draw it."""

    label: str
    address: str
    name: str


@dataclass(frozen=True, slots=True)
class Match:
    """Something that the search of the bar found; `note` says what it is, in a few words."""

    label: str
    note: str
    address: str


@dataclass(frozen=True, slots=True)
class Finder:
    """Where the search of the bar looks: `find` gives the first `MATCHES` + 1 that have a text, best first.

    It gets the user's projects, or the one that the user is in, and the text.
    """

    heading: str
    position: int
    find: Callable[[QuerySet[Project], str], Iterable[Match]]


def sidebar_groups(project: Project | None, place_name: str, path: str) -> list[NavGroup]:
    """The sidebar of a page at `path` that belongs to the place or part `place_name`."""
    here = next((page.place for page in parts_of(Page) if page.place and page.name == place_name), place_name)
    links: dict[str, list[NavLink]] = {}
    places = sorted(parts_of(Place), key=lambda each: each.position)
    counts = _counts_of(project, places) if project else {}
    for place in places:
        url_name = place.in_project if project else place.everywhere
        if not url_name or (project and place.applies and not place.applies(project)):
            continue
        address = reverse(url_name, args=[project.slug] if project else [])
        links.setdefault(place.group if project else Group.FIRST, []).append(
            NavLink(
                gettext(place.label),
                place.icon,
                f"{address}#{place.anchor}" if place.anchor else address,
                mark_current(is_here=place.name == here, exactly=address == path and not place.anchor),
                counts.get(place.name, ""),
                place.waits,
            )
        )
    return [(gettext(group) if group else "", links[group]) for group in Group if group in links]


def _counts_of(project: Project, places: Iterable[Place]) -> dict[str, int | str]:
    """Counts beside the places of a project: counted again after each event, else twice in a minute."""

    def count() -> dict[str, int | str]:
        return {place.name: place.count(project) for place in places if place.count is not None}

    key = f"sidebar:{project.pk}:{last_event(project, '')}"
    return cache.get_or_set(key, count, _COUNTED_SECONDS) or {}


def place_tabs(project: Project, tab: str) -> list[Tab]:
    """The parts of the place that has a part of this name; none where it is a place without parts."""
    pages = [page for page in parts_of(Page) if page.place]
    place = next((page.place for page in pages if page.name == tab), None)
    return _tabs((page for page in pages if page.place == place), project.slug)


def place_label(name: str) -> str:
    """The label of a place by its name or that of one of its parts; empty for the overview and others."""
    here = next((page.place for page in parts_of(Page) if page.place and page.name == name), name)
    return next((gettext(each.label) for each in parts_of(Place) if each.name == here and each.group), "")


def stage_tabs(project: Project, kind: str, stage_slug: str) -> list[Tab]:
    """Tabs that apps have for a stage of this kind."""
    return _tabs((page for page in parts_of(Page) if kind in page.kinds), project.slug, stage_slug)


def _tabs(pages: Iterable[Page], *names: str) -> list[Tab]:
    in_order = sorted(pages, key=lambda page: page.position)
    return [Tab(gettext(page.label), reverse(page.url_name, args=names), page.name) for page in in_order]


def mark_current(*, is_here: bool, exactly: bool) -> str:
    """`NavLink.current` of a place: whether the page is below it, and whether it is the page itself."""
    return "page" if exactly else "true" if is_here else ""
