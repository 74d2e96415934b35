"""Marketplaces that nothing is sent to, because the database was restored from a backup."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from core.notices.conditions import Condition
from core.notices.models import Notice
from core.projects.models import Project
from crowd.models import DispatchEpoch, DispatchHalt, Stage
from crowd.outbox import epoch

#: So long after a host that knows the database last said so, no host that knows it runs.
_VOUCHED = timedelta(minutes=2)
_LIVING = (Stage.Status.OPEN, Stage.Status.PAUSED)


def halted(now: datetime) -> Iterator[Condition]:
    """Projects with stages at a marketplace that waits for a comparison, or that no host may send to."""
    halts = DispatchHalt.objects.select_related("endpoint").order_by("pk")
    for halt in halts:
        stages = Stage.objects.filter(project=OuterRef("pk"), endpoint=halt.endpoint_id)
        yield from _told(
            Q(Exists(stages)),
            f"halted:{halt.endpoint_id}",
            f"Nothing is sent to {halt.endpoint.label}: the database was restored from a backup. An "
            f"administrator has to run `{epoch.COMMAND}`.",
        )
    if not halts and epoch.unsure() and _none_vouches(now):
        stages = Stage.objects.filter(project=OuterRef("pk"), status__in=_LIVING)
        yield from _told(
            Q(Exists(stages)),
            "halted:folder",
            "Nothing is sent to any marketplace: the data folder of the jobs worker does not know this "
            "database. An administrator finds the command in `manage.py doctor`.",
        )


def _none_vouches(now: datetime) -> bool:
    return not DispatchEpoch.objects.filter(vouched_at__gt=now - _VOUCHED).exists()


def _told(which: Q, key: str, sentence: str) -> Iterator[Condition]:
    for pk, slug in Project.objects.filter(which).order_by("pk").values_list("pk", "slug"):
        address = reverse("desk:project", args=[slug])
        yield Condition(pk, "halted", key, Notice.Level.ALARM, sentence[:300], address)
