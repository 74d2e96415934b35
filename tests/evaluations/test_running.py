"""The job of an evaluation: it ends with a report and its files, or with nothing; workers share its parts."""

import json
import uuid
from typing import Any

import pytest
from django.conf import settings

from core.jobs import services as jobs
from core.jobs.models import Job, JobState
from core.jobs.runner import run
from core.projects.models import Event
from evaluations import services, storage
from evaluations.errors import EvaluationError
from evaluations.models import Call, Evaluation, FrozenError, Part
from evaluations.plans import plan_of
from evaluations.services import begin, begin_again
from releases.models import Release
from tests.evaluations.desk_world import make_evaluation, make_release

pytestmark = pytest.mark.django_db


@pytest.fixture
def release(evaluated_release: Release) -> Release:
    return evaluated_release


def fresh(evaluation: Evaluation) -> Evaluation:
    return Evaluation.objects.get(pk=evaluation.pk)


def test_an_evaluation_ends_with_its_report_and_files_and_never_changes(ready_evaluation):
    done = ready_evaluation
    assert (done.state, done.number, done.why) == ("ready", 1, "")
    assert set(done.report["metrics"]) == {"bleu-1", "rouge-l"}
    assert done.report["n"]["answers"] == 90
    assert done.best in done.report["metrics"]
    assert [each["name"] for each in done.files] == ["report.html", "report.json", "scores.csv", "table.tex"]
    with storage.open_at(done, "report.json") as file:
        assert json.load(file) == done.report
    assert (Call.objects.count(), Part.objects.count()) == (0, 0)
    assert list((settings.DATA_DIR / "building").iterdir()) == []
    found = Event.objects.filter(action__startswith="evaluation.").order_by("pk")
    assert list(found.values_list("action", "subject", "actor__username")) == [
        ("evaluation.planned", "1.0.0 no. 1", "manager"),
        ("evaluation.ready", "1.0.0 no. 1", "manager"),
    ]
    done.title = "Another"
    with pytest.raises(FrozenError):
        done.save()
    with pytest.raises(FrozenError):
        Evaluation.objects.filter(pk=done.pk).update(report={})
    with pytest.raises(FrozenError):
        done.delete()
    with pytest.raises(EvaluationError, match="failed or was cancelled"):
        begin_again(evaluation=done, actor=None)
    assert fresh(done).report["n"]["answers"] == 90


def test_a_plan_that_cannot_be_computed_fails_in_words_is_begun_again_and_cancelled(release):
    failed = make_evaluation(release, lacks="no-such-metric")
    assert failed.state == "failed"
    assert "no-such-metric" in failed.why
    assert Job.objects.get(pk=failed.job).state == JobState.FAILED
    begin_again(evaluation=failed, actor=None)
    planned = fresh(failed)
    assert (planned.state, planned.why) == ("planned", "")
    services.cancel(evaluation=planned, actor=None)
    run(job_id=planned.job)
    assert fresh(planned).state == "cancelled"
    assert Job.objects.get(pk=planned.job).state == JobState.CANCELLED


def test_one_that_is_cancelled_while_it_runs_leaves_nothing(release, monkeypatch):
    planned = make_evaluation(release, ran=False)
    from evaluations import executor

    computed = executor.compute

    def cancelled_meanwhile(*given: Any) -> bool:
        if fresh(planned).state == "running":
            services.cancel(evaluation=planned, actor=None)
        return computed(*given)

    monkeypatch.setattr(executor, "compute", cancelled_meanwhile)
    run(job_id=planned.job)
    assert fresh(planned).state == "cancelled"
    assert (Call.objects.count(), Part.objects.count()) == (0, 0)


def test_numbers_count_within_a_release_and_a_stage_without_scores_is_refused(release):
    second = make_release(release.project, "1.1.0")
    numbers = [make_evaluation(each, ran=False).number for each in (release, release, second)]
    assert numbers == [2, 3, 1]
    with pytest.raises(EvaluationError, match="no scores of a stage 'other'"):
        begin(release=release, plan=plan_of({"stage": "other"}))


def test_helpers_change_no_figure(ready_evaluation, monkeypatch):
    from evaluations import executor

    alone = ready_evaluation
    helped = make_evaluation(alone.release, ran=False)
    took = []

    def helper(self: Any, call: Any, total: int) -> list[int]:
        """Another worker, which takes every second part before the job itself comes to it."""
        return []

    taken = executor.take

    def take(evaluation: int, owner: uuid.UUID) -> Any:
        other = jobs.begin(kind=executor.HELP, payload={})
        assert other.lease_owner is not None
        part = taken(evaluation, other.lease_owner)
        if part is not None:
            took.append(part.pk)
            executor.compute(part, other.lease_owner, executor.Functions())
        return taken(evaluation, owner)

    monkeypatch.setattr(executor.PartRunner, "_ask_for_help", helper)
    monkeypatch.setattr(executor, "take", take)
    run(job_id=helped.job)
    assert took
    assert fresh(helped).report == alone.report
    assert [each["sha256"] for each in fresh(helped).files] == [each["sha256"] for each in alone.files]


def heard_from(*workers: str) -> None:
    """These worker processes have answered just now."""
    for name in workers:
        jobs.worker_seen(name=name)


def test_other_workers_are_asked_to_help_and_are_not_kept_from_their_work(release):
    heard_from("one:1", "two:1", "three:1")
    make_evaluation(release)
    helpers = Job.objects.filter(kind="evaluations.help")
    assert helpers.exists()
    assert set(helpers.values_list("state", flat=True)) == {JobState.CANCELLED}


def test_a_lone_worker_asks_nobody(release):
    heard_from("one:1")
    make_evaluation(release)
    assert not Job.objects.filter(kind="evaluations.help").exists()


def test_a_helper_computes_what_nobody_has_taken(release):
    evaluation = make_evaluation(release, ran=False)
    from evaluations import executor

    call = executor.call_of(evaluation, sum)
    digests = executor.offer(call, [(1, 2), (3, 4)])
    job = jobs.enqueue(kind="evaluations.help", payload={"evaluation": evaluation.pk})
    run(job_id=job.pk)
    assert Job.objects.get(pk=job.pk).result == {"parts": 2}
    assert [executor.results(call, digests)[digest] for digest in digests] == [3, 7]


def test_a_part_of_a_dead_worker_is_free_again(release):
    evaluation = make_evaluation(release, ran=False)
    from evaluations import executor

    executor.offer(executor.call_of(evaluation, sum), [(1, 2)])
    dead, other = jobs.begin(kind="evaluations.help", payload={}), uuid.uuid4()
    assert executor.take(evaluation.pk, dead.lease_owner) is not None
    assert executor.take(evaluation.pk, other) is None
    jobs.fail(job=dead, error="It died.", permanent=True)
    assert executor.take(evaluation.pk, other) is not None


def test_parts_are_compressed_and_one_that_was_not_written_here_is_not_read():
    from evaluations.executor import SealError, pack, unpack

    scores = list(range(1_000)) * 20
    packed, whole = pack(scores, compressed=True), pack(scores)
    assert len(packed) < len(whole) / 5
    assert unpack(packed) == unpack(memoryview(packed)) == unpack(whole) == scores
    assert pack(scores, compressed=True) == packed
    for each in (packed, whole):
        with pytest.raises(SealError):
            unpack(each[:-1] + b"!")


def test_an_evaluation_under_way_during_an_upgrade_goes_on_after_it(release):
    """Calls of the version before name functions that this one has elsewhere."""
    from evaluations import executor

    evaluation = make_evaluation(release, ran=False)
    body = b"cevaluations.gone\nscore\n."
    function = executor._seal(body) + body
    call = Call.objects.create(evaluation=evaluation, digest=executor.digest_of(function), function=function)
    executor.offer(call, [(1, 2), (3, 4)])
    helper = jobs.enqueue(kind=executor.HELP, payload={"evaluation": evaluation.pk})
    run(job_id=helper.pk)
    assert Job.objects.get(pk=helper.pk).result == {"parts": 0}
    run(job_id=evaluation.job)
    assert fresh(evaluation).state == "ready"
    assert not Part.objects.exists()
