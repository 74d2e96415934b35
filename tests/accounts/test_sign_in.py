"""Signing in and out."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.projects.services import create_project
from tests.cases import apart

PASSWORD = "seven green kettles"


@pytest.fixture
def person(db) -> User:
    return User.objects.create_user("mira", password=PASSWORD)


def sign_in(client, password=PASSWORD, **extra):
    return client.post("/accounts/login/", {"username": "mira", "password": password, **extra})


def test_people_arrive_at_the_tasks(person, client):
    assert sign_in(client).headers["Location"] == "/accounts/home/"
    assert client.get("/accounts/home/").headers["Location"] == "/"
    assert client.get("/accounts/login/").headers["Location"] == "/accounts/home/"


def test_staff_arrive_at_the_projects_where_a_researcher_begins(person, client):
    User.objects.update(is_staff=True)
    sign_in(client)
    assert client.get("/accounts/home/").headers["Location"] == "/desk/projects/"


def test_pages_that_are_not_there_lead_researchers_back_to_the_desk(person, client, subtests):
    for path in ["/nothing", "/requester/NOTHING/"]:
        with apart(subtests, path=path):
            sign_in(client)
            assert "To the tasks" in client.get(path).content.decode()
            create_project(slug="reading", title="Reading", owner=person)
            page = client.get(path)
            assert page.status_code == 404
            assert '<a class="button" href="/desk/projects/">Back to the desk</a>' in page.content.decode()


def test_people_go_on_where_they_wanted_to_go_but_not_to_another_site(person, client):
    assert sign_in(Client(), next="/history").headers["Location"] == "/history"
    assert sign_in(client, next="https://evil.example.org/").headers["Location"] == "/accounts/home/"
    assert sign_in(Client(), next="//evil.example.org/").headers["Location"] == "/accounts/home/"


def test_a_wrong_password_is_told_without_saying_which_part_was_wrong(person, client):
    wrong = "Please enter a correct username and password."
    assert wrong in sign_in(client, "wrong").content.decode()
    unknown = client.post("/accounts/login/", {"username": "nobody", "password": PASSWORD})
    assert wrong in unknown.content.decode()


def test_after_ten_wrong_tries_even_the_right_password_waits_and_others_sign_in_meanwhile(person, client):
    User.objects.create_user("olga", password=PASSWORD)
    for _ in range(9):
        assert sign_in(client, "wrong").status_code == 200
    assert sign_in(client, "wrong").status_code == 429
    answer = sign_in(client)
    assert (answer.status_code, 1 <= int(answer["Retry-After"]) <= 15) == (429, True)
    assert "Too many tries" in answer.content.decode()
    answer = Client().post("/accounts/login/", {"username": "olga", "password": PASSWORD})
    assert answer.status_code == 302


def test_signing_out_is_a_post(person, client):
    sign_in(client)
    assert client.get("/accounts/logout/").status_code == 405
    assert client.post("/accounts/logout/").headers["Location"] == "/"
    assert client.get("/accounts/home/").headers["Location"].startswith("/accounts/login/")
