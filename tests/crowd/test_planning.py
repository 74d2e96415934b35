"""Planning: one row and one reservation for each purpose, and HITs only as far as the money goes."""

from datetime import timedelta
from itertools import count
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from crowd.budget import Cost
from crowd.errors import BudgetError, NotArmedError, StageStateError
from crowd.models import Assignment, Hit, LedgerEntry, MarketOperation, Stage
from crowd.outbox.calls import plan
from crowd.services import stages, tick
from crowd.services.publication import publish_pending
from tests.crowd.world import answer, make_endpoint, make_hit, make_stage, make_worker

pytestmark = pytest.mark.django_db
Kind = MarketOperation.Kind


def plan_bonus(stage, purpose="thanks", cents=50):
    return plan(
        kind=Kind.BONUS,
        endpoint=stage.endpoint,
        stage=stage,
        target="assignment:1",
        purpose=purpose,
        payload={},
        cost=Cost(cents, 10),
    )


def test_a_purpose_is_one_operation_with_one_token_and_one_reservation():
    stage = make_stage(budget_cents=130)
    first, second = plan_bonus(stage), plan_bonus(stage)
    assert first.pk == second.pk
    assert (first.endpoint_url, first.state) == (stage.endpoint.url, MarketOperation.State.PLANNED)
    stage.refresh_from_db()
    assert stage.reserved_cents == 60
    assert LedgerEntry.objects.get(operation=first).kind == "reserve"
    other = plan_bonus(stage, purpose="more thanks")
    assert first.token != other.token and len(first.token) == 32
    with pytest.raises(BudgetError):
        plan_bonus(stage, purpose="without the money")
    assert MarketOperation.objects.filter(stage=stage).count() == 2
    assert LedgerEntry.objects.filter(stage=stage).count() == 2


def test_opening_a_stage_reserves_all_its_hits_or_is_refused():
    stage = make_stage(items=["a", "b", "c"], redundancy=2, budget_cents=71)
    with pytest.raises(BudgetError, match=r"costs \$0\.72"):
        stages.open_stage(stage=stage)
    stage.refresh_from_db()
    assert stage.status == Stage.Status.DRAFT
    assert not Hit.objects.filter(stage=stage).exists()
    stage.budget_cents = 72
    stage.save()
    offer = stages.open_stage(stage=stage)
    stage.refresh_from_db()
    assert (offer.hits, offer.assignments, offer.total_cents, stage.reserved_cents) == (3, 6, 72, 72)
    assert Hit.objects.filter(stage=stage).count() == 3
    assert MarketOperation.objects.filter(stage=stage, kind=Kind.PUBLISH).count() == 3
    assert publish_pending(stage) == 0, "all is on offer"
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.PAUSED)
    Hit.objects.filter(stage=stage).update(state=Hit.State.REFUSED)
    stage.refresh_from_db()
    assert publish_pending(stage) == 0, "it is paused"


def test_real_money_needs_its_amount_typed():
    stage = make_stage(make_endpoint(real_money=True), budget_cents=500)
    for typed in (None, 499, 501):
        with pytest.raises(NotArmedError, match=r"Type its budget, 5\.00"):
            stages.open_stage(stage=stage, typed_cents=typed)
    stages.open_stage(stage=stage, typed_cents=500)
    stage.refresh_from_db()
    assert stage.armed_cents == 500


def test_a_top_up_goes_as_far_as_the_budget_and_says_once_that_it_ended():
    stage = make_stage(items=["a", "b", "c", "d"], budget_cents=30)
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.OPEN)
    stage.refresh_from_db()
    assert publish_pending(stage) in (1, 2)
    for _ in range(3):
        publish_pending(stage)
    stage.refresh_from_db()
    assert Hit.objects.filter(stage=stage).count() == 2
    assert stage.reserved_cents == 24
    assert stage.project.events.filter(action="stage.budget_reached").count() == 1


def test_rejected_work_is_asked_of_somebody_else():
    stage = make_stage(items=["a"], redundancy=2)
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.OPEN)
    stage.refresh_from_db()
    hit = make_hit(stage, "item:0", places=2)
    good, bad = (answer(hit, worker_id=make_worker(stage.endpoint).external_id) for _ in range(2))
    assert publish_pending(stage) == 0
    type(bad).objects.filter(pk=bad.pk).update(state="rejected")
    assert publish_pending(stage) == 1
    new = Hit.objects.exclude(pk=hit.pk).get(stage=stage)
    assert (new.places, [unit.unit for unit in new.units.all()]) == (1, ["item:0"])
    assert good.hit_id == hit.pk


def test_a_hit_that_is_closed_or_would_come_to_ten_places_is_not_extended():
    stage = make_stage()
    hit, closed = make_hit(stage, places=8), make_hit(stage, state=Hit.State.CLOSED)
    stages.extend_hit_places(hit=hit, places=1, purpose="one more")
    with pytest.raises(StageStateError, match="from ten on the marketplace charges the higher fee"):
        stages.extend_hit_places(hit=hit, places=2, purpose="two more")
    with pytest.raises(StageStateError, match="only one on offer"):
        stages.extend_hit_places(hit=closed, places=1, purpose="one more")


def test_a_round_finds_its_stages_without_pairing_hits_and_work():
    """Joined, ten thousand HITs and as many assignments would be a hundred million rows in every round."""
    sql = str(tick.living_stages(make_stage().endpoint).query)
    assert 'JOIN "crowd_hit"' not in sql
    assert 'JOIN "crowd_assignment"' not in sql


def test_a_round_looks_again_for_what_a_stage_lacks_only_after_a_while(monkeypatch):
    stage, looks = make_stage(), []
    monkeypatch.setattr(tick, "publish_pending", lambda _: looks.append(1) or 0)
    assert [tick._top_up(stage), tick._top_up(stage)] == [0, 0]
    assert len(looks) == 2  # looking cost little
    monkeypatch.setattr(tick, "COSTLY_SECONDS", -1.0)
    monkeypatch.setattr(tick, "time", SimpleNamespace(monotonic=iter((1.0, 3.0)).__next__))
    assert [tick._top_up(stage), tick._top_up(stage)] == [0, 0]
    assert len(looks) == 3


def test_a_round_that_planned_something_looks_again_at_once(monkeypatch):
    stage, looks = make_stage(), []
    monkeypatch.setattr(tick, "COSTLY_SECONDS", -1.0)
    monkeypatch.setattr(tick, "publish_pending", lambda _: looks.append(1) or 5)
    assert [tick._top_up(stage), tick._top_up(stage)] == [5, 5]
    assert len(looks) == 2


def test_a_stage_that_took_long_to_settle_is_settled_again_only_after_a_while(monkeypatch):
    hit = make_hit(make_stage(items=["tea"]), places=3)
    stage, settled = hit.stage, []
    kind = SimpleNamespace(settle=lambda _: settled.append(1))
    monkeypatch.setattr(tick, "kind_of", lambda _: kind)
    monkeypatch.setattr(tick, "time", SimpleNamespace(monotonic=count(0, 3).__next__))
    for costly_seconds, times in ((5, 1), (5, 2), (1, 3), (1, 3)):
        answer(hit if times < 3 else make_hit(stage), worker_id=make_worker(stage.endpoint).external_id)
        monkeypatch.setattr(tick, "COSTLY_SECONDS", costly_seconds)
        tick.settle_news(stage)
        assert len(settled) == times
    stage.refresh_from_db()
    assert stage.settled_until < tick.latest_news(stage), "what waits is settled later"


def test_the_latest_news_of_a_stage_is_the_latest_of_three_times():
    stage = make_stage()
    assert tick.latest_news(stage) is None
    hit, now = make_hit(stage, places=9), timezone.now()
    work = answer(hit, worker_id=make_worker(stage.endpoint).external_id)
    times = {"stored_at": now, "submitted_at": None, "decided_at": None}
    for name, ago in (("stored_at", 9), ("submitted_at", 8), ("decided_at", 7), ("stored_at", 6)):
        times[name] = now - timedelta(hours=ago)
        Assignment.objects.filter(pk=work.pk).update(**times | ({"stored_at": None} if ago == 8 else {}))
        assert tick.latest_news(stage) == times[name]


def test_looking_for_news_reads_one_entry_of_an_index():
    stage = make_stage()
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as asked:
        tick.latest_news(stage)
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")  # a plan of few rows reads them all
            cursor.execute("SET LOCAL enable_bitmapscan = off")
            cursor.execute("SET LOCAL enable_sort = off")
        explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
        cursor.execute(f"{explain} {asked.captured_queries[0]['sql']}")
        plan_of_it = str(cursor.fetchall())
    assert "assignment_by_news" in plan_of_it
    assert "SORT" not in plan_of_it.upper() and "TEMP" not in plan_of_it.upper()
