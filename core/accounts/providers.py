"""Accounts and providers of sign-in: who comes in, what is connected, and what groups give.

An account belongs to a subject of a provider by a row that the person made, or by an address that both sides
have proved, where the operator lets a provider do that. An address that the provider has not verified, or
that the account has not confirmed, connects nothing: typing another person's address leads nowhere. Providers
give addresses of people who left to others: an account that has a subject of a provider is never given to
another subject of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext

from core.accounts import security
from core.accounts.emails import confirmed_address, forget_address, take_address, warn_person
from core.accounts.memberships import kind_named
from core.accounts.models import ProviderGrant
from core.errors import ActionError

#: Groups of a person that are looked at.
_MOST_GROUPS = 1_000


class RefusedSignInError(ActionError):
    """Somebody whom the provider knows has no way in here, in words for them."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A person as a provider knows them."""

    uid: str
    email: str
    email_verified: bool
    username: str
    first_name: str
    last_name: str
    groups: frozenset[str]


def provider_named(name: str) -> Any:
    """The settings of a provider; None where there is none of this name."""
    return next((each for each in settings.SIGN_IN_PROVIDERS if each.id == name), None)


def subject_of(provider: Any, uid: str, claims: Mapping[str, Any]) -> Subject:
    """What the claims say; whatever has another shape than it should is left out."""

    def text(name: str) -> str:
        value = claims.get(name, "")
        return value.strip()[:150] if isinstance(value, str) else ""

    groups = claims.get(provider.groups_claim, [])
    groups = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
    return Subject(
        uid=uid,
        email=text("email") if "@" in text("email") else "",
        email_verified=claims.get("email_verified") is True,
        username=text("preferred_username") or text("email").partition("@")[0] or text("name"),
        first_name=text("given_name"),
        last_name=text("family_name"),
        groups=frozenset(each for each in groups[:_MOST_GROUPS] if isinstance(each, str)),
    )


def account_for(provider: Any, subject: Subject, *, invited: bool) -> User:
    """The account of somebody who signs in: theirs, one that both sides prove to be theirs, or a new one."""
    row = SocialAccount.objects.select_related("user").filter(provider=provider.id, uid=subject.uid).first()
    if row is not None:
        if not row.user.is_active:
            raise RefusedSignInError(gettext("This account is closed."))
        _follow_address(row, subject)
        user: User = row.user
        return user
    existing = _account_with(subject)
    theirs = SocialAccount.objects.filter(user=existing, provider=provider.id).first() if existing else None
    if existing is not None and theirs is not None:
        # The provider knows both, so the address is another person's by now.
        if _address_from(theirs) == subject.email.casefold():
            forget_address(user=existing)
        existing = None
    if existing is not None:
        if not provider.link_by_email or existing.is_superuser or not existing.is_active:
            raise RefusedSignInError(
                gettext(
                    "There is an account here with your address. Sign in to it as you did until "
                    "now; then connect %(name)s in your profile."
                )
                % {"name": provider.name}
            )
        return connect(provider, subject, existing)
    if not (provider.sign_up or invited or _grants_for(provider, subject)):
        raise RefusedSignInError(
            gettext(
                "You have no account here. Ask for an invitation; or sign in as you did until "
                "now, and connect %(name)s in your profile."
            )
            % {"name": provider.name}
        )
    return _create(provider, subject)


def _account_with(subject: Subject) -> User | None:
    if not subject.email or not subject.email_verified:
        return None
    addresses = EmailAddress.objects.select_related("user").filter(email__iexact=subject.email, verified=True)
    row = addresses.first()
    return row.user if row else None


def _address_from(row: SocialAccount) -> str:
    """The address that a provider had verified when the person last came; in old rows their name there."""
    return str(row.extra_data.get("email") or row.extra_data.get("name", "")).casefold()


def _follow_address(row: SocialAccount, subject: Subject) -> None:
    """Where the account has the address that the provider gave before, take the one that it gives now."""
    if not subject.email or not subject.email_verified or _address_from(row) == subject.email.casefold():
        return
    if _address_from(row) == confirmed_address(row.user).casefold():
        try:
            with transaction.atomic():
                take_address(row.user, subject.email)
        except IntegrityError:
            return  # another account has confirmed it
        security.log("email.followed", actor=row.user.get_username(), provider=row.provider)
    row.extra_data = _describe_subject(subject)
    row.save(update_fields=["extra_data"])


def connect(provider: Any, subject: Subject, user: User) -> User:
    """From now on the subject signs in to this account; its person is told by mail.

    Raises RefusedSignInError where the account has another subject of the provider.
    """
    account = SocialAccount.objects.filter(provider=provider.id, uid=subject.uid).first()
    if account is not None:
        if account.user_id != user.pk:
            raise RefusedSignInError(
                gettext("This %(name)s account is connected to another account here.")
                % {"name": provider.name}
            )
        return user
    try:
        with transaction.atomic():
            User.objects.select_for_update(no_key=True).get(pk=user.pk)
            if SocialAccount.objects.filter(user=user, provider=provider.id).exists():
                raise RefusedSignInError(
                    gettext("Your account is connected to another %(name)s account. Disconnect that first.")
                    % {"name": provider.name}
                )
            SocialAccount.objects.create(
                user=user, provider=provider.id, uid=subject.uid, extra_data=_describe_subject(subject)
            )
    except IntegrityError as error:
        raise RefusedSignInError(gettext("This was connected a moment ago. Sign in again.")) from error
    security.log("provider.connected", actor=user.get_username(), provider=provider.id)
    warn_person(user, f"{provider.name} was connected to your account: one can sign in with it from now on")
    return user


def disconnect(*, user: User, pk: int) -> str:
    """Take a connection away, unless it is the only way in; the provider's id, or nothing."""
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        rows = SocialAccount.objects.filter(user=locked)
        row = rows.filter(pk=pk).first()
        if row is None:
            return ""
        if not locked.has_usable_password() and rows.count() == 1:
            raise RefusedSignInError(
                gettext("This is the only way into your account. Choose a password first.")
            )
        row.delete()
    security.log("provider.disconnected", provider=row.provider)
    warn_person(user, "A provider of sign-in was disconnected from your account")
    return str(row.provider)


def _describe_subject(subject: Subject) -> dict[str, str]:
    return {"name": _shown_name(subject), "email": subject.email if subject.email_verified else ""}


def _shown_name(subject: Subject) -> str:
    return subject.email or " ".join([subject.first_name, subject.last_name]).strip() or subject.username


def _create(provider: Any, subject: Subject) -> User:
    """A new account without a password; an address that is not verified is not taken over."""
    with transaction.atomic():
        user = User(username=_free_name(subject.username or provider.id))
        user.first_name, user.last_name = subject.first_name[:150], subject.last_name[:150]
        user.set_unusable_password()
        user.save()
        if subject.email and subject.email_verified and _account_with(subject) is None:
            take_address(user, subject.email)
        SocialAccount.objects.create(
            user=user, provider=provider.id, uid=subject.uid, extra_data=_describe_subject(subject)
        )
    security.log("account.made", actor=user.get_username(), provider=provider.id)
    return user


def _free_name(wish: str) -> str:
    name = slugify(wish.replace(".", "-"))[:40] or "person"
    names = set(User.objects.filter(username__istartswith=name).values_list("username", flat=True))
    lower = {each.lower() for each in names}
    number = 1
    while (candidate := name if number == 1 else f"{name}-{number}").lower() in lower:
        number += 1
    return candidate


# What groups give.


def _grants_for(provider: Any, subject: Subject) -> dict[tuple[str, str], str]:
    """Roles by kind and target; of several for one target the one that may most."""
    roles: dict[tuple[str, str], str] = {}
    for each in provider.roles:
        if each.group not in subject.groups:
            continue
        place = (each.kind, each.target)
        if each.kind == "staff":
            roles[place] = ""
            continue
        kind = kind_named(each.kind)
        if place not in roles or kind.rank(each.role) > kind.rank(roles[place]):
            roles[place] = each.role
    return roles


def apply_groups(provider: Any, subject: Subject, user: User) -> None:
    """Give what the person's groups give now, and take what this provider gave before and gives no more.

    A role that somebody else gave stays, unless the groups give one that may more.
    """
    if not provider.roles:
        return
    roles = _grants_for(provider, subject)
    grants = {
        (row.kind, row.target): row for row in ProviderGrant.objects.filter(user=user, provider=provider.id)
    }
    for place, row in grants.items():
        if place not in roles:
            _take(user, row)
    for place, role in roles.items():
        before = grants.get(place)
        if before is None or before.role != role or not _has(user, place, role):
            _give(provider, user, place, role, before)


def _has(user: User, place: tuple[str, str], role: str) -> bool:
    kind, target = place
    if kind == "staff":
        return user.is_staff
    membership_kind = kind_named(kind)
    return membership_kind.rank(membership_kind.role_of(user, target)) >= membership_kind.rank(role)


def _give(provider: Any, user: User, place: tuple[str, str], role: str, before: ProviderGrant | None) -> None:
    kind, target = place
    if before is None and _has(user, place, role):
        return  # somebody gave it already, and may take it away
    try:
        with transaction.atomic():
            if kind == "staff":
                User.objects.filter(pk=user.pk).update(is_staff=True)
                user.is_staff = True
            else:
                kind_named(kind).grant(user, target, role)
            ProviderGrant.objects.update_or_create(
                user=user,
                provider=provider.id,
                kind=kind,
                target=target,
                defaults={"role": role, "at": timezone.now()},
            )
    except ActionError as error:
        security.log("group.refused", actor=user.get_username(), subject=f"{kind} {target}", why=str(error))
        return
    security.log("group.gave", actor=user.get_username(), subject=f"{kind} {target}".strip(), role=role)


def _take(user: User, row: ProviderGrant) -> None:
    try:
        with transaction.atomic():
            if row.kind == "staff":
                User.objects.filter(pk=user.pk, is_superuser=False).update(is_staff=False)
                user.is_staff = user.is_superuser
            else:
                kind = kind_named(row.kind)
                if kind.role_of(user, row.target) == row.role:
                    kind.revoke(user, row.target)
            row.delete()
    except ActionError as error:
        security.log(
            "group.refused", actor=user.get_username(), subject=f"{row.kind} {row.target}", why=str(error)
        )
        return
    security.log("group.took", actor=user.get_username(), subject=f"{row.kind} {row.target}".strip())


@dataclass(frozen=True, slots=True)
class Connection:
    """A provider by which a person can sign in, as their pages show it."""

    pk: int
    provider: str
    name: str
    who: str


def connections_of(user: User) -> list[Connection]:
    """The connections of a person; of providers that the settings no longer name, by their id."""
    rows = SocialAccount.objects.filter(user=user).order_by("pk")
    return [
        Connection(
            row.pk,
            row.provider if (provider := provider_named(row.provider)) else "",
            provider.name if provider else row.provider,
            str(row.extra_data.get("name", "")),
        )
        for row in rows
    ]
