"""Study links of requesters: what they lead to, and what their owner does with what happens there."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet

from core.origin import Owner
from marketplace.models import HIT, Activity, Batch, Holding, Requester
from marketplace.services import guests
from marketplace.services.activity import note
from marketplace.taskpages import guest_address
from people.models import Guest, Outcome, StudyLink, Visit
from people.owners import OwnerKind
from people.targets import NextTask, Target


class RequesterTarget(Target):
    """All HITs of a requester that are on offer, the oldest first."""

    kind, label = "requester", "Requester"

    def choices(self, owner: Owner) -> list[tuple[int, str]]:
        """The requester."""
        return [(owner.pk, "all open HITs")] if owner.kind == Owner.Kind.REQUESTER else []

    def hits(self, link: StudyLink) -> QuerySet[HIT]:
        """What the link leads to; nothing that belongs to another requester."""
        return HIT.objects.filter(requester=link.requester_id)

    def welcome(self, link: StudyLink, guest: Guest) -> None:
        """The guest's worker, with what the link grants."""
        worker = guests.register_guest(guest)
        if link.granted:
            guests.grant_on_joining(link, worker)

    def begin(self, visit: Visit, back: str) -> NextTask | Outcome:
        """Open work first, then the next HIT; its page finds the way back by the visit."""
        found = guests.begin_work(visit, self.hits(visit.link))
        if isinstance(found, Holding):
            return NextTask(f"{settings.PUBLIC_URL}{guest_address(found)}")
        return found

    def finished(self, link: StudyLink, worker_ids: list[str]) -> dict[str, int]:
        """HITs that were answered by this link."""
        return guests.answered_by(link, worker_ids)

    def remarks(self, link: StudyLink, guest: Guest) -> list[str]:
        """What was earned, where the requester pays."""
        return guests.say_earnings(link, guest)

    def title(self, link: StudyLink) -> str:
        """In words."""
        return "All open HITs"


class BatchTarget(RequesterTarget):
    """The HITs of one batch, with those of rows that were added to it."""

    kind, label = "batch", "Batch"

    def choices(self, owner: Owner) -> list[tuple[int, str]]:
        """Batches that are not cancelled, the newest first; a draft has work once it is published."""
        if owner.kind != Owner.Kind.REQUESTER:
            return []
        rows = Batch.objects.filter(requester=owner.pk, extends=None, task_count__gt=0)
        rows = rows.exclude(state=Batch.State.CANCELLED).order_by("-number")
        return [(pk, f"{number}, {name}") for pk, number, name in rows.values_list("pk", "number", "name")]

    def hits(self, link: StudyLink) -> QuerySet[HIT]:
        """The batch's."""
        return super().hits(link).filter(batch=link.target_id)

    def title(self, link: StudyLink) -> str:
        """Number and name of the batch."""
        return self.titles([link])[link.pk]

    def titles(self, links: Sequence[StudyLink]) -> dict[int, str]:
        """Numbers and names, read at once."""
        rows = Batch.objects.filter(pk__in=[link.target_id for link in links])
        names = {
            pk: f"Batch {number}, {name}" for pk, number, name in rows.values_list("pk", "number", "name")
        }
        return {link.pk: names.get(link.target_id, "A batch that is gone") for link in links}


class RequesterLinks(OwnerKind):
    """Links of a requester: its activity, its messages, its qualifications."""

    kind = Owner.Kind.REQUESTER

    def language(self, pk: int) -> str:
        """Requesters name none."""
        return "en"

    def why_read_only(self, pk: int) -> str:
        """No requester is."""
        return ""

    def lock(self, pk: int) -> None:
        """The requester's row."""
        Requester.objects.select_for_update(no_key=True).get(pk=pk)

    def record(self, pk: int, *, action: str, subject: str, actor: Any, details: dict[str, Any]) -> None:
        """Into the requester's activity; who did it is known there from the request."""
        words = ", ".join(f"{name} {value}" for name, value in details.items() if value not in ([], 0, None))
        note(pk, action, subject, words)

    def notify(self, link: StudyLink, *, kind: str, key: str, level: str, sentence: str) -> None:
        """A line in the activity, once for each cause; a withdrawal comes as a message besides."""
        assert link.requester_id is not None
        lines = Activity.objects.filter(requester=link.requester_id, action="link.crowded")
        if kind == "shared_address" and not lines.filter(subject=link.title[:120]).exists():
            note(link.requester_id, "link.crowded", link.title, sentence)

    def grants(self, pk: int) -> list[tuple[str, str]] | None:
        """The requester's active qualifications."""
        return [(kind.qualification_type_id, kind.name) for kind in guests.grantable_types(pk)]

    def say_grant(self, link: StudyLink) -> str:
        """The qualification's name with the value."""
        if not link.granted:
            return ""
        kinds = guests.grantable_types(link.requester_id or 0)
        kind = kinds.filter(qualification_type_id=link.granted).first()
        return f"{kind.name} ({link.granted_value})" if kind else "nothing, as its qualification is inactive"

    def adopt(self, guest: Guest, user: User) -> None:
        """The guest's worker is the account's."""
        guests.adopt_account(guest, user)

    def let_go(self, guest: Guest) -> None:
        """Open work goes back, and the requester gets a message."""
        guests.let_guest_go(guest)


PARTS = (RequesterTarget(), BatchTarget(), RequesterLinks())
