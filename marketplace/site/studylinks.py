"""Study links of requesters: what they lead to, the work of those who come by them, what their owner sees.

The rules are those of all workers: places, requirements, blocks, deadlines, one assignment for each HIT. What
is of their own is who they are (a guest of the app `people`: no account, no password, and HITs of that
requester alone), what joining grants, and whether money of the requester is paid for the work: for a link
that gives nothing, course credit or what a panel pays, an approval gives the hold for the place back, fee and
all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils.translation import gettext

from core.origin import Owner
from marketplace import clock, models
from marketplace.activity import note
from marketplace.errors import Refusal
from marketplace.lifecycle.assignments import accept_locked
from marketplace.lifecycle.expiry import settle
from marketplace.lifecycle.hits import return_assignment
from marketplace.lifecycle.selectors import assignable
from marketplace.money.amounts import money
from marketplace.qualifications import grants
from marketplace.qualifications.eligibility import verdicts
from marketplace.site.taskpages import guest_address
from people.models import Guest, Outcome, StudyLink, Visit
from people.owners import LinkChoice, NextTask, OwnerKind, Target
from people.visits import LEFT_OUT

State = models.Holding.State
_MONEY = StudyLink.Compensation.MONEY
#: HITs that are tried one after the other before others are said to have taken all.
_TRIES = 20


def register_guest(guest: Guest) -> models.Worker:
    """The guest's worker, made where there is none yet; the worker id is the guest's."""
    assert guest.requester_id is not None
    worker, _ = models.Worker.objects.get_or_create(
        worker_id=guest.worker_id,
        defaults={
            "name": guest.worker_id,
            "guest_of_id": guest.requester_id,
            "created_at": clock.now(),
        },
    )
    return worker


@transaction.atomic
def grant_on_joining(link: StudyLink, worker: models.Worker) -> None:
    """Give what the link grants, once: what was taken back or changed since stays so when they come again."""
    kind = grantable_types(link.requester_id or 0).filter(qualification_type_id=link.granted).first()
    if kind is None:
        return
    value = 1 if link.granted_value is None else link.granted_value
    _, is_new = models.QualificationGrant.objects.get_or_create(
        qualification_type=kind, worker=worker, defaults={"value": value, "granted_at": clock.now()}
    )
    if is_new:
        grants.note_grant(kind, worker, value)


def grantable_types(requester_pk: int) -> QuerySet[models.QualificationType]:
    """Qualifications that a link of the requester can grant."""
    return models.QualificationType.objects.filter(
        requester=requester_pk,
        status=models.QualificationType.Status.ACTIVE,
        disposing_at=None,
        deleted_at=None,
    ).order_by("name", "pk")


def begin_work(visit: Visit, hits: QuerySet[models.HIT]) -> models.Holding | Outcome:
    """The assignment among these HITs that the visitor has open, else the next one, else why there is none.

    Runs in a transaction in which the guest's row is locked, so that two tabs get the same one.
    """
    guest, link = visit.guest, visit.link
    assert guest is not None
    worker = register_guest(guest)
    if open_holding := _open_work(worker, hits):
        if (
            open_holding.visit_id != visit.pk
        ):  # another session of the panel: its way back counts from here on
            models.Holding.objects.filter(pk=open_holding.pk, visit__link=link).update(visit=visit)
        return open_holding
    answered = answered_by(link, [worker.worker_id]).get(worker.worker_id, 0)
    if link.most_tasks and answered >= link.most_tasks:
        return Outcome.COMPLETED
    next_holding = _accept_next(worker, visit, hits)
    if isinstance(next_holding, models.Holding):
        return next_holding
    if answered:
        states = models.Holding.objects.filter(
            worker=worker, visit__link=link, state__in=models.Holding.ANSWERED
        )
        rejected = set(states.order_by().values_list("state", flat=True)) == {State.REJECTED}
        return Outcome.FAILED_CHECKS if rejected else Outcome.COMPLETED
    return next_holding


def _open_work(worker: models.Worker, hits: QuerySet[models.HIT]) -> models.Holding | None:
    mine = models.Holding.objects.filter(worker=worker, state=State.ACCEPTED, hit__in=hits)
    for holding in mine.select_related("hit").defer("hit__question").order_by("pk"):
        if holding.deadline > clock.now():
            return holding
        settle(hits=[holding.hit])
    return None


def _accept_next(worker: models.Worker, visit: Visit, hits: QuerySet[models.HIT]) -> models.Holding | Outcome:
    """Take the first HIT that the worker may take; HITs that others are just taking are passed over first.

    What somebody gave back is not offered to them again: they would get nothing else.
    """
    seen = models.Holding.objects.filter(
        hit=OuterRef("pk"), worker=worker, state__in=[*models.Holding.OCCUPYING, State.RETURNED]
    )
    now = clock.now()
    offered = hits.filter(assignable(now)).exclude(Exists(seen))
    types = list(models.HITType.objects.filter(pk__in=offered.order_by().values("hit_type")))
    if not types:
        return Outcome.NOTHING_LEFT
    verdict_of = verdicts(worker=worker, hit_types=types)
    open_types = {each.pk: each for each in types if verdict_of[each.pk].accept}
    if not open_types:
        return Outcome.SCREENED_OUT
    mine = offered.filter(hit_type__in=open_types).order_by("pk")
    unpaid = visit.link.compensation != _MONEY
    # First past HITs that others are just taking; where all are, wait for them, for one may stay free.
    for skipping in (True, False):
        for _ in range(_TRIES):
            locked = mine.select_for_update(no_key=True, of=("self",), skip_locked=skipping)
            hit = locked.first()
            if hit is None:
                break
            hit.hit_type = open_types[hit.hit_type_id]
            try:
                with transaction.atomic():
                    return accept_locked(worker, hit, visit=visit, unpaid=unpaid)
            except Refusal as refusal:
                if refusal.code not in _TAKEN:
                    return _ENDS.get(refusal.code, Outcome.NOTHING_LEFT)
                mine = mine.exclude(pk=hit.pk)
    return Outcome.NOTHING_LEFT


#: Refusals that concern one HIT, where the next one may be free.
_TAKEN = ("HITUnavailable", "AssignmentAlreadyExists")
#: What a refusal that concerns the person means for the visit.
_ENDS = {"DoesNotMeetRequirements": Outcome.SCREENED_OUT}


def answered_by(link: StudyLink, worker_ids: list[str]) -> dict[str, int]:
    """HITs that each of these people answered by this link."""
    rows = models.Holding.objects.filter(
        worker__worker_id__in=worker_ids, visit__link=link, state__in=models.Holding.ANSWERED
    )
    return dict(rows.order_by().values_list("worker__worker_id").annotate(Count("pk")))


@dataclass(frozen=True, slots=True)
class Earnings:
    """What a guest's work at the requester came to, in cents: paid, and waiting for a decision."""

    approved: int
    waiting: int


def earnings_of(guest: Guest) -> Earnings:
    """What is booked for the guest, and what is not decided yet."""
    booked = models.LedgerEntry.objects.filter(
        requester=guest.requester_id,
        worker__worker_id=guest.worker_id,
        credit=models.LedgerEntry.Account.WORKERS,
    )
    waiting = models.Holding.objects.filter(
        worker__worker_id=guest.worker_id, requester=guest.requester_id, state=State.SUBMITTED, unpaid=False
    )
    return Earnings(
        approved=booked.aggregate(sum=Sum("cents"))["sum"] or 0,
        waiting=waiting.aggregate(sum=Sum("hit__reward_cents"))["sum"] or 0,
    )


def say_earnings(link: StudyLink, guest: Guest) -> list[str]:
    """What the person reads of their money; nothing where none is paid here."""
    if link.compensation != _MONEY:
        return []
    earned = earnings_of(guest)
    sums = {"earned": money(earned.approved), "waiting": money(earned.waiting)}
    sentence = (
        gettext("You have earned %(earned)s, and %(waiting)s more once the work that waits is approved.")
        if earned.waiting
        else gettext("You have earned %(earned)s.")
    )
    way = (
        gettext("State on your worker profile how you want to be paid.")
        if guest.user_id
        else gettext("To be paid, make an account below: you can say there how the money reaches you.")
    )
    return [sentence % sums, way]


def adopt_account(guest: Guest, user: User) -> None:
    """The guest's worker gets the account, keeps id and history, and is called by its name if that is free.

    Where people may join the marketplace by themselves, it is a worker like all others from now on.
    """
    worker = register_guest(guest)
    worker.user = user
    if not models.Worker.objects.filter(Q(name=user.get_username())).exists():
        worker.name = user.get_username()
    if settings.MARKETPLACE_REGISTRATION == "open":
        worker.guest_of = None
    worker.save(update_fields=["user", "name", "guest_of"])


def let_guest_go(guest: Guest) -> None:
    """What the guest has open is free for others, and the requester reads of the withdrawal."""
    worker = register_guest(guest)
    mine = models.Holding.objects.filter(worker=worker, requester=guest.requester_id, state=State.ACCEPTED)
    for holding in mine.order_by("hit"):
        try:
            return_assignment(holding=holding)
        except Refusal:
            continue  # its time was over: the sweep ends it
    assert guest.requester_id is not None
    models.Letter.objects.create(
        requester_id=guest.requester_id,
        worker=worker,
        subject="Withdrawal from the study",
        body=f"{guest.worker_id} withdrew from the study. {LEFT_OUT}",
        sent_at=clock.now(),
    )


# What a link can lead to, and what happens to its owner, as the app `people` asks for it.


class RequesterTarget(Target):
    """All HITs of a requester that are on offer, the oldest first."""

    kind, label = "requester", "Requester"

    def choices(self, owner: Owner) -> list[LinkChoice]:
        """The requester."""
        return [LinkChoice(owner.pk, "all", "all open HITs")] if owner.kind == Owner.Kind.REQUESTER else []

    def hits(self, link: StudyLink) -> QuerySet[models.HIT]:
        """What the link leads to; nothing that belongs to another requester."""
        return models.HIT.objects.filter(requester=link.requester_id)

    def welcome(self, link: StudyLink, guest: Guest) -> None:
        """The guest's worker, with what the link grants."""
        worker = register_guest(guest)
        if link.granted:
            grant_on_joining(link, worker)

    def begin(self, visit: Visit, back: str) -> NextTask | Outcome:
        """Open work first, then the next HIT; its page finds the way back by the visit."""
        work = begin_work(visit, self.hits(visit.link))
        if isinstance(work, models.Holding):
            return NextTask(f"{settings.PUBLIC_URL}{guest_address(work)}")
        return work

    def finished(self, link: StudyLink, worker_ids: list[str]) -> dict[str, int]:
        """HITs that were answered by this link."""
        return answered_by(link, worker_ids)

    def remarks(self, link: StudyLink, guest: Guest) -> list[str]:
        """What was earned, where the requester pays."""
        return say_earnings(link, guest)

    def title(self, link: StudyLink) -> str:
        """In words."""
        return "All open HITs"


class BatchTarget(RequesterTarget):
    """The HITs of one batch, with those of rows that were added to it."""

    kind, label = "batch", "Batch"

    def choices(self, owner: Owner) -> list[LinkChoice]:
        """Batches that are not cancelled, the newest first; a draft has work once it is published."""
        if owner.kind != Owner.Kind.REQUESTER:
            return []
        rows = models.Batch.objects.filter(requester=owner.pk, extends=None, task_count__gt=0)
        rows = rows.exclude(state=models.Batch.State.CANCELLED).order_by("-number")
        return [
            LinkChoice(pk, str(number), f"{number}, {name}")
            for pk, number, name in rows.values_list("pk", "number", "name")
        ]

    def hits(self, link: StudyLink) -> QuerySet[models.HIT]:
        """The batch's."""
        return super().hits(link).filter(batch=link.target_id)

    def title(self, link: StudyLink) -> str:
        """Number and name of the batch."""
        return self.titles([link])[link.pk]

    def titles(self, links: Sequence[StudyLink]) -> dict[int, str]:
        """Numbers and names, read at once."""
        rows = models.Batch.objects.filter(pk__in=[link.target_id for link in links])
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
        models.Requester.objects.select_for_update(no_key=True).get(pk=pk)

    def record(self, pk: int, *, action: str, subject: str, actor: Any, details: dict[str, Any]) -> None:
        """Into the requester's activity; who did it is known there from the request."""
        detail_text = ", ".join(
            f"{name} {value}" for name, value in details.items() if value not in ([], 0, None)
        )
        note(pk, action, subject, detail_text)

    def notify(self, link: StudyLink, *, kind: str, key: str, level: str, sentence: str) -> None:
        """A line in the activity, once for each cause; a withdrawal comes as a message besides."""
        assert link.requester_id is not None
        lines = models.Activity.objects.filter(requester=link.requester_id, action="link.crowded")
        if kind == "shared_address" and not lines.filter(subject=link.title[:120]).exists():
            note(link.requester_id, "link.crowded", link.title, sentence)

    def grants(self, pk: int) -> list[tuple[str, str]] | None:
        """The requester's active qualifications."""
        return [(kind.qualification_type_id, kind.name) for kind in grantable_types(pk)]

    def say_grant(self, link: StudyLink) -> str:
        """The qualification's name with the value."""
        if not link.granted:
            return ""
        kinds = grantable_types(link.requester_id or 0)
        kind = kinds.filter(qualification_type_id=link.granted).first()
        return f"{kind.name} ({link.granted_value})" if kind else "nothing, as its qualification is inactive"

    def adopt(self, guest: Guest, user: User) -> None:
        """The guest's worker is the account's."""
        adopt_account(guest, user)

    def let_go(self, guest: Guest) -> None:
        """Open work goes back, and the requester gets a message."""
        let_guest_go(guest)


PARTS = (RequesterTarget(), BatchTarget(), RequesterLinks())
