"""Places that apps above have for people who are signed in: where log-in leads, and links beside their name.

An app names them when Django starts, so that accounts need not know it:

    add_place(Place("Projects", "desk:projects", may_have_projects))
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject


@dataclass(frozen=True, slots=True)
class Place:
    """A page by the name of its address, whom it is there for, and whom log-in leads there (None: all)."""

    label: str
    url_name: str
    is_for: Callable[[User], bool]
    is_home_of: Callable[[User], bool] | None = None

    @property
    def address(self) -> str:
        """Where it is."""
        return reverse(self.url_name)


_places: list[Place] = []


def add_place(place: Place) -> None:
    """Add a place; once, however often the app says so."""
    if place not in _places:
        _places.append(place)


def places_of(user: object) -> list[Place]:
    """The places of somebody, in the order in which they were added; visitors have none."""
    return [place for place in _places if place.is_for(user)] if isinstance(user, User) else []


def home_of(user: User) -> Place | None:
    """Where log-in leads somebody: their first place that is for more than looking in."""
    return next((place for place in places_of(user) if (place.is_home_of or place.is_for)(user)), None)


def in_templates(request: HttpRequest) -> dict[str, object]:
    """Context of every page: `places`, looked up only where a template draws them."""
    return {"places": SimpleLazyObject(lambda: places_of(getattr(request, "user", None)))}
