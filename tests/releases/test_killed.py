"""A build on the command line that is killed leaves nothing that counts, and the next one succeeds."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from core.files import atomic
from core.jobs import services as jobs
from core.jobs.models import Job, JobState
from core.projects.models import Event
from releases import build
from releases.errors import ReleaseError
from releases.models import Release
from releases.options import Options
from releases.services import give_up, give_up_dead, is_stuck
from tests.releases.crash import HOUR, POINTS
from tests.server import ROOT, new_database

PLAIN = Options(formats=("jsonl",))
AT_THE_END = "files are on the shelf, the row is not committed"
REASON = "These people are simulated."


@pytest.fixture
def world(settings, tmp_path, made_world):
    settings.RELEASES_STORAGE, settings.DATA_DIR = str(tmp_path / "shelf"), tmp_path
    Job.objects.all().delete()
    return made_world


@pytest.mark.parametrize(
    "points",
    [[AT_THE_END], pytest.param([name for name in POINTS if name != AT_THE_END], marks=pytest.mark.long)],
    ids=["at-the-end", "before"],
)
def test_killed_at_any_point_nothing_looks_ready_and_the_next_build_gives_the_same_bytes(tmp_path, points):
    result = subprocess.run(
        [sys.executable, "-m", "tests.releases.crash", *points],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "distillery.settings",
            "DATABASE_URL": new_database(tmp_path),
            "DATA_DIR": str(tmp_path),
            "RELEASES_STORAGE": str(tmp_path / "releases"),
            "PYTHONWARNINGS": "ignore",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    report = json.loads(result.stdout)
    assert report["files"] > 10
    assert report["points"] == {
        point: {
            "status": -signal.SIGKILL,
            "left": ["1.0.0 building 0"],
            "next": [0, f"1.0.0 ready {report['files'] - 2}"],
            "same": True,
        }
        for point in points
    }


@pytest.mark.django_db
class TestLease:
    """A build on the command line holds a job while it lives."""

    def release(self, world):
        return build.plan_release(project=world.project, options=PLAIN)

    def running(self, world):
        release = self.release(world)
        release.job = jobs.begin(kind="releases.build", payload={"release": release.pk}).pk
        release.save()
        return release

    def test_a_build_in_this_process_has_a_job_that_is_done_with_it(self, world):
        release, built = build.release_now(world.project, options=PLAIN, accepting=REASON)
        job = Job.objects.get(pk=release.job)
        assert (release.state, built.same, job.state) == ("ready", None, JobState.DONE)
        assert job.result == {"version": "1.0.0", "same": False}

    def test_when_its_lease_is_over_the_build_has_failed(self, world):
        release = self.running(world)
        assert give_up_dead(world.project) == 0
        assert not is_stuck(release, Job.objects.get())
        Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        assert is_stuck(release, Job.objects.get())
        assert give_up_dead(world.project) == 1
        assert (Release.objects.get().state, Job.objects.get().state) == ("failed", JobState.CANCELLED)
        assert Event.objects.filter(action="release.failed").count() == 1

    def test_no_worker_takes_over_what_a_command_began(self, world):
        release = self.running(world)
        Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        assert jobs.reconcile().failed == 1
        assert jobs.claim(job_id=release.job) is None
        assert "stopped answering" in Job.objects.get().error
        assert give_up_dead(world.project) == 1

    def test_a_build_that_is_cancelled_on_its_page_ends_in_words_and_keeps_nothing(self, world, tmp_path):
        def cancel(*_):
            assert give_up(release=Release.objects.get(), why="It was cancelled.")

        with pytest.raises(ReleaseError, match=r"The build of 1\.0\.0 was cancelled; nothing is kept"):
            build.release_now(world.project, options=PLAIN, accepting=REASON, copy=cancel)
        assert (Release.objects.get().state, Release.objects.get().error) == ("failed", "It was cancelled.")
        assert not (tmp_path / "shelf/capitals/1.0.0").exists()
        assert Job.objects.get().state == JobState.CANCELLED

    def test_a_build_that_breaks_fails_its_job_with_the_reason(self, world):
        def full(*_):
            raise OSError("No space left on device")

        with pytest.raises(OSError, match="No space"):
            build.release_now(world.project, options=PLAIN, accepting=REASON, copy=full)
        assert (Job.objects.get().state, Job.objects.get().error) == ("failed", "No space left on device")
        assert Release.objects.get().error == "No space left on device"


class TestTempdirs:
    """Folders to work in."""

    def old(self, folder):
        for place in (folder, *folder.rglob("*")):
            os.utime(place, (time.time() - HOUR, time.time() - HOUR))

    def left(self, root):
        left = root / "room-dead"
        (left / "new").mkdir(parents=True)
        (left / "new/data").write_text("gigabytes")
        return left

    def test_what_a_dead_process_left_an_hour_ago_is_removed_and_what_somebody_just_wrote_stays(
        self, tmp_path
    ):
        left = self.left(tmp_path)
        with atomic.scratch_dir(tmp_path, "room-"):
            assert left.exists()
        self.old(left)
        with atomic.scratch_dir(tmp_path, "room-") as made:
            assert list(tmp_path.iterdir()) == [made]
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_in_use_stays_however_old_it_is(self, tmp_path):
        with atomic.scratch_dir(tmp_path, "room-") as first:
            self.old(first)
            with atomic.scratch_dir(tmp_path, "room-"):
                assert first.exists()

    def test_folders_of_other_names_and_links_stay(self, tmp_path):
        other = tmp_path / "other"
        other.mkdir()
        link = tmp_path / "room-link"
        link.symlink_to(other)
        self.old(other)
        with atomic.scratch_dir(tmp_path, "room-"):
            assert other.exists() and link.is_symlink()
