"""The tour of the demonstration: where it is shown, and how it is put away."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.projects.services import create_project
from distillery.demo import tour
from distillery.demo.tour import mark

pytestmark = pytest.mark.django_db
FIRST = "/desk/projects/answers/"


@pytest.fixture
def owner() -> User:
    return User.objects.create_user("owner", is_staff=True)


@pytest.fixture
def client(owner: User) -> Client:
    """The owner of a demonstration's campaigns and of a project of their own."""
    projects = {
        slug: create_project(slug=slug, title=slug, owner=owner)
        for slug in ("answers", "more", "anywhere", "mine")
    }
    mark(finished=projects["answers"], middle=projects["more"], sources=projects["anywhere"], actor=owner)
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process belongs to `manage.py demo`."""
    monkeypatch.setenv(tour.STARTED, "1")


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_tour_goes_through_all_campaigns_from_its_first_page(demonstration, client):
    text = page(client, FIRST)
    assert "Tour, 1 of 10: Overview" in text
    assert '<a class="button plain" href="/desk/projects/answers/queries/">Next: Queries</a>' in text
    assert f'<a href="{FIRST}" aria-current="step">Overview</a>' in text
    assert "8 of 10: People from three places" in page(client, "/desk/projects/anywhere/people/")
    text = page(client, "/desk/projects/more/adjudication/")
    assert "Tour, 4 of 10: Adjudication" in text
    assert "/desk/projects/answers/stages/judging/judging/filters/" in text
    text = page(client, "/desk/projects/more/events/")
    assert "A tour of the demonstration" in text
    assert "Begin: Overview" in text
    assert "tour.css" not in page(client, "/desk/projects/mine/")


def test_other_installations_have_none(client):
    assert "tour.css" not in page(client, FIRST)


def test_it_is_hidden_and_shown_again(demonstration, client):
    hidden = client.post("/examples/tour/", {"show": "0", "next": FIRST})
    assert (hidden.status_code, hidden.headers["Location"]) == (302, FIRST)
    text = page(client, FIRST)
    assert "1 of 10" not in text
    assert "Show the tour" in text
    client.post("/examples/tour/", {"show": "1", "next": FIRST})
    assert "1 of 10" in page(client, FIRST)


def test_looking_changes_nothing_and_nobody_is_sent_elsewhere(demonstration, client):
    assert client.get("/examples/tour/").status_code == 405
    away = client.post("/examples/tour/", {"show": "0", "next": "https://example.org/"})
    assert away.headers["Location"] == "/desk/projects/"
    nowhere = client.post("/examples/tour/", {"show": "0", "next": "nan"})
    assert nowhere.headers["Location"] == "/desk/projects/"


def test_pages_of_the_desk_say_what_is_still_coming(demonstration, client, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    assert "is being made" not in page(client, "/desk/projects/")
    assert page(client, "/examples/progress/") == ""
    tour.tell_progress(3, 37, "Answers <b>: curation")
    for address in ("/desk/projects/", FIRST, "/examples/progress/"):
        text = page(client, address)
        assert "The demonstration is being made: step 3 of 37" in text
        assert "Answers &lt;b&gt;: curation" in text
    tour.end_progress()
    assert "is being made" not in page(client, "/desk/projects/")
