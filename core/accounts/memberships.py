"""Invitations to a role, and ownership that changes hands, for everything that has members.

    MembershipKind("project", …)     # a part of an app's extension

An invitation is a link, sent by mail or handed on, with a role, an end and a number of uses. Who made it sees
who accepted, and can revoke it. It works as long as its maker may still name members there.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils import timezone

from core.accounts import security
from core.accounts.emails import send_letter
from core.accounts.models import InvitationUse, MemberInvitation, OwnershipOffer
from core.errors import ActionError
from core.extensions import parts_of

LONGEST_DAYS, MOST_USES = 90, 200
#: In the session of a visitor: the invitation that they looked at.
INVITATION = "invitation"
#: Open invitations of one project or requester.
MOST_OPEN = 100


class MembershipError(ActionError):
    """An invitation or an offer that cannot be made or accepted, in words."""


@dataclass(frozen=True, slots=True)
class Membership:
    """Where somebody has a role, for their profile."""

    title: str
    role: str
    address: str


@dataclass(frozen=True, slots=True)
class MembershipKind:
    """Something that has members; `target` is its own name in addresses.

    `title` is None for one that there is not. `grant` and `revoke` name the person, the target, and (grant)
    the role. Both raise ActionError in words.
    """

    kind: str
    roles: tuple[str, ...]
    title: Callable[[str], str | None]
    may_invite: Callable[[User, str], bool]
    owns: Callable[[User, str], bool]
    role_of: Callable[[User, str], str]
    grant: Callable[[User, str, str], None]
    revoke: Callable[[User, str], None]
    hand_over: Callable[[User, User, str], None]
    address: Callable[[str], str]
    memberships: Callable[[User], list[Membership]]

    def rank(self, role: str) -> int:
        """How much a role may, beside others of the kind; the first of `roles` may most."""
        return -self.roles.index(role) if role in self.roles else -len(self.roles)


def kind_named(name: str) -> MembershipKind:
    """The kind of this name."""
    return next(each for each in parts_of(MembershipKind) if each.kind == name)


def memberships_of(user: User) -> list[Membership]:
    """Every role of a person."""
    return [each for kind in parts_of(MembershipKind) for each in kind.memberships(user)]


# Invitations.


@dataclass(frozen=True, slots=True)
class InvitationPlan:
    """What an invitation gives, to whom, and for how long."""

    role: str
    email: str = ""
    max_uses: int = 1
    days: int = 7


def invite(*, kind: str, target: str, plan: InvitationPlan, by: User, base: str) -> tuple[str, bool]:
    """A new invitation: its link, and whether it was sent by mail; then only its reader gets the link."""
    what = kind_named(kind)
    title = what.title(target)
    if title is None or not what.may_invite(by, target):
        raise MembershipError("You may not invite people there.")
    if plan.role not in what.roles:
        raise MembershipError(f"There is no role {plan.role!r}; there are {', '.join(what.roles)}.")
    if not 1 <= plan.days <= LONGEST_DAYS or not 1 <= plan.max_uses <= MOST_USES:
        raise MembershipError(f"An invitation is for 1 to {MOST_USES} people and 1 to {LONGEST_DAYS} days.")
    if plan.email and plan.max_uses != 1:
        raise MembershipError("An invitation to an address is for one person.")
    if open_invitations(kind, target).count() >= MOST_OPEN:
        raise MembershipError(f"There are {MOST_OPEN} open invitations. Revoke some first.")
    token, now = secrets.token_urlsafe(24), timezone.now()
    MemberInvitation.objects.create(
        kind=kind,
        target=target,
        role=plan.role,
        email=plan.email,
        token_digest=_digest(token),
        max_uses=plan.max_uses,
        made_by=by,
        made_at=now,
        expires_at=now + timedelta(days=plan.days),
    )
    security.log("invitation.made", subject=f"{kind} {target}", role=plan.role)
    link = f"{base}{reverse('accounts:invitation', args=[token])}"
    lines = [
        "Hello,",
        "",
        f"{by.get_username()} invites you to {title} as {plan.role}. Accept it here, or do nothing:",
        link,
        "",
        f"The link works once, for {plan.days} days.",
        "",
    ]
    if plan.email and send_letter(plan.email, f"An invitation to {title}"[:120], lines):
        return "", True
    return link, False


def open_invitations(kind: str, target: str) -> QuerySet[MemberInvitation]:
    """Those that can still be accepted."""
    rows = MemberInvitation.objects.filter(kind=kind, target=target, revoked_at=None)
    return rows.filter(uses__lt=F("max_uses"), expires_at__gt=timezone.now())


def invitations_to(kind: str, target: str) -> QuerySet[MemberInvitation]:
    """All of the last half year, the latest first, with who accepted."""
    since = timezone.now() - timedelta(days=180)
    rows = MemberInvitation.objects.filter(kind=kind, target=target, made_at__gt=since)
    return rows.select_related("made_by").prefetch_related("accepted__user").order_by("-pk")


def revoke(*, kind: str, target: str, pk: int, by: User) -> bool:
    """End an invitation; who accepted it keeps the role. False where there is none that is open."""
    if not kind_named(kind).may_invite(by, target):
        raise MembershipError("You may not invite people there.")
    revoked = bool(open_invitations(kind, target).filter(pk=pk).update(revoked_at=timezone.now()))
    if revoked:
        security.log("invitation.revoked", subject=f"{kind} {target}")
    return revoked


def invitation_for(token: str) -> MemberInvitation | None:
    """What a link invites to, while it can be accepted and its maker may still invite."""
    row = MemberInvitation.objects.select_related("made_by").filter(token_digest=_digest(token)).first()
    if row is None or not open_invitations(row.kind, row.target).filter(pk=row.pk).exists():
        return None
    maker = row.made_by
    if maker is None or not maker.is_active or not kind_named(row.kind).may_invite(maker, row.target):
        return None
    return row


def accept(*, token: str, user: User) -> MemberInvitation:
    """Give the person the role: once each, in one transaction. MembershipError says why it cannot be."""
    row = invitation_for(token)
    if row is None:
        raise MembershipError("This invitation was used up or revoked, or it has expired. Ask for a new one.")
    kind = kind_named(row.kind)
    try:
        with transaction.atomic():
            used = open_invitations(row.kind, row.target).filter(pk=row.pk).update(uses=F("uses") + 1)
            if not used:
                raise MembershipError("Somebody else has just used this invitation. Ask for a new one.")
            InvitationUse.objects.create(invitation=row, user=user, at=timezone.now())
            if kind.rank(kind.role_of(user, row.target)) < kind.rank(row.role):
                kind.grant(user, row.target, row.role)
    except IntegrityError as error:
        raise MembershipError("You have accepted this invitation before.") from error
    security.log("invitation.accepted", actor=user.get_username(), subject=f"{row.kind} {row.target}")
    return row


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


# Ownership.


def offer_ownership(*, kind: str, target: str, taker: User, by: User) -> OwnershipOffer:
    """Offer it to a member, who has to say yes; a second offer replaces the first."""
    what = kind_named(kind)
    if not what.owns(by, target):
        raise MembershipError("Only owners can offer ownership.")
    if taker == by or not taker.is_active:
        raise MembershipError("Offer it to another person.")
    if not what.role_of(taker, target):
        raise MembershipError(f"{taker.get_username()} is no member. Invite them first.")
    with transaction.atomic():
        offers_of(kind, target).update(ended_at=timezone.now(), outcome="replaced")
        offer = OwnershipOffer.objects.create(
            kind=kind, target=target, giver=by, taker=taker, offered_at=timezone.now()
        )
    security.log("ownership.offered", subject=f"{kind} {target}", to=taker.get_username())
    return offer


def offers_of(kind: str, target: str) -> QuerySet[OwnershipOffer]:
    """The open offer, if there is one."""
    return OwnershipOffer.objects.select_related("giver", "taker").filter(
        kind=kind, target=target, ended_at=None
    )


def offers_to(user: User) -> QuerySet[OwnershipOffer]:
    """Open offers to a person."""
    return OwnershipOffer.objects.select_related("giver").filter(taker=user, ended_at=None)


def answer_offer(*, pk: int, user: User, yes: bool) -> OwnershipOffer:
    """Take or decline what was offered; the giver may withdraw it. What is taken is taken once."""
    with transaction.atomic():
        offer = OwnershipOffer.objects.select_for_update().filter(pk=pk, ended_at=None).first()
        if offer is None or user.pk not in (offer.taker_id, offer.giver_id):
            raise MembershipError("There is no such offer any more.")
        if yes and user.pk != offer.taker_id:
            raise MembershipError("Only the person to whom it was offered can accept it.")
        if yes:
            kind_named(offer.kind).hand_over(offer.giver, offer.taker, offer.target)
        offer.ended_at = timezone.now()
        offer.outcome = "taken" if yes else "declined" if user.pk == offer.taker_id else "withdrawn"
        offer.save(update_fields=["ended_at", "outcome"])
    security.log(f"ownership.{offer.outcome}", subject=f"{offer.kind} {offer.target}")
    return offer
