"""Views of lists that people keep: by name, for themselves, without the page they were on."""

import pytest

from core.accounts import saved_views
from core.accounts.models import SavedView

pytestmark = pytest.mark.django_db
SAVE, LIST = "/accounts/views/", "/desk/projects/"


def save(client, name, query="", **more):
    return client.post(SAVE, {"path": LIST, "name": name, "query": query, **more})


def test_a_view_is_kept_under_its_name_shown_beside_the_list_and_removed(owner, project):
    assert save(owner, "Mine", "q=read&page=3&format=csv").headers["Location"] == f"{LIST}?q=read"
    assert save(owner, "Plain").headers["Location"] == LIST
    page = owner.get(LIST).text
    assert f'href="{LIST}?q=read"' in page
    assert "The view “Plain” is saved." in page
    save(owner, "Mine", "q=other")
    assert SavedView.objects.get(name="Mine").query == "q=other"
    save(owner, "Mine", remove="1")
    assert "The view “Mine” is removed." in owner.get(LIST).text
    assert [view.name for view in SavedView.objects.all()] == ["Plain"]


def test_each_person_has_views_of_their_own(as_, owner, project):
    save(owner, "Secret name", "q=read")
    assert "Secret name" not in as_("manager").get(LIST).text
    save(as_("manager"), "Secret name", remove="1")
    assert SavedView.objects.count() == 1
    assert save(as_("anonymous"), "Mine").headers["Location"].startswith("/accounts/login/")


def test_what_cannot_be_kept_is_said_and_changes_nothing(owner, project, monkeypatch):
    for path in ("//evil.example", "https://evil.example/", "desk"):
        assert owner.post(SAVE, {"path": path, "name": "Mine", "query": ""}).status_code == 422, path
    assert owner.post(SAVE, {"path": LIST, "name": "", "query": ""}).status_code == 422
    monkeypatch.setattr(saved_views, "MOST", 1)
    save(owner, "First")
    save(owner, "Second")
    assert "Nothing was saved: this list has 1 views." in owner.get(LIST).text
    assert [view.name for view in SavedView.objects.all()] == ["First"]
