"""The sources of a stage by the API: set, changed while it runs, paused, closed and opened."""

import pytest
from django.contrib.auth.models import User

from crowd.models import Endpoint, Stage, StageSource
from crowd.services.endpoints import create_endpoint
from tests.api.conftest import is_problem, program_of
from tests.desk.conftest import give, make_hit, make_stage, make_work

AT = "/projects/tea/stages/poll/sources"


@pytest.fixture
def stage(project):
    url = "http://127.0.0.1:9/mturk/api"
    market = create_endpoint(name="local", preset="local", access_key="AK", secret="s", url=url)
    give(create_endpoint(name="links", preset="link", access_key="", secret=""), project)
    return make_stage(project, market)


BOTH = [{"endpoint": "local", "share": 70}, {"endpoint": "links", "most_answers": 5, "reward_cents": 20}]


def put(program, sources, **more):
    tag = program.get(AT)["ETag"]
    return program.ask("PUT", AT, {"sources": sources, **more}, match=tag)


def test_a_stage_gets_sources_with_quotas_and_goes_back_to_one(program, stage):
    assert program.get(AT).json() == {"items": [], "own_endpoint": "local", "currency": "USD"}
    found = put(program, BOTH).json()["items"]
    assert [(row["endpoint"], row["share"], row["most_answers"]) for row in found] == [
        ("local", 70, None), ("links", None, 5),
    ]  # fmt: skip
    assert (found[1]["reward_cents"], found[1]["status"], found[1]["answers"]) == (20, "open", 0)
    assert put(program, [{"endpoint": "local", "share": 1}]).json()["items"] == []
    events = stage.project.events.filter(action="stage.sources_changed")
    assert [event.via for event in events] == ["api", "api"]


def test_what_cannot_be_is_refused_and_changes_nothing(program, stage, subtests):
    for sources, code, field in [
        ([{"endpoint": "local", "share": 1, "most_answers": 2}], "invalid", "sources.0"),
        ([{"endpoint": "local"}], "invalid", "sources.0"),
        ([{"endpoint": "local", "share": 0}], "invalid", "sources.0.share"),
        ([BOTH[0], {"endpoint": "mars", "share": 1}], "no_such_endpoint", "sources.1.endpoint"),
        ([{"endpoint": "links", "share": 1}, {"endpoint": "links", "share": 1}], "refused", None),
        ([{"endpoint": "links", "share": 1}], "refused", None),
        ([{"endpoint": "local", "share": 10**40}], "invalid", "sources.0.share"),
        ("local", "invalid", "sources"),
    ]:
        with subtests.test(sources=sources, code=code, field=field):
            found = is_problem(put(program, sources), 422, code)
            assert field is None or list(found["errors"]) == [field]
            assert not StageSource.objects.exists()


def test_of_two_who_change_them_the_second_reads_them_again(program, stage):
    old = program.get(AT)["ETag"]
    is_problem(program.ask("PUT", AT, {"sources": BOTH}), 428, "if_match_missing")
    assert put(program, BOTH).status_code == 200
    is_problem(program.ask("PUT", AT, {"sources": []}, match=old), 412, "changed_since")
    assert StageSource.objects.count() == 2


def test_quotas_are_raised_while_the_stage_runs_but_what_was_published_stays(program, stage):
    put(program, BOTH)
    Stage.objects.update(status="open")
    own = StageSource.objects.get(endpoint=stage.endpoint)
    hit = make_hit(stage, source=own)
    make_work(hit, "A1")
    raised = put(program, [BOTH[0], BOTH[1] | {"most_answers": 50}]).json()["items"]
    assert (raised[1]["most_answers"], raised[0]["answers"]) == (50, 1)
    gone = is_problem(put(program, []), 409, "stage_state")
    assert "Close it there" in gone["detail"]


def move(program, endpoint, status, why=""):
    return program.ask("PUT", f"{AT}/{endpoint}/status", {"status": status, "why": why})


def test_a_source_is_paused_closed_and_opened_again(program, stage):
    is_problem(move(program, "links", "paused"), 404, "not_found")
    put(program, BOTH)
    for _ in range(2):
        assert move(program, "links", "paused", "Holidays.").json()["items"][1]["status"] == "paused"
    last = is_problem(move(program, "local", "closed"), 409, "stage_state")
    assert "No other source is open" in last["detail"]
    assert program.post(f"{AT}/links/open").json()["items"][1]["status"] == "open"
    assert move(program, "links", "closed").json()["items"][1]["status"] == "closed"
    event = stage.project.events.get(action="source.paused")
    assert (event.details, event.via) == ({"source": "links", "why": "Holidays."}, "api")


def test_real_money_in_a_running_stage_is_for_owners_who_confirm_it(program, stage):
    put(program, BOTH)
    Endpoint.objects.filter(name="links").update(real_money=True)
    manager = program_of(User.objects.get(username="manager"))
    refused = manager.ask("PUT", AT, {"sources": BOTH}, match=program.get(AT)["ETag"])
    is_problem(refused, 403, "role_missing")
    Stage.objects.update(status="open")
    move(program, "links", "paused")
    is_problem(program.post(f"{AT}/links/open"), 422, "amount_not_confirmed")
    opened = program.post(f"{AT}/links/open", {"confirm_budget_cents": stage.budget_cents})
    assert opened.json()["items"][1]["status"] == "open", opened.content
