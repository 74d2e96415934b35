"""What happens to a release beside its being built: shown to everybody, withdrawn, given up, tried again.

Each is one conditional update with an event; where the release is not in the state that it takes, nothing
changes and a ReleaseError says why.
"""

from typing import Any

from django.db import transaction
from django.utils import timezone

from core.jobs.models import Job
from core.jobs.selectors import is_alive
from core.jobs.services import cancel
from core.projects.services import record
from releases.errors import ReleaseError
from releases.models import Release

State = Release.State
_LONGEST, _LONGEST_ERROR = 300, 2000


@transaction.atomic
def show(*, release: Release, actor: Any) -> None:
    """Give a ready release a page that needs no log-in."""
    if not _rows(release, State.READY).filter(public=False).update(public=True):
        raise ReleaseError(f"Release {release.version} is public already, or there is nothing to show.")
    _note(release, "release.public", actor)


@transaction.atomic
def hide(*, release: Release, actor: Any) -> None:
    """Take the public page away; what people have downloaded they keep."""
    if not _rows(release, *Release.BUILT).filter(public=True).update(public=False):
        raise ReleaseError(f"Release {release.version} is not public.")
    _note(release, "release.private", actor)


@transaction.atomic
def withdraw(*, release: Release, reason: str, actor: Any) -> None:
    """Offer the files no more. The record stays and shows the reason: who has the files looks here."""
    reason = reason.strip()
    if not reason:
        raise ReleaseError("Say why: whoever has the files will read it.")
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


def stuck(release: Release, job: Job | None) -> bool:
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
