"""Rows that only grow: what is old goes, what is needed stays."""

from datetime import timedelta

import pytest
from axes.models import AccessLog
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

from core.accounts.models import SignedKey
from core.jobs.models import Job, JobState
from core.notices.models import Notice
from core.projects.services import create_project
from distillery import tasks
from judgments.models import AgreementReport, FilterRun
from marketplace.money.ledger import AUDIT
from tests.judgments.desk_world import make_place

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(settings):
    """Of each kind an old one and one that stays, `old` or `new` in its name."""
    now = timezone.now()
    times = {"old": now - timedelta(days=settings.LOGS_KEPT_DAYS + 1), "new": now - timedelta(days=1)}
    project = create_project(slug="p", title="P")
    for name, at in times.items():
        AccessLog.objects.create(username=name, ip_address="192.0.2.1")
        AccessLog.objects.filter(username=name).update(attempt_time=at)
        Notice.objects.create(project=project, kind="k", key=name, sentence=name, raised_at=at, over_at=at)
        for kind, effect in ((name, None), (AUDIT, f"audit:{name}"), (name, f"once:{name}")):
            Job.objects.create(kind=kind, effect=effect, state=JobState.DONE, finished_at=at)
    Notice.objects.create(project=project, kind="k", key="open", sentence="open", raised_at=times["old"])
    Job.objects.create(kind="open")
    Session.objects.create(session_key="old", session_data="", expire_date=now - timedelta(seconds=1))
    Session.objects.create(session_key="new", session_data="", expire_date=now + timedelta(days=1))


def test_what_is_old_goes_and_what_keeps_an_effect_from_happening_again_stays(rows):
    assert tasks.prune() == 5
    assert list(Session.objects.values_list("session_key", flat=True)) == ["new"]
    assert list(AccessLog.objects.values_list("username", flat=True)) == ["new"]
    assert set(Notice.objects.values_list("key", flat=True)) == {"new", "open"}
    assert sorted(Job.objects.values_list("kind", flat=True)) == sorted(["new", "new", "old", AUDIT, "open"])
    assert Job.objects.filter(effect="once:old").exists()
    assert tasks.prune() == 0


def test_nothing_but_ended_sessions_goes_where_all_is_kept(rows, settings):
    settings.LOGS_KEPT_DAYS = 0
    assert tasks.prune() == 1


def test_reports_that_later_ones_replaced_go_but_those_of_filters_in_force_stay(settings):
    now = timezone.now()
    stage = make_place().stage
    run = FilterRun.objects.create(
        stage=stage, recipe="default", parameters={}, last_judgment=0, created_at=now
    )
    for name, days, of in (("replaced", 120, None), ("in force", 110, run), ("last", 100, None)):
        AgreementReport.objects.create(
            stage=stage, run=of, stamp=name, last_judgment=0, judgments=0, report={}, seconds=1,
            created_at=now - timedelta(days=days),
        )  # fmt: skip
    assert tasks.prune() == 1
    assert set(AgreementReport.objects.values_list("stamp", flat=True)) == {"in force", "last"}
    FilterRun.objects.update(state=FilterRun.State.UNDONE)
    assert tasks.prune() == 1
    assert AgreementReport.objects.get().stamp == "last"


def test_keys_of_programs_go_when_they_have_been_over_for_long(settings):
    user = User.objects.create_user("u")
    now = timezone.now()
    for name, days in (("old", settings.LOGS_KEPT_DAYS + 1), ("ended", 1), ("new", -1)):
        SignedKey.objects.create(
            user=user, digest=name, epoch="e", name=name, made_at=now, expires_at=now - timedelta(days=days)
        )
    tasks.prune()
    assert set(SignedKey.objects.values_list("name", flat=True)) == {"ended", "new"}
