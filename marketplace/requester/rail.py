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
PLACES = (
    ("Overview", "overview", "requester:overview"),
    ("Batches", "batches", "requester:batches"),
    ("HITs", "hits", "requester:hits"),
    ("Review", "review", "requester:review"),
    ("Workers", "workers", "requester:workers"),
    ("Qualifications", "qualifications", "requester:qualifications"),
    ("Messages", "messages", "requester:letters"),
    ("Money", "money", "requester:money"),
    ("Keys", "keys", "requester:keys"),
    ("Activity", "activity", "requester:activity"),
)
#: Shown where test controls are on.
TEST_PLACES = (("Test controls", "controls", "requester:controls"),)


def links(requester: Requester, here: str, path: str) -> list[Link]:
    """The rail of a page at `path` that belongs to the place `here`."""
    places = PLACES + (TEST_PLACES if settings.MARKETPLACE_TEST_TOKEN else ())
    found = []
    for label, name, url_name in places:
        address = reverse(url_name, args=[requester.customer_id])
        current = "page" if address == path else "true" if name == here else ""
        found.append(Link(label, name, address, current))
    return found
