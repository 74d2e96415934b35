"""What may happen to an account."""

import secrets
from collections.abc import Collection
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import Model, QuerySet

from core.accounts import security
from core.accounts.models import (
    FactorPrompt,
    InvitationUse,
    PasswordLetter,
    PasswordState,
    ProviderGrant,
    SignedInSession,
    SignedKey,
    WaitingEmail,
)

# What is kept of people's tries to sign in: by django-axes, under the user name that was typed.


def sign_ins(user: User | None) -> QuerySet[Any]:
    """Successful sign-ins under this person's name, oldest first."""
    return _of(AccessLog, user)


def failed_sign_ins(user: User | None) -> QuerySet[Any]:
    """Failed tries under this person's name that still count, oldest first."""
    return _of(AccessAttempt, user)


def erase(user: User) -> None:
    """Forget the tries under this person's name, and the name where the admin noted changes of the user."""
    for table in (AccessAttempt, AccessFailureLog, AccessLog):
        table._default_manager.filter(username=user.get_username()).delete()
    of_user = ContentType.objects.get_for_model(User)
    LogEntry.objects.filter(content_type=of_user, object_id=str(user.pk)).update(
        object_repr="somebody who left", change_message=""
    )


def _of(table: type[Model], user: User | None) -> QuerySet[Any]:
    rows = table._default_manager.order_by("attempt_time", "pk")
    return rows.filter(username=user.get_username()) if user else rows.none()


#: Letters and digits that nobody confuses when reading them from a terminal.
PRINTABLE = "abcdefghjkmnpqrstuvwxyz23456789"


def printed_password() -> str:
    """Random password of 79 bits, in groups that can be typed from a screen."""
    return "-".join("".join(secrets.choice(PRINTABLE) for _ in range(4)) for _ in range(4))


def create_user_with_printed_password(
    *, username: str, staff: bool, superuser: bool, password: str = ""
) -> str:
    """Create a person whose password is shown once, and must be changed at the first log-in.

    Several people can begin with one `password` of `printed_password()`; without it, it is made here.
    """
    password = password or printed_password()
    with transaction.atomic():
        user = User.objects.create_user(username, password=password, is_staff=staff, is_superuser=superuser)
        PasswordState.objects.create(user=user)
    return password


def password_was_changed(*, user: User) -> None:
    """Lift the demand for a new password: the person has just chosen one."""
    PasswordState.objects.filter(user=user, must_change=True).update(must_change=False)


#: Tables whose rows are about signing in alone, and go with the account.
_PRIVATE: tuple[type[Model], ...] = (
    *(PasswordState, SignedKey, SignedInSession, FactorPrompt, WaitingEmail, PasswordLetter),
    *(ProviderGrant, InvitationUse, EmailAddress, Authenticator, SocialAccount),
)


def end_all_sessions(*, user: User, password: str) -> None:
    """End every session of a person, and every key and token of their programs.

    Sessions and keys are bound to the stored password, which is stored once more with another salt; tokens
    end whenever a password is set (`core.accounts.passwords`).
    """
    user.set_password(password)
    user.save(update_fields=["password"])


def end_sessions_without_password(*, user: User) -> None:
    """The same for a person who has none: what is in its place is random, and is made again."""
    user.set_unusable_password()
    user.save(update_fields=["password"])
    security.credentials_ended.send(User, user=user)


def is_needed(user: User, *, besides: Collection[type[Model]] = ()) -> bool:
    """Whether the account serves something else than the tables `besides`: rights, or a row that names it."""
    if user.is_staff or user.is_superuser or user.groups.exists() or user.user_permissions.exists():
        return True
    private = (*_PRIVATE, *besides)
    return any(
        each.related_model._base_manager.filter(**{each.field.name: user}).exists()
        for each in User._meta.related_objects
        if each.related_model not in private
    )


@transaction.atomic
def delete_account(user: User) -> None:
    """Delete a person's account: name, address and password are gone, and every session has ended."""
    erase(user)
    user.delete()
