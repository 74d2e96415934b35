"""What stands in the task's frame after a submission, and the pages of errors."""

import gzip
import re

from django.template.loader import render_to_string
from django.test import Client
from django.views import defaults

from marketplace.site.lookup import work_url
from marketplace.site.taskpages import submit_signature
from tests.site import world


def test_after_a_submission_the_frame_tells_the_page_around_it(lab, rosa):
    holding = world.take(rosa, world.post(world.make_group(lab)))
    answer = Client().post(f"/s/{submit_signature(holding.pk)}/mturk/externalSubmit", {"answer": "Blue."})
    page = answer.content.decode()
    assert f'data-holding="{holding.pk}"' in page
    assert "/static/submitted.js" in page
    assert f'href="http://testserver/tasks/continue/{holding.pk}" target="_top"' in page
    assert "X-Frame-Options" not in answer.headers
    assert "frame-ancestors" not in answer.headers["Content-Security-Policy"]


def test_a_refusal_in_the_frame_is_told_in_words(lab, rosa):
    with world.in_the_past(hours=1):
        holding = world.take(rosa, world.post(world.make_group(lab, duration_s=60)))
    answer = Client().post(f"/s/{submit_signature(holding.pk)}/mturk/externalSubmit", {"answer": "Blue."})
    assert answer.status_code == 409
    assert "Your work could not be submitted" in answer.content.decode()
    assert 'href="/tasks" target="_top"' in answer.content.decode()


def test_a_missing_page_is_told_in_words_and_leads_back(db, visitor):
    page = visitor.get("/nothing/here")
    assert page.status_code == 404
    assert "There is nothing at this address" in page.content.decode()


def test_a_form_without_its_token_is_told_in_words(rosa):
    client = Client(enforce_csrf_checks=True)
    client.force_login(rosa.user)
    page = client.post("/inbox")
    assert page.status_code == 403
    assert "The form was not accepted" in page.content.decode()


def test_pages_of_errors_are_ours_and_need_neither_request_nor_database(rf):
    for name in ("400", "403", "500"):
        page = render_to_string(f"{name}.html")
        assert "<h1>" in page and "To the tasks" in page
    answer = defaults.server_error(rf.get("/"))
    assert answer.status_code == 500
    assert "Something went wrong on our side" in answer.content.decode()


def test_no_page_carries_script_or_style_inside(lab, rosa, as_rosa, as_staff):
    group = world.make_group(lab)
    world.take(rosa, world.post(group, places=2))
    world.do(rosa, world.post(group))
    paths = ["/", "/tasks", "/history", "/dashboard", "/inbox", "/profile", "/accounts/login/", "/signup"]
    for path in [*paths, f"/projects/{group.group_id}/tasks"]:
        page = as_rosa.get(path).content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert " onclick=" not in page
        assert "<script>" not in page
    desk = as_staff.get("/desk/").content.decode()
    assert " style=" not in desk
    assert "<script>" not in desk


def test_the_working_page_weighs_less_than_fifty_kilobytes(lab, rosa, as_rosa, settings):
    holding = world.take(rosa, world.post(world.make_group(lab)))
    page = as_rosa.get(work_url(holding)).content
    parts = set(re.findall(rb'/static/([a-z-]+\.[a-z]+)"', page))
    assert parts == {b"tokens.css", b"base.css", b"site.css", b"logo.svg", b"work.js"}
    files = [settings.BASE_DIR / "static" / name.decode() for name in parts]
    assert len(page) + sum(len(gzip.compress(file.read_bytes())) for file in files) < 25_000
