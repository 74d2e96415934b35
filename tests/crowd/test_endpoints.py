"""Endpoints that were entered wrongly: corrected or removed, as long as nothing was done with them."""

import re
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from crowd.errors import CrowdError
from crowd.models import Endpoint
from crowd.services import publication, stages
from crowd.services.endpoints import create_endpoint, move_endpoint
from tests.api.conftest import program_of
from tests.crowd import world

pytestmark = pytest.mark.django_db
WRONG = "http://127.0.0.1:8000/mturk/api"
RIGHT = "http://127.0.0.1:8123/mturk/api"


@pytest.fixture
def ada():
    return User.objects.create_user("ada", is_staff=True)


@pytest.fixture
def endpoint():
    return create_endpoint(name="ours", preset="local", url=WRONG, access_key="AK", secret="secret")


def test_that_of_this_installation_is_where_it_answers(settings):
    settings.PORT = 8123
    made = create_endpoint(name="ours", preset="local", access_key="AK", secret="secret")
    assert (made.url, made.submit_origins) == (RIGHT, ["http://127.0.0.1:8123", "http://localhost:8123"])


def test_prolifics_address_is_taken_in_both_forms():
    """With /api/v1, which our calls add, a check would say no more than 404."""
    simulator = "http://127.0.0.1:9000"
    made = create_endpoint(
        name="p", preset="prolific", url=f"{simulator}/api/v1/", access_key="w", secret="t"
    )
    assert made.url == simulator
    assert move_endpoint(endpoint=made, url="http://127.0.0.1:9001/api/v1").url == "http://127.0.0.1:9001"


def test_labels_of_each_endpoint_lead_to_its_own_fields(endpoint, ada):
    create_endpoint(name="again", preset="local", access_key="AK", secret="secret")
    browser = Client()
    browser.force_login(ada)
    ids = re.findall(
        r'\bid="((?:spender|endpoint)[-_][^"]+)"', browser.get("/desk/settings/").content.decode()
    )
    assert len(set(ids)) == len(ids) > 8


def test_a_wrong_one_is_corrected_and_removed_by_page_and_command(endpoint, ada):
    browser = Client()
    browser.force_login(ada)
    page = browser.get("/desk/settings/").content.decode()
    assert f'value="{WRONG}"' in page and "Remove it" in page
    long = f"https://example.org/{'a' * 300}"
    said = browser.post("/desk/settings/endpoints/ours/move/", {"url": long}, follow=True).content.decode()
    assert "at most 300 are possible" in said
    said = browser.post("/desk/settings/endpoints/ours/move/", {"url": RIGHT}, follow=True).content.decode()
    assert f"is at {RIGHT}." in said
    endpoint.refresh_from_db()
    assert (endpoint.url, endpoint.submit_origins) == (RIGHT, ["http://127.0.0.1:8123"])
    call_command("crowd", "endpoint", "move", "ours", WRONG, stdout=StringIO())
    assert program_of(ada).get("/endpoints/ours").json()["url"] == WRONG
    create_endpoint(name="again", preset="local", access_key="AK", secret="secret")
    call_command("crowd", "endpoint", "remove", "ours", stdout=StringIO())
    browser.post("/desk/settings/endpoints/again/remove/")
    assert not Endpoint.objects.exists()


def test_one_that_was_used_stays_where_it_is(endpoint, ada):
    """Its workers, HITs and the keys of its payments mean nothing at another address."""
    stage = world.make_stage(endpoint)
    with pytest.raises(CommandError, match=r"ours cannot be removed: it has .*stages.*, which are kept\."):
        call_command("crowd", "endpoint", "remove", "ours")
    assert move_endpoint(endpoint=endpoint, url=RIGHT).url == RIGHT, "nothing was sent yet"
    stages.open_stage(stage=stage)
    publication.publish_pending(stage)
    with pytest.raises(CrowdError, match="Something was sent to ours already, so url"):
        move_endpoint(endpoint=endpoint, url=WRONG)


def test_only_those_who_run_the_installation_move_and_remove_endpoints(endpoint):
    stranger = User.objects.create_user("vera")
    browser = Client()
    browser.force_login(stranger)
    for action in ("move", "remove"):
        assert browser.post(f"/desk/settings/endpoints/ours/{action}/", {"url": RIGHT}).status_code == 404
    endpoint.refresh_from_db()
    assert endpoint.url == WRONG
