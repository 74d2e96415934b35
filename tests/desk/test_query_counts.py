"""No page of the desk asks the database more questions because there is more to show."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.campaign.loading import load
from tests.campaign.pages import pages
from tests.campaign.world import Size

pytestmark = pytest.mark.django_db
#: Queries of the two campaigns that are compared.
SIZES = {"small": 10, "large": 20}
#: Questions of any page, at most; the first one also counts what the sidebar says.
MOST = 70


def asked(name: str) -> dict[str, int]:
    """How many questions every page of a campaign asks, by its name; files are left out."""
    world = load(
        Size(queries=SIZES[name], answers_per_query=3, judgments_per_candidate=2, systems=2), name=name
    )
    client, found = Client(), {}
    client.force_login(User.objects.get(username=name))
    cache.clear()
    for page, address in pages(world.project):
        # The small campaign may have no undecided work; all of it is looked at instead.
        looked = (
            address.endswith("state=all&order=newest")
            if page.startswith("desk:work ")
            else "?" not in address
        )
        if looked and ".csv" not in address:
            with CaptureQueriesContext(connection) as questions:
                status = client.get(address).status_code
            if status == 200:
                found[page] = len(questions)
    return found


@pytest.mark.only_on("sqlite")  # Django asks both databases the same questions
def test_no_page_asks_more_questions_where_there_is_twice_as_much():
    small, large = asked("small"), asked("large")

    assert len(small) > 60
    assert {page: n for page, n in small.items() if n > MOST} == {}
    assert {page: (n, large[page]) for page, n in small.items() if large.get(page, 0) > n} == {}
