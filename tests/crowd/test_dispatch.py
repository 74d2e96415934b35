"""What becomes of an operation, outcome by outcome."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.projects.models import Event
from crowd.adapters.base import CallRefusal, CallThrottling, EarlierSuccess, Unknown
from crowd.budget import Cost
from crowd.models import Group, Hit, MarketOperation, Stage
from crowd.outbox.calls import plan
from crowd.outbox.dispatch import dispatch
from crowd.outbox.reconcile import reconcile
from crowd.services import groups, stages
from tests.crowd.scripted import NO_FUNDS
from tests.crowd.world import make_endpoint, make_hit, make_stage, make_worker

pytestmark = pytest.mark.django_db
Kind, State = MarketOperation.Kind, MarketOperation.State


@pytest.fixture
def stage():
    return make_stage(items=["tea"])


def publish(stage):
    """Open a stage of one HIT; the operation that publishes it."""
    stages.open_stage(stage=stage)
    return MarketOperation.objects.get(stage=stage, kind=Kind.PUBLISH)


def bonus(stage):
    return plan(
        kind=Kind.BONUS,
        endpoint=stage.endpoint,
        stage=stage,
        target="assignment:1",
        purpose="thanks",
        payload={"submission": "3SUB", "worker": "AW", "reason": "Well done.", "currency": "USD"},
        cost=Cost(50, 10),
    )


def now(operation):
    operation.refresh_from_db()
    return operation


def money(stage):
    stage.refresh_from_db()
    return stage.reserved_cents, stage.spent_cents


def test_done_confirms_and_puts_the_hit_on_offer(stage, market):
    operation = publish(stage)
    assert dispatch(stage.endpoint).confirmed == 1
    assert now(operation).state == State.CONFIRMED
    assert operation.request_id == "request-1"
    hit = Hit.objects.get(stage=stage)
    assert (hit.state, hit.external_id) == (Hit.State.OPEN, operation.result_ref)
    assert market.listings[hit.external_id].key == operation.token
    assert money(stage) == (12, 0)


def test_already_done_is_success_and_without_a_reference_it_is_looked_up(stage, market):
    named = make_stage(items=["tea"])
    publish(named)
    market.say(EarlierSuccess("3EARLIER"))
    dispatch(named.endpoint)
    assert Hit.objects.get(stage=named).external_id == "3EARLIER"
    operation = publish(stage)
    market.lose(EarlierSuccess(None))
    dispatch(stage.endpoint)
    assert now(operation).state == State.UNKNOWN
    assert reconcile(stage.endpoint) == 1
    assert now(operation).state == State.CONFIRMED
    assert Hit.objects.get(stage=stage).external_id in market.listings
    assert market.names() == ["publish"] * 2


def test_a_refusal_gives_the_money_back_and_pauses_instead_of_asking_for_ever(stage, market):
    operation = publish(stage)
    market.say(CallRefusal("InvalidParameterValue", "The title is too long."))
    dispatch(stage.endpoint)
    assert now(operation).state == State.REFUSED
    assert (operation.error_code, operation.error_text) == ("InvalidParameterValue", "The title is too long.")
    assert Hit.objects.get(stage=stage).state == Hit.State.REFUSED
    assert money(stage) == (0, 0)
    assert stage.status == Stage.Status.PAUSED
    assert [event.action for event in stage.project.events.order_by("pk")][-2:] == [
        "stage.paused",
        "operation.refused",
    ]


def test_a_throttled_call_waits_and_counts_as_never_made(stage, market, wait):
    operation = publish(stage)
    market.say(CallThrottling(30.0))
    dispatch(stage.endpoint)
    assert now(operation).state == State.PLANNED
    assert operation.first_sent_at is None
    assert operation.not_before > timezone.now() + timedelta(seconds=25)
    assert dispatch(stage.endpoint).total == 0
    wait()
    dispatch(stage.endpoint)
    assert now(operation).state == State.CONFIRMED


def test_a_lost_answer_is_asked_for_with_the_same_token(stage, market, wait):
    operation = publish(stage)
    market.lose()
    dispatch(stage.endpoint)
    assert now(operation).state == State.UNKNOWN
    assert operation.error_text == "no answer"
    wait()
    dispatch(stage.endpoint)
    assert now(operation).state == State.CONFIRMED
    assert {call[1].key for call in market.calls} == {operation.token}
    assert len(market.calls) == 2
    assert len(market.listings) == 1


def test_a_bonus_whose_answer_was_lost_is_paid_once(stage, market, wait):
    operation = bonus(stage)
    market.lose()
    market.lose(Unknown("again"))
    for _ in range(3):
        dispatch(stage.endpoint)
        wait()
    assert now(operation).state == State.CONFIRMED
    # The second lost call repeated the effect in the script only: the token tells a real marketplace.
    assert len({bonus.reason for bonus in market.bonuses}) == 1
    assert money(stage) == (0, 60)


def test_pauses_between_attempts_grow_to_five_minutes(stage, market, wait):
    operation = bonus(stage)
    pauses = []
    for _ in range(9):
        market.say(Unknown("timeout"))
        dispatch(stage.endpoint)
        pauses.append(round((now(operation).not_before - timezone.now()).total_seconds()))
        wait()
    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 300]


def test_an_exception_of_the_adapter_is_no_answer(stage, market, wait):
    operation = bonus(stage)

    def break_down(name):
        raise RuntimeError("a proxy's page")

    market.on_call = break_down
    dispatch(stage.endpoint)
    assert now(operation).state == State.UNKNOWN
    assert operation.error_text == "RuntimeError: a proxy's page"


def test_an_empty_account_pauses_the_stage_and_stops_the_rest(market):
    stage = make_stage(items=[str(number) for number in range(40)])
    stages.open_stage(stage=stage)
    market.say(NO_FUNDS)
    dispatch(stage.endpoint)
    assert money(stage)[0] == 40 * 12
    assert stage.status == Stage.Status.PAUSED
    tried = len(market.calls)
    assert tried <= 32
    assert dispatch(stage.endpoint).total == 0
    assert len(market.calls) == tried


def test_after_a_deposit_and_reopening_the_rest_is_published(stage, market, wait):
    operation = publish(stage)
    market.say(NO_FUNDS)
    dispatch(stage.endpoint)
    stage.refresh_from_db()
    stages.open_stage(stage=stage)
    wait()
    dispatch(stage.endpoint)
    assert now(operation).state == State.CONFIRMED
    assert Hit.objects.filter(stage=stage).count() == 1


def test_wrong_keys_lose_nothing(stage, market, wait):
    operation = bonus(stage)
    market.say(CallRefusal("UnrecognizedClientException", "The security token is invalid."))
    dispatch(stage.endpoint)
    assert now(operation).state == State.PLANNED
    wait()
    dispatch(stage.endpoint)
    assert now(operation).state == State.CONFIRMED
    assert money(stage) == (0, 60)


def test_a_refusal_after_a_lost_answer_is_checked_against_the_list(stage, market, wait):
    """The first call paid; the second was refused for another reason: the list says that it is paid."""
    operation = bonus(stage)
    market.lose()
    market.say(CallRefusal("InvalidParameterValue", "no"))
    dispatch(stage.endpoint)
    wait()
    dispatch(stage.endpoint)
    assert now(operation).state == State.UNKNOWN
    reconcile(stage.endpoint)
    assert now(operation).state == State.CONFIRMED
    assert money(stage) == (0, 60)


def test_a_refusal_after_an_unanswered_call_that_did_nothing_is_a_refusal(stage, market, wait):
    operation = bonus(stage)
    market.say(Unknown("timeout"), CallRefusal("AssignmentDoesNotExist", "no"))
    dispatch(stage.endpoint)
    wait()
    dispatch(stage.endpoint)
    reconcile(stage.endpoint)
    assert now(operation).state == State.REFUSED
    assert operation.error_code == "AssignmentDoesNotExist"
    assert money(stage) == (0, 0)


@pytest.mark.parametrize("kind", [Kind.PUBLISH, Kind.BONUS])
def test_no_call_goes_to_another_endpoint_than_planned(stage, market, kind):
    operation = publish(stage) if kind == Kind.PUBLISH else bonus(stage)
    market.url = "https://elsewhere.example.org/mturk/api"
    dispatch(stage.endpoint)
    assert market.calls == []
    assert now(operation).state == State.REFUSED
    assert operation.error_text == (
        "The client would call https://elsewhere.example.org/mturk/api, "
        "but this was planned for https://market.example.org/mturk/api."
    )
    assert money(stage) == (0, 0)


def test_what_may_have_been_done_is_not_refused_when_the_endpoint_moves(stage, market, wait):
    """Its money stays reserved until a person has looked."""
    operation = bonus(stage)
    market.lose()
    dispatch(stage.endpoint)
    wait()
    market.url = "https://elsewhere.example.org/mturk/api"
    dispatch(stage.endpoint)
    assert now(operation).needs_person
    assert money(stage) == (60, 0)
    assert len(market.calls) == 1


def test_real_money_that_nobody_confirmed_is_not_spent(market):
    stage = make_stage(make_endpoint(real_money=True), items=["tea"])
    operation = bonus(stage)
    dispatch(stage.endpoint)
    assert market.calls == []
    assert now(operation).error_text == (
        "The amount was not typed to confirm that this stage spends real money."
    )


@pytest.mark.parametrize("state", [State.CLAIMED, State.SENT])
def test_what_a_dead_dispatcher_left_behind_is_taken_up_after_its_lease(stage, market, state):
    operation = publish(stage)
    MarketOperation.objects.filter(pk=operation.pk).update(
        state=state,
        first_sent_at=timezone.now() if state == State.SENT else None,
        lease_until=timezone.now() + timedelta(minutes=1),
    )
    assert dispatch(stage.endpoint).total == 0
    MarketOperation.objects.filter(pk=operation.pk).update(lease_until=timezone.now())
    assert dispatch(stage.endpoint).confirmed == 1


@pytest.mark.parametrize("state", [State.CLAIMED, State.SENT, State.UNKNOWN])
def test_nothing_is_repeated_when_the_marketplace_may_have_forgotten_its_token(stage, market, state):
    operation = bonus(stage)
    long_ago = timezone.now() - timedelta(hours=23, seconds=1)
    MarketOperation.objects.filter(pk=operation.pk).update(
        state=state, first_sent_at=long_ago, lease_until=long_ago
    )
    assert dispatch(stage.endpoint).total == 0
    assert reconcile(stage.endpoint) == 1
    assert now(operation).needs_person
    assert market.calls == []


def test_a_change_of_state_may_be_repeated_at_any_time(stage, market):
    operation = stages.expire_hit(hit=make_hit(stage), purpose="test")
    MarketOperation.objects.filter(pk=operation.pk).update(
        state=State.UNKNOWN, first_sent_at=timezone.now() - timedelta(days=3)
    )
    assert dispatch(stage.endpoint).confirmed == 1
    assert Hit.objects.get(stage=stage).expires_at <= timezone.now()


def test_a_stage_paused_or_closed_before_its_hits_were_published_publishes_none(stage, market):
    operation = publish(stage)
    stage.refresh_from_db()
    stages.pause_stage(stage=stage)
    assert dispatch(stage.endpoint).total == 0
    stages.close_stage(stage=stage)
    dispatch(stage.endpoint)
    assert market.calls == []
    assert now(operation).state == State.REFUSED
    assert money(stage) == (0, 0)


def test_closing_that_was_cut_short_goes_on_when_it_is_asked_for_again(stage, market, monkeypatch):
    publish(stage)
    dispatch(stage.endpoint)
    stage.refresh_from_db()
    with monkeypatch.context() as patch:
        patch.setattr(stages, "expire_hit", None)
        with pytest.raises(TypeError):
            stages.close_stage(stage=stage)
    assert not MarketOperation.objects.filter(kind=Kind.CLOSE).exists()
    stages.close_stage(stage=stage)
    stages.close_stage(stage=stage)
    assert MarketOperation.objects.filter(kind=Kind.CLOSE).count() == 1
    assert Event.objects.filter(action="stage.closed").count() == 1


def test_a_hit_published_while_its_stage_was_closed_is_taken_off_offer(stage, market):
    publish(stage)
    stage.refresh_from_db()
    market.on_call = lambda name: None
    market.lose()
    dispatch(stage.endpoint)
    stages.close_stage(stage=stage)
    MarketOperation.objects.update(not_before=timezone.now())
    dispatch(stage.endpoint)
    assert market.names() == ["publish", "publish", "close"]


def test_one_result_that_cannot_be_booked_holds_up_no_other(stage, market, monkeypatch):
    from crowd.outbox import results

    first, second = (
        bonus(stage),
        plan(
            kind=Kind.MESSAGE,
            endpoint=stage.endpoint,
            stage=stage,
            target="s",
            purpose="m",
            payload={"workers": ["A1"], "subject": "Hello", "text": "Hello."},
        ),
    )
    apply = results.apply

    def fail(operation, outcome):
        if operation.pk == first.pk:
            raise stages.BudgetError("no room")
        return apply(operation, outcome)

    monkeypatch.setattr(results, "apply", fail)
    dispatch(stage.endpoint)
    assert now(second).state == State.CONFIRMED
    assert now(first).needs_person
    assert "could not be booked: no room" in first.error_text


def test_a_call_that_names_a_group_waits_until_the_group_is_made(stage, market, wait):
    group = groups.ensure_group(endpoint=stage.endpoint, name="Editors", description="People who edit")
    worker = make_worker(stage.endpoint, "AEDITOR")
    granted = groups.put_into(group, worker)
    market.say(CallThrottling(60.0))
    dispatch(stage.endpoint)
    assert "grant" not in market.names()
    assert now(granted).first_sent_at is None
    wait()
    dispatch(stage.endpoint)
    wait()
    dispatch(stage.endpoint)
    assert now(granted).state == State.CONFIRMED
    assert market.calls[-1] == ("grant", Group.objects.get().external_id, "AEDITOR")


def test_a_limit_leaves_the_rest_for_the_next_round_and_no_other_endpoint_sends_it(market):
    stage = make_stage(items=[str(number) for number in range(10)])
    stages.open_stage(stage=stage)
    assert dispatch(stage.endpoint, limit=4).confirmed == 4
    assert dispatch(make_endpoint()).total == 0
    assert dispatch(stage.endpoint).confirmed == 6
    assert dispatch(stage.endpoint).total == 0
    assert market.names() == ["publish"] * 10
