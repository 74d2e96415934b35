"""One stage over a marketplace and links: divided by quota, never more than was asked, nobody asked twice."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from core.projects.models import Event
from crowd.errors import CrowdError, NotArmedError, StageStateError, WorkRefusedError
from crowd.models import Assignment, DispatchHalt, Hit, MarketOperation, PersonMatch, StageSource
from crowd.services import persons, recovery, stages
from crowd.services.collection import collect
from crowd.services.deals import NoWorkError
from crowd.services.publication import quote
from crowd.services.sources import (
    SourcePlan,
    close_source,
    move_work,
    open_source,
    pause_source,
    row_of,
    set_sources,
)
from crowd.services.tick import tick
from crowd.sources import source_rows, stage_at
from tests.crowd.sources.worlds import (
    adapters,
    answers,
    come,
    make_links,
    make_mixed,
    market_and_links,
    open_hits,
    places_by_unit,
    settle,
    submit_poll,
)
from tests.crowd.world import answer, make_endpoint, make_project, make_stage, make_worker

pytestmark = pytest.mark.django_db
Status = StageSource.Status


@pytest.fixture
def market(market, monkeypatch):
    """The scripted marketplace, beside the links of this installation."""
    return adapters(monkeypatch, market)


def submit(market, hit: Hit, who: str) -> Assignment:
    """A worker of the marketplace answers a HIT and hands it over."""
    work = answer(hit, worker_id=who)
    market.submit(hit, work)
    return work


def test_each_unit_gets_its_people_from_all_sources_and_no_more(market):
    stage, own, links = market_and_links(redundancy=2, items=["tea", "coffee", "milk"])
    assert places_by_unit(stage) == {
        f"item:{number}": Counter({own.name: 1, links.name: 1}) for number in range(3)
    }
    assert market.names().count("publish") == 3
    assert tick().idle


def test_shares_and_counts_decide_who_gets_how_much(market):
    market_, links, more = make_endpoint(fee_profile="none-1"), make_links(), make_links("more")
    stage = make_mixed(
        SourcePlan(market_, share=70),
        SourcePlan(links, share=30),
        SourcePlan(more, most_answers=4),
        redundancy=3,
        items=[f"item {number}" for number in range(8)],
    )
    totals = sum(places_by_unit(stage).values(), Counter())
    assert totals == {market_.name: 14, links.name: 6, more.name: 4}
    assert all(sum(places.values()) == 3 for places in places_by_unit(stage).values())


def test_a_quote_is_the_sum_of_what_each_source_costs(market):
    own, links = make_endpoint(fee_profile="mturk-2026"), make_links()
    stage = make_mixed(
        SourcePlan(own, share=1), SourcePlan(links, share=1, reward_cents=25), redundancy=2, open_it=False
    )
    offer = quote(stage)
    assert [(each.label, each.assignments, each.reward_cents, each.fee_cents) for each in offer.sources] == [
        (own.label, 2, 20, 4),
        (links.label, 2, 50, 0),
    ]
    assert (offer.total_cents, offer.assignments, offer.units) == (74, 4, 2)
    stages.open_stage(stage=stage)
    stage.refresh_from_db()
    assert stage.reserved_cents == 74


def test_work_from_both_is_collected_paid_and_closed(market, client):
    stage, own, links = market_and_links(redundancy=2)
    for who in ("ada", "bo"):
        submit_poll(client, come(stage, links, who))
    submit_poll(client, come(stage, links, "cy")) if len(open_hits(stage, links)) > 2 else None
    for number, hit in enumerate(open_hits(stage, own)):
        submit(market, hit, f"A{number}")
    settle()
    stage.refresh_from_db()
    assert answers(stage) == {(f"item:{n}", name): 1 for n in range(2) for name in (own.name, links.name)}
    assert set(Assignment.objects.values_list("state", flat=True)) == {Assignment.State.APPROVED}
    assert set(Hit.objects.values_list("state", flat=True)) == {Hit.State.CLOSED}
    assert (stage.spent_cents, stage.reserved_cents) == (40, 0)
    assert set(
        MarketOperation.objects.filter(kind="approve").values_list(
            "endpoint__name", "assignment__worker__endpoint__name"
        )
    ) == {(own.name, own.name), (links.name, links.name)}
    assert tick().idle


def test_what_a_source_loses_is_asked_there_again(market, client):
    """A rejected answer is replaced where it came from: the quotas stay."""
    stage, _, links = market_and_links(redundancy=2, items=["tea"], approve_at_once=False)
    submit_poll(client, come(stage, links, "ada"))
    settle()
    from crowd.services import review

    review.reject(assignment=Assignment.objects.get(), actor=None, reason="Empty.")
    settle()
    fresh = Hit.objects.filter(stage=stage, wave=1)
    assert [(hit.endpoint, hit.places) for hit in fresh] == [(links, 1)]
    assert tick().idle


def test_a_closed_source_leaves_its_work_to_the_others(market, client):
    """What it has answered counts; what nobody answered goes on elsewhere; no unit gets too many."""
    stage, own, links = market_and_links(redundancy=2)
    submit_poll(client, come(stage, links, "ada"))
    settle()
    row = row_of(stage, links.name)
    assert close_source(stage=stage, row=row) == 1
    settle()
    with pytest.raises(NoWorkError):
        come(stage, links, "bo")
    assert sum(hit.places for hit in open_hits(stage, own)) == 3
    assert sum(answers(stage).values()) == 1
    assert tick().idle
    with pytest.raises(StageStateError, match="No other source is open"):
        close_source(stage=stage, row=row_of(stage, own.name))


def test_a_paused_source_keeps_its_part(market, client):
    stage, own, links = market_and_links(redundancy=2, open_it=False)
    pause_source(stage=stage, row=row_of(stage, links.name), why="Easter.")
    stages.open_stage(stage=stage)
    settle()
    assert places_by_unit(stage) == {f"item:{n}": Counter({own.name: 1}) for n in range(2)}
    open_source(stage=stage, row=row_of(stage, links.name))
    settle()
    assert places_by_unit(stage) == {f"item:{n}": Counter({own.name: 1, links.name: 1}) for n in range(2)}


def test_work_that_is_moved_waits_until_nobody_can_do_it_there(market, client):
    """A HIT that somebody may hold at the marketplace is over there first; then links get the place."""
    stage, own, links = market_and_links(redundancy=2, items=["tea"])
    (hit,) = open_hits(stage, own)
    market.put_on_offer(hit, pending=1, available=0)
    assert move_work(stage=stage, row=row_of(stage, own.name)) == 1
    assert move_work(stage=stage, row=row_of(stage, own.name)) == 0
    tick()
    tick()
    assert sum(places_by_unit(stage)["item:0"].values()) == 2  # somebody works on it there
    market.put_on_offer(hit, pending=0, available=1, state="reviewable")
    Hit.objects.filter(pk=hit.pk).update(synced_at=timezone.now() - timedelta(minutes=10))
    settle()
    hit.refresh_from_db()
    assert hit.state == Hit.State.CLOSED
    assert sum(each.places for each in open_hits(stage, links)) == 2
    assert tick().idle


def test_a_rule_moves_what_was_on_offer_for_too_long(market):
    own, links = make_endpoint(fee_profile="none-1"), make_links()
    stage = make_mixed(
        SourcePlan(own, share=1),
        SourcePlan(links, share=1, move_after_seconds=3600),
        redundancy=2,
        items=["tea"],
    )
    assert tick().idle
    Hit.objects.filter(source__endpoint=links).update(published_at=timezone.now() - timedelta(hours=2))
    settle()
    assert [hit.places for hit in open_hits(stage, own)] == [1, 1]
    assert not [hit for hit in open_hits(stage, links) if hit.expires_at > timezone.now()]
    assert tick().idle


def test_a_source_is_added_to_a_running_stage(market, client):
    """HITs from before belong to the stage's own endpoint, and count for its quota."""
    own, links = make_endpoint(fee_profile="none-1"), make_links()
    stage = make_stage(own, redundancy=2)
    stages.open_stage(stage=stage)
    settle()
    assert set(Hit.objects.values_list("source", flat=True)) == {None}
    set_sources(stage=stage, plans=[SourcePlan(own, share=1), SourcePlan(links, share=1)])
    settle()
    assert places_by_unit(stage) == {f"item:{n}": Counter({own.name: 2}) for n in range(2)}
    assert collect(stage_at(stage, own)) == 0
    stages.change_stage(stage=stage, changes={"redundancy": 3})
    settle()
    assert sum(places_by_unit(stage).values(), Counter()) == {own.name: 4, links.name: 2}
    with pytest.raises(StageStateError, match="stays a source"):
        set_sources(stage=stage, plans=[])


def test_real_money_is_typed_also_for_one_source(market):
    own, real = make_links(), make_endpoint(fee_profile="none-1", real_money=True)
    stage = make_mixed(SourcePlan(own, share=1), SourcePlan(real, share=1), open_it=False)
    with pytest.raises(NotArmedError, match=real.label):
        stages.open_stage(stage=stage)
    stages.open_stage(stage=stage, typed_cents=stage.budget_cents)
    plain = make_stage(own)
    stages.open_stage(stage=plain)
    plans = [SourcePlan(own, share=1), SourcePlan(real, share=1)]
    with pytest.raises(NotArmedError):
        set_sources(stage=plain, plans=plans)
    assert source_rows(plain) == []
    set_sources(stage=plain, plans=plans, typed_cents=plain.budget_cents)


def test_sources_that_cannot_be_are_refused_in_words():
    stage = make_stage(make_endpoint())
    own, other = stage.endpoint, make_links()
    mine = SourcePlan(own, share=1)
    for plans, words in (
        ([mine], "from 2 to"),
        ([mine, SourcePlan(own, share=2)], "named twice"),
        ([mine, SourcePlan(other)], "share of 1 or more"),
        ([SourcePlan(own, share=0), SourcePlan(other, share=1)], "share of 1 or more"),
        ([SourcePlan(other, share=1), SourcePlan(make_links("x"), share=1)], "own marketplace"),
        ([mine, SourcePlan(make_endpoint(currency="EUR"), share=1)], "one currency"),
    ):
        with pytest.raises(CrowdError, match=words):
            set_sources(stage=stage, plans=plans)
        assert source_rows(stage) == []


def test_a_refusal_pauses_the_source_alone(market):
    from crowd.adapters.base import CallRefusal

    market.say(CallRefusal("Nonsense", "No."), CallRefusal("Nonsense", "No."))
    stage, own, links = market_and_links(redundancy=2)
    assert stage.status == "open"
    assert {row.endpoint: row.status for row in source_rows(stage)} == {
        own: Status.PAUSED,
        links: Status.OPEN,
    }
    assert sum(hit.places for hit in open_hits(stage, links)) == 2


# One person at two places


def guest_with(project, worker_id: str, identity: str):
    """A guest of a link whose address named them."""
    from people.models import Guest

    return Guest.objects.create(
        project=project,
        identity_kind="PROLIFIC_PID",
        identity=identity,
        worker_id=worker_id,
        recovery_digest=worker_id,
        recovery_sealed="-",
        made_at=timezone.now(),
    )


def test_who_may_be_the_same_person_gets_no_unit_twice_and_is_shown(market, client, django_user_model):
    """By links of two endpoints under one id of a panel; a reviewer says otherwise, and it is taken back."""
    links, more = make_links(), make_links("more")
    stage = make_mixed(SourcePlan(links, share=1), SourcePlan(more, share=1), redundancy=2, items=["tea"])
    guest_with(stage.project, "GONE", "5f0000000000000000000001")
    submit_poll(client, come(stage, links, "GONE"))
    # The same id, of a guest of another project: what an installation knows of one person.
    guest_with(make_project(), "GTWO", "5f0000000000000000000001")
    with pytest.raises(NoWorkError):
        come(stage, more, "GTWO")
    (match,) = persons.list_matches(stage.project)
    assert (match.verdict, match.kinds) == (PersonMatch.Verdict.OPEN, ["id"])
    assert {match.first.external_id, match.second.external_id} == {"GONE", "GTWO"}
    reviewer = django_user_model.objects.create_user("rae")
    persons.decide_match(match=match, verdict="different", actor=reviewer)
    submit_poll(client, come(stage, more, "GTWO"))
    assert sum(answers(stage).values()) == 2
    assert Assignment.objects.values("worker").distinct().count() == 2  # never merged
    persons.decide_match(match=match, verdict="same", actor=reviewer)
    assert stage.project.events.filter(action="match.decided").count() == 2


def test_a_unit_that_a_person_may_have_elsewhere_is_refused_at_a_marketplace(market):
    from crowd.models import WorkerMark

    stage, endpoint, links = market_and_links(redundancy=2, items=["tea"])
    for worker in (make_worker(links, "GA"), make_worker(endpoint, "WB")):
        WorkerMark.objects.create(worker=worker, kind="email", digest="0" * 64)
    come(stage, links, "GA")
    (hit,) = open_hits(stage, endpoint)
    with pytest.raises(WorkRefusedError, match="every answer must be from another person"):
        answer(hit, worker_id="WB")
    assert answer(hit, worker_id="WC").claims.count() == 1


def test_exclusions_and_limits_hold_for_all_that_a_person_may_be(market):
    from crowd.models import Exclusion, WorkerMark

    links, more = make_links(), make_links("more")
    project = make_project()
    first = make_stage(links, project)
    second = make_stage(more, project, apart_from=[first.slug])
    limited = make_mixed(
        SourcePlan(links, share=1),
        SourcePlan(more, share=1),
        project=project,
        redundancy=2,
        max_hits_per_worker=1,
    )
    for stage in (first, second):
        stages.open_stage(stage=stage)
    settle()
    one, two = make_worker(links, "GA"), make_worker(more, "GB")
    for worker in (one, two):
        WorkerMark.objects.create(worker=worker, kind="email", digest="0" * 64)
    come(first, links, "GA")
    come(limited, links, "GA")
    for stage in (second, limited):
        with pytest.raises(NoWorkError):
            come(stage, more, "GB")
    Exclusion.objects.create(worker=one, scope=f"stage:{second.pk}", reason="-", created_at=timezone.now())
    (hit,) = Hit.objects.filter(stage=second)[:1]
    with pytest.raises(WorkRefusedError):
        answer(hit, worker_id="GB")


def test_marks_of_those_who_came_before_the_second_source_are_kept(market, client):
    links, more = make_links(), make_links("more")
    stage = make_stage(links, redundancy=1)
    stages.open_stage(stage=stage)
    settle()
    guest_with(stage.project, "GONE", "same")
    submit_poll(client, come(stage, links, "GONE"))
    set_sources(stage=stage, plans=[SourcePlan(links, share=1), SourcePlan(more, share=1)])
    stages.change_stage(stage=stage, changes={"redundancy": 2})
    settle()
    guest_with(make_project(), "GTWO", "same")
    dealt = come(stage, more, "GTWO")
    units = set(Assignment.objects.get(pk=dealt.assignment_pk).claims.values_list("unit", flat=True))
    before = set(Assignment.objects.get(worker__external_id="GONE").claims.values_list("unit", flat=True))
    assert not units & before
    assert PersonMatch.objects.count() == 1


def test_projects_hear_that_a_further_source_goes_on_after_a_restore():
    own, links = make_links(), make_endpoint()
    stage = make_mixed(SourcePlan(own, share=1), SourcePlan(links, share=1), open_it=False)
    DispatchHalt.objects.create(endpoint=links, why="It was restored.", since=timezone.now())
    recovery._let_go_on(links, recovery.Recovery(hits=2))
    event = Event.objects.get(project=stage.project, action="endpoint.recovered")
    assert (event.subject, event.details["hits"]) == (links.name, 2)
