"""The last step of the funnel: what the newest release has."""

import pytest
from django.utils import timezone

from core.projects.models import Project
from releases.extension import say
from releases.models import Release, ReleaseFile

pytestmark = pytest.mark.django_db


def release(project: Project, version: str, *rows: tuple[str, int], state: str = "ready") -> None:
    """A built release with files of this many rows."""
    ready = state != "failed"
    found = Release.objects.create(
        project=project,
        version=version,
        state=state,
        digest="d" * 64 if ready else "",
        built_at=timezone.now() if ready else None,
        created_at=timezone.now(),
    )
    for path, count in rows:
        ReleaseFile.objects.create(
            release=found, path=path, format=path.split("/")[0], bytes=1, rows=count, sha256="0" * 64
        )


def step(project: Project, entered: int | None = 40):
    return say(project, entered).steps[0]


def test_before_the_first_release_everything_waits(project):
    assert say(project, None).steps == ()
    assert [count.count for count in step(project).counts] == [0, 40]
    assert step(project).note == "no release yet"
    release(project, "1.0.0", ("jsonl/references-train.jsonl", 5), state="failed")
    assert step(project).passed.count == 0


def test_the_newest_release_counts_and_each_query_once(project):
    release(project, "1.0.0", ("jsonl/references-train.jsonl", 5))
    release(
        project,
        "1.1.0",
        ("jsonl/references-train.jsonl", 20),
        ("jsonl/references-test.jsonl", 10),
        ("csv/references-train.csv", 20),
        ("csv/references-test.csv", 10),
        ("jsonl/answers-train.jsonl", 400),
    )
    found = step(project)
    assert [(count.count, count.label) for count in found.counts] == [
        (30, "came through"),
        (10, "not in version 1.1.0"),
    ]
    assert found.note == "in version 1.1.0"
