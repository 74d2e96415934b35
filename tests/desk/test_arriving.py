"""Where members of projects arrive, and how they find their projects from every page."""

import pytest

pytestmark = pytest.mark.django_db
LINK = '<a class="quiet" href="/desk/projects/">Projects</a>'


@pytest.mark.parametrize("who", ["owner", "manager", "viewer"])
def test_members_arrive_at_their_projects(as_, project, who):
    assert as_(who).get("/accounts/home/").headers["Location"] == "/desk/projects/"


@pytest.mark.parametrize("who", ["stranger", "worker"])
def test_others_arrive_at_the_tasks_and_see_no_link(as_, project, who):
    client = as_(who)
    assert client.get("/accounts/home/").headers["Location"] == "/"
    assert LINK not in client.get("/").content.decode()


def test_staff_arrive_at_the_projects_also_where_there_is_none_yet(as_, people):
    people["stranger"].is_staff = True
    people["stranger"].save()
    assert as_("stranger").get("/accounts/home/").headers["Location"] == "/desk/projects/"


def test_members_find_their_projects_from_the_worker_site(as_, project):
    assert LINK in as_("viewer").get("/").content.decode()


def test_the_desk_has_the_link_once(as_, project):
    assert as_("viewer").get("/desk/projects/").content.decode().count("Projects</a>") == 1


def test_visitors_see_no_link(as_, project):
    assert LINK not in as_("anonymous").get("/").content.decode()
