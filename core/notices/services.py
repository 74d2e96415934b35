"""What happens to notices: raised once, told to webhooks, ended, read; and who wants them by e-mail."""

from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from core.notices.letters import post_office
from core.notices.models import Notice, NoticeReading, Wish
from core.origin import Owner
from core.projects.models import Project
from core.projects.services import ProjectError
from core.revisions import ShownColumns as SeenRow
from core.webhooks.events import emit, page_address

# What notices are told to webhooks as, in the transaction in which they are raised.

#: Kinds of notices with a type of their own; other warnings and alarms need a decision.
_TYPES = {
    "budget_low": "budget.low",
    "budget_reached": "budget.reached",
    "job_failed": "job.failed",
    "release_failed": "job.failed",
    "evaluation_failed": "job.failed",
}
#: The kind of notices about webhooks themselves, of which no webhook is told.
DISABLED = "webhook_disabled"


def tell_webhooks(notice: Notice) -> int:
    """Write messages about a notice that was just raised; how many."""
    project = notice.project_id
    if project is None or notice.kind == DISABLED:
        return 0
    event_type = _TYPES.get(notice.kind)
    if event_type is None:
        if notice.level == Notice.Level.NEWS:
            return 0
        event_type = "decision.needed"
    return emit(Owner(Owner.Kind.PROJECT, project), event_type, lambda: _data(notice), at=notice.raised_at)


def _data(notice: Notice) -> dict[str, object]:
    project = notice.project
    data = {"project": project.slug if project else "", "notice": notice.pk, "kind": notice.kind}
    return data | {"address": page_address(notice.address)} if notice.address else data


def raise_notice(
    *, project: Project, kind: str, key: str, level: str, sentence: str, address: str = ""
) -> Notice:
    """Tell the members of a project of something; the notice that is open under this key is left as it is.

    `address` is the path of the page where it is mended. Letters are planned in the same transaction.
    """
    return raise_for(project.pk, kind=kind, key=key, level=level, sentence=sentence, address=address)


@transaction.atomic
def raise_for(
    project: int | None,
    *,
    kind: str,
    key: str,
    level: str,
    sentence: str,
    address: str,
    now: datetime | None = None,
) -> Notice:
    """The same by the key of the project, or of the installation; `now` is the time that a look began."""
    notice, is_new = Notice.objects.get_or_create(  # type: ignore[misc]  # None is a value here
        project_id=project,
        key=key,
        over_at=None,
        defaults={
            "kind": kind,
            "level": level,
            "sentence": sentence[:300],
            "address": address,
            "raised_at": now or timezone.now(),
        },
    )
    if is_new:
        post_office().plan(notice)
        tell_webhooks(notice)
    return notice


def end_notices(rows: "QuerySet[Notice]", *, now: datetime | None = None) -> int:
    """These are no longer so; how many were open."""
    return rows.filter(over_at=None).update(over_at=now or timezone.now())


def see(*, user: User, notices: Iterable[Notice]) -> None:
    """Somebody has read these notices."""
    now = timezone.now()
    NoticeReading.objects.bulk_create(
        (NoticeReading(notice=notice, user=user, at=now) for notice in notices),
        ignore_conflicts=True,
        batch_size=500,
    )


@transaction.atomic
def wish(*, user: User, project: Project, post: str, seen: SeenRow | None = None) -> None:
    """Which notices of a project somebody wants by e-mail from now on.

    With `seen`, ConflictError where they asked for something else than the form showed, in another tab.
    """
    if post not in Wish.Post.values:
        raise ProjectError("Choose which notices you want by e-mail.")
    rows = Wish.objects.select_for_update()
    row, is_new = rows.get_or_create(project=project, user=user, defaults={"post": post})
    if not is_new and row.post != post:
        if seen is not None:
            seen.check(row)
        row.post = post
        row.save(update_fields=["post"])
