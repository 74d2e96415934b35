"""Collecting: only the marketplace's own list makes work real, and no answer is lost on the way."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.models import Assignment, Claim, Exclusion, Hit, LedgerEntry, MarketOperation, Stage
from crowd.outbox.dispatch import dispatch
from crowd.services import decisions, responses, review, stages
from crowd.services.arrivals import arrive
from crowd.services.collection import collect
from crowd.services.tick import tick
from examples.poll.kind import Poll
from examples.poll.models import Vote
from tests.crowd.world import answer, make_hit, make_stage, make_worker, new_submission_id

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def hit(market):
    return published(market)


def published(market, places=1, **fields):
    """A HIT on offer, with its money reserved."""
    stage = make_stage(items=["tea"], redundancy=places, **fields)
    stages.open_stage(stage=stage)
    dispatch(stage.endpoint)
    return Hit.objects.select_related("stage__endpoint", "stage__project").get(stage=stage)


def answered(hit, name=""):
    return answer(hit, worker_id=name or make_worker(hit.stage.endpoint).external_id)


def now(row):
    row.refresh_from_db()
    return row


def money(hit):
    stage = Stage.objects.get(pk=hit.stage_id)
    return stage.reserved_cents, stage.spent_cents


def test_submitted_work_is_approved_and_paid_and_collecting_again_changes_nothing(hit, market):
    assignment = answered(hit)
    market.submit(hit, assignment)
    collect(hit.stage)
    assert now(assignment).state == State.SUBMITTED
    dispatch(hit.stage.endpoint)
    assert now(assignment).state == State.APPROVED
    for _ in range(3):
        tick()
    assert collect(hit.stage) == 0
    assert now(hit).state == Hit.State.CLOSED
    assert market.names() == ["publish", "approve"]
    assert Vote.objects.count() == 1
    assert money(hit) == (0, 12)


def test_without_the_policy_nothing_is_approved_by_itself(market):
    hit = published(market, approve_at_once=False)
    assignment = answered(hit)
    market.submit(hit, assignment)
    tick()
    assert now(assignment).state == State.SUBMITTED
    assert money(hit) == (12, 0)


def test_failed_attention_checks_are_held_where_the_stage_says_so(market):
    for hold, state in ((False, State.APPROVED), (True, State.SUBMITTED)):
        hit = published(market, checks={"choose no": "no"}, checks_per_hit=1, hold_failed_checks=hold)
        assignment = answered(hit)
        assert assignment.failed_checks == 1
        market.submit(hit, assignment)
        tick()
        assert now(assignment).state == state
        assert assignment.held is hold


def test_an_answer_that_only_the_receipt_carries_is_restored(hit, market):
    """As after the loss of our server: the assignment is known, its answer is not."""
    assignment = answered(hit)
    submission = market.submit(hit, assignment)
    Vote.objects.all().delete()
    Assignment.objects.update(response=None, state=State.WORKING, stored_at=None)
    Hit.objects.update(expires_at=timezone.now())
    collect(hit.stage)
    assert now(assignment).response == {"item:0": {"choice": "yes"}}
    assert Vote.objects.get().choice == "yes"
    assert assignment.state == State.SUBMITTED
    assert submission.answer["copy"]


def test_a_copy_that_was_changed_on_the_way_is_quarantined(hit, market):
    assignment = answered(hit)
    fields = responses.receipt_fields(assignment)
    market.submit(hit, assignment, answer={**fields, "copy": fields["copy"][:-3] + "xyz"})
    Assignment.objects.update(response=None, state=State.WORKING)
    Hit.objects.update(expires_at=timezone.now())
    collect(hit.stage)
    assert now(assignment).state == State.QUARANTINED
    assert assignment.held


def test_somebody_elses_receipt_is_quarantined(market):
    hit = published(market, places=2)
    mine, other = answered(hit), answered(hit)
    market.submit(hit, mine, answer=responses.receipt_fields(other))
    collect(hit.stage)
    assert now(mine).state == State.QUARANTINED
    assert mine.note == "The receipt that came back is not the one that was given out."


def test_work_that_never_came_to_our_page_is_kept_in_quarantine(hit, market):
    market.submit(hit, answer={"anything": "else"})
    hit.refresh_from_db()
    Hit.objects.filter(pk=hit.pk).update(expires_at=timezone.now())
    collect(hit.stage)
    stranger = Assignment.objects.get(hit=hit)
    assert (stranger.state, stranger.worker.external_id) == (State.QUARANTINED, "ASTRANGER")


def test_quarantined_work_keeps_its_money_until_it_is_decided(market):
    """The marketplace holds it too: after the HIT is closed, approving it still finds the money."""
    hit = published(market, places=2)
    market.submit(hit, answer={})
    market.submit(hit, answered(hit))
    stages.pause_stage(stage=hit.stage)
    tick()
    tick()
    assert now(hit).state == Hit.State.CLOSED
    assert money(hit) == (12, 12)
    stranger = Assignment.objects.get(state=State.QUARANTINED)
    review.approve(assignment=stranger, actor=None)
    dispatch(hit.stage.endpoint)
    assert now(stranger).state == State.APPROVED
    assert money(hit) == (0, 24)


def test_what_time_approved_is_booked_when_it_is_seen(market):
    hit = published(market, approve_at_once=False, places=2)
    known = answered(hit)
    market.submit(hit, known)
    stranger = market.submit(hit, answer={})
    collect(hit.stage)
    for ref in (known.external_id, stranger.ref):
        market.decide(ref, "approved")
    Assignment.objects.update(auto_approve_at=timezone.now() - timedelta(seconds=1))
    collect(hit.stage)
    assert money(hit) == (0, 24)
    assert set(Assignment.objects.values_list("state", flat=True)) == {State.APPROVED}


def test_what_a_requester_decides_at_the_marketplace_itself_is_noticed(market):
    hit = published(market, approve_at_once=False)
    assignment = answered(hit)
    submission = market.submit(hit, assignment)
    collect(hit.stage)
    assert now(hit).state == Hit.State.CLOSED
    for decision, state, spent in (("rejected", State.REJECTED, 0), ("approved", State.APPROVED, 12)):
        market.decide(submission.ref, decision)
        cache.delete(f"decided-elsewhere:{hit.stage_id}")
        collect(hit.stage)
        assert now(assignment).state != state  # it was read a moment ago
        Hit.objects.filter(pk=hit.pk).update(synced_at=timezone.now() - timedelta(hours=7))
        collect(hit.stage)
        assert now(assignment).state != state  # the stage was looked through a moment ago
        cache.delete(f"decided-elsewhere:{hit.stage_id}")
        collect(hit.stage)
        assert (now(assignment).state, money(hit)) == (state, (0, spent))


def rejected(market, **fields):
    """Work of a HIT that was rejected."""
    hit = published(market, approve_at_once=False, **fields)
    assignment = answered(hit)
    submission = market.submit(hit, assignment)
    collect(hit.stage)
    review.reject(assignment=now(assignment), actor=None, reason="Not about tea.")
    dispatch(hit.stage.endpoint)
    assert now(assignment).state == State.REJECTED
    return hit, assignment, submission


def test_an_answer_the_marketplace_never_listed_is_quarantined_in_the_end(hit, market):
    forged = answered(hit)
    market.put_on_offer(hit)
    long_ago = timezone.now() - timedelta(seconds=hit.stage.work_seconds) - timedelta(hours=2)
    Assignment.objects.update(stored_at=long_ago)
    collect(hit.stage)
    assert now(forged).state == State.QUARANTINED
    assert "never listed" in forged.note


def test_while_the_marketplace_is_down_nobody_is_called_a_forger(hit, market):
    honest = answered(hit)
    market.submit(hit, honest)
    market.down = True
    long_ago = timezone.now() - timedelta(days=2)
    Assignment.objects.update(stored_at=long_ago)
    Hit.objects.update(synced_at=long_ago)
    collect(hit.stage)
    assert now(honest).state == State.STORED
    market.down = False
    collect(hit.stage)
    assert now(honest).state == State.SUBMITTED


def failing(market, monkeypatch, refs):
    """The marketplace does not answer about these HITs; how often it was asked."""
    asked, real = [], market.iter_submissions

    def read(ref):
        asked.append(ref)
        if ref in refs:
            raise MarketplaceDownError("no answer")
        return real(ref)

    monkeypatch.setattr(market, "iter_submissions", read)
    return asked


def many(market, count):
    """So many HITs of a stage, each with submitted work."""
    stage = make_stage(items=[str(number) for number in range(count)])
    works = [answered(make_hit(stage, f"item:{number}"), f"A{number}") for number in range(count)]
    for work in works:
        market.put_on_offer(work.hit)
        market.submit(work.hit, work)
    return stage, works


def test_a_read_that_fails_now_and_then_holds_up_no_other_hit(market, monkeypatch):
    stage, works = many(market, 20)
    failed = {work.hit.external_id for work in works[::7]}
    failing(market, monkeypatch, failed)
    assert collect(stage) == 20 - len(failed)
    left = {work.hit.external_id for work in works if now(work).state == State.STORED}
    assert left == failed
    failed.clear()
    assert collect(stage) == len(left)


def test_a_marketplace_that_is_down_is_left_alone_after_a_few_hits(market, monkeypatch):
    stage, works = many(market, 60)
    down = {work.hit.external_id for work in works[20:]}
    asked = failing(market, monkeypatch, down)
    assert collect(stage) == 20
    assert len(asked) < 60


def test_what_is_listed_late_leaves_quarantine(hit, market):
    late = answered(hit)
    Assignment.objects.update(state=State.QUARANTINED, held=True, note="never listed")
    market.submit(hit, late)
    Hit.objects.update(expires_at=timezone.now())
    collect(hit.stage)
    assert (now(late).state, late.held, late.note) == (State.SUBMITTED, False, "")


def test_unproven_work_bars_its_worker_from_more_when_it_is_listed(hit, market, monkeypatch):
    monkeypatch.setattr(Poll, "all_marks", lambda self, stage, units: {"query:1"})
    arrived = arrive(hit=hit, external_id=new_submission_id(), worker_id="AROSA", proven=False)
    response = {unit: {"choice": "yes"} for unit in arrived.units}
    assert responses.store_response(arrived.assignment, response, at=timezone.now())
    assert not Exclusion.objects.exists()
    market.submit(hit, arrived.assignment)
    collect(hit.stage)
    assert now(arrived.assignment).state == State.SUBMITTED
    assert Exclusion.objects.get().scope == "query:1"


def test_work_in_progress_is_given_up_after_its_time_and_its_units_are_free(market):
    hit = published(market, places=2)
    begun = arrive(hit=hit, external_id=new_submission_id(), worker_id="ASLOW").assignment
    Assignment.objects.update(arrived_at=timezone.now() - timedelta(days=1))
    collect(hit.stage)
    assert now(begun).state == State.ENDED
    assert not Claim.objects.exists()


def test_given_up_work_that_was_submitted_after_all_counts(hit, market):
    assignment = answered(hit)
    market.submit(hit, assignment)
    decisions_before = decisions.end_assignment(assignment)
    Assignment.objects.update(state=State.ENDED)
    Claim.objects.all().delete()
    Hit.objects.update(expires_at=timezone.now())
    collect(hit.stage)
    assert now(assignment).state == State.SUBMITTED
    assert Claim.objects.filter(assignment=assignment).count() == 1
    assert decisions_before is False


def test_an_answer_on_the_page_of_another_hit_is_paid_by_the_hit_it_belongs_to(market):
    """A worker opens the address of a dear HIT with the id they got for a cheap one."""
    dear = published(market, reward_cents=100)
    cheap = published(market, reward_cents=5)
    Stage.objects.filter(pk=cheap.stage_id).update(endpoint=dear.stage.endpoint)
    cheap = Hit.objects.select_related("stage__endpoint", "stage__project").get(pk=cheap.pk)
    crossed = answered(dear)
    market.submit(cheap, crossed)
    Hit.objects.filter(pk=cheap.pk).update(expires_at=timezone.now())
    collect(cheap.stage)
    assert now(crossed).state == State.QUARANTINED
    assert crossed.hit_id == cheap.pk
    review.approve(assignment=crossed, actor=None)
    dispatch(dear.stage.endpoint)
    assert money(cheap)[1] == 6
    assert money(dear)[1] == 0


def test_a_hit_closes_only_when_every_submission_is_listed(market):
    """Some marketplaces show submissions late: two of two places are used, one is listed."""
    hit = published(market, places=2)
    first, second = answered(hit), answered(hit)
    market.submit(hit, first)
    market.put_on_offer(hit, state="reviewable", available=0)
    collect(hit.stage)
    assert now(hit).state == Hit.State.OPEN
    market.submit(hit, second)
    collect(hit.stage)
    assert now(hit).state == Hit.State.CLOSED
    tick()
    assert money(hit) == (0, 24)


def test_unused_places_give_their_money_back_when_the_hit_is_over(market):
    hit = published(market, places=3)
    market.submit(hit, answered(hit))
    market.put_on_offer(hit, state="reviewable")
    collect(hit.stage)
    dispatch(hit.stage.endpoint)
    assert money(hit) == (0, 12)
    assert LedgerEntry.objects.get(reason="unused places").cents == 20


def test_books_stay_open_while_an_extension_is_on_its_way(hit, market):
    market.submit(hit, answered(hit))
    market.put_on_offer(hit, places=1)
    stages.extend_hit_places(hit=hit, places=1, purpose="one more")
    collect(hit.stage)
    assert now(hit).state == Hit.State.OPEN
    dispatch(hit.stage.endpoint)
    collect(hit.stage)
    assert now(hit).places == 2
    assert hit.state == Hit.State.OPEN
    assert money(hit) == (12, 12)


def test_a_hit_that_vanished_before_its_time_is_not_published_again(hit, market):
    """As when somebody enters the keys of another account: nothing may be concluded from it."""
    answered(hit)
    market.listings.clear()
    tick()
    assert now(hit).state == Hit.State.OPEN
    assert Hit.objects.filter(stage=hit.stage).count() == 1
    assert money(hit) == (12, 0)


def test_a_hit_that_vanished_after_its_time_is_closed(hit, market):
    market.listings.clear()
    Hit.objects.update(expires_at=timezone.now())
    collect(hit.stage)
    assert now(hit).state == Hit.State.CLOSED
    assert money(hit) == (0, 0)


def test_one_hit_that_cannot_be_read_holds_up_no_other(market, monkeypatch):
    stage = make_stage(items=["tea", "coffee"])
    stages.open_stage(stage=stage)
    dispatch(stage.endpoint)
    bad, good = Hit.objects.select_related("stage__endpoint", "stage__project").filter(stage=stage)
    for one in (bad, good):
        market.submit(one, answered(one))

    def refusing(read):
        def refuse(ref):
            if ref == bad.external_id:
                raise MarketplaceRefusedError("AccessDenied")
            return read(ref)

        return refuse

    for name in ("get_listing", "iter_submissions"):
        monkeypatch.setattr(market, name, refusing(getattr(market, name)))
    assert collect(stage) == 1
    assert Assignment.objects.get(hit=good).state == State.SUBMITTED


def test_a_stage_that_fails_stops_no_other_stage(market, monkeypatch):
    from crowd.services import tick as tick_module

    broken, fine = published(market), published(market)
    for one in (broken, fine):
        market.submit(one, answered(one))

    def collect_or_fail(stage, **how):
        if stage.pk == broken.stage_id:
            raise RuntimeError("a bug in a kind")
        return collect(stage, **how)

    monkeypatch.setattr(tick_module, "collect", collect_or_fail)
    tick()
    assert Assignment.objects.get(hit=fine).state == State.APPROVED
    assert Assignment.objects.get(hit=broken).state == State.STORED


def test_a_rejection_that_somebody_overrode_elsewhere_without_a_budget_is_held(market):
    hit, assignment, submission = rejected(market, budget_cents=12)
    Stage.objects.filter(pk=hit.stage_id).update(budget_cents=0)
    market.decide(submission.ref, "approved")
    Hit.objects.filter(pk=hit.pk).update(state=Hit.State.OPEN, expires_at=timezone.now())
    collect(hit.stage)
    assert now(assignment).held
    assert "not booked here" in assignment.note


def test_rejected_work_gives_its_money_back_and_overriding_reserves_before_it_is_sent(market):
    hit, assignment, _ = rejected(market, budget_cents=12)
    assert money(hit) == (0, 0)
    Stage.objects.filter(pk=hit.stage_id).update(budget_cents=11)
    rows = Assignment.objects.select_related("stage__project", "stage__endpoint", "hit", "worker")
    with pytest.raises(stages.BudgetError):
        review.override(assignment=rows.get(), actor=None, note="It was about tea.")
    assert not MarketOperation.objects.filter(kind="unreject").exists()
    Stage.objects.filter(pk=hit.stage_id).update(budget_cents=12)
    review.override(assignment=rows.get(), actor=None, note="It was about tea.")
    assert money(hit) == (12, 0)
    dispatch(hit.stage.endpoint)
    assert now(assignment).state == State.APPROVED
    assert money(hit) == (0, 12)
    assert MarketOperation.objects.get(kind="unreject").state == "confirmed"
