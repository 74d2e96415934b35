"""Places that apps above have for people who are signed in: where log-in leads, and links beside their name.

Apps bring them as parts of their extensions, so that accounts need not know the apps:

    Place("Projects", "desk:projects", may_have_projects)
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django_stubs_ext import StrOrPromise

from core.extensions import parts_of


@dataclass(frozen=True, slots=True)
class Place:
    """A page by the name of its address, and whom it is there for; log-in leads to a person's first one."""

    label: str
    url_name: str
    is_for: Callable[[User], bool]

    @property
    def address(self) -> str:
        """Where it is."""
        return reverse(self.url_name)


@dataclass(frozen=True, slots=True)
class OwnProfile:
    """A page where some people keep what an app knows of them, such as workers; linked from their account."""

    label: StrOrPromise
    url_name: str
    is_for: Callable[[User], bool]


def own_profile_of(user: User) -> OwnProfile | None:
    """The page of this person, where an app has one."""
    return next((part for part in parts_of(OwnProfile) if part.is_for(user)), None)


def places_of(user: object) -> list[Place]:
    """The places of a person, in the order of the apps; visitors have none."""
    return [place for place in parts_of(Place) if place.is_for(user)] if isinstance(user, User) else []


def home_of(user: User) -> Place | None:
    """Where log-in leads somebody: their first place."""
    return next(iter(places_of(user)), None)


def in_templates(request: HttpRequest) -> dict[str, object]:
    """Context of every page: `places`, looked up only where a template draws them."""
    return {"places": SimpleLazyObject(lambda: places_of(getattr(request, "user", None)))}
