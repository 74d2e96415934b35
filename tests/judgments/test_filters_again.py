"""A filter run in force is made again when work that it saw begins or ceases to count; all then agrees."""

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone

from core.jobs import runner
from core.jobs.models import Job
from core.projects.models import Event, Project
from crowd.kinds import kind_of
from crowd.models import Assignment, Recount, Stage
from crowd.services import decisions
from crowd.services.decisions import reconsider
from judgments.models import AgreementReport, FilterRun, Judgment, Score, Verdict
from judgments.selectors.live import live
from judgments.selectors.ratings import stamp_of
from judgments.services import filter_runs, reports
from judgments.services.filter_runs import JudgedWork
from people.models import Guest
from tests.judgments.desk_world import Place, as_, candidate_of, check, judge, make_place, people, worker_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def place() -> Place:
    """Two answers with three honest judges, and a fourth who fails every check; filters are in force."""
    place = make_place()
    people(place)
    for item, score in (("q1", 5), ("q2", 1)):
        judge(place, [(item, worker, score) for worker in ("A", "B")])
        judge(place, [(item, "C", score - 1 if score > 1 else 2)], state="submitted")
    judge(place, [("q1", "SPAM", 1), ("q2", "SPAM", 5)])
    for name in ("A", "B", "C"):
        check(place, name, [True] * 4)
    check(place, "SPAM", [False] * 4)
    Stage.objects.filter(pk=place.stage.pk).update(reserved_cents=10_000)
    Project.objects.filter(pk=place.project.pk).update(reserved_cents=10_000)
    place.stage.refresh_from_db()
    filter_runs.apply(stage=place.stage, recipe="default", parameters={}, actor=None)
    return place


def work_of(place, worker, item="q1"):
    return Assignment.objects.get(
        stage=place.stage,
        judgments__candidate=candidate_of(place, item),
        judgments__worker=worker_of(place, worker),
    )


@transaction.atomic
def reject(work):
    assert decisions.book_rejection(work, at=timezone.now())


def score(place, item="q1"):
    row = Score.objects.get(run__state="in force", candidate=candidate_of(place, item))
    return row.n_raw, row.n_kept, row.mean


def remade():
    return Event.objects.filter(action="filter.remade")


def test_scores_and_counts_leave_out_work_that_was_rejected_and_take_it_back(place):
    run = FilterRun.objects.get()
    assert score(place) == (4, 3, pytest.approx(14 / 3))
    work = work_of(place, "C")
    reject(work)
    old = live(place.stage).kept_scores["a"].mean  # a page that was drawn in between
    assert reconsider(place.stage) == 1
    assert live(place.stage).kept_scores["a"].mean != old
    assert live(place.stage).stamp == stamp_of(place.stage)
    assert score(place) == (3, 2, 5.0)
    again = FilterRun.objects.get()
    assert (again.pk, again.state, again.last_judgment) == (run.pk, "in force", run.last_judgment)
    assert (run.summary["counts"]["ratings"], again.summary["counts"]["ratings"]) == (8, 7)
    event = remade().get()
    assert event.actor is None
    assert event.details["why"] == "the work of C was rejected"
    assert (event.details["ratings_before"], event.details["ratings"]) == (8, 7)
    page = as_("viewer").get(reverse("judgments:filters", args=[place.project.slug, place.stage.slug]))
    assert "because <bdi>the work of C was rejected</bdi>" in " ".join(page.content.decode().split())
    assert decisions.book_approval(work, at=timezone.now())
    reconsider(place.stage)
    assert score(place) == (4, 3, pytest.approx(14 / 3))
    assert FilterRun.objects.get().remade == 2
    reject(work_of(place, "C", "q2"))
    reconsider(place.stage)
    assert (score(place)[0], score(place, "q2")[0]) == (4, 3)


def test_a_judge_whose_checks_no_longer_count_is_no_longer_removed(place):
    assert Verdict.objects.filter(worker=worker_of(place, "SPAM"), removes=True).exists()
    checks = Assignment.objects.filter(stage=place.stage, worker=worker_of(place, "SPAM"), judgments=None)
    for work in checks:
        Assignment.objects.filter(pk=work.pk).update(state="submitted")
        reject(work)
    reconsider(place.stage)
    assert not Verdict.objects.filter(worker=worker_of(place, "SPAM"), rule="attention checks", removes=True)


def test_the_report_of_agreement_is_asked_for_and_agrees(place):
    reject(work_of(place, "C"))
    reconsider(place.stage)
    row = reports.make(place.stage, lambda *_: None)
    assert row.report["differs"] == 0
    asked = Job.objects.filter(kind=reports.REPORT, effect__endswith=row.stamp)
    assert asked.count() == 1
    assert not AgreementReport.objects.exists()


def test_work_that_came_after_the_run_and_one_without_a_run_in_force_change_nothing(place):
    (later, _) = judge(place, [("q1", "LATE", 5), ("q1", "LATER", 1)], state="submitted")
    reject(later.assignment)
    reconsider(place.stage)
    assert not remade().exists()
    assert FilterRun.objects.get().remade == 0
    reject(work_of(place, "C"))
    reconsider(place.stage)
    assert score(place) == (3, 2, 5.0)
    assert remade().count() == 1
    filter_runs.undo(FilterRun.objects.get(), "too strict", User.objects.get(username="owner"))
    reject(work_of(place, "C", "q2"))
    reconsider(place.stage)
    assert remade().count() == 1


def test_the_last_judgments_may_go(place):
    for work in Assignment.objects.filter(stage=place.stage).exclude(judgments=None):
        Assignment.objects.filter(pk=work.pk).update(state="submitted")
        reject(work)
    reconsider(place.stage)
    assert not Score.objects.exists()
    assert FilterRun.objects.get().summary["counts"]["ratings"] == 0


def test_killed_before_the_commit_it_is_done_again_and_only_once(place, monkeypatch):
    reject(work_of(place, "C"))
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt), transaction.atomic():
        patched.setattr(reports, "ask", _killed)
        reconsider(place.stage)
    assert (score(place)[0], Recount.objects.count(), remade().count()) == (4, 1, 0)
    reconsider(place.stage)
    assert (score(place)[0], Recount.objects.count(), remade().count()) == (3, 0, 1)


def _killed(**_given):
    raise KeyboardInterrupt


def test_asked_again_for_the_same_work_nothing_changes(place):
    work = work_of(place, "C")
    reject(work)
    reconsider(place.stage)
    rows = list(Score.objects.order_by("pk").values_list("pk", flat=True))
    kind_of(place.stage).reconsider(place.stage, {work.pk: "the work of C was rejected"})
    assert list(Score.objects.order_by("pk").values_list("pk", flat=True)) == rows
    assert remade().count() == 1


def test_work_that_changes_while_it_is_decided_is_taken_as_it_is_in_the_end(place, monkeypatch):
    reject(work_of(place, "C"))
    decide = filter_runs._decided

    def slow(run):
        found = decide(run)
        monkeypatch.setattr(filter_runs, "_decided", decide)
        reject(work_of(place, "C", "q2"))
        return found

    monkeypatch.setattr(filter_runs, "_decided", slow)
    reconsider(place.stage)
    assert (score(place)[0], score(place, "q2")[0]) == (3, 3)


def test_work_that_is_rejected_while_filters_are_applied_is_looked_at_once_more(place, monkeypatch):
    decide = filter_runs.decide

    def slow(stage, recipe):
        monkeypatch.setattr(filter_runs, "decide", decide)
        found = decide(stage, recipe)
        reject(work_of(place, "C"))
        reconsider(stage)
        return found

    monkeypatch.setattr(filter_runs, "decide", slow)
    filter_runs.apply(stage=place.stage, recipe="none", parameters={}, actor=None)
    assert score(place)[0] == 4
    runner.run(job_id=Job.objects.get(kind=filter_runs.REMAKE).pk)
    assert score(place)[0] == 3


@pytest.mark.django_db(transaction=True)
def test_two_rounds_at_once_make_it_again_once(place):
    work = work_of(place, "C")
    reject(work)
    barrier = threading.Barrier(2)

    def go():
        try:
            barrier.wait()
            kind_of(place.stage).reconsider(place.stage, {work.pk: "the work of C was rejected"})
        finally:
            connection.close()

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (remade().count(), score(place)) == (1, (3, 2, 5.0))
    assert Judgment.objects.count() == 8


def test_who_withdraws_is_in_no_score_and_stays_paid(place):
    """The run in force is made again without them; state and money of their work are as before."""
    mine = Assignment.objects.filter(stage=place.stage, worker=worker_of(place, "A"))
    before = sorted(mine.values_list("pk", "state"))
    guest = Guest.objects.create(
        project=place.project,
        identity_kind="browser",
        identity="a",
        worker_id=worker_of(place, "A").external_id,
        recovery_digest="a",
        made_at=timezone.now(),
    )
    spent = Stage.objects.get(pk=place.stage.pk).spent_cents
    count = JudgedWork().set_aside(guest)
    assert count == len(before)
    assert JudgedWork().set_aside(guest) == 0
    reconsider(place.stage)
    run = FilterRun.objects.in_force().get(stage=place.stage)
    assert not Verdict.objects.filter(run=run, judgment__worker=worker_of(place, "A")).exists()
    assert Score.objects.get(run=run, candidate=candidate_of(place, "q1")).n_raw == 3
    assert sorted(mine.values_list("pk", "state")) == before
    assert Stage.objects.get(pk=place.stage.pk).spent_cents == spent
