"""The shell of the desk: the sidebar, where one is, and what apps add to a project's overview."""

import re

import pytest

from core.projects.services import create_project
from crowd.desk import agreement, overview
from crowd.desk.agreement import Row
from crowd.desk.overview import Attention, Count, OverviewPart, OverviewSource, Step, draw_funnel
from tests.desk.conftest import at, make_hit, make_stage, make_unknown, make_work

pytestmark = pytest.mark.django_db
PLACE = "/desk/projects/reading/"


def sidebar(answer):
    page = answer.content.decode()
    nav = page[page.index('<nav class="sidebar"') : page.index("<main")]
    return re.findall(
        r'<a href="([^"]+)"(?: aria-current="(\w+)")?>.*?</svg>\s*<span>([^<]+)</span>', nav, re.DOTALL
    )


def test_outside_a_project_the_sidebar_leads_over_all_projects(owner, project, stage):
    added = ("Releases", "Evaluations")
    links = [link for link in sidebar(owner.get("/desk/projects/")) if link[2] not in added]
    assert links == [
        ("/desk/projects/", "page", "Projects"),
        ("/desk/workers/", "", "Workers"),
        ("/desk/settings/", "", "Settings"),
    ]
    assert [link[2] for link in sidebar(owner.get(at("workers", stage))) if link[1]] == ["Stages"]


def test_inside_a_project_the_sidebar_leads_to_its_own_pages_with_what_is_there(owner, stage):
    page = owner.get(at("stage", stage))
    links = {words: (address, current) for address, current, words in sidebar(page)}
    assert links["Overview"] == (PLACE, "")
    assert links["Stages"] == (f"{PLACE}board/", "true")
    assert links["Workers"] == (f"{PLACE}workers/", "")
    assert links["Settings"] == (f"{PLACE}settings/", "")
    groups = dict(page.context["sidebar"])
    assert list(groups) == ["", "Collect", "Quality", "Publish", "Project"]
    assert {link.label: link.count for link in groups["Collect"]} == {
        "Queries": 0,
        "Passages": 0,
        "Stages": 1,
        "Systems": 0,
    }
    assert next(link for link in groups["Quality"] if link.waits).label == "To decide"


def test_money_is_a_place_of_projects_that_may_spend_some(owner, stage):
    for budget, there in ((0, False), (500, True)):
        type(stage.project).objects.update(budget_cents=budget)
        assert ("Money" in [link[2] for link in sidebar(owner.get(PLACE))]) is there


def test_the_search_of_the_bar_finds_what_the_user_may_see(as_, owner, stage, people):
    found = owner.get("/desk/find/", {"q": "poll", "in": "reading"})
    assert at("stage", stage) in found.text
    assert "<html" in found.text
    part = owner.get("/desk/find/", {"q": "poll"}, headers={"HX-Request": "true"}).text
    assert at("stage", stage) in part
    assert "<html" not in part
    assert f"{PLACE}agreement/" in owner.get("/desk/find/", {"q": "agree", "in": "reading"}).text
    assert "Nothing has this text" in owner.get("/desk/find/", {"q": "no such thing"}).text
    create_project(slug="calm", title="Calm", owner=people["stranger"])
    assert at("stage", stage) not in as_("stranger").get("/desk/find/", {"q": "poll"}).text


@pytest.fixture
def sources(monkeypatch):
    """The only sources of the overview, which a test fills."""
    found = []
    monkeypatch.setattr(overview, "parts_of", lambda _: tuple(found))
    return found


def test_sources_say_their_steps_one_after_the_other(sources, project):
    entered = []

    def first(_, before):
        entered.append(before)
        return OverviewPart((Step("In", 10, (Count("passed", "", 7), Count("out", "out", 3))),))

    def second(_, before):
        entered.append(before)
        return OverviewPart((Step("On", before, (Count("passed", "", 2),)),), (Attention("now", "Look."),))

    sources += [OverviewSource("second", second, position=2), OverviewSource("first", first, position=1)]
    said = overview.compose_overview(project)
    assert [step.label for step in said.steps] == ["In", "On"]
    assert entered == [None, 7]
    assert said.attention == (Attention("now", "Look."),)


def test_what_is_pressing_stands_first(sources, project):
    some = (Attention("soon", "Later."), Attention("now", "At once."))
    sources.append(OverviewSource("one", lambda *_: OverviewPart(attention=some), position=1))
    assert [each.sentence for each in overview.compose_overview(project).attention] == ["At once.", "Later."]


def test_bars_of_the_funnel_stand_on_one_scale():
    assert draw_funnel([]) == []
    steps = [
        Step("In", 200, (Count("passed", "", 100), Count("waiting", "waiting", 50), Count("out", "out", 50))),
        Step("On", 100, (Count("passed", "", 100),)),
    ]
    first, second = draw_funnel(steps)
    assert [(bar.name, bar.x, bar.width) for bar in first.bars] == [
        ("passed", 0.0, 50.0),
        ("waiting", 50.0, 25.0),
        ("out", 75.0, 25.0),
    ]
    assert [(bar.x, bar.width) for bar in second.bars] == [(0.0, 50.0)]
    assert [count.label for count in first.rest] == ["waiting", "out"]


@pytest.mark.long
def test_the_overview_teaches_what_comes_first(owner, project):
    page = owner.get(PLACE).content.decode()
    assert "Nothing came in yet" in page
    assert "Import queries" in page
    assert "No stage yet" in page


@pytest.mark.long
def test_the_overview_lists_what_needs_somebody_now(owner, stage):
    make_unknown(make_hit(stage))
    page = owner.get(PLACE).content.decode()
    assert "1 operation needs your decision in A poll: the marketplace did not answer." in page
    assert at("decisions", stage) in page


def test_another_projects_trouble_is_not_mine(owner, stage, people):
    make_unknown(make_hit(stage))
    create_project(slug="calm", title="Calm", owner=people["owner"])
    assert "needs your decision" not in owner.get("/desk/projects/calm/").content.decode()


@pytest.mark.long
def test_the_board_has_a_card_under_the_state_of_each_stage(owner, project, endpoint):
    make_stage(project, endpoint, slug="one")
    done = make_stage(project, endpoint, slug="two", title="Another poll")
    make_work(make_hit(done))
    type(done).objects.filter(pk=done.pk).update(status="open")
    columns = owner.get(f"{PLACE}board/").context["columns"]
    assert [(state, [card.stage.slug for card, _ in cards]) for state, _, _, cards in columns] == [
        ("draft", ["one"]),
        ("open", ["two"]),
        ("paused", []),
        ("closed", []),
    ]


def test_a_button_of_the_board_moves_a_stage_and_comes_back(as_, stage, manager):
    page = as_("viewer").get(f"{PLACE}board/").content.decode()
    assert "Cost and opening" not in page
    assert '<form method="post" action="/desk/projects' not in page
    type(stage).objects.filter(pk=stage.pk).update(status="open")
    answer = manager.post(at("pause", stage), {"from": "board", "why": "Lunch"})
    assert answer.headers["Location"] == f"{PLACE}board/"
    stage.refresh_from_db()
    assert stage.status == "paused"
    assert manager.post(at("close", stage), {}).headers["Location"] == at("stage", stage)


def row(**values):
    given = {
        "measure": "alpha", "before": 0.5, "after": None, "low": None, "high": None, "items": 30,
        "of": "answers", "address": "/there/",
    }  # fmt: skip
    return Row(**(given | values))


def test_agreement_is_below_its_target_only_on_enough_items():
    assert row().below
    assert not row(after=0.8).below
    assert not row(items=19).below
    assert not row(before=None).below
    assert not row(target=0.4).below


@pytest.mark.long
def test_the_page_of_agreement_has_a_row_for_each_stage_that_can_agree(owner, stage, monkeypatch):
    asked = []

    def rows_of(stages, quick):
        asked.append(quick)
        return {each.pk: row(note="0.48 cross-fitted", signature="alpha|x=1") for each in stages}

    monkeypatch.setattr(agreement, "parts_of", lambda _: (agreement.Source(("poll",), rows_of),))
    page = owner.get(f"{PLACE}agreement/").content.decode()
    assert "0.48 cross-fitted" in page
    assert "alpha|x=1" in page
    assert asked == [False]
    assert "Agreement 0.50" in owner.get(f"{PLACE}board/").content.decode()
    assert asked == [False, True]
    file = b"".join(owner.get(f"{PLACE}agreement/?format=csv").streaming_content).decode()
    assert file.splitlines()[1].startswith(f"{stage.pk},poll,poll,alpha,0.5,,")


def test_settings_have_forms_for_owners_and_facts_for_others(as_, project):
    assert 'name="licence"' in as_("owner").get(f"{PLACE}settings/").content.decode()
    for who in ("manager", "viewer"):
        page = as_(who).get(f"{PLACE}settings/").content.decode()
        assert 'name="licence"' not in page
        assert "Owners change these." in page
    page = as_("viewer").get("/desk/settings/").content.decode()
    assert f"{PLACE}settings/" in page
    assert "Change the password" in page
    page = as_("viewer").get("/desk/projects/").content.decode()
    assert "Worker site" in page
    assert "/admin/" not in page
