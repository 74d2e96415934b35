"""The sidebar of every page of a requester."""

from django.conf import settings
from django.urls import reverse

from marketplace.models import Requester
from web.nav import NavLink, mark_current

#: Places of the sidebar: label, name, and the name of its first page.
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


def sidebar_links(requester: Requester, here: str, path: str) -> list[NavLink]:
    """The sidebar of a page at `path` that belongs to the place `here`."""
    places = PLACES + (TEST_PLACES if settings.MARKETPLACE_TEST_TOKEN else ())
    found = []
    for label, name, url_name in places:
        address = reverse(url_name, args=[requester.customer_id])
        current = mark_current(here=name == here, exactly=address == path)
        found.append(NavLink(label, name, address, current))
    return found
