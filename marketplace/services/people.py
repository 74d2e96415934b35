"""Requesters and workers: joining, invitations, keys, deposits, blocks, messages, countries, scripts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, User
from django.db import IntegrityError, transaction
from django.db.models import F, Q

from core.accounts import security
from core.extensions import parts_of
from core.money import FEE_PROFILES
from marketplace import clock, ids, ledger, models
from marketplace.amounts import money
from marketplace.errors import Refusal
from marketplace.ledger import Kind, Movement
from marketplace.parts import WorkerNames
from marketplace.services import accesskeys
from marketplace.services.accesskeys import IssuedKey
from marketplace.services.activity import note as note_activity
from marketplace.services.holds import lock_worker
from marketplace.services.members import Action, may

MAX_BLOCKS = 100_000
#: The largest deposit: ten million.
MOST_CENTS = 1_000_000_000


def create_requester(
    *,
    name: str,
    fee_profile: str | None = None,
    owner: AbstractBaseUser | None = None,
    real_money: bool = False,
    by: AbstractBaseUser | None = None,
) -> tuple[models.Requester, IssuedKey]:
    """A new requester and its first key, whose secret is shown this once.

    Its account holds play money or real money; that cannot change later.
    """
    profile = fee_profile or settings.MARKETPLACE_FEE_PROFILE
    if profile not in FEE_PROFILES:
        raise Refusal(
            "InvalidParameterValue",
            f"There is no fee profile {profile!r}; known are {', '.join(FEE_PROFILES)}.",
        )
    try:
        with transaction.atomic():
            requester = models.Requester.objects.create(
                name=_named(name),
                customer_id=ids.new_customer_id(),
                fee_profile=profile,
                real_money=real_money,
                owner=owner,  # type: ignore[misc]
                created_at=clock.now(),
            )
            key = accesskeys.issue_key(requester=requester, by=by)
    except IntegrityError as error:
        raise Refusal("NameTaken", f"There is already a requester named {name!r}.") from error
    return requester, key


def _named(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > 120:
        raise Refusal("InvalidParameterValue", "A name has between 1 and 120 characters.")
    return name


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


def create_scripted_worker(
    *, name: str, country: str = "", subdivision: str = "", adult: bool = False
) -> tuple[models.Worker, str]:
    """A simulated worker with a token for the worker API; marked simulated for ever."""
    [created] = create_scripted_workers(names=[name], country=country, subdivision=subdivision, adult=adult)
    return created


def create_scripted_workers(
    *, names: Sequence[str], country: str = "", subdivision: str = "", adult: bool = False
) -> list[tuple[models.Worker, str]]:
    """Several simulated workers, each with a token; all of them, or none where a name is taken."""
    tokens = [ids.new_token() for _ in names]
    now = clock.now()
    try:
        with transaction.atomic():
            workers = models.Worker.objects.bulk_create(
                models.Worker(
                    worker_id=ids.new_customer_id(),
                    name=_named(name),
                    token_digest=ids.digest(token),
                    simulated=True,
                    country=country,
                    subdivision=subdivision,
                    adult=adult,
                    created_at=now,
                )
                for name, token in zip(names, tokens, strict=True)
            )
    except IntegrityError as error:
        existing_name = models.Worker.objects.filter(name__in=names).values_list("name", flat=True).first()
        raise Refusal(
            "NameTaken", f"There is already a worker named {existing_name or names[0]!r}."
        ) from error
    return list(zip(workers, tokens, strict=True))


def create_invitation(*, label: str, max_uses: int, days: int | None) -> tuple[models.Invitation, str]:
    """A link for `max_uses` people, valid for `days` (None: until used up); the token is shown this once."""
    token = ids.new_token()
    now = clock.now()
    invitation = models.Invitation.objects.create(
        token_digest=ids.digest(token),
        label=label,
        max_uses=max_uses,
        expires_at=now + timedelta(days=days) if days else None,
        created_at=now,
    )
    return invitation, token


def invitation_for(token: str) -> models.Invitation | None:
    """The invitation that this token opens, if it can still be used."""
    return (
        models.Invitation.objects.filter(token_digest=ids.digest(token), uses__lt=F("max_uses"))
        .filter(Q(expires_at=None) | Q(expires_at__gt=clock.now()))
        .first()
    )


@transaction.atomic
def register_worker(
    *,
    user: Any,
    name: str,
    country: str = "",
    subdivision: str = "",
    adult: bool = False,
    invitation_token: str | None = None,
    address: str = "",
) -> models.Worker:
    """Make `user` a worker: by an invitation, or freely where registration is open.

    `address` is the digest of the network address they come from (`services.traces`), for its limit.
    """
    invitation = None
    if invitation_token is not None:
        invitation = invitation_for(invitation_token)
        used = invitation and models.Invitation.objects.filter(
            pk=invitation.pk, uses__lt=F("max_uses")
        ).update(uses=F("uses") + 1)
        if not used:
            raise Refusal(
                "InvitationUsed", "This invitation has been used up or has expired. Ask for a new one."
            )
    elif settings.MARKETPLACE_REGISTRATION != "open":
        raise Refusal("RegistrationClosed", "This marketplace is open by invitation only.")
    _refuse_too_many(invitation, address)
    if models.Worker.objects.filter(Q(user=user) | Q(name=_named(name))).exists():
        raise Refusal("NameTaken", "There is already a worker with this name; choose another one.")
    return models.Worker.objects.create(
        worker_id=ids.new_customer_id(),
        name=_named(name),
        user=user,
        country=country,
        subdivision=subdivision,
        adult=adult,
        invitation=invitation,
        created_at=clock.now(),
    )


def _refuse_too_many(invitation: models.Invitation | None, address: str) -> None:
    """Keep to what one day, one invitation and one network address let in; the invitation's row is locked."""
    day = clock.now() - timedelta(days=1)
    most = settings.MARKETPLACE_SIGN_UPS_PER_INVITATION
    if (
        invitation
        and most
        and models.Worker.objects.filter(invitation=invitation, created_at__gt=day).count() >= most
    ):
        raise Refusal(
            "TooManySignUps",
            f"{most} people have signed up with this invitation since yesterday, which is its limit. "
            "Try again tomorrow, or ask for another invitation.",
        )
    most = settings.MARKETPLACE_SIGN_UPS_PER_ADDRESS
    accounts = models.WorkerTrace.objects.filter(
        kind=models.WorkerTrace.Kind.ADDRESS, digest=address, signed_up=True, first_at__gt=day
    )
    if address and most and accounts.count() >= most:
        raise Refusal(
            "TooManySignUps",
            f"{most} people have signed up from your network since yesterday, which is the limit. "
            "Try again tomorrow, or ask the people who run this marketplace.",
        )


@transaction.atomic
def block(*, requester: models.Requester, worker: models.Worker, reason: str) -> models.Block:
    """Keep a worker from accepting this requester's HITs; blocking twice renews the reason."""
    if models.Block.objects.filter(requester=requester).count() >= MAX_BLOCKS:
        raise Refusal("InvalidParameterValue", f"A requester can block at most {MAX_BLOCKS} workers.")
    blocked, _ = models.Block.objects.update_or_create(
        requester=requester,
        worker=worker,
        defaults={"reason": reason},
        create_defaults={"reason": reason, "created_at": clock.now()},
    )
    note_activity(requester.pk, "worker.blocked", worker.worker_id, reason)
    return blocked


@transaction.atomic
def unblock(*, requester: models.Requester, worker: models.Worker) -> None:
    """Lift a block; a worker who is not blocked stays so."""
    lifted, _ = models.Block.objects.filter(requester=requester, worker=worker).delete()
    if lifted:
        note_activity(requester.pk, "worker.unblocked", worker.worker_id)


def notify_workers(
    *, requester: models.Requester, worker_ids: Sequence[str], subject: str, body: str
) -> dict[str, str]:
    """Put a message into workers' inboxes; the reasons for those who cannot get it, by worker id.

    As on MTurk, only people who did work for the requester can be written to.
    """
    workers = models.Worker.objects.in_bulk(list(set(worker_ids)), field_name="worker_id")
    reasons: dict[str, str] = {}
    for names in parts_of(WorkerNames):
        workers |= names.find(set(worker_ids) - workers.keys())
        reasons |= names.explain(requester, set(worker_ids) - workers.keys())
    acquainted = set(
        models.Holding.objects.filter(
            worker__in=workers.values(), requester=requester, state__in=models.Holding.ANSWERED
        ).values_list("worker_id", flat=True)
    ) | set(requester.qualification_types.values_list("grants__worker_id", flat=True))
    failures: dict[str, str] = {}
    now = clock.now()
    messages = []
    for worker_id in dict.fromkeys(worker_ids):
        worker = workers.get(worker_id)
        if worker is None:
            failures[worker_id] = reasons.get(worker_id, "There is no worker with this id.")
        elif worker.closed_at:
            failures[worker_id] = "This worker has closed the account."
        elif worker.guest_of_id is not None and worker.user_id is None:
            failures[worker_id] = "This person came by a study link, has no account, and so no inbox."
        elif worker.pk not in acquainted:
            failures[worker_id] = (
                "This worker has not submitted work to you, nor holds a qualification of yours."
            )
        else:
            messages.append(
                models.Message(worker=worker, requester=requester, subject=subject, body=body, sent_at=now)
            )
    models.Message.objects.bulk_create(messages)
    return failures


# The country that a worker states: once at sign-up, then changed seldom, with a reason, and written down.


def place_of(worker: models.Worker) -> str:
    """As a Locale requirement names it: `US-PA`, `DE`, or nothing."""
    return "-".join(filter(None, (worker.country, worker.subdivision)))


def next_change_at(worker: models.Worker) -> datetime | None:
    """When the worker may state another country again; None: now."""
    last = models.CountryChange.objects.filter(worker=worker).order_by("-at").first()
    if last is None:
        return None
    at = last.at + timedelta(days=settings.MARKETPLACE_COUNTRY_DAYS)
    return at if at > clock.now() else None


@transaction.atomic
def change_country(
    *, worker: models.Worker, country: str, subdivision: str, reason: str
) -> models.CountryChange:
    """State another country; staff see what it was and why. Raises Refusal with a sentence for the worker."""
    worker = lock_worker(worker.pk)
    before, after = place_of(worker), "-".join(filter(None, (country, subdivision)))
    if after == before:
        raise Refusal("SameCountry", "This is what you have stated already.")
    if at := next_change_at(worker):
        raise Refusal("TooSoon", f"You can state another country again on {at:%-d %b %Y}.")
    reason = " ".join(reason.split())
    if not 0 < len(reason) <= 300:
        raise Refusal("InvalidParameterValue", "Say why in at most 300 characters.")
    models.Worker.objects.filter(pk=worker.pk).update(country=country, subdivision=subdivision)
    security.log("country.changed", worker=worker.worker_id, before=before, after=after)
    return models.CountryChange.objects.create(
        worker=worker, before=before, after=after, reason=reason, at=clock.now()
    )
