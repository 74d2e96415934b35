"""Deposits: who may book money that came in, and in which currency."""

from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from marketplace import clock, models
from marketplace.activity import note as note_activity
from marketplace.errors import Refusal
from marketplace.members import Action, may
from marketplace.money import ledger
from marketplace.money.amounts import money
from marketplace.money.ledger import Kind, Movement

#: The largest deposit: ten million.
MOST_CENTS = 1_000_000_000


def deposit(
    *,
    requester: models.Requester,
    cents: int,
    reference: str = "",
    note: str = "",
    by: User | None = None,
    once: UUID | None = None,
) -> models.Requester:
    """Credit money to a requester's account, once per `once`: a form that is sent twice books once.

    `by` is who books it in a browser; real money is booked by staff alone.
    """
    if not 0 < cents <= MOST_CENTS:
        raise Refusal("InvalidParameterValue", f"A deposit is between one cent and {money(MOST_CENTS)}.")
    if len(reference) > 120 or len(note) > 500:
        raise Refusal(
            "InvalidParameterValue", "A reference has at most 120 characters and a note at most 500."
        )
    if by is not None and not may_book(requester, by):
        raise Refusal("AccessDenied", "Deposits of real money are booked by staff.")
    once = once or uuid4()
    now = clock.now()
    try:
        with transaction.atomic():
            check_currency(models.Requester.objects.select_for_update(no_key=True).get(pk=requester.pk))
            [entry] = ledger.post(requester.pk, [Movement(Kind.DEPOSIT, cents, memo=reference[:200])], at=now)
            models.Deposit.objects.create(
                requester=requester,
                entry=entry,
                cents=cents,
                reference=reference,
                note=note,
                by=by,
                at=now,
                once=once,
            )
            if requester.real_money:
                # From the first one on, what is here is in this currency, whatever the settings become.
                models.Requester.objects.filter(pk=requester.pk, currency="").update(
                    currency=settings.MARKETPLACE_CURRENCY
                )
            note_activity(requester.pk, "money.deposited", reference, money(cents))
    except IntegrityError:
        booked = models.Deposit.objects.filter(once=once).first()
        if booked is None:
            raise
        if (booked.requester_id, booked.cents) != (requester.pk, cents):
            raise Refusal("AlreadyBooked", "This form has booked another deposit already.") from None
    requester.refresh_from_db()
    return requester


def check_currency(requester: models.Requester) -> None:
    """Raises Refusal where the settings would relabel money that was booked in another currency."""
    if requester.currency not in ("", settings.MARKETPLACE_CURRENCY):
        raise Refusal(
            "AnotherCurrency",
            f"The money of {requester.name} was booked in {requester.currency}, and MARKETPLACE_CURRENCY is "
            f"{settings.MARKETPLACE_CURRENCY}. Set it back.",
        )


def may_book(requester: models.Requester, user: User) -> bool:
    """Whether this person may say that money of this account came in or was paid out."""
    return user.is_staff or (not requester.real_money and may(user, requester, Action.PAY))
