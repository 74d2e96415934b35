"""From a draft to HITs: every row once, the money right, whatever happens in between."""

import pytest

from core.jobs.models import Job, JobState
from marketplace.batches import drafts, publication
from marketplace.errors import Refusal
from marketplace.models import HIT, Batch, BatchTask, Requester
from marketplace.money import deposits, ledger
from marketplace.site import taskpages
from tests.batches import making
from tests.site import world

State = Batch.State


def test_every_row_becomes_a_hit_of_one_type_with_its_values_in_their_places(lab):
    batch = making.published(lab, places=2)
    assert batch.state == State.PUBLISHED
    assert batch.published_count == batch.task_count == 2
    hits = list(HIT.objects.filter(batch=batch).order_by("batch_task__ordinal"))
    assert len({hit.hit_type_id for hit in hits}) == 1
    assert [hit.max_assignments for hit in hits] == [2, 2]
    shown = taskpages.load_question(hits[1]).html
    assert '<p data-image="https://pictures.example.org/2.jpg">And this?</p>' in shown
    assert hits[0].annotation == f"BatchId:1;OriginalHitTemplateId:{batch.template_id};"
    lab.refresh_from_db()
    assert (lab.available_cents, lab.held_cents) == (9_960, 40)
    assert ledger.audit() == []


def test_a_batch_is_published_once_however_often_it_is_asked_for(lab):
    batch = making.draft(lab)
    publication.publish(batch=batch)
    with pytest.raises(Refusal, match="publishing already"):
        publication.publish(batch=batch)
    making.run_jobs()
    with pytest.raises(Refusal, match="published already"):
        publication.publish(batch=batch)
    assert HIT.objects.filter(batch=batch).count() == 2
    assert Job.objects.count() == 1


def test_too_little_money_is_said_before_anything_is_published(db):
    poor = world.make_requester(dollars=0)
    deposits.deposit(requester=poor, cents=15)
    batch = making.draft(poor)
    with pytest.raises(Refusal) as refused:
        publication.publish(batch=batch)
    assert refused.value.message == (
        "Publishing puts $0.20 on hold, and $0.15 is available. Deposit at least $0.05, or pay for fewer "
        "assignments."
    )
    batch.refresh_from_db()
    assert batch.state == State.DRAFT
    assert not HIT.objects.exists()


def test_money_that_runs_out_stops_the_batch_and_a_deposit_lets_it_go_on(db):
    lab = world.make_requester(dollars=0)
    deposits.deposit(requester=lab, cents=50)
    batch = making.draft(lab, making.rows(5))
    publication.publish(batch=batch)
    spend(lab, 30)
    making.run_jobs()
    batch.refresh_from_db()
    assert batch.state == State.FAILED
    assert batch.published_count == 2
    assert batch.error == (
        "Stopped after 2 of 5 tasks. The account has $0.00, and the rest costs $0.30. "
        "Deposit at least $0.30 and continue."
    )
    assert Job.objects.get().state == JobState.FAILED
    with pytest.raises(Refusal, match=r"Deposit at least \$0\.30"):
        publication.publish(batch=batch)
    deposits.deposit(requester=lab, cents=30)
    publication.publish(batch=batch)
    making.run_jobs()
    batch.refresh_from_db()
    assert (batch.state, batch.published_count, batch.error) == (State.PUBLISHED, 5, "")
    assert BatchTask.objects.filter(batch=batch, hit=None).count() == 0
    assert ledger.audit() == []


def spend(lab: Requester, cents: int) -> None:
    """Put money on hold for something else."""
    world.post(world.make_group(lab, reward_cents=cents))


def test_cancelling_while_it_is_published_leaves_no_hit_on_offer(lab):
    batch = making.draft(lab, making.rows(4))
    publication.publish(batch=batch)
    publish_two(batch)
    publication.cancel(batch=batch)
    making.run_jobs()
    batch.refresh_from_db()
    assert (batch.state, batch.published_count) == (State.CANCELLED, 2)
    assert publication.job_of(batch, publication.PUBLISH).state == JobState.CANCELLED
    lab.refresh_from_db()
    assert (lab.available_cents, lab.held_cents) == (10_000, 0)
    assert ledger.audit() == []


def publish_two(batch: Batch) -> None:
    """What the job does before somebody cancels."""
    from marketplace import clock
    from marketplace.batches import templates
    from marketplace.batches.properties import from_stored
    from marketplace.lifecycle.hits import create_hit_type

    kind = create_hit_type(
        requester=batch.requester, properties=from_stored(batch.properties).of_type(), now=clock.now()
    )
    page = templates.parse(batch.html)
    for task in batch.tasks.order_by("ordinal")[:2]:
        assert publication._publish_some(batch, kind, page, [task]) == 1
        assert publication._publish_some(batch, kind, page, [task]) == 0


def test_work_in_progress_of_a_cancelled_batch_can_still_be_submitted(lab, rosa):
    batch = making.published(lab)
    hit = HIT.objects.filter(batch=batch).first()
    holding = world.take(rosa, hit)
    publication.cancel(batch=batch)
    making.run_jobs()
    world.submit(holding)
    lab.refresh_from_db()
    assert lab.held_cents == 10
    assert ledger.audit() == []


def test_a_draft_can_be_thrown_away_and_a_published_batch_cannot(lab):
    batch = making.draft(lab)
    drafts.delete(batch=batch)
    assert not Batch.objects.exists()
    assert not BatchTask.objects.exists()
    batch = making.published(lab)
    with pytest.raises(Refusal, match="has HITs"):
        drafts.delete(batch=batch)


def test_what_was_published_stays_as_it_was_when_the_template_changes_or_goes(lab):
    batch = making.published(lab)
    batch.template.delete()
    batch.refresh_from_db()
    assert batch.template is None
    assert "${question}" in batch.html
    assert HIT.objects.filter(batch=batch).count() == 2


def test_a_batch_asks_for_qualifications_that_exist_when_it_is_published(lab):
    kind = world.make_qualification(lab, "Botany")
    batch = making.draft(lab, requirements=[world.needs(kind)])
    kind.deleted_at = kind.created_at
    kind.save()
    with pytest.raises(Refusal, match="there is no QualificationType"):
        publication.publish(batch=batch)
    batch.refresh_from_db()
    assert batch.state == State.DRAFT


def test_numbers_of_batches_count_per_requester(lab):
    other = world.make_requester("Other Lab")
    assert [making.draft(lab).number, making.draft(lab).number, making.draft(other).number] == [1, 2, 1]
