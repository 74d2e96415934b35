"""The job that builds: it ends with a ready release and its files, or with nothing at all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.models import Answer
from core.jobs import services as jobs
from core.jobs.models import Job, JobState
from core.jobs.runner import run
from core.projects.models import Event
from releases import build, storage
from releases.build import begin, begin_again, look_for_findings
from releases.errors import ReleaseError
from releases.manifest import verify
from releases.models import PrivacyFinding, Release
from releases.options import Options
from releases.privacy import accept_findings, check_project
from releases.services import give_up, is_stuck
from tests.releases.world import World, make_world

pytestmark = pytest.mark.django_db
OPTIONS = Options(formats=("jsonl",))


@pytest.fixture
def mara() -> User:
    return User.objects.create_user("mara")


@pytest.fixture
def decided(settings: Any, tmp_path: Path, mara: User) -> Callable[[World], World]:
    """Decides about the findings of a world."""
    settings.RELEASES_STORAGE, settings.DATA_DIR = str(tmp_path / "shelf"), tmp_path

    def decide(world: World) -> World:
        check_project(project=world.project)
        accept_findings(findings=PrivacyFinding.objects.all(), reason="They agreed.", actor=mara)
        return world

    return decide


@pytest.fixture
def world(decided: Callable[[World], World], made_world: World) -> World:
    """A project whose findings are decided."""
    return decided(made_world)


def started(world: World, actor: Any = None, **given: Any) -> Release:
    """A release with its job, not run yet."""
    return begin(project=world.project, options=OPTIONS, actor=actor, **given)


def job_of(release: Release) -> Job:
    return Job.objects.get(pk=release.job)


def fresh(release: Release) -> Release:
    return Release.objects.get(pk=release.pk)


@pytest.mark.django_db(transaction=True)
def test_a_build_ends_with_a_ready_release_whose_files_verify(decided, mara):
    world = decided(make_world())
    release = started(world, mara)
    run(job_id=release.job)
    release = fresh(release)
    assert (release.state, release.version, job_of(release).state) == ("ready", "1.0.0", JobState.DONE)
    assert job_of(release).result == {"version": "1.0.0", "same": False}
    folder = storage.folder_of(release)
    assert folder is not None
    assert verify(folder, release.digest).problems == []
    assert list((folder.parents[2] / "building").iterdir()) == []
    actions = Event.objects.filter(action__startswith="release.").values_list("action", "actor__username")
    assert list(actions.order_by("pk")) == [("release.planned", "mara"), ("release.built", "mara")]
    second = started(world)
    run(job_id=second.job)
    assert Job.objects.get(pk=second.job).result == {"version": "1.0.0", "same": True}
    assert [row.version for row in Release.objects.all()] == ["1.0.0"]
    Job.objects.filter(pk=release.job).update(state=JobState.QUEUED, finished_at=None)
    run(job_id=release.job)
    assert fresh(release).built_at == release.built_at, "a job that comes too late changes nothing"


@pytest.mark.long
def test_a_build_that_is_killed_leaves_nothing_ready_and_the_next_attempt_makes_it(world, monkeypatch):
    release = started(world)

    def killed(*_: Any, **__: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(build, "finish", killed)
        with pytest.raises(SystemExit):
            run(job_id=release.job)
    assert fresh(release).state == "building"
    assert storage.folder_of(release) is not None
    Job.objects.update(state=JobState.QUEUED, lease_owner=None, lease_until=None)
    run(job_id=release.job)
    assert fresh(release).state == "ready"
    folder = storage.folder_of(release)
    assert folder is not None
    assert verify(folder, fresh(release).digest).problems == []


def test_a_build_that_is_cancelled_while_it_runs_keeps_nothing(world, mara, monkeypatch):
    release = started(world)
    kept = storage.keep_files

    def cancelled(*given: Any, **more: Any) -> None:
        kept(*given, **more)
        assert give_up(release=release, why="It was cancelled.", actor=mara)

    monkeypatch.setattr(storage, "keep_files", cancelled)
    run(job_id=release.job)
    assert (fresh(release).state, fresh(release).error) == ("failed", "It was cancelled.")
    assert job_of(release).state == JobState.CANCELLED
    assert storage.folder_of(release) is None
    assert not give_up(release=release, why="Again.")


def test_something_new_that_tells_who_a_person_is_stops_the_build_in_words(world):
    release = started(world)
    Answer.objects.filter(pk=world.answers["q1/AE2"].pk).update(text="Write to jane@example.org.")
    run(job_id=release.job)
    assert fresh(release).state == "failed"
    assert job_of(release).state == JobState.FAILED
    assert "The privacy check has findings that wait for a decision" in fresh(release).error
    with pytest.raises(ReleaseError, match="one finding without a decision"):
        begin_again(release=fresh(release), actor=None)


def test_a_build_whose_last_attempt_failed_says_why_and_is_tried_again_with_what_it_had(
    world, mara, monkeypatch
):
    release = started(world, version="2.0.0", notes="More.")
    assert not is_stuck(release, job_of(release))
    Job.objects.update(max_attempts=1)

    def broken(*_: Any, **__: Any) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(build, "build", broken)
        run(job_id=release.job)
    assert (fresh(release).state, fresh(release).error) == ("failed", "OSError: No space left on device")
    again = begin_again(release=fresh(release), actor=mara)
    run(job_id=again.job)
    release = Release.objects.get()
    assert (release.state, release.version, release.notes, release.error) == ("ready", "2.0.0", "More.", "")


def test_a_build_whose_worker_died_for_the_last_time_is_stuck(world):
    release = started(world)
    assert not is_stuck(release, job_of(release))
    jobs.cancel(job_id=release.job or 0)
    assert is_stuck(release, job_of(release))


def test_a_check_is_a_job_too(world, mara):
    import uuid

    once = uuid.uuid4()
    job = look_for_findings(project=world.project, actor=mara, once=once)
    assert look_for_findings(project=world.project, actor=mara, once=once).pk == job.pk
    run(job_id=job.pk)
    assert Job.objects.get(pk=job.pk).result == {"texts": 37, "open": 0}
