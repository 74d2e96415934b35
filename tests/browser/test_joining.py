"""A person with a telephone comes by a study link: consent, tasks, the completion code."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
_SET_UP = """
from crowd.services import stages
from crowd.services.endpoints import create_endpoint
from crowd.services.tick import tick
from people.links import LinkPlan, address_of, make_link
from people.owners import project_owner
from tests.crowd.world import make_stage
stage = make_stage(create_endpoint(name="links-for-a-telephone", preset="link", access_key="", secret=""))
stages.open_stage(stage=stage)
tick()
returns = {"completed": {"code": "C0DE", "address": ""}}
plan = LinkPlan(title="Tea and coffee", target=f"stage:{stage.slug}", returns=returns)
print(address_of(make_link(owner=project_owner(stage.project), plan=plan, actor=None)))
"""


def test_a_person_comes_by_a_link_with_a_telephone(context_of: Any, server: Any) -> None:
    server.reset(data=True)
    address = server.console("shell", "--no-imports", "-c", _SET_UP)
    page = context_of(viewport={"width": 390, "height": 800}).new_page()
    page.goto(f"{server.url}/join/{address.split('/join/')[1].strip()}")
    expect(page.get_by_role("heading", name="Tea and coffee")).to_be_visible()
    page.get_by_role("button", name="I am 18 or older and agree").click()
    for _ in range(2):
        expect(page).to_have_url(re.compile("/task/"))
        page.get_by_label("yes").first.check()
        with page.expect_navigation():
            page.get_by_role("button", name="Submit").click()
    expect(page.locator("#completion")).to_have_text("C0DE")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name="Your work here").click()
    expect(page.get_by_role("heading", name="Continue on another device")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
