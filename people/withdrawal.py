"""A person leaves a study: what they did stays paid, and the project is told to publish it no more."""

from abc import ABC, abstractmethod

from django.db import transaction
from django.utils import timezone

from core.extensions import parts_of
from core.notices.services import raise_notice
from core.projects.services import record
from people.models import Guest, StudyLink


class AnswerHolder(ABC):
    """An app that keeps or publishes what people did; part of its extension."""

    @abstractmethod
    def published_with(self, guest: Guest) -> list[str]:
        """Names of what is published already and holds answers of this person."""

    def set_aside(self, guest: Guest) -> int:
        """Take out of what counts what would stay in otherwise; how many pieces of work. In a transaction."""
        return 0


@transaction.atomic
def withdraw_guest(guest: Guest, link: StudyLink) -> None:
    """The person withdraws; the project is told which releases hold their answers. Again, nothing changes."""
    if not Guest.objects.filter(pk=guest.pk, withdrawn_at=None).update(withdrawn_at=timezone.now()):
        guest.refresh_from_db()
        return
    guest.refresh_from_db()
    holders = parts_of(AnswerHolder)  # type: ignore[type-abstract]  # asked by its base class
    published = [name for holder in holders for name in holder.published_with(guest)]
    judged = sum(holder.set_aside(guest) for holder in holders)
    taken_out = (
        f" What they judged counts no more ({judged} HIT{'' if judged == 1 else 's'}): scores are computed "
        "again without it."
        if judged
        else ""
    )
    said = f"Published already with their answers: {', '.join(published)}." if published else ""
    raise_notice(
        project=link.project,
        kind="withdrawal",
        key=f"withdrawal:{guest.pk}",
        level="warning",
        sentence=f"{guest.worker_id} withdrew. What they wrote stays out of coming releases.{taken_out} "
        f"{said}".strip(),
        address=f"/desk/projects/{link.project.slug}/people/{link.pk}/",
    )
    record(
        project=link.project,
        action="guest.withdrew",
        subject=guest.worker_id,
        details={"published": published, "judged": judged},
    )


def withdrawn_ids(project_id: int) -> list[str]:
    """Worker ids of the project's people who withdrew."""
    rows = Guest.objects.filter(project=project_id, withdrawn_at__isnull=False)
    return list(rows.order_by("pk").values_list("worker_id", flat=True))
