"""Navigation of the desk: the sidebar of every page, and the tabs of a project and of its stages.

Inside a project a place of the sidebar leads to its page there, outside to the one over all projects of the
user. Apps bring their places and tabs as parts of their extensions:

    Place("Releases", "releases", "releases:everywhere", "releases:list", position=30)
    Page("Queries", "annotation:queries", "queries")
    Page("Answers", "annotation:answers", "answers", kinds=("distillation",))
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse

from core.extensions import parts_of
from core.projects.models import Project


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the sidebar; `name` is what a page gives as `sidebar` or `tab` to be marked there.

    `everywhere` and `in_project` are names of addresses; the second takes the project's slug. `position`
    orders the places. Where the address in a project is not there, the other one is taken; without that the
    place is left out.
    """

    label: str
    name: str
    everywhere: str
    in_project: str
    position: int

    def address(self, project: Project | None) -> str:
        """Where the place leads; empty where it leads nowhere."""
        return (_find_address(self.in_project, project.slug) if project else "") or _find_address(
            self.everywhere
        )


@dataclass(frozen=True, slots=True)
class NavLink:
    """A place as templates draw it; `current` is "page", "true" (a page below it) or empty."""

    label: str
    name: str
    address: str
    current: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page of its own, at an address that takes the project's slug, and with `kinds` the stage's too.

    With `kinds` it is a tab of the stages of those kinds, without one of the project. `name` is what the page
    gives as `tab`, so that its tab shows where one is. `position` orders the tabs.
    """

    label: str
    url_name: str
    name: str
    kinds: tuple[str, ...] = ()
    position: int = 50


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab as templates draw it."""

    label: str
    address: str
    name: str


def sidebar_links(project: Project | None, place_name: str, path: str) -> list[NavLink]:
    """The sidebar of a page at `path` that belongs to the place `place_name`, by default to the projects."""
    places = sorted(parts_of(Place), key=lambda place: place.position)
    place_name = place_name if any(place.name == place_name for place in places) else "projects"
    addresses = [(place, place.address(project)) for place in places]
    return [
        NavLink(
            place.label,
            place.name,
            address,
            mark_current(is_here=place.name == place_name, exactly=address == path),
        )
        for place, address in addresses
        if address
    ]


def project_tabs(project: Project) -> list[Tab]:
    """Tabs that apps have for a project."""
    return _tabs((page for page in parts_of(Page) if not page.kinds), project.slug)


def stage_tabs(project: Project, kind: str, stage_slug: str) -> list[Tab]:
    """Tabs that apps have for a stage of this kind."""
    return _tabs((page for page in parts_of(Page) if kind in page.kinds), project.slug, stage_slug)


def _tabs(pages: Iterable[Page], *names: str) -> list[Tab]:
    in_order = sorted(pages, key=lambda page: page.position)
    return [Tab(page.label, reverse(page.url_name, args=names), page.name) for page in in_order]


def mark_current(*, is_here: bool, exactly: bool) -> str:
    """`NavLink.current` of a place: whether the page is below it, and whether it is the page itself."""
    return "page" if exactly else "true" if is_here else ""


def _find_address(name: str, *parts: str) -> str:
    try:
        return reverse(name, args=parts)
    except NoReverseMatch:
        return ""
