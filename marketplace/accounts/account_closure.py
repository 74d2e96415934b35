"""Closing a worker's account for ever.

What says who the worker is goes: login, name, place, messages, and what they wrote beside the work. The
worker id, submitted work, decisions, ratings' stars, qualifications and money stay: they are the requesters'
data and the books, and undecided work is still approved and paid under the id.
"""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core import signing
from django.db import transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.utils.translation import gettext

from core.accounts.services import delete_account, is_needed
from marketplace import clock, models
from marketplace.errors import Refusal
from marketplace.lifecycle.hits import abandon, return_assignment
from marketplace.locks import lock_worker
from marketplace.money.payees import drop_change
from marketplace.parts import tables_of_worker

# Receipts of closed accounts: by one, whoever was the worker can prove it when money is still to be paid.

_signer = signing.Signer(salt="marketplace.closed-account", sep=".")


def receipt(worker_id: str) -> str:
    """What the person is given when they close the account; only this installation can make it."""
    return _signer.sign(worker_id)


def worker_of(receipt_text: str) -> models.Worker | None:
    """The closed account that a receipt belongs to; None for what is no receipt of ours."""
    try:
        worker_id = _signer.unsign(receipt_text.strip())
    except signing.BadSignature:
        return None
    return models.Worker.objects.filter(worker_id=worker_id, closed_at__isnull=False).first()


Asked = models.QualificationRequest.State


@dataclass(frozen=True, slots=True)
class ClosedAccount:
    """What closing an account did."""

    returned: int
    login_stays: bool


def login_stays(worker: models.Worker) -> bool:
    """Whether the worker's login is also used for something else, and therefore outlives the account."""
    return isinstance(worker.user, User) and is_needed(worker.user, besides=(models.Worker,))


def close(*, worker: models.Worker, keep_payment_note: bool = False) -> ClosedAccount:
    """Close the account: all of it happens, or nothing.

    How the worker wants to be paid can be kept until what is due is paid (`forget_payment_notes`). Raises
    Refusal where the account is closed already.
    """
    while True:
        done = _close(worker.pk, keep_payment_note)
        if done is not None:
            return done


@transaction.atomic
def _close(pk: int, keep_payment_note: bool) -> ClosedAccount | None:
    """None, and nothing is done, where the worker accepted one more HIT while the others were locked."""
    hits = sorted(_list_open_holdings(pk).values_list("hit_id", flat=True))
    # HITs before the worker, in the order of all locks; which they are is known only by looking before.
    _lock(hits)
    worker = lock_worker(pk)
    if worker.closed_at:
        raise Refusal("AccountClosed", gettext("This account is closed already."))
    holdings = list(_list_open_holdings(pk))
    if not {holding.hit_id for holding in holdings} <= set(hits):
        return None
    for holding in holdings:
        _end(holding)
    _erase_words(worker)
    stays = login_stays(worker)
    user = worker.user
    if keep_payment_note:
        drop_change(worker=worker)
    else:
        models.PayeeDetails.objects.filter(worker=worker).delete()
    models.Worker.objects.filter(pk=pk).update(
        closed_at=clock.now(),
        name=f"closed {worker.worker_id}",
        user=None,
        token_digest=None,
        country="",
        subdivision="",
        time_zone="",
        language="",
        adult=False,
        accept_next=False,
        payment_note_sealed=worker.payment_note_sealed if keep_payment_note else "",
    )
    if isinstance(user, User) and not stays:
        delete_account(user)
    return ClosedAccount(returned=len(holdings), login_stays=stays)


def forget_payment_notes() -> int:
    """Delete how closed workers wanted to be paid, as soon as no real money is due to them any more.

    The copies in payout files go with it; those files cannot be made again from then on.
    """
    undecided = models.Holding.objects.filter(
        worker=OuterRef("pk"), state=models.Holding.State.SUBMITTED, hit__requester__real_money=True
    )
    unpaid = models.LedgerEntry.objects.filter(
        Q(payable=None) | Q(payable__paid_at=None),
        worker=OuterRef("pk"),
        credit=models.LedgerEntry.Account.WORKERS,
        requester__real_money=True,
    )
    closed = models.Worker.objects.filter(~Exists(undecided), ~Exists(unpaid), closed_at__isnull=False)
    of_closed = closed.values("pk")
    models.PayeeDetails.objects.filter(worker__in=of_closed).delete()
    settled = models.PayoutLine.objects.filter(
        state__in=[models.PayoutLine.State.PAID, models.PayoutLine.State.FAILED]
    )
    settled.filter(worker__in=of_closed).exclude(details_sealed="").update(details_sealed="")
    return closed.exclude(payment_note_sealed="").update(payment_note_sealed="")


def _list_open_holdings(pk: int) -> QuerySet[models.Holding]:
    return models.Holding.objects.filter(worker=pk, state=models.Holding.State.ACCEPTED).order_by("pk")


def _lock(hits: list[int]) -> None:
    """HITs, then their requesters, each by their key: the order in which everybody locks."""
    locked = models.HIT.objects.filter(pk__in=hits).order_by("pk").select_for_update(no_key=True)
    requesters = sorted({requester for _, requester in locked.values_list("pk", "requester_id")})
    list(
        models.Requester.objects.filter(pk__in=requesters)
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk")
    )


def _end(holding: models.Holding) -> None:
    if holding.deadline > clock.now():
        return_assignment(holding=holding)
    else:
        abandon(holding=holding)


def _erase_words(worker: models.Worker) -> None:
    """What was said to the worker, and what they said beside their work."""
    models.Message.objects.filter(worker=worker).delete()
    tables: tuple[type[Model], ...] = (
        models.Contact,
        models.CountryChange,
        models.WorkerTrace,
        models.PageStorage,
    )
    for table in (*tables, *tables_of_worker()):
        table._default_manager.filter(worker=worker).delete()
    models.WorkTrace.objects.filter(holding__worker=worker).delete()
    models.Letter.objects.filter(worker=worker).update(subject="", body="")
    models.Rating.objects.filter(worker=worker).update(words="")
    requests = models.QualificationRequest.objects.filter(worker=worker)
    requests.filter(state__in=models.QualificationRequest.OPEN).update(
        state=Asked.EXPIRED, decided_at=clock.now()
    )
    requests.update(answer="")
