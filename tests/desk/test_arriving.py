"""Where members of projects arrive, and how they find their projects from every page."""

import pytest

pytestmark = pytest.mark.django_db
LINK = '<a class="quiet" href="/desk/projects/">Projects</a>'


def test_members_and_staff_arrive_at_their_projects_and_find_them_from_every_page(as_, people, project):
    people["stranger"].is_staff = True
    people["stranger"].save()
    for who in ("owner", "manager", "viewer", "stranger"):
        assert as_(who).get("/accounts/home/").headers["Location"] == "/desk/projects/", who
    assert LINK in as_("viewer").get("/").content.decode()
    assert as_("viewer").get("/desk/projects/").content.decode().count("<span>Projects</span>") == 1


def test_others_arrive_at_the_tasks_and_see_no_link(as_, project):
    for who in ("stranger", "worker"):
        client = as_(who)
        assert client.get("/accounts/home/").headers["Location"] == "/"
        assert LINK not in client.get("/").content.decode()
    assert LINK not in as_("anonymous").get("/").content.decode()
