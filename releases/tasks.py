"""Jobs of this app: the privacy check, and building a release."""

from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model

from core.errors import on_failure
from core.jobs.errors import LeaseLostError, PermanentError, StoppingError
from core.jobs.handlers import JobContext, handler
from core.projects.models import Project
from releases import build, storage
from releases.build import BUILD, CHECK
from releases.errors import ReleaseError
from releases.models import Release
from releases.privacy import check_project
from releases.services import give_up


@handler(CHECK, longest=timedelta(hours=12))
def check_privacy(context: JobContext) -> dict[str, int]:
    """Look for personal data in all texts of a project."""
    project = Project.objects.filter(pk=context.payload["project"]).first()
    if project is None:
        raise PermanentError("The project is no longer there.")
    actor = get_user_model().objects.filter(pk=context.payload["user"]).first()
    checked = check_project(project=project, actor=actor, progress=context.progress)
    return {"texts": checked.texts, "open": checked.open}


#: The job was taken away, or stops.
_ENDED = (LeaseLostError, StoppingError)


@handler(BUILD, longest=timedelta(days=1))
def build_release(context: JobContext) -> None:
    """Check, build, put the files on their shelf, and only then make the release ready.

    A repeated attempt begins again and its files take the place of those of the one before. A release that is
    cancelled meanwhile, or built by another attempt, is left as it is.
    """
    release = Release.objects.select_related("project").filter(pk=context.payload["release"]).first()
    if release is None:
        raise PermanentError("The release is no longer there.")
    if release.state != Release.State.BUILDING:
        return

    def mark_failed(error: BaseException) -> None:
        """After the last attempt; what has an answer of its own below does not count."""
        last = context.attempt >= context.job.max_attempts
        if last and isinstance(error, Exception) and not isinstance(error, (*_ENDED, ReleaseError)):
            give_up(release=release, why=f"{type(error).__name__}: {error}", stop=False)

    try:
        with on_failure(mark_failed):
            _build(context, release)
    except _ENDED:
        _clear_after_cancelling(release)
        raise
    except ReleaseError as error:
        give_up(release=release, why=str(error), stop=False)
        raise PermanentError(str(error)) from error


def _build(context: JobContext, release: Release) -> None:
    if check_project(project=release.project, progress=context.progress).open:
        raise ReleaseError(
            "The privacy check has findings that wait for a decision. Decide, then build again."
        )
    with storage.workroom() as folder:
        built = build.build(release, folder=folder, progress=context.progress)
        if built.same is None:
            context.progress(0, 0, "Putting the files away")
            storage.keep_files(release, folder, move=True)

    def finish() -> dict[str, Any]:
        ready = build.finish(release, built)
        return {"version": ready.version, "same": built.same is not None}

    context.commit(finish)


def _clear_after_cancelling(release: Release) -> None:
    """What a cancelled build has put on the shelf goes; another attempt of the same build keeps its own."""
    if Release.objects.filter(pk=release.pk, state=Release.State.FAILED).exists():
        storage.forget_files(release)
