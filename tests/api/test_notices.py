"""Notices by the API: which there are, which were read, and which come by e-mail."""

import pytest
from django.contrib.auth.models import User

from core.notices.models import NoticeReading
from core.notices.services import end_notices, raise_notice
from core.projects.services import create_project
from tests.api.conftest import is_problem, program_of

AT = "/projects/tea/notices"


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


def test_open_ones_are_listed_unless_others_are_asked_for(program, notices):
    assert sentences(program.get(AT)) == ["No. 1", "No. 2"]
    assert sentences(program.get(f"{AT}?state=over")) == ["No. 0"]
    assert sentences(program.get(f"{AT}?state=all&order=newest")) == ["No. 2", "No. 1", "No. 0"]
    first = program.get(f"{AT}?state=all&limit=2").json()
    assert sentences(program.get(f"{AT}?state=all&limit=2&cursor={first['next']}")) == ["No. 2"]
    is_problem(program.get(f"{AT}?state=gone"), 422, "invalid")


def test_reading_is_each_persons_own(program, owner, notices):
    answer = program.post(f"{AT}/{notices[1].pk}/read").json()
    assert (answer["read"], answer["project"]) == (True, "tea")
    assert sentences(program.get(f"{AT}?state=unread")) == ["No. 2"]
    viewer = program_of(User.objects.get(username="viewer"))
    assert sentences(viewer.get(f"{AT}?state=unread")) == ["No. 1", "No. 2"]
    assert viewer.post(f"{AT}/read").json() == {"marked": 2, "unread": 0}
    assert viewer.post(f"{AT}/read").json() == {"marked": 0, "unread": 0}
    is_problem(program_of(owner, "read").post(f"{AT}/read"), 403, "scope_missing")


def test_several_are_read_at_once_or_none_where_one_is_not_there(program, notices):
    chosen = [notices[0].pk, notices[2].pk]
    is_problem(program.post(f"{AT}/read", {"notices": [*chosen, 10**9]}), 404, "not_found")
    assert not NoticeReading.objects.exists()
    assert program.post(f"{AT}/read", {"notices": chosen}).json() == {"marked": 2, "unread": 1}
    is_problem(program.post(f"{AT}/read", {"notices": []}), 422, "invalid")


def test_all_projects_of_a_person_are_one_list_and_a_bound_token_sees_its_own(
    program, owner, project, notices
):
    milk = create_project(slug="milk", title="Milk", owner=owner)
    raise_notice(project=milk, kind="stuck", key="1", level="alarm", sentence="Sour.")
    create_project(slug="theirs", title="Theirs")
    assert sentences(program.get("/notices")) == ["No. 1", "No. 2", "Sour."]
    bound = program_of(owner, project=project)
    assert sentences(bound.get("/notices")) == ["No. 1", "No. 2"]
    is_problem(bound.post("/notices/read"), 403, "token_bound")
    assert program.post("/notices/read").json() == {"marked": 3, "unread": 0}


def test_what_comes_by_e_mail_is_changed_as_it_was_read(program, project):
    read = program.get(f"{AT}/e-mail")
    assert read.json() == {"post": "pressing"}
    is_problem(program.patch(f"{AT}/e-mail", {"post": "none"}), 428, "if_match_missing")
    assert program.patch(f"{AT}/e-mail", {"post": "none"}, match=read["ETag"]).json() == {"post": "none"}
    is_problem(program.patch(f"{AT}/e-mail", {"post": "all"}, match=read["ETag"]), 412, "changed_since")
    is_problem(program.patch(f"{AT}/e-mail", {"post": "some"}, match=read["ETag"]), 422, "invalid")
