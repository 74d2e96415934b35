"""Lists: chosen columns, rows of all pages at once, and a button that undoes; also without scripts."""

import pytest
from playwright.sync_api import expect

from tests.browser.looking import check
from tests.browser.people import sign_in

pytestmark = pytest.mark.browser
COUNT = 26


def approve_all(page):
    page.get_by_role("button", name="Approve their answers without flags").click()
    page.get_by_role("button", name=f"Approve answers to {COUNT} queries").click()
    expect(page.get_by_text(f"{COUNT} answers are approved.")).to_be_visible()


def test_columns_are_chosen_and_all_rows_are_decided_about_and_undone(annotating, administrator, context_of):
    project = annotating.waiting(COUNT, 1)
    page = context_of().new_page()
    sign_in(page, administrator, f"/desk/projects/{project}/stages/distillation/answers/")
    page.get_by_role("button", name="Columns").click()
    choices = page.get_by_role("form", name="Columns")
    choices.get_by_label("Overlap").uncheck()
    check(page)
    page.keyboard.press("Escape")
    expect(choices).to_be_hidden()
    page.get_by_role("button", name="Columns").click()
    choices.get_by_role("button", name="Show these").click()
    heads = page.locator("thead th")
    expect(heads.get_by_text("Flagged")).to_be_visible()
    expect(heads.get_by_text("Overlap")).to_have_count(0)
    every = page.get_by_label(f"Select all {COUNT} queries that match this filter")
    expect(every).to_be_hidden()
    page.get_by_label("Choose all on this page").check()
    every.check()
    page.locator("tbody input").first.uncheck()
    expect(every).to_be_hidden()
    page.get_by_label("Choose all on this page").check()
    expect(every).not_to_be_checked()
    every.check()
    check(page)
    page.clock.install()
    approve_all(page)
    undo = page.get_by_role("button", name="Undo")
    check(page)
    undo.click()
    expect(page.get_by_text(f"{COUNT} decisions are undone.")).to_be_visible()
    states = [row["answers"][0]["state"] for row in annotating.queries(project).values()]
    assert states == ["undecided"] * COUNT


def test_what_cannot_be_undone_any_more_is_not_offered(annotating, administrator, context_of):
    project = annotating.waiting(2, 1)
    page = context_of().new_page()
    sign_in(page, administrator, f"/desk/projects/{project}/stages/distillation/answers/")
    page.clock.install()
    page.locator("tbody a").first.click()
    expect(page.locator(".is-current")).to_be_visible()
    page.keyboard.press("a")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    page.clock.run_for(9_500)
    expect(undo).to_be_visible()
    page.clock.run_for(1_000)
    expect(undo).to_be_hidden()


def test_lists_work_without_scripts(annotating, administrator, context_of):
    slug = annotating.waiting(COUNT, 1)
    page = context_of(java_script_enabled=False).new_page()
    sign_in(page, administrator, f"/desk/projects/{slug}/stages/distillation/answers/")
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("form", name="Columns").get_by_label("Overlap").uncheck()
    page.get_by_role("button", name="Show these").click()
    expect(page.locator("thead th").get_by_text("Overlap")).to_have_count(0)
    page.get_by_label(f"Select all {COUNT} queries that match this filter").check()
    approve_all(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text(f"{COUNT} decisions are undone.")).to_be_visible()
