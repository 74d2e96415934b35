"""Beginning what takes long: the privacy check and the build, each as a job."""

import uuid
from typing import Any

from django.db import transaction

from core.jobs.models import Job
from core.jobs.services import enqueue
from core.projects.models import Project
from releases.models import Release
from releases.options import Options, options_of
from releases.services import build

BUILD, CHECK = "releases.build", "releases.check"


@transaction.atomic
def begin(*, project: Project, version: str = "", notes: str = "", options: Options, actor: Any) -> Release:
    """Plan a release and queue the job that builds it; ReleaseError where it cannot be built."""
    release = build.plan_release(project=project, version=version, notes=notes, options=options, actor=actor)
    given = {"release": release.pk, "project": project.pk, "version": release.version}
    job = enqueue(kind=BUILD, payload=given, effect=f"release:{release.pk}:{uuid.uuid4().hex}")
    Release.objects.filter(pk=release.pk).update(job=job.pk)
    release.job = job.pk
    return release


@transaction.atomic
def begin_again(*, release: Release, actor: Any) -> Release:
    """Build a version that failed once more, with the options and words that it had."""
    return begin(
        project=release.project,
        version=release.version,
        notes=release.notes,
        options=options_of(release.options),
        actor=actor,
    )


def look_for_findings(*, project: Project, actor: Any, once: uuid.UUID) -> Job:
    """Queue the privacy check of a project; `once` names the press of the button."""
    return enqueue(
        kind=CHECK,
        payload={"project": project.pk, "user": actor.pk if actor else None},
        effect=f"privacy:{project.pk}:{once.hex}",
    )
