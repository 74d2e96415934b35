"""Three people who wrote an answer each judge the others' queries in a browser; no HIT is wholly theirs."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.server import RunningServer

pytestmark = pytest.mark.browser
_SET_UP = """
from annotation.models import Query
from crowd.models import Worker
from crowd.services.endpoints import create_endpoint
from people.consents import newest_text
from people.links import LinkPlan, make_link
from people.models import Guest, Visit
from people.owners import project_owner
from people.tokens import sign_guest, token_of
from tests.judgments.class_world import bar, make_class, make_judging, open_judging
links = create_endpoint(name="links for a class", preset="link", access_key="", secret="")
project = make_class(links, people=3, queries=3, writers=0)
workers = Worker.objects.filter(endpoint=links).order_by("pk")
for query, worker in zip(Query.objects.filter(project=project).order_by("pk"), workers):
    bar(query, worker)
stage = make_judging(project, links, redundancy=2, units_per_hit=6, checks_per_hit=0, config={})
open_judging(stage)
plan = LinkPlan(title="A class", target=f"stage:{stage.slug}")
link = make_link(owner=project_owner(project), plan=plan, actor=None)
text = newest_text(project_owner(project))
for guest in Guest.objects.filter(project=project).order_by("pk"):
    now = guest.made_at
    Visit.objects.create(
        link=link, guest=guest, opened_at=now, seen_at=now, consented_at=now, consent_text=text
    )
    print(f"/join/{token_of(link)}/back/{sign_guest(guest, link)}/")
"""
_JUDGED = """
from crowd.models import Stage
from tests.judgments.class_world import judges_by_unit
stage = Stage.objects.latest("pk")
print(sorted(len(judges) for judges in judges_by_unit(stage).values()))
"""


def test_a_class_judges_what_it_may_to_the_end(
    server: RunningServer, context_of: Callable[..., BrowserContext]
) -> None:
    server.reset(data=True)
    paths = server.console("shell", "--no-imports", "-c", _SET_UP).split()[-3:]
    for number, path in enumerate(paths, 1):
        page = context_of(viewport={"width": 390, "height": 800}).new_page()
        page.goto(f"{server.url}{path}")
        while "/task/" in page.url:
            scores = page.locator('input[type="radio"][value="3"]')
            for at in range(scores.count()):
                scores.nth(at).check(force=True)
            with page.expect_navigation():
                page.get_by_role("button", name="Submit").click()
        expect(page.get_by_role("heading", name="Done")).to_be_visible()
        words = "You have done everything" if number == 3 else "Some work is left, but it needs other people"
        expect(page.get_by_text(words)).to_be_visible()
    judged = server.console("shell", "--no-imports", "-c", _JUDGED)
    assert "[2, 2, 2, 2, 2, 2]" in judged
