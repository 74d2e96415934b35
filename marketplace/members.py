"""Who may do what for a requester: its owner, the people beside the owner, and staff.

One question has one answer, for pages, services and programs alike:

    may(user, requester, Action.REVIEW)

Staff and owners may do everything; what touches real money is for staff besides (`may_book`).
"""

from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse
from django.utils.translation import gettext_lazy

from core.accounts import security
from core.accounts.confirmation import Trust
from core.accounts.memberships import Membership, MembershipKind
from core.accounts.places import OwnProfile
from core.origin import Owner
from core.webhooks.delivery import OwnerMembers
from core.webhooks.services import pause_webhooks_of
from marketplace import clock
from marketplace.activity import note
from marketplace.errors import Refusal
from marketplace.models import Requester, RequesterMember, Worker

Role = RequesterMember.Role


class Action(StrEnum):
    """What somebody may do for a requester."""

    #: See its pages and tables.
    VIEW = "view"
    #: Approve, reject, pay bonuses, answer letters, decide about requests.
    REVIEW = "review"
    #: Publish and change HITs, qualifications, templates; write to and block workers.
    MANAGE = "manage"
    #: Book deposits, make payables, invoices and payout files, book their results.
    PAY = "pay"
    #: See, make and end access keys.
    KEYS = "keys"
    #: Name and invite members, give the requester to another owner.
    MEMBERS = "members"


ALLOWED: dict[str, frozenset[Action]] = {
    Role.OWNER: frozenset(Action),
    Role.MANAGER: frozenset({Action.VIEW, Action.REVIEW, Action.MANAGE, Action.KEYS}),
    Role.REVIEWER: frozenset({Action.VIEW, Action.REVIEW}),
    Role.PAYER: frozenset({Action.VIEW, Action.PAY}),
    Role.VIEWER: frozenset({Action.VIEW}),
}
#: Roles in words, for forms and pages.
WORDS = {
    Role.OWNER: "owner: everything, also members",
    Role.MANAGER: "manager: publishes, reviews, holds keys",
    Role.REVIEWER: "reviewer: decides about work",
    Role.PAYER: "payer: deposits and pays out",
    Role.VIEWER: "viewer: looks",
}


def role_of(user: User, requester: Requester) -> str:
    """The person's role; empty for people who have none. Staff have the owner's.

    Costs a query only where the requester was not loaded by `site.selectors.desk.requesters`.
    """
    if user.is_staff or requester.owner_id == user.pk:
        return Role.OWNER
    if hasattr(requester, "member_role"):
        return requester.member_role or ""
    row = RequesterMember.objects.filter(requester=requester, user=user).first()
    return row.role if row else ""


def may(user: User, requester: Requester, action: Action | str) -> bool:
    """Whether this person may do this for this requester."""
    return user.is_active and Action(action) in ALLOWED.get(role_of(user, requester), frozenset())


def with_role_of(user: User, requesters: QuerySet[Requester]) -> QuerySet[Requester]:
    """The same, each with the role of this person as `member_role`, so that `role_of` asks no more."""
    role = RequesterMember.objects.filter(requester=OuterRef("pk"), user=user).values("role")[:1]
    return requesters.annotate(member_role=Subquery(role))


@transaction.atomic
def set_role(*, requester: Requester, user: User, role: str, by: User | None = None) -> RequesterMember:
    """Give somebody a role at a requester, beside its owner; `by` is who does it in a browser."""
    if role not in Role.values:
        raise Refusal("InvalidParameterValue", f"There is no role {role!r}; there are {', '.join(Role)}.")
    locked = _locked(requester, by)
    if locked.owner_id == user.pk:
        raise Refusal("InvalidState", f"{user.get_username()} owns this requester, and may do everything.")
    if not user.is_active:
        raise Refusal("InvalidState", f"The account of {user.get_username()} is closed.")
    member, is_new = RequesterMember.objects.get_or_create(
        requester=locked, user=user, defaults={"role": role, "since": clock.now()}
    )
    if is_new or member.role != role:
        member.role = role
        member.save(update_fields=["role"])
        note(locked.pk, "member.set", user.get_username(), role)
    return member


@transaction.atomic
def remove_member(*, requester: Requester, user: User, by: User | None = None) -> None:
    """Take somebody's role away; people may always leave by themselves."""
    locked = _locked(requester, None if by == user else by)
    if RequesterMember.objects.filter(requester=locked, user=user).delete()[0]:
        pause_webhooks_of(Owner(Owner.Kind.REQUESTER, locked.pk), user)
        note(locked.pk, "member.removed", user.get_username())


@transaction.atomic
def hand_over(*, requester: Requester, before: User | None, after: User) -> None:
    """Make somebody the owner, who said yes to it; the owner before becomes a manager.

    Refusal where the requester has another owner by now than the one who offered it.
    """
    pk = before.pk if before else None
    changed = Requester.objects.filter(pk=requester.pk, owner=pk).update(owner=after)
    if not changed:
        raise Refusal("InvalidState", "This requester has another owner by now.")
    RequesterMember.objects.filter(requester=requester, user=after).delete()
    if before is not None and before != after:
        RequesterMember.objects.update_or_create(
            requester=requester,
            user=before,
            defaults={"role": Role.MANAGER},
            create_defaults={"role": Role.MANAGER, "since": clock.now()},
        )
    note(requester.pk, "owner.changed", after.get_username(), f"from {before}" if before else "")


def members_of(requester: Requester) -> QuerySet[RequesterMember]:
    """The people beside the owner, by name."""
    return requester.members.select_related("user").annotate(name=F("user__username")).order_by("name")


def _locked(requester: Requester, by: User | None) -> Requester:
    """The requester, whose members change one after the other; Refusal where `by` may not change them."""
    locked = Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
    if by is not None and not may(by, locked, Action.MEMBERS):
        security.log("role.refused", requester=locked.customer_id)
        raise Refusal("AccessDenied", "Owners name the members of a requester.")
    return locked


def requesters_with(user: User, action: Action) -> QuerySet[Any]:
    """The requesters for which this person has the right to do something, but for what staff may do."""
    roles = [role for role, allowed in ALLOWED.items() if action in allowed]
    of_members = RequesterMember.objects.filter(user=user, role__in=roles).values("requester")
    owned = Requester.objects.filter(owner=user)
    return owned | Requester.objects.filter(pk__in=of_members)


# The same roles as accounts know them: what pages and commands of `core.accounts` ask of a requester.


def _find_requester(target: str) -> Requester | None:
    """By the id in addresses, or by its name, as operators write it."""
    rows = Requester.objects.filter(Q(customer_id=target) | Q(name=target))
    return rows.order_by("pk").first()


def _requester(target: str) -> Requester:
    requester = _find_requester(target)
    if requester is None:
        raise Refusal("InvalidParameterValue", f"There is no requester {target!r}.")
    return requester


def _title(target: str) -> str | None:
    requester = _find_requester(target)
    return requester.name if requester else None


def _may_invite(user: User, target: str) -> bool:
    requester = _find_requester(target)
    return requester is not None and may(user, requester, Action.MEMBERS)


def _owns(user: User, target: str) -> bool:
    requester = _find_requester(target)
    return requester is not None and requester.owner_id == user.pk


def _role_of(user: User, target: str) -> str:
    requester = _find_requester(target)
    if requester is None:
        return ""
    if requester.owner_id == user.pk:
        return Role.OWNER
    return requester.members.filter(user=user).values_list("role", flat=True).first() or ""


def _grant(user: User, target: str, role: str) -> None:
    set_role(requester=_requester(target), user=user, role=role)


def _revoke(user: User, target: str) -> None:
    remove_member(requester=_requester(target), user=user)


def _hand_over(before: User, after: User, target: str) -> None:
    hand_over(requester=_requester(target), before=before, after=after)


def _address(target: str) -> str:
    return reverse("requester:members", args=[_requester(target).customer_id])


def _memberships(user: User) -> list[Membership]:
    owned = Requester.objects.filter(owner=user).order_by("name")
    rows = RequesterMember.objects.filter(user=user).select_related("requester").order_by("requester__name")
    pairs = [(row, Role.OWNER.value) for row in owned] + [(row.requester, row.role) for row in rows]
    return [
        Membership(row.name, role, reverse("requester:overview", args=[row.customer_id]))
        for row, role in pairs
    ]


def _is_trusted(user: User) -> bool:
    return any(requesters_with(user, action).exists() for action in (Action.PAY, Action.KEYS, Action.MEMBERS))


def _is_worker(user: User) -> bool:
    return Worker.objects.filter(user=user).exists()


def _is_member(requester: int, user: User) -> bool:
    # Staff may do everything for a requester, also without a row.
    mine = Q(owner=user) | Q(members__user=user)
    return user.is_staff or Requester.objects.filter(mine, pk=requester).exists()


ACCOUNT_PARTS = (
    OwnerMembers(Owner.Kind.REQUESTER, _is_member),
    Trust(_is_trusted),
    OwnProfile(gettext_lazy("Your worker profile"), "site:profile", _is_worker),
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
