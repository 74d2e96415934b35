"""The rail at the left of every page of a requester."""

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from marketplace.models import Requester


@dataclass(frozen=True, slots=True)
class Link:
    """A place as the template draws it; `current` is "page", "true" (a page below it) or empty."""

    label: str
    name: str
    address: str
    current: str


#: Places of the rail: label, name, and the name of its first page.
PLACES: tuple[tuple[str, str, str], ...] = (
    ("Overview", "overview", "requester:overview"),
    ("Batches", "batches", "requester:batches"),
)
#: Shown where test controls are on.
TEST_PLACES: tuple[tuple[str, str, str], ...] = ()


def links(requester: Requester, here: str, path: str) -> list[Link]:
    """The rail of a page at `path` that belongs to the place `here`."""
    places = PLACES + (TEST_PLACES if settings.MARKETPLACE_TEST_TOKEN else ())
    found = []
    for label, name, url_name in places:
        address = reverse(url_name, args=[requester.customer_id])
        current = "page" if address == path else "true" if name == here else ""
        found.append(Link(label, name, address, current))
    return found
