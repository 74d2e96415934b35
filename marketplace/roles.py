"""Roles at requesters as accounts know them, and the profile of workers."""

from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse

from core.accounts.confirmation import Trust
from core.accounts.memberships import Membership, MembershipKind
from core.accounts.places import OwnProfile
from marketplace.errors import Refusal
from marketplace.models import Requester, RequesterMember, Worker
from marketplace.services import members
from marketplace.services.members import Action, Role


def _found(target: str) -> Requester | None:
    """By the id in addresses, or by its name, as operators write it."""
    rows = Requester.objects.filter(Q(customer_id=target) | Q(name=target))
    return rows.order_by("pk").first()


def _requester(target: str) -> Requester:
    found = _found(target)
    if found is None:
        raise Refusal("InvalidParameterValue", f"There is no requester {target!r}.")
    return found


def _title(target: str) -> str | None:
    found = _found(target)
    return found.name if found else None


def _may_invite(user: User, target: str) -> bool:
    found = _found(target)
    return found is not None and members.may(user, found, Action.MEMBERS)


def _owns(user: User, target: str) -> bool:
    found = _found(target)
    return found is not None and found.owner_id == user.pk


def _role_of(user: User, target: str) -> str:
    found = _found(target)
    if found is None:
        return ""
    if found.owner_id == user.pk:
        return Role.OWNER
    return found.members.filter(user=user).values_list("role", flat=True).first() or ""


def _grant(user: User, target: str, role: str) -> None:
    members.set_role(requester=_requester(target), user=user, role=role)


def _revoke(user: User, target: str) -> None:
    members.remove_member(requester=_requester(target), user=user)


def _hand_over(before: User, after: User, target: str) -> None:
    members.hand_over(requester=_requester(target), before=before, after=after)


def _address(target: str) -> str:
    return reverse("requester:members", args=[_requester(target).customer_id])


def _memberships(user: User) -> list[Membership]:
    owned = Requester.objects.filter(owner=user).order_by("name")
    rows = RequesterMember.objects.filter(user=user).select_related("requester").order_by("requester__name")
    found = [(row, Role.OWNER.value) for row in owned] + [(row.requester, row.role) for row in rows]
    return [
        Membership(row.name, role, reverse("requester:overview", args=[row.customer_id]))
        for row, role in found
    ]


def _is_trusted(user: User) -> bool:
    return any(
        members.requesters_with(user, action).exists() for action in (Action.PAY, Action.KEYS, Action.MEMBERS)
    )


def _is_worker(user: User) -> bool:
    return Worker.objects.filter(user=user).exists()


ACCOUNT_PARTS = (
    Trust(_is_trusted),
    OwnProfile("Your worker profile", "site:profile", _is_worker),
    MembershipKind(
        kind="requester",
        roles=(Role.OWNER, Role.MANAGER, Role.PAYER, Role.REVIEWER, Role.VIEWER),
        title=_title,
        may_invite=_may_invite,
        owns=_owns,
        role_of=_role_of,
        grant=_grant,
        revoke=_revoke,
        hand_over=_hand_over,
        address=_address,
        memberships=_memberships,
    ),
)
