"""The rules: what raises a notice, what does not, and that many stages cost no more queries than one."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.jobs.models import Job, JobState
from core.notices.conditions import look
from core.notices.models import Notice
from core.projects.models import Project
from core.projects.services import record
from crowd.models import Assignment, Hit, Stage
from judgments.models import AgreementReport
from releases.models import Release
from tests.desk.conftest import at, make_hit, make_stage, make_unknown, make_work
from tests.judgments.desk_world import make_place

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def going(stage):
    """The stage, open since yesterday."""
    Stage.objects.update(status=Stage.Status.OPEN, opened_at=timezone.now() - 24 * HOUR)
    stage.refresh_from_db()
    return stage


def told(kind):
    """The sentence of the open notice of this kind after a look; None if there is none."""
    look(timezone.now())
    return Notice.objects.filter(kind=kind, over_at=None).values_list("sentence", flat=True).first()


def soon(hours=5):
    return timezone.now() + hours * HOUR


def test_hits_that_expire_with_places_open(going):
    make_work(make_hit(going, expires_at=soon()), "A1")
    make_hit(going, expires_at=soon())
    make_hit(going, expires_at=soon(48))
    assert told("expiring") == (
        "2 HITs expire within a day with 5 places open in A poll. "
        "Give them more time, or let the stage offer them again."
    )
    assert Notice.objects.get(kind="expiring").address == f"{at('hits', going)}?state=open"
    Hit.objects.update(expires_at=soon(72))
    assert told("expiring") is None
    assert Notice.objects.get(kind="expiring").over_at is not None


def test_hits_whose_places_are_all_taken_may_expire(going):
    make_work(make_hit(going, places=1, expires_at=soon()), "A1")
    assert told("expiring") is None
    make_work(make_hit(going, places=1, expires_at=soon()), "A2", state="ended")
    assert told("expiring").startswith("1 HIT expires within a day with 1 place open")


def test_held_work_that_soon_approves_itself(going):
    due = timezone.now().replace(hour=12, minute=30) + 12 * HOUR
    due = min(due, timezone.now() + 20 * HOUR)
    make_work(make_hit(going), "A1", held=True, auto_approve_at=due)
    make_work(make_hit(going), "A2", auto_approve_at=due)
    assert told("auto_approval") == (
        f"1 submission is approved automatically within a day (1 of them held) in A poll, the first on "
        f"{due:%-d %B at %H:%M} UTC."
    )


def test_work_that_a_person_reviews_is_told_of_and_other_work_is_not(going):
    make_work(make_hit(going), "A1", auto_approve_at=soon())
    assert told("auto_approval") is None
    Stage.objects.update(approve_at_once=False)
    assert told("auto_approval").startswith("1 submission is approved automatically within a day in A poll")
    Assignment.objects.update(state="approved")
    assert told("auto_approval") is None


def test_a_stage_that_spent_nine_tenths(going):
    Stage.objects.update(reserved_cents=2_000)
    assert told("budget_low") is None, "money is set aside for places on offer"
    Stage.objects.update(reserved_cents=0, spent_cents=1_801)
    assert told("budget_low") == ("Less than a tenth of the budget of A poll is unspent: $1.99 of $20.00.")


def test_a_project_with_less_than_a_tenth_left_while_a_stage_is_open(going):
    Project.objects.update(spent_cents=4_000, reserved_cents=5_100)
    assert told("budget_low") == (
        "Less than a tenth of the project's budget is left: $9.00 of $100.00 is neither spent nor reserved."
    )
    Stage.objects.update(status=Stage.Status.CLOSED)
    assert told("budget_low") is None


def test_a_stage_that_asks_nobody_new_for_want_of_money(going):
    Stage.objects.update(spent_cents=1_990)
    record(project=going.project, action="stage.budget_reached", subject=going.slug)
    assert told("budget_reached") == (
        "A poll asks no one else: its budget of $20.00 or the project's is used up or reserved. "
        "Raise it, or ask fewer people for each unit."
    )
    assert told("budget_low") is None
    Stage.objects.update(budget_cents=5_000)
    assert told("budget_reached") is None


def test_a_stage_to_which_nobody_sends_anything(going):
    # Of another stage, so that keys of stages and of work are not the same by chance.
    make_work(make_hit(make_stage(going.project, going.endpoint, slug="other")), "A0")
    hit = make_hit(going, published_at=timezone.now() - HOUR)
    assert told("stuck") is None
    Hit.objects.filter(pk=hit.pk).update(published_at=timezone.now() - 13 * HOUR)
    assert told("stuck").startswith("Nothing was submitted to A poll for 12 hours")
    Hit.objects.filter(pk=hit.pk).update(state=Hit.State.CLOSED)
    assert told("stuck") is None, "nothing is on offer"
    Hit.objects.filter(pk=hit.pk).update(state=Hit.State.OPEN)
    make_work(make_hit(going), "A1")
    assert told("stuck") is None


def test_of_a_large_stage_the_newest_work_says_whether_it_is_stuck(going, monkeypatch):
    monkeypatch.setattr("crowd.watch._NEWEST", 2)
    now = timezone.now()
    hit = make_hit(going, places=9, published_at=now - 20 * HOUR)
    for name, arrived in (("A1", 20), ("A2", 19), ("A3", 18), ("A4", 17)):
        make_work(hit, name, arrived_at=now - arrived * HOUR, stored_at=now - arrived * HOUR + HOUR)
    assert told("stuck") is not None
    before_them = Assignment.objects.filter(worker__external_id="A2")
    before_them.update(arrived_at=now - 12.5 * HOUR, stored_at=now - 12.1 * HOUR)
    assert told("stuck") is not None
    before_them.update(stored_at=now - 11.9 * HOUR)
    assert told("stuck") is None


def test_operations_that_need_a_person(going):
    make_unknown(make_hit(going))
    assert told("undecided") == "1 operation needs your decision in A poll: the marketplace did not answer."
    assert Notice.objects.get(kind="undecided").level == Notice.Level.ALARM


def test_a_stage_that_is_finished(going):
    hit = make_hit(going, state=Hit.State.CLOSED)
    work = make_work(hit, state="submitted")
    assert told("finished") is None
    Assignment.objects.filter(pk=work.pk).update(state="approved", decided_at=timezone.now() - HOUR)
    assert told("finished") == ("A poll has all the work it asked for. Look at it, then close the stage.")
    Stage.objects.update(status=Stage.Status.CLOSED)
    assert told("finished") is None
    Stage.objects.update(status=Stage.Status.OPEN)
    record(project=going.project, action="stage.budget_reached", subject=going.slug)
    assert told("finished") is None, "it stopped for want of money"


def make_job(project, kind="annotation.import", **fields):
    return Job.objects.create(kind=kind, payload={"project": project.pk}, **fields)


def test_an_import_that_failed_is_told_for_some_days(project):
    job = make_job(
        project, state=JobState.FAILED, error="There is no column text.", finished_at=timezone.now()
    )
    assert told("job_failed") == "An import of queries failed: There is no column text."
    assert Notice.objects.get().address == f"/desk/projects/reading/imports/running/{job.pk}/"
    Job.objects.update(finished_at=timezone.now() - 100 * HOUR)
    assert told("job_failed") is None


def test_a_job_that_no_worker_goes_on_with(project):
    make_job(project, run_after=timezone.now() - HOUR)
    assert told("job_silent") == "An import of queries waits, and no worker goes on with it."
    Job.objects.update(run_after=Now())
    assert told("job_silent") is None


def test_a_report_that_failed_is_told_in_its_project():
    place = make_place()
    Job.objects.create(
        kind="judgments.report",
        payload={"stage": place.stage.pk},
        state=JobState.FAILED,
        error="ValueError: no",
        finished_at=timezone.now(),
    )
    assert told("job_failed") == "The report on agreement failed: ValueError: no"
    assert Notice.objects.get().project == place.project


def test_jobs_of_unknown_kinds_and_projects_that_are_gone_are_nobodys(project):
    for kind, payload in (("other", {"project": project.pk}), ("annotation.import", {"project": 0})):
        Job.objects.create(
            kind=kind, payload=payload, state=JobState.FAILED, error="no", finished_at=timezone.now()
        )
    assert told("job_failed") is None


def report(stage, alpha, days=0):
    return AgreementReport.objects.create(
        stage=stage, stamp=f"{alpha} {days}", last_judgment=1, judgments=100, seconds=1,
        report={"alpha": {"after_workers": {"cross_fitted": alpha}}},
        created_at=timezone.now() - timedelta(days=days),
    )  # fmt: skip


def test_agreement_below_the_target_by_the_newest_report():
    stage = make_place(config={"target_alpha": 0.5}).stage
    report(stage, None, days=2)  # an alpha that is not defined
    assert told("agreement") is None
    report(stage, 0.7, days=1)
    assert told("agreement") is None
    report(stage, 0.31)
    assert told("agreement") == (
        "Judges of Judging agree less than you asked for: Krippendorff's alpha is 0.31, the target 0.50."
    )


def make_release(project, **fields):
    return Release.objects.create(project=project, version="1.0.0", created_at=timezone.now(), **fields)


def test_a_release_that_was_built_and_one_that_failed(project):
    row = make_release(project)
    assert told("release_built") is None
    Release.objects.update(state="failed", error="The disk is full.")
    assert told("release_failed") == "Release 1.0.0 could not be built: The disk is full."
    Release.objects.update(state="ready", digest="d", built_at=timezone.now())
    assert told("release_built") == "Release 1.0.0 is built."
    assert told("release_failed") is None
    assert row.pk


@pytest.mark.long
def test_many_stages_cost_no_more_queries_than_one(project, endpoint):
    def fill(start, end):
        for number in range(start, end):
            stage = make_stage(project, endpoint, slug=f"s{number}")
            Stage.objects.filter(pk=stage.pk).update(
                status="open", opened_at=timezone.now() - 24 * HOUR, spent_cents=1_900
            )
            make_unknown(make_hit(stage, expires_at=soon(), published_at=timezone.now() - 20 * HOUR))
            make_work(make_hit(stage), f"W{number}", held=True, stored_at=timezone.now() - 20 * HOUR)
            make_job(project, state=JobState.FAILED, error="no", finished_at=timezone.now())

    counted = []
    for start, end in ((0, 1), (1, 12)):
        fill(start, end)
        look(timezone.now())
        with CaptureQueriesContext(connection) as asked:
            look(timezone.now())
        counted.append(len([query for query in asked if "SAVEPOINT" not in query["sql"]]))
    assert counted[0] == counted[1] <= 24
    assert Notice.objects.filter(over_at=None).count() == 72
