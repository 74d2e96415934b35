"""What guards keys, payees, members and money: a second factor where one is required, and a person who has
confirmed lately who they are.

    @require_POST
    @confirmed                     # signed in or confirmed within REAUTHENTICATION_MINUTES
    @on_requester(act=Action.PAY)
    def make_payout(...)

    @needs_factor                  # with SECOND_FACTOR=require: nothing of it without a factor
    @on_requester()
    def statement(...)

Both are for people with a session. Programs that sign their calls or bring a token never come by here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext

from core.accounts import interrupted_forms, sessions
from core.accounts.interrupted_forms import Reason
from core.accounts.models import FactorPrompt
from core.extensions import parts_of

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def confirmed(view: View) -> View:
    """The view is asked by a person who lately showed who they are; others show it first, and come back."""
    return _guarded(view, way_to_confirm)


def way_to_confirm(request: HttpRequest) -> HttpResponse | None:
    """Where a person goes before this request is heard; None where nothing is missing.

    For views that ask for it in some of their requests only, after they found out who may.
    """
    return factor_missing(request) or confirmation_missing(request)


def confirmed_without_factor(view: View) -> View:
    """The same for people of whom no factor is asked, such as workers."""
    return _guarded(view, confirmation_missing)


def needs_factor(view: View) -> View:
    """The view is asked by a person with a second factor, where the operator requires one."""
    return _guarded(view, factor_missing)


def _guarded(view: View, missing: Callable[[HttpRequest], HttpResponse | None]) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **parts: Any) -> HttpResponseBase:
        # Visitors are sent to log-in by the view itself.
        away = missing(request) if request.user.is_authenticated else None
        return away or view(request, *args, **parts)

    return cast(View, guarded)


def confirmation_missing(request: HttpRequest) -> HttpResponse | None:
    """Where somebody confirms who they are, with the way back; None where they did so lately."""
    if sessions.is_confirmed(request):
        return None
    back = _way_back(request, Reason.CONFIRM)
    if request.method == "POST":
        messages.info(request, gettext("Nothing was changed yet. Confirm who you are to continue."))
    return HttpResponseRedirect(f"{reverse('accounts:confirm')}?{urlencode({'next': back})}")


def factor_missing(request: HttpRequest) -> HttpResponse | None:
    """Where somebody sets up the factor that is required; None where they have one, or none is required."""
    assert isinstance(request.user, User)
    if not factor_is_required() or has_factor(request.user):
        return None
    messages.warning(
        request,
        gettext("Money, keys and members need a second factor here. Nothing was changed. Set one up first."),
    )
    back = _way_back(request, Reason.FACTOR)
    return HttpResponseRedirect(f"{reverse('accounts:factors')}?{urlencode({'next': back})}")


def safe_next(request: HttpRequest) -> str:
    """The address of ours that the request wants to go on to; empty for none, and for those of others."""
    address = request.POST.get("next", "") or request.GET.get("next", "")
    ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    # Words without a slash would be taken for the name of a page.
    return address if ours and address.startswith("/") else ""


def _way_back(request: HttpRequest, reason: Reason) -> str:
    """The page itself; for a form the page on which it stood."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    page = interrupted_forms.page_of(request)
    if page:
        interrupted_forms.note(request, page, reason)
    return page or reverse("accounts:home")


# Who may pay, hold keys or name members, and whether they have the second factor that they should have.

#: Factors that stand alone; recovery codes only stand in for one.
_STANDING = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
#: People who chose "not now" are asked again after so long.
ASKED_AGAIN_AFTER = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Trust:
    """People who may pay, hold keys or name members, by an app's own knowledge; part of its extension."""

    is_given: Callable[[User], bool]


def is_trusted(user: User) -> bool:
    """Whether the person may pay, hold keys or name members somewhere."""
    return user.is_staff or any(part.is_given(user) for part in parts_of(Trust))


def factor_is_required() -> bool:
    """Whether the operator requires a factor for money, keys and members."""
    return bool(settings.SECOND_FACTOR == "require")


def has_factor(user: User) -> bool:
    """Whether the person has an authenticator app or a passkey."""
    return bool(Authenticator.objects.filter(user=user, type__in=_STANDING).exists())


def address_of_prompt(user: User, then: str) -> str:
    """Where log-in leads a person who should set up a factor, and goes on from there; empty: nowhere."""
    if settings.SECOND_FACTOR == "off":
        return ""
    if not is_trusted(user) or has_factor(user):
        return ""
    lately = timezone.now() - ASKED_AGAIN_AFTER
    if not factor_is_required() and FactorPrompt.objects.filter(user=user, put_off_at__gt=lately).exists():
        return ""
    return f"{reverse('accounts:factor_prompt')}?{urlencode({'next': then})}"


def put_off_factor(user: User) -> None:
    """The person chose to set up none now."""
    FactorPrompt.objects.update_or_create(user=user, defaults={"put_off_at": timezone.now()})
