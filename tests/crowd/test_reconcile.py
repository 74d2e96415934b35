"""Finding out by listing, and handing to a person what no list shows."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.adapters.base import MarketplaceRefusedError
from crowd.budget import Cost
from crowd.errors import CrowdError
from crowd.models import Hit, MarketOperation
from crowd.outbox.calls import plan
from crowd.outbox.dispatch import dispatch
from crowd.outbox.reconcile import reconcile
from crowd.services import review, stages
from crowd.services.tick import tick
from tests.crowd.world import make_hit, make_stage

pytestmark = pytest.mark.django_db
Kind, State = MarketOperation.Kind, MarketOperation.State


@pytest.fixture
def stage():
    return make_stage(items=["tea"])


def bonus(stage, purpose="thanks"):
    return plan(
        kind=Kind.BONUS,
        endpoint=stage.endpoint,
        stage=stage,
        target="assignment:1",
        purpose=purpose,
        payload={"submission": "3SUB", "worker": "AW", "reason": "Well done.", "currency": "USD"},
        cost=Cost(50, 10),
    )


def send_and_wait_a_day(stage, market, wait, *, done):
    """A call whose answer was lost, and then nobody ran for a day."""
    market.lose() if done else market.say(market_silence())
    dispatch(stage.endpoint)
    market.forget_tokens()
    wait(hours=24)


def market_silence():
    from crowd.adapters.base import Unknown

    return Unknown("no answer")


def now(operation):
    operation.refresh_from_db()
    return operation


def test_a_hit_that_is_listed_under_our_annotation_is_adopted(stage, market, wait):
    stages.open_stage(stage=stage)
    operation = MarketOperation.objects.get(stage=stage)
    send_and_wait_a_day(stage, market, wait, done=True)
    tick()
    assert now(operation).state == State.CONFIRMED
    assert [Hit.objects.get(stage=stage).external_id] == list(market.listings)
    assert market.names() == ["publish"]


def test_a_hit_that_is_not_listed_is_not_published_again_by_itself(stage, market, wait):
    stages.open_stage(stage=stage)
    operation = MarketOperation.objects.get(stage=stage)
    send_and_wait_a_day(stage, market, wait, done=False)
    for _ in range(3):
        tick()
    assert now(operation).needs_person
    assert "Look at the marketplace" in operation.error_text
    assert market.names() == ["publish"]
    assert Hit.objects.filter(stage=stage).count() == 1


def test_a_bonus_is_found_by_the_reference_in_its_reason(stage, market, wait):
    paid, unpaid = bonus(stage), bonus(stage, "more thanks")
    market.say(market_silence(), market_silence())
    dispatch(stage.endpoint)
    market.bonuses = []
    market.pay_bonus("3SUB", "AW", None, f"Well done. [ref {paid.token[:8]}]", "another key")
    wait(hours=24)
    reconcile(stage.endpoint)
    assert now(paid).state == State.CONFIRMED
    assert now(unpaid).needs_person
    stage.refresh_from_db()
    assert (stage.reserved_cents, stage.spent_cents) == (60, 60)


def extension(stage, market, places=1, purpose="more"):
    hit = Hit.objects.filter(stage=stage).first() or make_hit(stage)
    if hit.external_id not in market.listings:
        market.put_on_offer(hit)
    return stages.extend_hit_places(hit=hit, places=places, purpose=purpose)


@pytest.mark.parametrize("done", [True, False])
def test_an_extension_is_seen_in_the_number_of_places_or_goes_to_a_person(stage, market, wait, done):
    operation = extension(stage, market, places=2)
    send_and_wait_a_day(stage, market, wait, done=done)
    reconcile(stage.endpoint)
    assert (now(operation).state == State.CONFIRMED, operation.needs_person) == (done, not done)
    assert Hit.objects.get(stage=stage).places == (3 if done else 1)


def test_of_two_extensions_in_doubt_the_number_of_places_tells_nothing(stage, market, wait):
    first, second = extension(stage, market), extension(stage, market, purpose="again")
    market.lose()
    market.say(market_silence())
    dispatch(stage.endpoint)
    wait(hours=24)
    reconcile(stage.endpoint)
    assert now(first).needs_person
    assert now(second).needs_person


def test_one_hit_that_cannot_be_looked_at_holds_up_no_other(stage, market, wait, monkeypatch):
    gone, found = bonus(stage), bonus(stage, "more thanks")
    market.lose()
    market.lose()
    dispatch(stage.endpoint)
    MarketOperation.objects.filter(pk=gone.pk).update(payload={**gone.payload, "submission": "3GONE"})
    listed = market.iter_bonuses

    def refuse(*, listing="", submission=""):
        if submission == "3GONE":
            raise MarketplaceRefusedError("AssignmentDoesNotExist: gone")
        return listed(submission=submission)

    monkeypatch.setattr(market, "iter_bonuses", refuse)
    wait(hours=24)
    reconcile(stage.endpoint)
    assert now(gone).needs_person
    assert now(found).state == State.CONFIRMED


def asked(stage, market, wait):
    operation = bonus(stage)
    send_and_wait_a_day(stage, market, wait, done=False)
    reconcile(stage.endpoint)
    return now(operation)


@pytest.mark.parametrize("happened", [True, False])
def test_a_person_says_once_whether_it_happened(stage, market, wait, happened):
    operation = asked(stage, market, wait)
    review.resolve_operation(operation=operation, actor=None, happened=happened, why="I looked.")
    assert now(operation).state == (State.CONFIRMED if happened else State.REFUSED)
    stage.refresh_from_db()
    assert (stage.reserved_cents, stage.spent_cents) == (0, 60 * happened)
    event = stage.project.events.order_by("-pk").first()
    assert (event.action, event.details["why"]) == ("operation.resolved", "I looked.")
    tick()
    assert market.names() == ["pay_bonus"]
    for wrong in (operation, bonus(stage, "new")):
        with pytest.raises(CrowdError, match="needs no decision"):
            review.resolve_operation(operation=wrong, actor=None, happened=False, why="Again.")


def test_a_published_hit_needs_its_id(stage, market, wait):
    stages.open_stage(stage=stage)
    send_and_wait_a_day(stage, market, wait, done=False)
    reconcile(stage.endpoint)
    operation = MarketOperation.objects.get(stage=stage)
    with pytest.raises(CrowdError, match="id at the marketplace"):
        review.resolve_operation(operation=operation, actor=None, happened=True, why="Seen.")
    review.resolve_operation(operation=operation, actor=None, happened=True, why="Seen.", ref="3SEEN")
    assert Hit.objects.get(stage=stage).external_id == "3SEEN"


def test_an_endpoint_that_is_down_keeps_what_is_in_doubt(stage, market, wait):
    operation = bonus(stage)
    send_and_wait_a_day(stage, market, wait, done=True)
    market.down = True
    tick()
    assert now(operation).state == State.UNKNOWN
    assert not operation.needs_person
    market.down = False
    tick()
    assert now(operation).state == State.CONFIRMED


def test_listing_is_left_alone_where_nothing_is_in_doubt(stage, market):
    market.down = True
    assert reconcile(stage.endpoint) == 0


def test_places_that_changed_elsewhere_confirm_nothing(stage, market, wait):
    operation = extension(stage, market, places=1)
    send_and_wait_a_day(stage, market, wait, done=True)
    [(ref, listing)] = market.listings.items()
    market.listings[ref] = replace(listing, places=9)
    reconcile(stage.endpoint)
    assert now(operation).needs_person
    assert timezone.now() - operation.first_sent_at > timedelta(hours=23)
