"""How money is lost, and what prevents it: one test for each row of the table, on a real marketplace."""

from datetime import timedelta
from unittest import mock

import pytest
from django.utils import timezone

from crowd.adapters import registry
from crowd.adapters.base import CallRefusal
from crowd.errors import BudgetError, CrowdError, StageStateError
from crowd.models import Assignment, Compensation, Hit, MarketOperation, Stage, Worker
from crowd.outbox import dispatch as dispatching
from crowd.outbox import results
from crowd.outbox.calls import found_purpose
from crowd.outbox.dispatch import dispatch
from crowd.outbox.reconcile import reconcile
from crowd.selectors.operations import compare_books
from crowd.selectors.stage_status import alarms
from crowd.services import collection, review, stages
from crowd.services.publication import publish_pending
from crowd.services.tick import tick
from tests.clients import ScriptedWorker
from tests.crowd.world import answer, make_endpoint, make_project, make_stage, work

pytestmark = pytest.mark.django_db
Kind, State = MarketOperation.Kind, MarketOperation.State
DEPOSIT = 100_00


class Lab:
    """A requester's account at the server, and the endpoint row that leads to it."""

    def __init__(self, server):
        self.server = server
        self.requester = server.requester("100.00", "mturk-2026")
        self.endpoint = make_endpoint(
            url=server.api_url,
            access_key=self.requester.access_key,
            secret=self.requester.secret,
            submit_origins=[server.url],
        )
        self.market = registry.adapter(self.endpoint)

    def stage(self, **fields):
        given = {"items": ["tea"], **fields}
        return make_stage(self.endpoint, **given)

    def opened(self, **fields):
        """A stage on offer, and its first HIT."""
        stage = self.stage(**fields)
        stages.open_stage(stage=stage)
        dispatch(self.endpoint)
        stage.refresh_from_db()
        return stage, hit_of(stage)

    def worker(self) -> ScriptedWorker:
        return self.server.worker()

    def paid(self):
        """What the marketplace took for good, in cents."""
        balance = self.market.check()
        return DEPOSIT - balance.available.minor - balance.on_hold.minor


@pytest.fixture
def lab(server):
    yield Lab(server)
    server.reset()


def hit_of(stage):
    return Hit.objects.select_related("stage__endpoint", "stage__project").filter(stage=stage).first()


def the(kind):
    return MarketOperation.objects.get(kind=kind)


def assignment_of(stage):
    return Assignment.objects.select_related("stage__endpoint", "stage__project", "worker", "hit").get(
        stage=stage
    )


def die_after_the_call(endpoint):
    """The process dies when the marketplace has answered and nothing is written yet."""
    dying = mock.patch.object(dispatching, "_settle", side_effect=KeyboardInterrupt)
    with dying, pytest.raises(KeyboardInterrupt):
        dispatch(endpoint)


def later(**ago):
    """So much time goes by for everything that was sent."""
    for operation in MarketOperation.objects.exclude(state__in=MarketOperation.FINAL):
        operation.first_sent_at = operation.first_sent_at and operation.first_sent_at - timedelta(**ago)
        operation.lease_until = operation.lease_until and operation.lease_until - timedelta(**ago)
        operation.save()


def try_again_now():
    MarketOperation.objects.exclude(state__in=MarketOperation.FINAL).update(not_before=timezone.now())


@pytest.mark.parametrize("hours", [1, 24])
def test_crash_between_create_hit_and_commit(lab, hours):
    """While the token is remembered, the same call is the surest question; later the annotation tells."""
    stage = lab.stage()
    stages.open_stage(stage=stage)
    die_after_the_call(lab.endpoint)
    later(hours=hours)
    assert dispatch(lab.endpoint).confirmed == (hours == 1)
    assert reconcile(lab.endpoint) == (hours == 24)
    [listing] = lab.market.iter_listings()
    assert hit_of(stage).external_id == listing.ref


def with_approved_work(lab, **fields):
    stage, hit = lab.opened(**fields)
    work(hit, lab.worker())
    tick()
    return stage


def test_bonus_to_the_wrong_person(lab):
    """An assignment id is used again after a return: the one who submitted is paid, by name."""
    stage, hit = lab.opened()
    left, stayed = lab.worker(), lab.worker()
    taken = left.accept(hit.external_id)
    answer(hit, worker_id=left.worker_id, submission=taken["assignment_id"])
    left.give_back(taken)
    work(hit, stayed)
    tick()
    by_worker = {row.worker.external_id: row for row in Assignment.objects.select_related("worker")}
    assert {row.external_id for row in by_worker.values()} == {taken["assignment_id"]}
    with pytest.raises(CrowdError, match="not listed this work as submitted"):
        review.bonus(
            assignment=by_worker[left.worker_id], actor=None, cents=25, reason="Thorough.", purpose="b"
        )
    mine = Assignment.objects.select_related("stage__endpoint", "stage__project", "worker").get(
        pk=by_worker[stayed.worker_id].pk
    )
    for _ in range(2):
        review.bonus(assignment=mine, actor=None, cents=25, reason="Thorough.", purpose="b")
    dispatch(lab.endpoint)
    [paid] = lab.market.iter_bonuses(listing=hit.external_id)
    assert paid.worker == stayed.worker_id
    assert stage.operations.filter(kind=Kind.BONUS).count() == 1


def test_re_approval_and_the_race_with_auto_approval(lab):
    """Approving what is approved already is read again, confirmed, and booked once."""
    stage, hit = lab.opened()
    work(hit, lab.worker())
    collection.collect(stage)
    lab.requester.client.approve_assignment(AssignmentId=assignment_of(stage).external_id)
    dispatch(lab.endpoint)
    assert the(Kind.APPROVE).state == State.CONFIRMED
    tick()
    stage.refresh_from_db()
    assert stage.spent_cents == lab.paid() == 12


def test_auto_approval_passes_unreviewed_work(lab):
    """Its time is stored, alarmed for two days before, and its cost is booked when it is seen."""
    stage, hit = lab.opened(approve_at_once=False, auto_approve_seconds=3 * 24 * 3600)
    work(hit, lab.worker())
    collection.collect(stage)
    assignment = assignment_of(stage)
    assert assignment.auto_approve_at == assignment.submitted_at + timedelta(days=3)
    Assignment.objects.update(held=True)
    sentences = []
    for hours in (72, 47, 23):
        Assignment.objects.update(auto_approve_at=timezone.now() + timedelta(hours=hours))
        sentences.append(
            [(alarm.level, alarm.sentence) for alarm in alarms(stage) if alarm.about == "review"]
        )
    assert sentences == [
        [],
        [("soon", "1 held assignment is approved automatically within 48 hours.")],
        [("now", "1 held assignment is approved automatically within 24 hours.")],
    ]
    Assignment.objects.update(auto_approve_at=timezone.now())
    lab.requester.client.approve_assignment(AssignmentId=assignment.external_id)
    tick()
    stage.refresh_from_db()
    assert assignment_of(stage).state == Assignment.State.APPROVED
    assert stage.spent_cents == lab.paid() == 12


def test_reject_then_discover_the_mistake(lab):
    """The work is paid after all, its money reserved first; nothing deletes a HIT by itself."""
    stage, hit = lab.opened(approve_at_once=False)
    work(hit, lab.worker())
    tick()
    review.reject(assignment=assignment_of(stage), actor=None, reason="Not about tea.")
    stages.pause_stage(stage=stage)
    dispatch(lab.endpoint)
    stage.refresh_from_db()
    assert (stage.reserved_cents, stage.spent_cents, lab.paid()) == (0, 0, 0)
    review.override(assignment=assignment_of(stage), actor=None, note="It was about tea.")
    stage.refresh_from_db()
    assert stage.reserved_cents == 12
    dispatch(lab.endpoint)
    stage.refresh_from_db()
    assert (stage.reserved_cents, stage.spent_cents, lab.paid()) == (0, 12, 12)
    stages.close_stage(stage=stage)
    tick()
    assert not MarketOperation.objects.filter(kind=Kind.ARCHIVE).exists()


def test_the_jump_from_nine_to_ten(lab):
    """Ten people at ten cents: HITs of nine and one at 20 %; no HIT grows over the edge unseen."""
    stage, _ = lab.opened(redundancy=10)
    assert sorted(Hit.objects.filter(stage=stage).values_list("places", flat=True)) == [1, 9]
    stage.refresh_from_db()
    assert stage.reserved_cents == 10 * 12
    small = Hit.objects.get(stage=stage, places=9)
    with pytest.raises(StageStateError, match="higher fee"):
        stages.extend_hit_places(hit=small, places=1, purpose="one more")
    assert lab.market.extend(small.external_id, 1, "0" * 32).code == "InvalidMaximumAssignmentsIncrease"


def test_extension_of_a_large_hit_and_rejected_work_published_again(lab):
    """Both are operations of their own, with reservations of their own."""
    stage, hit = lab.opened(reward_cents=1, redundancy=10, approve_at_once=False)
    assert hit.places == 10
    stage.refresh_from_db()
    assert stage.reserved_cents == 20
    stages.extend_hit_places(hit=hit, places=5, purpose="five more")
    stage.refresh_from_db()
    assert stage.reserved_cents == 30
    dispatch(lab.endpoint)
    assert lab.market.get_listing(hit.external_id).places == hit_of(stage).places == 15
    work(hit, lab.worker())
    tick()
    review.reject(assignment=assignment_of(stage), actor=None, reason="Not about tea.")
    dispatch(lab.endpoint)
    stage.refresh_from_db()
    assert stage.reserved_cents == 28
    assert lab.market.check().on_hold.minor == 28


def test_a_runaway_loop_or_a_wrong_price(lab):
    """Neither asking again and again nor a high price passes the cap."""
    project = make_project(budget_cents=30)
    stage = make_stage(lab.endpoint, project, items=["a", "b", "c"], reward_cents=1000, budget_cents=10_000)
    with pytest.raises(BudgetError):
        stages.open_stage(stage=stage)
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.OPEN)
    for _ in range(5):
        publish_pending(stage)
        tick()
    assert not MarketOperation.objects.filter(kind=Kind.PUBLISH).exists()
    project.refresh_from_db()
    assert (project.reserved_cents, project.spent_cents) == (0, 0)


def test_a_runaway_loop_without_funds(server, monkeypatch):
    monkeypatch.setattr(dispatching, "THREADS", 1)
    poor = server.requester("0.30", "mturk-2026")
    endpoint = make_endpoint(url=server.api_url, access_key=poor.access_key, secret=poor.secret)
    stage = make_stage(endpoint, items=[str(number) for number in range(40)])
    stages.open_stage(stage=stage)
    for _ in range(3):
        tick()
    stage.refresh_from_db()
    assert stage.status == Stage.Status.PAUSED
    assert stage.operations.filter(state=State.CONFIRMED).count() == 2
    assert stage.operations.exclude(attempts=0).count() <= 4
    assert stage.project.events.filter(action="stage.paused").count() == 1


def test_orphaned_open_hits_at_the_end_of_a_run(lab):
    """Closing expires all HITs, waits for who is working, and a comparison shows what is left."""
    stage, hit = lab.opened(items=["tea", "coffee"])
    late = lab.worker()
    taken = late.accept(hit.external_id)
    arrived = answer(hit, worker_id=late.worker_id, submission=taken["assignment_id"])
    stages.close_stage(stage=stage)
    tick()
    states = {listing.ref: listing.state for listing in lab.market.iter_listings()}
    assert sorted(states.values()) == ["full", "reviewable"]
    from crowd.services import responses

    assert late.submit(taken, **responses.receipt_fields(arrived)).status == 200
    for _ in range(3):
        tick()
    stage.refresh_from_db()
    assert (stage.reserved_cents, stage.spent_cents) == (0, 12)
    assert lab.paid() == 12
    assert compare_books(lab.endpoint) == type(compare_books(lab.endpoint))([], [], [])
    stranger = lab.requester.client.create_hit(
        Title="Not ours",
        Description="d",
        Reward="0.01",
        LifetimeInSeconds=60,
        AssignmentDurationInSeconds=60,
        Question=lab.requester.client.get_hit(HITId=hit.external_id)["HIT"]["Question"],
    )["HIT"]["HITId"]
    Hit.objects.filter(pk=hit.pk).update(external_id="3GONE")
    found = compare_books(lab.endpoint)
    assert found.only_there == sorted([stranger, hit.external_id])
    assert found.only_here == ["3GONE"]


def test_float_amounts(lab):
    """Whole cents everywhere: what is planned is what the marketplace reads, to the cent."""
    held = 0
    for cents, written in ((7, "0.07"), (29, "0.29"), (110, "1.10"), (1, "0.01")):
        stage, hit = lab.opened(reward_cents=cents)
        assert lab.requester.client.get_hit(HITId=hit.external_id)["HIT"]["Reward"] == written
        held += stage.reserved_cents
        assert lab.market.check().on_hold.minor == held


def test_a_worker_unpaid_because_our_server_failed(lab):
    """A HIT of their own, seen by them alone, pays somebody whose session broke."""
    stage, _ = lab.opened()
    hurt, other = lab.worker(), lab.worker()
    known = Worker.objects.create(
        endpoint=lab.endpoint, external_id=hurt.worker_id, first_seen_at=timezone.now()
    )
    review.compensate(stage=stage, worker=known, cents=50, reason="Our page broke.", actor=None)
    for _ in range(4):
        try_again_now()
        dispatch(lab.endpoint)
    made = Hit.objects.get(stage=stage, compensates=known)
    assert made.state == Hit.State.OPEN
    from tests.clients import RefusedError

    with pytest.raises(RefusedError):
        other.accept(made.external_id)
    assert hurt.accept(made.external_id)["hit_id"] == made.external_id
    stage.refresh_from_db()
    assert stage.reserved_cents == 12 + 60
    refuse_to_compensate_again(stage, known)
    assert Hit.objects.filter(stage=stage, compensates=known).count() == 1
    # By now they have work in the stage, on which a bonus could be paid.
    Assignment.objects.create(
        stage=stage,
        hit=made,
        worker=known,
        external_id="3DONE",
        state=Assignment.State.SUBMITTED,
        arrived_at=timezone.now(),
        submitted_at=timezone.now(),
    )
    refuse_to_compensate_again(stage, known)
    # What a version without such rows paid, or a restored database found at the marketplace, counts too.
    Compensation.objects.all().delete()
    refuse_to_compensate_again(stage, known)
    assert not MarketOperation.objects.filter(kind=Kind.BONUS).exists()


def refuse_to_compensate_again(stage, worker):
    with pytest.raises(CrowdError, match=r"compensated in this stage already, with \$0\.50"):
        review.compensate(stage=stage, worker=worker, cents=70, reason="Once more.", actor=None)


def refuse(operation, text="The reason is too long."):
    assert results.apply(operation, CallRefusal("RequestError", text))


def test_a_compensation_that_was_refused_is_tried_again_and_paid_once(lab):
    stage = with_approved_work(lab)
    worker = assignment_of(stage).worker
    calls = []
    for cents in (50, 60):
        calls.append(
            review.compensate(stage=stage, worker=worker, cents=cents, reason="It broke.", actor=None)
        )
        refuse(calls[-1])
    assert Compensation.objects.get().operation.state == "refused"
    calls.append(review.compensate(stage=stage, worker=worker, cents=50, reason="It broke.", actor=None))
    assert len({call.token for call in calls}) == 3
    assert [call.purpose for call in calls[:2]] == ["bonus compensation", "bonus compensation 2"]
    refuse_to_compensate_again(stage, worker)
    assert Compensation.objects.get().operation == calls[-1]
    Compensation.objects.all().delete()
    refuse_to_compensate_again(stage, worker)


def test_a_hit_of_their_own_that_was_refused_is_offered_again(lab):
    stage, _ = lab.opened()
    known = Worker.objects.create(
        endpoint=lab.endpoint, external_id=lab.worker().worker_id, first_seen_at=timezone.now()
    )
    for _ in range(10):
        refuse(review.compensate(stage=stage, worker=known, cents=50, reason="It broke.", actor=None))
    assert Hit.objects.filter(stage=stage, compensates=known, state=Hit.State.REFUSED).count() == 10
    stage.refresh_from_db()
    assert stage.reserved_cents == 12
    with pytest.raises(CrowdError, match="refused 10 compensations"):
        review.compensate(stage=stage, worker=known, cents=50, reason="It broke.", actor=None)


def test_a_worker_unpaid_who_submitted_gets_a_bonus(lab):
    stage = with_approved_work(lab)
    worker = assignment_of(stage).worker
    review.compensate(stage=stage, worker=worker, cents=50, reason="It took long.", actor=None)
    refuse_to_compensate_again(stage, worker)
    Compensation.objects.all().delete()
    refuse_to_compensate_again(stage, worker)
    MarketOperation.objects.filter(kind=Kind.BONUS).update(
        purpose=found_purpose(MarketOperation.objects.get(kind=Kind.BONUS).token[:8])
    )
    refuse_to_compensate_again(stage, worker)
    dispatch(lab.endpoint)
    assert [
        one.amount.minor for one in lab.market.iter_bonuses(submission=assignment_of(stage).external_id)
    ] == [50]
    stage.refresh_from_db()
    assert stage.spent_cents == lab.paid() == 12 + 60
