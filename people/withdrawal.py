"""A person leaves a study: what they did stays paid, and its owner is told to publish it no more."""

from abc import ABC, abstractmethod

from django.db import transaction
from django.utils import timezone

from core.extensions import parts_of
from people.models import Guest, StudyLink
from people.owners import kind_of, record_at

#: What an owner reads whose data are tables that they download themselves.
LEFT_OUT = "Leave their answers out of what you publish; the table of visits says who withdrew and when."


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
    """The person withdraws; the owner is told which releases hold their answers. Again, nothing changes."""
    if not Guest.objects.filter(pk=guest.pk, withdrawn_at=None).update(withdrawn_at=timezone.now()):
        guest.refresh_from_db()
        return
    guest.refresh_from_db()
    # Releases and judgments are a project's.
    holders = parts_of(AnswerHolder) if guest.project_id else ()  # type: ignore[type-abstract]
    owner_kind = kind_of(guest.owner)
    owner_kind.let_go(guest)
    published = [name for holder in holders for name in holder.published_with(guest)]
    judged = sum(holder.set_aside(guest) for holder in holders)
    taken_out = (
        f" What they judged counts no more ({judged} HIT{'' if judged == 1 else 's'}): scores are computed "
        "again without it."
        if judged
        else ""
    )
    said = f"Published already with their answers: {', '.join(published)}." if published else ""
    rest = "What they wrote stays out of coming releases." if guest.project_id else LEFT_OUT
    owner_kind.notify(
        link,
        kind="withdrawal",
        key=f"withdrawal:{guest.pk}",
        level="warning",
        sentence=f"{guest.worker_id} withdrew. {rest}{taken_out} {said}".strip(),
    )
    record_at(guest, "guest.withdrew", guest.worker_id, published=published, judged=judged)


def withdrawn_ids(project_id: int) -> list[str]:
    """Worker ids of the project's people who withdrew."""
    rows = Guest.objects.filter(project=project_id, withdrawn_at__isnull=False)
    return list(rows.order_by("pk").values_list("worker_id", flat=True))
