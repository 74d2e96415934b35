"""The page of an account: name, e-mail, password, factors, browsers, roles; and what changes them."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.accounts import emails, factors, guards, keys, memberships, providers, sessions
from core.accounts.confirmation import confirmed_without_factor
from core.accounts.emails import EmailError
from core.accounts.middleware import too_many
from core.accounts.places import own_profile_of

FORM_METHODS = ["GET", "HEAD", "POST"]


class NameForm(forms.Form):
    """What a person is called, beside the user name."""

    first_name = forms.CharField(
        required=False,
        max_length=150,
        label=gettext_lazy("First name"),
        widget=forms.TextInput(attrs={"autocomplete": "given-name", "dir": "auto"}),
    )
    last_name = forms.CharField(
        required=False,
        max_length=150,
        label=gettext_lazy("Last name"),
        widget=forms.TextInput(attrs={"autocomplete": "family-name", "dir": "auto"}),
    )


class EmailForm(forms.Form):
    """Where the account can be written to."""

    email = forms.EmailField(
        max_length=254,
        label=gettext_lazy("E-mail address"),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


@require_safe
@login_required
def profile(request: HttpRequest) -> HttpResponse:
    """All of it at a glance."""
    return _profile(request)


def _profile(request: HttpRequest, *, status: int = 200, **forms_with_errors: Any) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    connections = providers.connections_of(user)
    connected = {each.provider for each in connections}
    context = {
        "name_form": NameForm(initial={"first_name": user.first_name, "last_name": user.last_name}),
        "email_form": EmailForm(),
        "email": emails.confirmed_address(user),
        "waiting": emails.waiting_address(user),
        "by_mail": settings.NOTICES_BY_EMAIL,
        "own_profile": own_profile_of(user),
        "factors": factors.factors_of(user),
        "devices": sessions.devices_of(user, request)[:5],
        "memberships": memberships.memberships_of(user),
        "offers": [
            (offer, memberships.kind_named(offer.kind).title(offer.target))
            for offer in memberships.offers_to(user)
        ],
        "keys": keys.keys_of(user).count(),
        "connections": connections,
        "others": [each for each in settings.SIGN_IN_PROVIDERS if each.id not in connected],
    }
    return render(request, "accounts/profile.html", context | forms_with_errors, status=status)


@require_POST
@login_required
def set_name(request: HttpRequest) -> HttpResponse:
    """Save the name."""
    form = NameForm(request.POST)
    if not form.is_valid():
        return _profile(request, status=422, name_form=form)
    assert isinstance(request.user, User)
    User.objects.filter(pk=request.user.pk).update(**form.cleaned_data)
    messages.success(request, gettext("Your name is saved."))
    return redirect("accounts:profile")


@require_POST
@login_required
@confirmed_without_factor
def set_email(request: HttpRequest) -> HttpResponse:
    """Send the link that confirms an address."""
    form = EmailForm(request.POST)
    if not form.is_valid():
        return _profile(request, status=422, email_form=form)
    email, user = form.cleaned_data["email"], request.user
    assert isinstance(user, User)
    if wait := guards.wait_for_letter(request, email):
        return too_many(request, wait)
    try:
        emails.ask_to_confirm(user=user, email=email, base=request.build_absolute_uri("/").rstrip("/"))
    except EmailError as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request,
            gettext("Open the link in the e-mail to %(email)s to confirm the address.") % {"email": email},
        )
    return redirect("accounts:profile")


@require_POST
@login_required
@confirmed_without_factor
def remove_email(request: HttpRequest) -> HttpResponse:
    """Delete the address."""
    assert isinstance(request.user, User)
    emails.forget_address(user=request.user)
    messages.success(request, gettext("Your e-mail address is deleted."))
    return redirect("accounts:profile")


@require_http_methods(FORM_METHODS)
@never_cache
def confirm_email(request: HttpRequest, token: str) -> HttpResponse:
    """The link in the letter: a page with a button, because programs that check mail open links as well."""
    row = emails.waiting_for(token)
    if row is not None and request.method == "POST":
        try:
            emails.confirm(token)
        except EmailError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, gettext("Your e-mail address is confirmed."))
        return redirect("accounts:profile" if request.user.is_authenticated else "accounts:login")
    return render(request, "accounts/confirm_email.html", {"row": row}, status=200 if row else 404)


@require_safe
@login_required
def show_sessions(request: HttpRequest) -> HttpResponse:
    """Every browser in which the person is signed in."""
    assert isinstance(request.user, User)
    context = {
        "devices": sessions.devices_of(request.user, request),
        "by_password": request.user.has_usable_password(),
    }
    return render(request, "accounts/sessions.html", context)


@require_POST
@login_required
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Sign one browser out."""
    assert isinstance(request.user, User)
    name = sessions.end_device(user=request.user, pk=pk)
    if name:
        messages.success(request, gettext("%(name)s is signed out.") % {"name": name})
    else:
        messages.error(request, gettext("There is no such session any more."))
    return redirect("accounts:sessions")
