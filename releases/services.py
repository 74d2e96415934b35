"""What may happen to a release beside its building: planned, shown, hidden, withdrawn, given up."""

import re
from datetime import timedelta
from typing import Any

from django.db import DEFAULT_DB_ALIAS, IntegrityError, transaction
from django.utils import timezone

from core.jobs.models import Job
from core.jobs.selectors import is_alive
from core.jobs.services import cancel
from core.projects.models import Project
from core.projects.services import record
from releases.errors import ReleaseError
from releases.models import PrivacyFinding, Release
from releases.options import COMMENTS, Options
from releases.privacy import refuse_unread_comments

# What happens to a release beside its being built: shown to everybody, withdrawn, given up, tried again.
#
# Each is one conditional update with an event; where the release is not in the state that it takes, nothing
# changes and a ReleaseError says why.

State = Release.State
_LONGEST, _LONGEST_ERROR = 300, 2000


@transaction.atomic
def show_release(*, release: Release, actor: Any) -> None:
    """Give a ready release a page that needs no log-in."""
    if not _rows(release, State.READY).filter(public=False).update(public=True):
        raise ReleaseError(f"Release {release.version} is public already, or there is nothing to show.")
    _note(release, "release.public", actor)


@transaction.atomic
def hide_release(*, release: Release, actor: Any) -> None:
    """Take the public page away; what people have downloaded they keep."""
    if not _rows(release, *Release.BUILT).filter(public=True).update(public=False):
        raise ReleaseError(f"Release {release.version} is not public.")
    _note(release, "release.private", actor)


@transaction.atomic
def withdraw_release(*, release: Release, reason: str, actor: Any) -> None:
    """Offer the files no more. The record stays and shows the reason: who has the files looks here."""
    reason = reason.strip()
    if not reason:
        raise ReleaseError("Say why: people who have the files will read it.")
    if len(reason) > _LONGEST:
        raise ReleaseError(f"A reason has at most {_LONGEST} characters; this one has {len(reason)}.")
    changed = _rows(release, State.READY).update(
        state=State.WITHDRAWN, withdrawn_by=actor, withdrawn_at=timezone.now(), withdrawn_reason=reason
    )
    if not changed:
        raise ReleaseError(f"Release {release.version} is not ready, so it cannot be withdrawn.")
    _note(release, "release.withdrawn", actor, why=reason)


@transaction.atomic
def give_up(*, release: Release, why: str, actor: Any = None, stop: bool = True) -> bool:
    """End a build that is under way, and say why; False where it is over already. It can be tried again.

    With `stop` its job is cancelled too; the job that gives up itself ends in its own way. The log names who
    began the build unless somebody else ended it.
    """
    if not _rows(release, State.BUILDING).update(state=State.FAILED, error=why[:_LONGEST_ERROR]):
        return False
    if stop and release.job is not None:
        cancel(job_id=release.job)
    _note(release, "release.failed", actor or release.created_by, why=why[:_LONGEST])
    return True


def is_stuck(release: Release, job: Job | None) -> bool:
    """Whether a release waits for a build that nobody does any more: its worker died for the last time."""
    return release.state == State.BUILDING and (job is None or not is_alive(job_id=job.pk))


def _rows(release: Release, *states: str) -> Any:
    return Release.objects.filter(pk=release.pk, state__in=states)


def _note(release: Release, action: str, actor: Any, **details: str) -> None:
    record(
        project=release.project,
        action=action,
        subject=release.version,
        actor=actor,
        details={"release": release.pk, **details},
    )


_VERSION = re.compile(r"(0|[1-9][0-9]{0,4})\.(0|[1-9][0-9]{0,4})\.(0|[1-9][0-9]{0,4})")
#: A release gets its job at once; one that has none after so long belongs to a process that died.
_DEAD = timedelta(minutes=10)


@transaction.atomic
def plan_release(
    *, project: Project, version: str = "", notes: str = "", options: Options, actor: Any = None
) -> Release:
    """A release in the state `building`; without a version it is the next one.

    A version whose build failed is free again. Raises ReleaseError where the version is taken or none, or
    where findings of the privacy check are open.
    """
    refuse_open_findings(project)
    if COMMENTS in options.include:
        refuse_unread_comments(project, DEFAULT_DB_ALIAS)
    give_up_dead(project)
    version = version.strip() or next_version(project)
    if not _VERSION.fullmatch(version):
        raise ReleaseError(f"{version!r} is no version. Write MAJOR.MINOR.PATCH, such as 1.0.0.")
    Release.objects.filter(project=project, version=version, state=State.FAILED).delete()
    try:
        # A savepoint: PostgreSQL takes no more statements after an IntegrityError, and `_taken` asks one.
        with transaction.atomic():
            release = Release.objects.create(
                project=project,
                version=version,
                notes=notes.strip(),
                options=options.model_dump(mode="json"),
                created_by=actor,
                created_at=timezone.now(),
            )
    except IntegrityError as error:
        raise ReleaseError(_describe_clash(project, version)) from error
    record(project=project, action="release.planned", subject=version, actor=actor)
    return release


def next_version(project: Project) -> str:
    """1.0.0 for the first release, then the next minor version after the highest that is not failed."""
    used = [
        tuple(int(part) for part in version.split("."))
        for version in Release.objects.filter(project=project)
        .exclude(state=State.FAILED)
        .values_list("version", flat=True)
        if _VERSION.fullmatch(version)
    ]
    if not used:
        return "1.0.0"
    major, minor, _ = max(used)
    return f"{major}.{minor + 1}.0"


def refuse_open_findings(project: Project) -> None:
    """ReleaseError while a finding of the privacy check waits for a person."""
    count = PrivacyFinding.objects.filter(project=project, state=PrivacyFinding.State.OPEN).count()
    if count:
        number_of_findings = "one finding" if count == 1 else f"{count:,} findings"
        raise ReleaseError(
            f"The privacy check has {number_of_findings} without a decision. Accept or black them out first, "
            f"on the release pages or with `manage.py release check {project.slug}`."
        )


def give_up_dead(project: Project) -> int:
    """Mark releases as failed that nobody builds any more: their job is over, or its lease is."""
    given_up = 0
    for release in Release.objects.filter(project=project, state=State.BUILDING).select_related("project"):
        if release.job is not None:
            dead = not is_alive(job_id=release.job)
        else:
            dead = release.created_at < timezone.now() - _DEAD
        if dead:
            why = "The process that built it stopped before it was done."
            given_up += give_up(release=release, why=why)
    return given_up


def _describe_clash(project: Project, version: str) -> str:
    state = Release.objects.filter(project=project, version=version).values_list("state", flat=True).first()
    if state == State.BUILDING:
        return f"Version {version} is being built. Wait for it, or name another version."
    return f"There is a release {version} already, and releases never change. Name another version."
