"""Applying filters and asking again as jobs: once each, and the page says how far they are."""

import json
import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from core.jobs import runner, services
from core.jobs.models import Job, JobState
from core.projects.models import Event
from crowd.models import HitUnit, Stage
from crowd.services import publication
from judgments.models import FilterRun, Verdict
from judgments.services import filter_runs
from tests.judgments.desk_world import as_, check, judge, make_place, people, run_filter_jobs
from tests.saving import versions

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    """An open stage with a judge who fails every check."""
    place = make_place(status="open", redundancy=4)
    people(place)
    scores = (("q1", 5), ("q2", 1))
    judge(place, [(item, worker, score) for item, score in scores for worker in ("A", "B", "C")])
    judge(place, [("q1", "SPAM", 1), ("q2", "SPAM", 5)])
    for name in ("A", "B", "C", "SPAM"):
        check(place, name, [name != "SPAM"] * 4)
    return place


def at(place, name):
    return reverse(f"judgments:{name}", args=[place.project.slug, place.stage.slug])


def page(place, who="owner"):
    return as_(who).get(at(place, "filters"))


def press_apply(place, once=None):
    rules = '{"rules": ["checks", "kappa"]}'
    form = {"recipe": "default", "parameters": rules, "seen": 0, "seed": 0, "once": once or uuid.uuid4()}
    return as_("owner").post(at(place, "apply_filter"), form, follow=True)


def press_top_up(place, once=None, most="0.24"):
    form = {"most": most, "once": once or uuid.uuid4()}
    return as_("owner").post(at(place, "top_up"), form, follow=True)


def the_job(kind=filter_runs.APPLY):
    return Job.objects.get(kind=kind)


def applied(place):
    press_apply(place)
    run_filter_jobs()


def its_lease_is_over():
    Job.objects.filter(state="running").update(lease_until=timezone.now() - timedelta(seconds=1))
    services.reconcile()


def asked(place):
    return HitUnit.objects.filter(hit__stage=place.stage, hit__state="planned").count()


def test_filters_are_applied_by_a_job_once_and_the_page_says_how_far_it_is(place):
    once = uuid.uuid4()
    said = press_apply(place, once)
    assert "The filters are being applied." in said.content.decode()
    assert "In progress: waiting for its turn" in " ".join(said.content.decode().split())
    assert page(place).headers["Refresh"] == "3"
    assert not FilterRun.objects.exists()
    press_apply(place, once)
    run_filter_jobs()
    run = FilterRun.objects.get()
    assert (run.state, run.created_by.username, the_job().result) == ("in force", "owner", run.pk)
    shown = page(place)
    assert "In progress" not in shown.content.decode()
    assert "Refresh" not in shown.headers
    press_apply(place, once)
    run_filter_jobs()
    assert FilterRun.objects.count() == Event.objects.filter(action="filter.applied").count() == 1


def test_cancelled_before_it_began_or_at_the_last_moment_nothing_is_stored(place, monkeypatch):
    press_apply(place)
    assert services.cancel(job_id=the_job().pk)
    run_filter_jobs()
    assert not FilterRun.objects.exists()
    assert "In progress" not in page(place).content.decode()
    press_apply(place)
    real = runner.JobContext.commit

    def cancelled_before(context, effect):
        services.cancel(job_id=context.job.pk)
        return real(context, effect)

    monkeypatch.setattr(runner.JobContext, "commit", cancelled_before)
    run_filter_jobs()
    jobs = Job.objects.filter(kind=filter_runs.APPLY)
    assert [job.state for job in jobs] == [JobState.CANCELLED, JobState.CANCELLED]
    assert not FilterRun.objects.exists()
    assert not Verdict.objects.exists()


def overtaken(place):
    """A job that finds other filters in force than its person saw."""
    press_apply(place)
    other(place)
    run_filter_jobs()


def other(place):
    return filter_runs.apply(
        stage=place.stage, recipe="none", parameters={}, actor=User.objects.get(username="owner")
    )


def test_a_job_that_was_overtaken_shows_both_versions_to_who_asked_for_it(place):
    overtaken(place)
    answer = page(place)
    assert versions(answer)["Recipe"] == ("default v1", "none v1")
    assert "Take theirs" not in page(place, "manager").content.decode()
    shown = answer.context["overtaken"]
    again = {name: shown[name].value() for name in shown.fields}
    again["parameters"] = json.dumps(again["parameters"])
    assert as_("owner").post(at(place, "apply_filter"), again).status_code == 302
    run_filter_jobs()
    assert FilterRun.objects.get(state="in force").recipe == "default"
    assert "h-conflict" not in page(place).content.decode()


def test_a_job_that_failed_says_why_for_a_day_or_until_something_else_is_done(place):
    overtaken(place)
    assert the_job().state == JobState.FAILED
    said = page(place, "manager").content.decode()
    assert "The last request failed: Somebody applied or undid filters since" in said
    FilterRun.objects.update(created_at=timezone.now() - timedelta(days=2))
    for hours, is_said in ((25, False), (23, True)):
        Job.objects.filter(kind=filter_runs.APPLY).update(finished_at=timezone.now() - timedelta(hours=hours))
        assert ("last request failed" in page(place, "manager").content.decode()) is is_said
    other(place)
    assert "last request failed" not in page(place, "manager").content.decode()


def test_the_same_press_after_it_failed_tries_again(place):
    once = uuid.uuid4()
    Stage.objects.update(status="paused")
    applied(place)
    press_top_up(place, once)
    run_filter_jobs()
    assert "only an open one asks for more" in the_job(filter_runs.TOP_UP).error
    Stage.objects.update(status="open")
    press_top_up(place, once)
    run_filter_jobs()
    assert (the_job(filter_runs.TOP_UP).state, asked(place)) == (JobState.DONE, 2)


def test_a_job_that_runs_is_shown_with_its_step_although_a_later_one_is_over(place):
    press_apply(place)
    first = services.claim(job_id=the_job().pk)
    later = filter_runs.ask_top_up(
        stage=place.stage, most_cents=24, actor=User.objects.get(username="owner"), once="b"
    )
    services.cancel(job_id=later.pk)
    assert filter_runs.under_way_or_failed(place.stage) == (first, None)
    services.report_progress(job=first, done=1, total=2, note="Working out scores")
    assert "In progress: Working out scores, step 2 of 2." in " ".join(page(place).content.decode().split())


def test_killed_before_it_was_stored_it_is_applied_by_the_next_attempt(place, monkeypatch):
    press_apply(place)

    def killed(*_):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(runner.JobContext, "commit", killed)
        with pytest.raises(SystemExit):
            run_filter_jobs()
    assert not FilterRun.objects.exists()
    its_lease_is_over()
    run_filter_jobs()
    assert the_job().state == JobState.DONE
    assert FilterRun.objects.count() == 1
    assert Event.objects.filter(action="filter.applied").count() == 1


def test_ask_again_pressed_twice_or_on_two_pages_asks_once_and_neither_fails(place):
    applied(place)
    once = uuid.uuid4()
    said = press_top_up(place, once)
    assert "What is missing is being published." in said.content.decode()
    press_top_up(place, once)
    assert Job.objects.filter(kind=filter_runs.TOP_UP).count() == 1
    press_top_up(place)
    run_filter_jobs()
    done = Job.objects.filter(kind=filter_runs.TOP_UP).order_by("pk")
    assert [(job.state, job.result) for job in done] == [("done", 2), ("done", 0)]
    assert asked(place) == 2
    assert Event.objects.filter(action="stage.topped_up").count() == 1


def test_killed_after_it_published_it_publishes_nothing_twice(place, monkeypatch):
    applied(place)
    press_top_up(place)

    def killed(**_):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(services, "finish", killed)
        with pytest.raises(SystemExit):
            run_filter_jobs()
    assert asked(place) == 2
    its_lease_is_over()
    run_filter_jobs()
    assert (the_job(filter_runs.TOP_UP).state, asked(place)) == (JobState.DONE, 2)
    assert Event.objects.filter(action="stage.topped_up").count() == 1


@pytest.mark.parametrize(("wanted", "state", "in_all"), [(4, "done", 2), (5, "failed", 1)])
def test_killed_half_way_the_next_attempt_spends_no_more_than_was_confirmed(
    place, monkeypatch, wanted, state, in_all
):
    applied(place)
    press_top_up(place)
    real = publication._plan_batch

    def first_only(stage, owner, batch):
        real(stage, owner, batch[:1])
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(publication, "_plan_batch", first_only)
        with pytest.raises(SystemExit):
            run_filter_jobs()
    assert asked(place) == 1
    Stage.objects.update(redundancy=wanted)
    its_lease_is_over()
    run_filter_jobs()
    job = the_job(filter_runs.TOP_UP)
    assert (job.state, asked(place)) == (state, in_all)
    assert ("by now, more than the $0.24 that you saw" in job.error) == (state == "failed")


def test_what_costs_more_by_now_fails_in_words(place):
    applied(place)
    press_top_up(place, most="0.23")
    run_filter_jobs()
    assert asked(place) == 0
    said = page(place).content.decode()
    assert "It costs $0.24 by now, more than the $0.23 that you saw." in said
