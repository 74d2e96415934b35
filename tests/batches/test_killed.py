"""A worker that is killed while it publishes or expires a batch loses nothing and doubles nothing."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.utils import timezone

from core.jobs import services
from core.jobs.models import Job, JobState
from marketplace import clock
from marketplace.batches import extensions, publication
from marketplace.heritage import workerfiles as worker_files
from marketplace.models import HIT, Batch, Bonus
from marketplace.money import ledger
from tests.batches import making
from tests.batches.race import publish_at_once
from tests.jobs.conftest import ROOT, database_url_of_this_test
from tests.site import world

pytestmark = pytest.mark.django_db(transaction=True)
MODULE = "marketplace.batches.publication"
EXTENDING = "marketplace.batches.extensions"
LONG = pytest.mark.long


def attempt(job: Job, function: str, when: str) -> None:
    """One attempt that dies there; then its lease runs out."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "distillery.settings",
        "DATA_DIR": str(settings.DATA_DIR),
        "DATABASE_URL": database_url_of_this_test(),
        "PYTHONWARNINGS": "ignore",
    }
    command = [sys.executable, "-m", "tests.batches.crash", str(job.pk), function, when]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    Job.objects.filter(state=JobState.RUNNING).update(lease_until=timezone.now() - timedelta(hours=1))
    services.reconcile()


@pytest.mark.parametrize(
    ("function", "when"),
    [
        pytest.param(f"{MODULE}.create_hits", "before", id="before-the-hit", marks=LONG),
        pytest.param("marketplace.money.ledger.post", "after", id="money-moved"),
        pytest.param(f"{MODULE}.create_hits", "after", id="hit-not-linked", marks=LONG),
        pytest.param(f"{MODULE}._publish_together", "after", id="committed"),
        pytest.param(f"{MODULE}._finish", "before", id="at-the-end", marks=LONG),
    ],
)
def test_every_row_has_exactly_one_hit_wherever_the_worker_dies(function, when):
    lab = world.make_requester(dollars=100)
    batch = making.draft(lab, making.rows(5), places=2)
    job = publication.publish(batch=batch)
    attempt(job, function, when)
    batch.refresh_from_db()
    assert batch.state == Batch.State.PUBLISHING
    assert HIT.objects.filter(batch=batch).count() == batch.published_count
    assert ledger.audit() == []
    making.run_jobs()
    batch.refresh_from_db()
    assert (batch.state, batch.published_count) == (Batch.State.PUBLISHED, 5)
    assert sorted(batch.tasks.values_list("hit__batch_task__ordinal", flat=True)) == [1, 2, 3, 4, 5]
    assert HIT.objects.filter(batch=batch).count() == 5
    lab.refresh_from_db()
    assert lab.held_cents == 100
    assert ledger.audit() == []


def test_a_batch_is_off_offer_wherever_the_worker_dies():
    lab = world.make_requester(dollars=100)
    batch = making.published(lab, making.rows(5))
    job = publication.cancel(batch=batch)
    attempt(job, f"{MODULE}.set_expiration", "after")
    making.run_jobs()
    lab.refresh_from_db()
    assert lab.held_cents == 0
    assert ledger.audit() == []


def test_two_workers_at_one_batch_make_one_hit_of_a_row():
    """The first was taken for dead and comes back: what the other has done is not done again."""
    lab = world.make_requester(dollars=100)
    batch = making.draft(lab, making.rows(12))
    publication.publish(batch=batch)
    made = publish_at_once(batch, threads=3)
    batch.refresh_from_db()
    assert made == batch.published_count == HIT.objects.filter(batch=batch).count() == 12
    assert ledger.audit() == []


@pytest.mark.parametrize(
    ("function", "when"),
    [
        pytest.param("marketplace.money.ledger.post", "after", id="money-moved", marks=LONG),
        pytest.param(f"{EXTENDING}._extend_together", "after", id="committed"),
        pytest.param(f"{EXTENDING}._finish", "before", id="at-the-end", marks=LONG),
    ],
)
def test_every_hit_is_extended_once_wherever_the_worker_dies(function, when):
    lab = world.make_requester(dollars=100)
    batch = making.published(lab, making.rows(5))
    wish = extensions.Wish(places=2)
    cost = extensions.cost_of_extension(batch, wish, clock.now())
    extension = extensions.extend_batch(batch=batch, wish=wish, cents=cost.total, once=uuid4())
    attempt(extensions.job_of_extension(extension), function, when)
    assert ledger.audit() == []
    making.run_jobs()
    assert set(HIT.objects.values_list("max_assignments", "held_places")) == {(3, 3)}
    extension.refresh_from_db()
    assert (extension.state, extension.changed, extension.held_cents) == ("done", 5, cost.total)
    assert ledger.audit() == []


@pytest.mark.parametrize("when", [pytest.param("before", marks=LONG), "after"])
def test_every_bonus_of_a_file_is_paid_once_wherever_the_worker_dies(when):
    lab, rosa = world.make_requester(dollars=100), world.make_worker("rosa")
    work = world.do(rosa, world.post(world.make_group(lab)))
    text = "assignment,amount,reason\n" + "".join(f"{work.assignment_id},1,Reason {n}\n" for n in range(5))
    file = worker_files.make_file(requester=lab, sheet=making.sheet(text))
    job = worker_files.confirm(file=file, cents=file.cents + file.fee_cents)
    attempt(job, "marketplace.lifecycle.review.send_bonus", when)
    assert Bonus.objects.count() == file.lines.filter(state="done").count()
    making.run_jobs()
    assert sorted(Bonus.objects.values_list("reason", flat=True)) == [f"Reason {n}" for n in range(5)]
    assert ledger.audit() == []
