"""Rows that only grow: what is old goes, what is needed stays."""

from datetime import timedelta

import pytest
from axes.models import AccessLog
from django.contrib.sessions.models import Session
from django.utils import timezone

from distillery import retention
from jobs.models import Job, JobState
from marketplace.audits import AUDIT
from notices.models import Notice
from projects.services import create_project

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
    assert retention.prune() == 5
    assert list(Session.objects.values_list("session_key", flat=True)) == ["new"]
    assert list(AccessLog.objects.values_list("username", flat=True)) == ["new"]
    assert set(Notice.objects.values_list("key", flat=True)) == {"new", "open"}
    assert sorted(Job.objects.values_list("kind", flat=True)) == sorted(["new", "new", "old", AUDIT, "open"])
    assert Job.objects.filter(effect="once:old").exists()
    assert retention.prune() == 0


def test_nothing_but_ended_sessions_goes_where_all_is_kept(rows, settings):
    settings.LOGS_KEPT_DAYS = 0
    assert retention.prune() == 1
