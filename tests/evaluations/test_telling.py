"""What people hear of evaluations elsewhere: on the overview, and in notices."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import models
from django.utils import timezone

from core.jobs.models import Job
from evaluations import extension
from evaluations.extension import say
from evaluations.models import Evaluation
from releases.models import Release
from tests.evaluations.desk_world import make_evaluation, make_release
from tests.releases.shelf_world import make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def release(settings: Any, tmp_path: Path) -> Any:
    settings.RELEASES_STORAGE, settings.DATA_DIR = str(tmp_path / "shelf"), tmp_path
    return make_release(make_project())


def sentences(release: Any) -> list[str]:
    return [each.sentence for each in say(release.project, None).attention]


def test_a_release_that_nobody_evaluated_is_named_on_the_overview(release):
    assert sentences(release) == ["Release 1.0.0 has human scores and no evaluation yet."]
    make_evaluation(release, ran=False)
    assert sentences(release) == []


def test_one_that_failed_is_named_on_the_overview(release):
    make_evaluation(release, lacks="no-such")
    assert sentences(release) == ["The evaluation of release 1.0.0 failed."]


def test_what_is_ready_is_news_with_the_metric_that_agrees_best_with_people_or_with_programs(release):
    done = make_evaluation(release)
    [told] = extension.over(timezone.now())
    assert told.kind == "evaluation_ready"
    assert told.address == "/desk/projects/capitals/evaluations/1.0.0/1/"
    assert f"is ready: {done.best} agrees best with people" in told.sentence
    models.QuerySet(Release).update(simulated=True)
    [told] = extension.over(timezone.now())
    assert f"is ready: {done.best} agrees best with simulated scores" in told.sentence


def test_what_failed_is_an_alarm_with_the_reason(release):
    make_evaluation(release, lacks="no-such")
    [told] = extension.over(timezone.now())
    assert (told.kind, told.level) == ("evaluation_failed", "alarm")
    assert "There is no metric 'no-such'" in told.sentence


def test_one_that_no_worker_goes_on_with_is_a_warning(release):
    waits = make_evaluation(release, ran=False)
    now = timezone.now()
    assert list(extension.silent(now)) == []
    Evaluation.objects.filter(pk=waits.pk).update(created_at=now - timedelta(hours=1))
    Job.objects.filter(pk=waits.job).update(run_after=now - timedelta(hours=1))
    [told] = extension.silent(now)
    assert told.kind == "evaluation_silent"
