"""Two tabs or two people on one form: the second save changes nothing, and both versions are shown."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from core.notices.models import Wish
from core.projects.models import Event, Membership, Project
from core.projects.services import edit_project
from core.revisions import ConflictError, ShownColumns, mark_of
from crowd.models import Stage
from crowd.services.stages import change_stage
from tests.desk.conftest import at
from tests.saving import revision, save, versions

pytestmark = pytest.mark.django_db
EDIT = "/desk/projects/reading/edit/"
MEMBERS = "/desk/projects/reading/members/"
FIELDS = {"title": "Reading", "language": "en", "wage_floor": "10.00", "budget": "100.00"}


def shown_again(answer) -> dict[str, str]:
    """The mark of the page that compares, with which the form can be sent once more."""
    return {"revision": re.search(r'name="revision" value="([^"]+)"', answer.content.decode())[1]}


def stage_form(client, stage):
    form = client.get(at("edit_stage", stage)).context["form"]
    values = {name: form[name].value() for name in form.fields}
    values = {name: value for name, value in values.items() if value is not None and value is not False}
    return values | {"revision": form.revision}


def test_the_second_save_of_a_stage_changes_nothing_and_shows_both_versions(owner, manager, stage):
    mine, theirs = stage_form(owner, stage), stage_form(manager, stage)
    assert manager.post(at("edit_stage", stage), theirs | {"title": "Theirs"}).status_code == 302
    answer = owner.post(at("edit_stage", stage), mine | {"title": "Mine", "config.question": "How?"})
    assert answer.status_code == 409
    assert versions(answer) == {"Title": ("Mine", "Theirs"), "Question": ("How?", "Which?")}
    page = answer.content.decode()
    assert 'value="Mine"' in page and "Nothing was saved." in page
    assert f'href="{at("edit_stage", stage)}">Take theirs' in page
    kept = Stage.objects.get()
    assert (kept.title, kept.config["question"]) == ("Theirs", "Which?")


def test_keep_mine_saves_over_what_was_compared_and_over_nothing_newer(owner, stage):
    mine = stage_form(owner, stage) | {"title": "Mine"}
    change_stage(stage=stage, changes={"title": "Theirs"})
    first = owner.post(at("edit_stage", stage), mine)
    change_stage(stage=stage, changes={"title": "Third"})
    second = owner.post(at("edit_stage", stage), mine | shown_again(first))
    assert (second.status_code, versions(second)) == (409, {"Title": ("Mine", "Third")})
    assert owner.post(at("edit_stage", stage), mine | shown_again(second)).status_code == 302
    assert Stage.objects.get().title == "Mine"


def test_the_same_form_sent_twice_and_what_it_does_not_show_are_no_conflict(owner, stage):
    mine = stage_form(owner, stage) | {"title": "Mine", "reward": "0.1"}
    for _ in range(2):
        assert owner.post(at("edit_stage", stage), mine).status_code == 302
    assert Event.objects.filter(action="stage.changed").count() == 1
    mine = stage_form(owner, stage) | {"title": "Mine"}
    Stage.objects.update(spent_cents=10, status="paused")
    assert owner.post(at("edit_stage", stage), mine).status_code == 302
    for mark in ("", "made up"):
        sent = mine | {"revision": mark, "title": "Other"}
        assert owner.post(at("edit_stage", stage), sent).status_code == 409
    assert Stage.objects.get().title == "Mine"


def test_a_mistake_that_is_mended_is_still_compared_with_what_was_seen_first(owner, stage):
    mine = stage_form(owner, stage) | {"title": ""}
    wrong = owner.post(at("edit_stage", stage), mine)
    assert wrong.status_code == 422
    change_stage(stage=stage, changes={"redundancy": 5})
    answer = owner.post(at("edit_stage", stage), mine | {"title": "Mine"} | shown_again(wrong))
    assert answer.status_code == 409


def test_settings_of_a_project_are_saved_whole_or_not_at_all(owner, project):
    mark = revision(owner, EDIT)
    Project.objects.update(budget_cents=20_000)
    answer = owner.post(EDIT, FIELDS | mark | {"title": "Mine"})
    assert answer.status_code == 409
    assert versions(answer) == {"Title": ("Mine", "Reading"), "Budget": ("100.00", "200.00")}
    kept = Project.objects.get()
    assert (kept.title, kept.budget_cents) == ("Reading", 20_000)
    Project.objects.update(spent_cents=500)
    assert (
        owner.post(EDIT, FIELDS | shown_again(answer) | {"title": "X", "budget": "1.00"}).status_code == 422
    )
    assert Project.objects.get().title == "Reading"


def test_the_settings_page_carries_the_mark_too(owner, project):
    sent = save(owner, "/desk/projects/reading/settings/", FIELDS | {"title": "Mine"}, to=EDIT)
    assert sent.status_code == 302
    assert Project.objects.get().title == "Mine"


def test_a_member_who_has_another_role_by_now_is_compared_first(owner, project, people):
    answer = owner.post(f"{MEMBERS}set/", {"username": "manager", "role": "viewer"})
    assert answer.status_code == 409
    assert versions(answer) == {"Role": ("viewer: looks", "manager: works")}
    assert Membership.objects.get(user=people["manager"]).role == "manager"
    again = {"username": "manager", "role": "viewer"} | shown_again(answer)
    assert owner.post(f"{MEMBERS}set/", again).status_code == 302
    assert Membership.objects.get(user=people["manager"]).role == "viewer"


def test_budget_and_expected_minutes_of_a_stage_are_compared(owner, stage):
    budget = revision(owner, at("stage", stage), to=at("set_stage_budget", stage))
    minutes = revision(owner, at("opening", stage), to=at("expect", stage))
    change_stage(stage=stage, changes={"budget_cents": 3_000, "expected_seconds": 60})
    first = owner.post(at("set_stage_budget", stage), budget | {"budget": "50.00"})
    second = owner.post(at("expect", stage), minutes | {"minutes": "2"})
    assert (first.status_code, versions(first)) == (409, {"New budget": ("50.00", "30.00")})
    assert (second.status_code, versions(second)) == (409, {"Minutes that one HIT takes": ("2", "1.0")})
    kept = Stage.objects.get()
    assert (kept.budget_cents, kept.expected_seconds) == (3_000, 60)


def test_a_wish_about_notices_is_compared(owner, project):
    page = "/desk/projects/reading/notices/"
    mark = revision(owner, page, to=f"{page}e-mail/")
    assert save(owner, page, {"post": "none"}, to=f"{page}e-mail/").status_code == 302
    answer = owner.post(f"{page}e-mail/", mark | {"post": "all"})
    assert answer.status_code == 409
    assert Wish.objects.get().post == "none"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("which", ["stage", "project"])
def test_of_two_saves_at_the_same_moment_one_gets_through(stage, which):
    """On PostgreSQL they meet at the row lock, on SQLite at the beginning of the transaction."""
    row = stage if which == "stage" else stage.project
    seen, gate = ShownColumns(("title",), mark_of(row, ["title"])), threading.Barrier(4)

    def save_once(number: int) -> bool:
        gate.wait(30)
        try:
            if which == "stage":
                own = Stage.objects.get(pk=stage.pk)
                change_stage(stage=own, changes={"title": f"Title {number}"}, seen=seen)
            else:
                edit_project(
                    project=row, changes={"title": f"Title {number}"}, budget_cents=10_000, seen=seen
                )
        except ConflictError:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(4) as pool:
        saved = list(pool.map(save_once, range(4)))
    assert sum(saved) == 1
    row.refresh_from_db()
    assert row.title == f"Title {saved.index(True)}"
