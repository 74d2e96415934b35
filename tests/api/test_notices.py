"""Notices by the API."""

import pytest
from django.contrib.auth.models import User

from core.notices.services import end_notices, raise_notice, see
from core.projects.services import create_project
from tests.api.conftest import is_problem, program_of

AT = "/notices"


@pytest.fixture
def notices(project):
    """Three, of which the first is over."""
    rows = [
        raise_notice(project=project, kind="stuck", key=str(n), level="warning", sentence=f"No. {n}")
        for n in range(3)
    ]
    end_notices(type(rows[0]).objects.filter(pk=rows[0].pk))
    return rows


def sentences(answer) -> list[str]:
    return [row["sentence"] for row in answer.json()["items"]]


def test_open_ones_are_listed_unless_others_are_asked_for_and_reading_is_ones_own(program, notices, owner):
    assert sentences(program.get(AT)) == ["No. 1", "No. 2"]
    assert sentences(program.get(f"{AT}?state=over")) == ["No. 0"]
    assert sentences(program.get(f"{AT}?state=all&order=newest")) == ["No. 2", "No. 1", "No. 0"]
    first = program.get(f"{AT}?state=all&limit=2").json()
    assert sentences(program.get(f"{AT}?state=all&limit=2&cursor={first['next']}")) == ["No. 2"]
    is_problem(program.get(f"{AT}?state=gone"), 422, "invalid")
    see(user=owner, notices=[notices[1]])
    assert sentences(program.get(f"{AT}?state=unread")) == ["No. 2"]
    viewer = program_of(User.objects.get(username="viewer"))
    assert sentences(viewer.get(f"{AT}?state=unread")) == ["No. 1", "No. 2"]


def test_all_projects_of_a_person_are_one_list_and_a_bound_token_sees_its_own(
    program, owner, project, notices
):
    milk = create_project(slug="milk", title="Milk", owner=owner)
    raise_notice(project=milk, kind="stuck", key="1", level="alarm", sentence="Sour.")
    create_project(slug="theirs", title="Theirs")
    assert sentences(program.get("/notices")) == ["No. 1", "No. 2", "Sour."]
    bound = program_of(owner, project=project)
    assert sentences(bound.get("/notices")) == ["No. 1", "No. 2"]
    assert sentences(bound.get("/notices?project=milk")) == []
    assert sentences(program.get("/notices?project=milk")) == ["Sour."]
    is_problem(program.get("/notices?project=theirs"), 404, "not_found")
