"""Projects by the API."""

from django.contrib.auth.models import User

from core.projects.models import Event, Project
from tests.api.conftest import is_problem, program_of


def test_a_program_makes_a_project_its_person_owns_it_and_a_token_of_another_does_not_open_it(
    program, owner, project
):
    answer = program.post("/projects", {"slug": "coffee", "title": "Coffee", "budget_cents": 500})
    assert answer.status_code == 201
    assert answer.json()["role"] == "owner" and answer.json()["currency"] == "USD"
    assert Project.objects.get(slug="coffee").budget_cents == 500
    event = Event.objects.filter(project__slug="coffee", action="project.created").get()
    assert event.actor == owner and event.address == "127.0.0.1"
    assert (event.via, event.credential) == ("api", program.token[:12])
    bound = program_of(owner, project=project)
    assert [each["slug"] for each in bound.get("/projects").json()["items"]] == ["tea"]
    is_problem(bound.get("/projects/coffee"), 404, "not_found")
    is_problem(bound.post("/projects", {"slug": "cocoa", "title": "Cocoa"}), 403, "token_bound")


def test_settings_are_changed_as_they_were_read_or_not_at_all(program):
    read = program.get("/projects/tea")
    is_problem(program.patch("/projects/tea", {"title": "Teas"}), 428, "if_match_missing")
    changed = program.patch("/projects/tea", {"title": "Teas", "budget_cents": 7}, match=read["ETag"])
    assert changed.status_code == 200 and changed.json()["title"] == "Teas"
    assert changed["ETag"] == program.get("/projects/tea")["ETag"] != read["ETag"]
    is_problem(program.patch("/projects/tea", {"title": "No"}, match=read["ETag"]), 412, "changed_since")
    assert Project.objects.values_list("title", "budget_cents").get(slug="tea") == ("Teas", 7)


def test_strangers_find_no_project_and_members_hear_which_role_is_missing(project):
    stranger, viewer = program_of(User.objects.create_user("sam")), User.objects.get(username="viewer")
    is_problem(stranger.get("/projects/tea"), 404, "not_found")
    assert stranger.get("/projects").json() == {"items": [], "next": None}
    is_problem(program_of(viewer).patch("/projects/tea", {"title": "Mine"}), 403, "role_missing")
    is_problem(program_of(viewer, "collect").get("/projects/tea"), 403, "scope_missing")


def test_roles_of_requesters_are_none_of_a_project(program, project):
    User.objects.create_user("nina")
    wrong = is_problem(program.ask("PUT", "/projects/tea/members/nina", {"role": "payer"}), 422, "invalid")
    assert wrong["errors"]["role"] == ["There is no role 'payer' here; there are owner, manager, viewer."]
    assert program.ask("PUT", "/projects/tea/members/nina", {"role": "viewer"}).json() == {
        "username": "nina", "role": "viewer", "since": None,
    }  # fmt: skip
    link = {"title": "Tea", "target": "project:tea", "granted_value": 2}
    assert list(is_problem(program.post("/projects/tea/study-links", link), 422, "invalid")["errors"]) == [
        "granted_value"
    ]
