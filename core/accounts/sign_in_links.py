"""Links that sign one account in, once: what a command prints for the person at its terminal.

Who can run commands of an installation can do everything in it, so a link is made nowhere else. Where the
account has a second factor, the link is none: it would go past it.
"""

from typing import Any

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import base36_to_int, int_to_base36, urlencode
from django.views.decorators.http import require_http_methods

from core.accounts.adapters import BACKEND
from core.accounts.confirmation import has_factor, safe_next


class SignInTokens(PasswordResetTokenGenerator):
    """Tokens that end with the next sign-in, a new password, or after PASSWORD_RESET_TIMEOUT."""

    key_salt = "core.accounts.sign_in_links"


_tokens = SignInTokens()


def path_of_link(user: User, then: str) -> str:
    """The path of a new link for this account, which leads on to `then`, an address of ours.

    Empty for an account with a second factor, which no link goes past.
    """
    if has_factor(user):
        return ""
    parts = [int_to_base36(user.pk), _tokens.make_token(user)]
    return f"{reverse('accounts:sign_in_link', args=parts)}?{urlencode({'next': then})}"


@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_by_link(request: HttpRequest, number: str, token: str) -> HttpResponse:
    """A page with one button, so that programs which look into links use none up; the button signs in."""
    if request.method != "POST":
        user = _user_of(number, token)
        context: dict[str, Any] = {"account": user, "next": safe_next(request)}
        return render(request, "accounts/sign_in_link.html", context, status=200 if user else 404)
    with transaction.atomic():
        user = _user_of(number, token, lock=True)
        if user is not None:
            login(request, user, backend=BACKEND)  # which ends the token
    if user is None:
        return render(request, "accounts/sign_in_link.html", {"account": None}, status=404)
    return redirect(safe_next(request) or "accounts:home")


def _user_of(number: str, token: str, *, lock: bool = False) -> User | None:
    try:
        key = base36_to_int(number)
    except ValueError:
        return None
    rows = User.objects.select_for_update() if lock else User.objects.all()
    user = rows.filter(pk=key, is_active=True).first()
    if user is None or not _tokens.check_token(user, token) or has_factor(user):
        return None
    return user
