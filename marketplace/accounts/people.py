"""Requesters and workers: joining, invitations, keys, deposits, blocks, messages, countries, scripts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils.formats import date_format
from django.utils.translation import gettext

from core.accounts import security
from core.money import FEE_PROFILES
from marketplace import clock, ids, models
from marketplace.accounts import accesskeys
from marketplace.accounts.accesskeys import IssuedKey
from marketplace.activity import note as note_activity
from marketplace.errors import Refusal
from marketplace.locks import lock_worker

MAX_BLOCKS = 100_000


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
    language: str = "",
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
                "InvitationUsed",
                gettext("This invitation has been used up or has expired. Ask for a new one."),
            )
    elif settings.MARKETPLACE_REGISTRATION != "open":
        raise Refusal("RegistrationClosed", gettext("This marketplace is open by invitation only."))
    _refuse_too_many(invitation, address)
    if models.Worker.objects.filter(Q(user=user) | Q(name=_named(name))).exists():
        raise Refusal("NameTaken", gettext("There is already a worker with this name; choose another one."))
    return models.Worker.objects.create(
        worker_id=ids.new_customer_id(),
        name=_named(name),
        user=user,
        country=country,
        subdivision=subdivision,
        adult=adult,
        language=language,
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
            gettext(
                "%(most)s people have signed up with this invitation since yesterday, which "
                "is its limit. Try again tomorrow, or ask for another invitation."
            )
            % {"most": most},
        )
    most = settings.MARKETPLACE_SIGN_UPS_PER_ADDRESS
    accounts = models.WorkerTrace.objects.filter(
        kind=models.WorkerTrace.Kind.ADDRESS, digest=address, signed_up=True, first_at__gt=day
    )
    if address and most and accounts.count() >= most:
        raise Refusal(
            "TooManySignUps",
            gettext(
                "%(most)s people have signed up from your network since yesterday, which is "
                "the limit. Try again tomorrow, or ask the people who run this marketplace."
            )
            % {"most": most},
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
        raise Refusal("SameCountry", gettext("This is what you have stated already."))
    if at := next_change_at(worker):
        raise Refusal(
            "TooSoon",
            gettext("You can state another country again on %(day)s.")
            % {"day": date_format(at, "SHORT_DATE_FORMAT")},
        )
    reason = " ".join(reason.split())
    if not 0 < len(reason) <= 300:
        raise Refusal("InvalidParameterValue", gettext("Say why in at most 300 characters."))
    models.Worker.objects.filter(pk=worker.pk).update(country=country, subdivision=subdivision)
    security.log("country.changed", worker=worker.worker_id, before=before, after=after)
    return models.CountryChange.objects.create(
        worker=worker, before=before, after=after, reason=reason, at=clock.now()
    )
