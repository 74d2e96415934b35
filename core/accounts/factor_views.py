"""Pages about second factors: the step at sign-in, setting factors up, and confirming who one is."""

import base64
from typing import Any

from allauth.account.internal.decorators import login_stage_required
from allauth.account.internal.flows.login import perform_login
from allauth.account.models import Login
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.internal.flows import delete_and_cleanup
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal import flows as codes_flows
from allauth.mfa.totp.internal import flows as app_flows
from allauth.mfa.webauthn.internal import auth as passkeys
from allauth.mfa.webauthn.internal import flows as passkey_flows
from django.contrib import messages
from django.contrib.auth import authenticate
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.accounts import confirmation, factors, guards, keptforms, security, sessions
from core.accounts.confirmation import confirmed_without_factor, safe_next
from core.accounts.emails import warn_person
from core.accounts.middleware import too_many
from core.accounts.providers import connections_of

Type = Authenticator.Type
FORM_METHODS = ["GET", "HEAD", "POST"]

# At sign-in.


@require_http_methods(FORM_METHODS)
@login_stage_required(stage="mfa_authenticate", redirect_urlname="account_login")  # type: ignore[untyped-decorator]
@sensitive_post_parameters()
def second_factor(request: HttpRequest) -> HttpResponse:
    """The step between password and session, for people with a factor."""
    stage = request._login_stage  # type: ignore[attr-defined]  # the decorator's
    user = stage.login.user
    posted = request.POST if request.method == "POST" else None
    by_passkey = posted is not None and "credential" in posted
    form = factors.SignInCodeForm(user=user, data=None if by_passkey else posted)
    passkey = factors.SignInPasskeyForm(user=user, data=posted if by_passkey else None)
    given = passkey if by_passkey else form
    if posted is not None and given.is_valid():
        given.save()
        answer: HttpResponse = stage.exit()
        return answer
    if by_passkey:
        messages.error(request, "This passkey did not open the account. Try again, or use a code.")
    found = factors.factors_of(user)
    return render(
        request,
        "accounts/second_factor.html",
        {
            "form": form,
            "factors": found,
            "options": passkeys.begin_authentication(user) if found.passkeys else None,
        },
        status=422 if posted is not None else 200,
    )


@require_http_methods(FORM_METHODS)
@never_cache
def sign_in_by_passkey(request: HttpRequest) -> HttpResponse:
    """What a browser needs to offer a passkey, and the passkey: it is a factor by itself."""
    by_address = guards.address_key(guards.PASSKEYS, request)
    if wait := guards.seconds_to_wait(by_address):
        return too_many(request, wait)
    if request.method != "POST":
        return JsonResponse(passkeys.begin_authentication(user=None))
    form = factors.PasskeyForm(data=request.POST)
    if not form.is_valid() or not form.cleaned_data["credential"].user.is_active:
        guards.count_try(by_address)
        messages.error(request, "This passkey opens no account here.")
        return redirect("accounts:login")
    authenticator = form.cleaned_data["credential"]
    passkey_flows.post_authentication(request, authenticator, passwordless=True)
    login = Login(user=authenticator.user, redirect_url=safe_next(request) or None)
    answer: HttpResponse = perform_login(request, login)
    return answer


@require_http_methods(FORM_METHODS)
@login_required
def factor_prompt(request: HttpRequest) -> HttpResponse:
    """Ask those who may pay or hold keys to set up a factor; they may do it another time."""
    assert isinstance(request.user, User)
    then = safe_next(request)
    if request.method == "POST":
        confirmation.put_off_factor(request.user)
        return redirect(then or "accounts:home")
    required = confirmation.factor_is_required()
    return render(request, "accounts/factor_prompt.html", {"next": then, "required": required})


# Factors of a person.


@require_safe
@login_required
def show_factors(request: HttpRequest) -> HttpResponse:
    """What there is, and what can be set up."""
    assert isinstance(request.user, User)
    context = {"factors": factors.factors_of(request.user), "next": safe_next(request)}
    return render(request, "accounts/factors.html", context)


@require_http_methods(FORM_METHODS)
@login_required
@confirmed_without_factor
@never_cache
def new_app(request: HttpRequest) -> HttpResponse:
    """Set up an authenticator app: its secret as a picture and as letters, then a code of it."""
    assert isinstance(request.user, User)
    if factors.factors_of(request.user).app is not None:
        messages.info(request, "You have an authenticator app. Remove it before you set up another one.")
        return redirect("accounts:factors")
    form = factors.NewAppForm(user=request.user, data=request.POST if request.method == "POST" else None)
    if form.is_valid():
        row, codes = app_flows.activate_totp(request, form)
        factors.accept_once(row, form.cleaned_data["code"])
        security.log("factor.added", subject="app")
        messages.success(request, "Your authenticator app is set up.")
        return redirect("accounts:recovery_codes" if codes else "accounts:factors")
    adapter = get_adapter()
    address = adapter.build_totp_url(request.user, form.secret)
    picture = base64.b64encode(adapter.build_totp_svg(address).encode()).decode()
    context = {"form": form, "picture": picture, "secret": _in_groups(form.secret), "address": address}
    return render(request, "accounts/new_app.html", context, status=422 if form.errors else 200)


def _in_groups(secret: str) -> str:
    return " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))


@require_http_methods(FORM_METHODS)
@login_required
@confirmed_without_factor
@never_cache
def new_passkey(request: HttpRequest) -> HttpResponse:
    """Add a passkey: a second factor, and a way to sign in without the password."""
    assert isinstance(request.user, User)
    data = request.POST.copy() if request.method == "POST" else None
    if data is not None:
        data["passwordless"] = "on"
        data["name"] = data.get("name", "")[:60]
    form = factors.NewPasskeyForm(user=request.user, data=data)
    if form.is_valid():
        _, codes = passkey_flows.add_authenticator(
            request, name=form.cleaned_data["name"], credential=form.cleaned_data["credential"]
        )
        security.log("factor.added", subject="passkey")
        messages.success(request, "Your passkey is added.")
        return redirect("accounts:recovery_codes" if codes else "accounts:factors")
    if form.errors:
        messages.error(request, "This passkey could not be added. Try again.")
    options = passkeys.begin_registration(request.user, True)
    context = {"form": form, "options": options}
    return render(request, "accounts/new_passkey.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
@confirmed_without_factor
def remove_factor(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove the app or a passkey; with the last one the recovery codes go too."""
    own = Authenticator.objects.exclude(type=Type.RECOVERY_CODES).filter(user_id=request.user.pk)
    row = own.filter(pk=pk).first()
    if row is None:
        messages.error(request, "There is no such factor any more.")
        return redirect("accounts:factors")
    kind, article = ("passkey", "A") if row.type == Type.WEBAUTHN else ("authenticator app", "An")
    delete_and_cleanup(request, row)
    assert isinstance(request.user, User)
    warn_person(request.user, f"{article} {kind} was removed from your account")
    security.log("factor.removed", subject=kind)
    messages.success(request, f"The {kind} is removed.")
    return redirect("accounts:factors")


@require_http_methods(FORM_METHODS)
@login_required
@confirmed_without_factor
@never_cache
def recovery_codes(request: HttpRequest) -> HttpResponse:
    """The codes, on the first look after they were made; a form makes new ones, and the old end."""
    assert isinstance(request.user, User)
    if request.method == "POST":
        if not confirmation.has_factor(request.user):
            messages.error(request, "Set up an authenticator app or a passkey first.")
            return redirect("accounts:factors")
        codes_flows.generate_recovery_codes(request)
        security.log("factor.codes_made")
        messages.success(request, "These are your new recovery codes. The earlier ones no longer work.")
        return redirect("accounts:recovery_codes")
    row = Authenticator.objects.filter(user=request.user, type=Type.RECOVERY_CODES).first()
    codes: list[str] = []
    if row is not None and request.method == "GET" and not row.wrap().did_view:
        wrapper, _ = codes_flows.view_recovery_codes(request)
        codes = wrapper.get_unused_codes()
    left = len(row.wrap().get_unused_codes()) if row is not None else None
    return render(request, "accounts/recovery_codes.html", {"codes": codes, "left": left})


# Confirming who one is, before something that matters.


@require_http_methods(FORM_METHODS)
@login_required
@never_cache
@sensitive_post_parameters()
def confirm(request: HttpRequest) -> HttpResponse:
    """By password, code or passkey; then back to where the person came from."""
    user = request.user
    assert isinstance(user, User)
    then = safe_next(request)
    posted = request.POST if request.method == "POST" else None
    found = factors.factors_of(user)
    form = factors.ConfirmCodeForm(user=user, data=posted if posted and "code" in posted else None)
    wrong = ""
    if posted is not None:
        if "password" in posted:
            name = user.get_username()
            done = authenticate(request, username=name, password=posted["password"]) == user
            wrong = "" if done else "This is not your password."
        elif "credential" in posted:
            passkey = factors.ConfirmPasskeyForm(user=user, data=posted)
            done = passkey.is_valid()
            wrong = "" if done else "This passkey is none of yours, or was used for something else."
        else:
            done = form.is_valid()
        if done:
            sessions.note_confirmation(request)
            security.log("signin.confirmed")
            if waiting_form := keptforms.to_send_again(request, then):
                return render(request, "accounts/go_on.html", {"waiting_form": waiting_form})
            return redirect(then or "accounts:home")
    context: dict[str, Any] = {
        "next": then,
        "form": form,
        "wrong": wrong,
        "factors": found,
        "by_password": user.has_usable_password(),
        "options": passkeys.begin_authentication(user) if found.passkeys else None,
        "connections": connections_of(user),
    }
    return render(request, "accounts/confirm.html", context, status=422 if posted is not None else 200)
