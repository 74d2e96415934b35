"""People who wrote the answers of a class judge others' in a browser, until every answer has its judges."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.server import RunningServer

pytestmark = pytest.mark.browser
_SET_UP = """
from crowd.services.endpoints import create_endpoint
from people.consents import newest_text
from people.links import LinkPlan, make_link
from people.models import Guest, Visit
from people.owners import project_owner
from people.tokens import sign_guest, token_of
from tests.judgments.class_world import make_class, make_judging, open_judging
links = create_endpoint(name="links-of-a-class-of-{people}", preset="link", access_key="", secret="")
project = make_class(links, people={people}, queries={queries}, writers={writers})
stage = make_judging(project, links, redundancy={judges}, units_per_hit={units})
open_judging(stage)
plan = LinkPlan(title="A class", target=f"stage:{{stage.slug}}")
link = make_link(owner=project_owner(project), plan=plan, actor=None)
text = newest_text(project_owner(project))
for guest in Guest.objects.filter(project=project).order_by("pk"):
    now = guest.made_at
    Visit.objects.create(
        link=link, guest=guest, opened_at=now, seen_at=now, consented_at=now, consent_text=text
    )
    print(f"/join/{{token_of(link)}}/back/{{sign_guest(guest, link)}}/")
"""
_JUDGED = """
from collections import Counter
from crowd.models import Exclusion, Stage
from annotation.units import judge_scope
from judgments.selectors.judging import queries_of
from tests.judgments.class_world import judges_by_unit
judges = judges_by_unit(Stage.objects.latest("pk"))
print("answers by judges:", dict(Counter(len(each) for each in judges.values())))
queries = queries_of(list(judges))
wrote = set(Exclusion.objects.filter(scope__endswith=":judge").values_list("scope", "worker"))
judged = {(judge_scope(queries[unit]), worker) for unit, each in judges.items() for worker in each}
print("answers to queries of their own:", len(wrote & judged))
"""


def judge_one_hit(page: Page) -> bool:
    """Judge what the person is dealt; False where they are shown the last page."""
    if "/task/" not in page.url:
        return False
    scores = page.locator('input[type="radio"][value="3"]')
    for at in range(scores.count()):
        scores.nth(at).check(force=True)
    with page.expect_navigation():
        page.get_by_role("button", name="Submit").click()
    return True


@pytest.mark.parametrize(
    ("people", "queries", "writers", "units", "judges"),
    [(3, 3, 1, 6, 2), pytest.param(12, 47, 3, 10, 5, marks=pytest.mark.long)],
)
def test_a_class_judges_what_it_may_to_the_end(
    server: RunningServer,
    context_of: Callable[..., BrowserContext],
    people: int,
    queries: int,
    writers: int,
    units: int,
    judges: int,
) -> None:
    """Two systems' answers to each query; each person takes one HIT after the other, in turn."""
    server.reset(data=True)
    numbers = {"people": people, "queries": queries, "writers": writers, "units": units, "judges": judges}
    said = server.console("shell", "--no-imports", "-c", _SET_UP.format(**numbers))
    pages = []
    for path in said.split()[-people:]:
        pages.append(context_of(viewport={"width": 390, "height": 800}).new_page())
        pages[-1].goto(f"{server.url}{path}")
    while any([judge_one_hit(page) for page in pages]):  # noqa: C419 - each has a turn
        pass
    for page in pages:
        expect(page.get_by_role("heading", name="Done")).to_be_visible()
    words = ("You have done everything", "Some work is left, but it needs other people")
    assert all(any(each in page.inner_text("main") for each in words) for page in pages)
    assert words[0] in pages[-1].inner_text("main")
    judged = server.console("shell", "--no-imports", "-c", _JUDGED)
    assert f"answers by judges: {{{judges}: {2 * queries}}}" in judged
    assert "answers to queries of their own: 0" in judged
