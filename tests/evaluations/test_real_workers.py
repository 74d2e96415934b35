"""Two worker processes share an evaluation, and its files are the bytes that one process gives alone."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.utils import timezone

from core.jobs.models import Job, JobState, WorkerHeartbeat
from core.jobs.services import enqueue
from evaluations.executor import HELP
from evaluations.models import Evaluation
from tests.evaluations.desk_world import make_evaluation, make_release
from tests.jobs.conftest import effect_table, empty_queue, eventually, start_worker  # noqa: F401
from tests.releases.shelf_world import make_project

pytestmark = pytest.mark.django_db(transaction=True)
#: Enough draws that the second worker comes before all parts are done.
PLAN: dict[str, Any] = {"metrics": ["bleu-1", "rouge-l", "chrf"], "replicates": 400, "draws": 9999}


def both_at_work() -> bool:
    return Job.objects.filter(kind="test.silent", state=JobState.RUNNING).count() == 2


def finished(evaluation: Evaluation) -> bool:
    return Evaluation.objects.filter(pk=evaluation.pk, state__in=("ready", "failed")).exists()


def files(evaluation: Evaluation) -> list[tuple[str, str]]:
    return [(each["name"], each["sha256"]) for each in evaluation.files]


@pytest.mark.long
def test_workers_on_the_broker_share_the_parts_and_change_no_byte(
    start_worker,  # noqa: F811
    monkeypatch,
):
    monkeypatch.setenv("RELEASES_STORAGE", str(Path(configured.RELEASES_STORAGE)))
    release = make_release(make_project())
    alone = make_evaluation(release, **PLAN)
    WorkerHeartbeat.objects.bulk_create(WorkerHeartbeat(name=name, seen_at=timezone.now()) for name in "ab")
    for name in "ab":
        enqueue(kind="test.silent", payload={"name": name, "seconds": 2})
    for _ in "ab":
        start_worker()
    eventually(both_at_work, what="two workers at work at the same time")

    shared = make_evaluation(release, ran=False, **PLAN)
    eventually(lambda: finished(shared), what="the evaluation that two workers share")
    shared.refresh_from_db()
    assert shared.state == "ready", shared.why
    assert files(shared) == files(alone)
    helped = [job.result["parts"] for job in Job.objects.filter(kind=HELP, state=JobState.DONE)]
    assert sum(helped) > 0
