"""A release from the privacy check to the shelf in one call, for commands that wait for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.failures import on_failure
from core.jobs import services as jobs
from core.jobs.errors import LeaseLostError
from core.jobs.handlers import JobContext
from core.projects.models import Project
from releases import storage
from releases.errors import ReleaseError
from releases.models import PrivacyFinding, Release
from releases.options import Options
from releases.privacy.check import accept_findings, check_project
from releases.services import build
from releases.services.job_requests import BUILD
from releases.services.planning import give_up
from releases.tables import Progress, silent


def released(project: Project) -> Release | None:
    """The newest release of a project that is ready, if there is one."""
    return Release.objects.filter(project=project, state=Release.State.READY).order_by("-pk").first()


def release_now(
    project: Project,
    *,
    options: Options,
    version: str = "",
    notes: str = "",
    accepting: str = "",
    actor: Any = None,
    progress: Progress = silent,
    copy: Callable[[Path], None] | None = None,
) -> tuple[Release, build.BuiltFiles]:
    """Check, build, keep and finish a release; what the check finds is accepted for the reason `accepting`.

    `copy` gets the folder with the files before they are put away. Raises ReleaseError while findings wait
    for a person. A build that ends in any other way is marked failed.
    """
    checked = check_project(project=project, actor=actor, progress=progress)
    if checked.open and accepting.strip():
        found = PrivacyFinding.objects.filter(project=project, state=PrivacyFinding.State.OPEN)
        accept_findings(findings=found, reason=accepting, actor=actor)
    release = build.plan_release(project=project, version=version, notes=notes, options=options, actor=actor)
    return build_here(release, actor=actor, progress=progress, copy=copy)


def build_here(
    release: Release,
    *,
    actor: Any = None,
    progress: Progress = silent,
    copy: Callable[[Path], None] | None = None,
) -> tuple[Release, build.BuiltFiles]:
    """Build a planned release in this process, keep its files and finish it; what was built is given too.

    The process holds a job of its own under a lease that it extends while it lives. So pages show how far it
    is and can cancel it, and where it is killed its lease runs out and the version is free again.
    """
    given = {"release": release.pk, "project": release.project_id, "version": release.version}
    job = jobs.begin(kind=BUILD, payload=given)
    context = JobContext(job)

    def both(done: int, total: int, note: str) -> None:
        context.progress(done, total, note)
        progress(done, total, note)

    def mark_failed(error: BaseException) -> None:
        why = str(error) or type(error).__name__
        give_up(release=release, why=why, actor=actor, stop=False)
        jobs.fail(job=job, error=why, permanent=True)
        if isinstance(error, LeaseLostError):
            storage.forget_files(release)
            raise ReleaseError(f"The build of {release.version} was cancelled; nothing is kept.") from error

    with on_failure(mark_failed):
        Release.objects.filter(pk=release.pk, state=Release.State.BUILDING).update(job=job.pk)
        with context.heartbeats():
            return _build(release, context, actor, both, copy)


def _build(
    release: Release,
    context: JobContext,
    actor: Any,
    progress: Progress,
    copy: Callable[[Path], None] | None,
) -> tuple[Release, build.BuiltFiles]:
    with storage.workroom() as folder:
        built = build.build(release, folder=folder, progress=progress)
        if copy is not None:
            progress(0, 0, "Copying")
            copy(folder)
        if built.same is None:
            progress(0, 0, "Putting the files away")
            storage.keep_files(release, folder, move=True)

    def finish() -> dict[str, Any]:
        ready = build.finish(release, built, actor=actor)
        return {"version": ready.version, "same": built.same is not None}

    context.commit(finish)
    return built.same or release, built
