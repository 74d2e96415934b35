"""Tokens: making, reading and ending them."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from core.accounts import security
from core.accounts.emails import warn_person
from core.api.models import ApiToken, Scope
from core.errors import ActionError
from core.projects.models import Project
from core.projects.selectors import projects_of

BEGINNING = "dst_"
#: Characters of a token that are kept and shown.
_SHOWN = 12
#: A use is written down when the one before is so long ago, or came from elsewhere.
NOTED_EVERY = timedelta(minutes=1)
LONGEST_DAYS, USUAL_DAYS = 3650, 90


class TokenError(ActionError):
    """A token that cannot be made, in words."""


def create_token(
    *,
    user: User,
    scopes: Collection[str],
    name: str = "",
    project: Project | None = None,
    days: int | None = None,
) -> tuple[ApiToken, str]:
    """A new token and its text, which is known only now; TokenError, in words, for what cannot be.

    It works for `USUAL_DAYS` unless others are named, and its person is told by a letter.
    """
    days = USUAL_DAYS if days is None else days
    unknown = sorted(set(scopes) - set(Scope.values))
    if unknown:
        raise TokenError(f"There is no scope {unknown[0]!r}; there are {', '.join(Scope.values)}.")
    if not scopes:
        raise TokenError(f"Name at least one scope: {', '.join(Scope.values)}.")
    if not 1 <= days <= LONGEST_DAYS:
        raise TokenError(f"A token lives for 1 to {LONGEST_DAYS} days.")
    if project is not None and not projects_of(user).filter(pk=project.pk).exists():
        raise TokenError(f"{user.get_username()} is no member of the project {project.slug!r}.")
    now, text = timezone.now(), BEGINNING + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        project=project,
        name=name.strip()[:100] or "API",
        prefix=text[:_SHOWN],
        digest=_digest(text),
        scopes=[scope for scope in Scope.values if scope in scopes],
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    security.log("api_token.made", subject=token.prefix, scopes=",".join(token.scopes))
    warn_person(
        user,
        f"The token {token.prefix}… was made, with which a program does what you may do: {token.name}, for "
        f"{', '.join(token.scopes)}, for {days} days",
    )
    return token, text


def read_token(text: str) -> ApiToken | None:
    """The token of this text; None where there is none that works now."""
    if not text.startswith(BEGINNING):
        return None
    token = ApiToken.objects.select_related("user").filter(digest=_digest(text)).first()
    if token is None or token.revoked_at is not None or not token.user.is_active:
        return None
    if token.expires_at is not None and token.expires_at <= timezone.now():
        return None
    return token


def note_use(token: ApiToken, *, address: str) -> None:
    """Remember when and from where a token was last used, once a minute and address."""
    now = timezone.now()
    lately = token.last_used_at is not None and now - token.last_used_at < NOTED_EVERY
    if not lately or token.last_used_from != address:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now, last_used_from=address)


def revoke_token(*, token: ApiToken) -> bool:
    """End a token at once; False where it had ended."""
    ended = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    if ended:
        security.log("api_token.ended", subject=token.prefix)
    return bool(ended)


def end_tokens_of(user: User) -> int:
    """End all tokens of a person; how many."""
    ended = ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())
    if ended:
        security.log("api_token.ended", subject=user.get_username(), count=ended)
    return ended


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """The tokens of a person that work, newest first."""
    return working_tokens().filter(user=user)


def tokens_for(project: Project) -> QuerySet[ApiToken]:
    """Tokens that open a project: those bound to it, and those of members that are bound to none."""
    members = Q(project=None, user__memberships__project=project)
    return working_tokens().filter(Q(project=project) | members).distinct()


def working_tokens() -> QuerySet[ApiToken]:
    """All tokens that work, newest first."""
    alive = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    rows = ApiToken.objects.filter(alive, revoked_at=None).select_related("user", "project")
    return rows.order_by(F("created_at").desc(), "-pk")


def _digest(text: str) -> str:
    # A token is 256 random bits: no salt and no slow digest makes it harder to find.
    return hashlib.sha256(text.encode()).hexdigest()


def describe_token(token: ApiToken) -> dict[str, Any]:
    """A token for programs, without its secret."""
    return {
        "id": token.pk,
        "user": token.user.get_username(),
        "project": token.project.slug if token.project else None,
        "name": token.name,
        "prefix": token.prefix,
        "scopes": token.scopes,
        "created_at": _stamp(token.created_at),
        "expires_at": _stamp(token.expires_at),
        "last_used_at": _stamp(token.last_used_at),
        "last_used_from": token.last_used_from,
    }


def _stamp(moment: Any) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"
