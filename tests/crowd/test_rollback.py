"""A snapshot that takes database and data folder back together is noticed before a call is sent."""

from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command

from crowd.models import DispatchHalt, Hit, LedgerEntry, MarketOperation
from crowd.outbox import epoch
from crowd.outbox.dispatch import dispatch
from crowd.services import rollback, stages
from crowd.services.tick import tick
from tests.crowd.scripted import AT
from tests.crowd.world import make_stage

pytestmark = pytest.mark.django_db
Kind, State = MarketOperation.Kind, MarketOperation.State


@pytest.fixture
def stage(market):
    """Two HITs at the marketplace, which lists them as MTurk does; then this process starts again."""
    made = make_stage()
    stages.open_stage(stage=made)
    assert dispatch(made.endpoint).confirmed == 2
    for second, (ref, listing) in enumerate(market.listings.items()):
        raw = {"Question": market.entries[ref], "CreationTime": AT + timedelta(seconds=second)}
        market.listings[ref] = replace(listing, raw=raw)
    return made


@pytest.fixture
def wall_clock(monkeypatch):
    """What the clock on the wall says, as [seconds]."""
    clock = [1_800_000_000.0]
    monkeypatch.setattr(rollback.time, "time", lambda: clock[0])
    return clock


def go_back_before_sending():
    """As the database was when the publications were planned and nothing was sent."""
    MarketOperation.objects.update(state=State.PLANNED, first_sent_at=None, finished_at=None, attempts=0)
    LedgerEntry.objects.exclude(kind=LedgerEntry.Kind.RESERVE).delete()
    Hit.objects.update(state=Hit.State.PLANNED, external_id="", published_at=None)


def go_back_before_planning():
    """As the database was before the stage's second HIT was planned."""
    late = Hit.objects.order_by("pk").last()
    LedgerEntry.objects.filter(hit=late).delete()
    MarketOperation.objects.filter(hit=late).delete()
    late.delete()
    return late


def test_hits_that_count_as_never_sent_halt_the_marketplace_before_a_call(stage, market):
    go_back_before_sending()
    market.forget_tokens()
    calls = len(market.calls)
    assert tick().idle
    assert len(market.calls) == calls
    ref = next(iter(market.listings))
    assert DispatchHalt.objects.get().why == (
        f"HIT {ref} at {stage.endpoint.name} was published by a later state of this database: database and "
        "data folder were restored together, from a snapshot or a copy."
    )


def test_a_hit_that_was_planned_later_halts_it_too(stage, market):
    late = go_back_before_planning()
    assert tick().idle
    assert f"HIT {late.external_id} at" in DispatchHalt.objects.get().why


def test_the_comparison_takes_over_what_it_finds_and_work_goes_on(stage, market):
    go_back_before_sending()
    market.forget_tokens()
    tick()
    call_command("crowd", "reconcile", "--after-restore", stdout=StringIO(), stderr=StringIO())
    assert not DispatchHalt.objects.exists()
    assert set(Hit.objects.values_list("external_id", "state")) == {(ref, "open") for ref in market.listings}
    assert tick().sent == 0
    assert market.names() == ["publish", "publish"]


def test_hits_that_cannot_be_taken_over_halt_it_once_and_later_ones_again(stage, market, wall_clock):
    late = go_back_before_planning()
    lost = make_stage(stage.endpoint)
    old, new = market.listings[stage.hits.get().external_id], market.listings.pop(late.external_id)
    of_lost_stage = {**new.raw, "Question": address_of(lost)}
    lost.delete()
    market.listings["3LOST"] = replace(new, ref="3LOST", raw=of_lost_stage)
    tick()
    out = StringIO()
    call_command("crowd", "reconcile", "--after-restore", stdout=out, stderr=StringIO())
    assert "HIT 3LOST" in out.getvalue()
    wall_clock[0] += rollback.LOOK_EVERY_S
    tick()
    assert not DispatchHalt.objects.exists()
    newer = {**of_lost_stage, "CreationTime": AT + timedelta(minutes=1)}
    market.listings["3NEWER"] = replace(old, ref="3NEWER", key="0" * 32, raw=newer)
    wall_clock[0] += rollback.LOOK_EVERY_S
    tick()
    assert "HIT 3NEWER at" in DispatchHalt.objects.get().why


def address_of(stage):
    """The address of a page whose HIT this database published, and whose stage it has lost."""
    hit = Hit(stage=stage, places=1, reward_cents=10, fee_cents=2)
    return f"https://ours.example.org/task/{hit.key}/" + rollback.memo_query(
        stage, hit, (), epoch.installation()
    )


def test_hits_of_others_halt_nothing(stage, market):
    """Other scripts' have no token; another database with our key, one thrown away, has another name."""
    hit = stage.hits.order_by("pk")[0]
    known = market.listings[hit.external_id]
    for number, (key, question) in enumerate(
        {
            None: "https://elsewhere.example.org/",
            "not a token": "https://elsewhere.example.org/?memo=abc",
            "1" * 32: "https://elsewhere.example.org/?memo=forged",
            "2" * 32: "https://ours.example.org/" + rollback.memo_query(stage, hit, (), "0badcafe"),
            "3" * 32: "https://ours.example.org/" + rollback.memo_query(stage, hit, (), ""),
        }.items()
    ):
        raw = {**known.raw, "Question": question}
        market.listings[f"3OTHER{number}"] = replace(known, ref=f"3OTHER{number}", key=key, raw=raw)
    tick()
    assert not DispatchHalt.objects.exists()


def test_it_looks_every_five_minutes_and_where_the_clock_jumps_back(stage, market, wall_clock, monkeypatch):
    looks = []
    listings = market.iter_listings
    monkeypatch.setattr(market, "iter_listings", lambda: looks.append(wall_clock[0]) or listings())
    for passed in (0.0, 5.0, 290.0, 5.0, 10.0, -86_400.0):
        wall_clock[0] += passed
        tick()
    begin = 1_800_000_000.0
    assert looks == [begin, begin + 300, begin + 310 - 86_400]


def test_a_memo_of_an_older_version_is_read(stage, monkeypatch):
    hit = stage.hits.order_by("pk")[0]
    dumps = rollback.json.dumps
    monkeypatch.setattr(rollback.json, "dumps", lambda facts, **how: dumps(facts[:9], **how))
    known = rollback.read_memo(rollback.memo_query(stage, hit, [("tea", "unit")], "0badcafe"))
    assert (known.stage, known.units, known.installation) == (stage.slug, (("tea", "unit"),), "")
