"""Pages about second factors: the step at sign-in, setting factors up, and confirming who one is.

Flows and forms are those of django-allauth's own views, below our pages, limits and addresses.
"""

from collections.abc import Callable
from typing import Any

from allauth.account.utils import perform_login
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    LoginWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django.contrib import messages
from django.contrib.auth import authenticate
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.accounts import confirmation, factors, guards, security, sessions
from core.accounts.confirmation import confirmed_without_factor, safe_next
from core.accounts.middleware import too_many
from core.accounts.providers import connections_of

Type = Authenticator.Type
FORM_METHODS = ["GET", "HEAD", "POST"]


def _own_page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """What every page that changes a person's factors asks for."""
    return require_http_methods(FORM_METHODS)(login_required(confirmed_without_factor(never_cache(view))))


# At sign-in.


@method_decorator([require_http_methods(FORM_METHODS), sensitive_post_parameters()], name="dispatch")
class SecondFactor(AuthenticateView):  # type: ignore[misc]  # theirs have no types
    """The step between password and session, for people with a factor."""

    template_name = "accounts/second_factor.html"
    form_class = factors.SignInCodeForm
    webauthn_form_class = factors.SignInPasskeyForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """What the person has."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"factors": factors.factors_of(self.stage.login.user)}

    def form_invalid(self, form: Any) -> HttpResponse:
        """The page again."""
        if form is self.webauthn_form:
            messages.error(
                self.request, gettext("This passkey did not open the account. Try again, or use a code.")
            )
        response: HttpResponse = super().form_invalid(form)
        response.status_code = 422
        return response


second_factor = SecondFactor.as_view()


@method_decorator([require_http_methods(FORM_METHODS), never_cache], name="dispatch")
class SignInByPasskey(LoginWebAuthnView):  # type: ignore[misc]
    """What a browser needs to offer a passkey, and the passkey: it is a factor by itself."""

    form_class = factors.PasskeyForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Who failed too often waits."""
        if wait := guards.seconds_to_wait(guards.address_key(guards.PASSKEYS, request)):
            return too_many(request, wait)
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        """In, unless the account is closed."""
        user = form.cleaned_data["credential"].user
        if not user.is_active:
            return self.form_invalid(form)
        form.save()
        answer: HttpResponse = perform_login(self.request, user, redirect_url=safe_next(self.request) or None)
        return answer

    def form_invalid(self, form: Any) -> HttpResponse:
        """Back to the password."""
        guards.count_try(guards.address_key(guards.PASSKEYS, self.request))
        messages.error(self.request, gettext("This passkey opens no account here."))
        return redirect("accounts:login")


sign_in_by_passkey = SignInByPasskey.as_view()


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


class _NewFactor:
    """What the pages of a new app and of a new passkey share, beside the library's view."""

    request: HttpRequest
    did_generate_recovery_codes: bool
    subject = refused = done = ""

    def form_valid(self, form: Any) -> HttpResponse:
        """It is there."""
        response: HttpResponse = super().form_valid(form)  # type: ignore[misc]
        security.log("factor.added", subject=self.subject)
        messages.success(self.request, self.done)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        """The page again."""
        if self.refused:
            messages.error(self.request, self.refused)
        response: HttpResponse = super().form_invalid(form)  # type: ignore[misc]
        response.status_code = 422
        return response

    def get_success_url(self) -> str:
        """The first factor brings recovery codes."""
        return reverse("accounts:recovery_codes" if self.did_generate_recovery_codes else "accounts:factors")


@method_decorator(_own_page, name="dispatch")
class NewApp(_NewFactor, ActivateTOTPView):  # type: ignore[misc]
    """Set up an authenticator app: its secret as a picture and as letters, then a code of it."""

    template_name = "accounts/new_app.html"
    form_class = factors.NewAppForm
    subject, done = "app", gettext("Your authenticator app is set up.")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """One app a person."""
        assert isinstance(request.user, User)
        if factors.factors_of(request.user).app is not None:
            messages.info(
                request, gettext("You have an authenticator app. Remove it before you set up another one.")
            )
            return redirect("accounts:factors")
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """The secret in groups of four letters."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        secret = context["form"].secret
        groups = [secret[start : start + 4] for start in range(0, len(secret), 4)]
        return context | {"secret": " ".join(groups)}

    def form_valid(self, form: Any) -> HttpResponse:
        """The code of the set-up counts as used."""
        response = super().form_valid(form)
        row = Authenticator.objects.get(user=form.user, type=Type.TOTP)
        factors.accept_once(row, form.cleaned_data["code"])
        return response


new_app = NewApp.as_view()


@method_decorator(_own_page, name="dispatch")
class NewPasskey(_NewFactor, AddWebAuthnView):  # type: ignore[misc]
    """Add a passkey: a second factor, and a way to sign in without the password."""

    template_name = "accounts/new_passkey.html"
    form_class = factors.NewPasskeyForm
    subject, done = "passkey", gettext("Your passkey is added.")
    refused = gettext("This passkey could not be added. Try again.")

    def get_form_kwargs(self) -> dict[str, Any]:
        """Every passkey has to sign in by itself as well."""
        form_arguments: dict[str, Any] = super().get_form_kwargs()
        if self.request.method == "POST":
            data = self.request.POST.copy()
            data["passwordless"] = "on"
            data["name"] = data.get("name", "")[:60]
            form_arguments["data"] = data
        return form_arguments

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """The browser is asked for a passkey that it can find by itself, and that looks who the person is.

        The form refuses one that did not look.
        """
        context: dict[str, Any] = super().get_context_data(**kwargs)
        options = context["js_data"]["creation_options"]
        selection = {"residentKey": "required", "requireResidentKey": True, "userVerification": "required"}
        options["publicKey"]["authenticatorSelection"] = selection
        return context


new_passkey = NewPasskey.as_view()


@require_POST
@login_required
@confirmed_without_factor
def remove_factor(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Remove the app or a passkey; with the last one the recovery codes go too.

    The library's views write the letter about it, by our adapter.
    """
    own = Authenticator.objects.exclude(type=Type.RECOVERY_CODES).filter(user_id=request.user.pk)
    row = own.filter(pk=pk).first()
    if row is None:
        messages.error(request, gettext("There is no such factor any more."))
        return redirect("accounts:factors")
    is_passkey = row.type == Type.WEBAUTHN
    view = RemoveWebAuthnView if is_passkey else DeactivateTOTPView
    response: HttpResponseBase = view.as_view(success_url=reverse("accounts:factors"))(request, pk=pk)
    security.log("factor.removed", subject="passkey" if is_passkey else "authenticator app")
    said = gettext("The passkey is removed.") if is_passkey else gettext("The authenticator app is removed.")
    messages.success(request, said)
    return response


class MakeCodes(GenerateRecoveryCodesView):  # type: ignore[misc]
    """New codes; the old end."""

    success_url = reverse_lazy("accounts:recovery_codes")

    def form_valid(self, form: Any) -> HttpResponse:
        """They are shown at once."""
        response: HttpResponse = super().form_valid(form)
        security.log("factor.codes_made")
        messages.success(
            self.request, gettext("These are your new recovery codes. The earlier ones no longer work.")
        )
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        """Codes only stand in for a factor."""
        messages.error(self.request, gettext("Set up an authenticator app or a passkey first."))
        return redirect("accounts:factors")


@require_http_methods(FORM_METHODS)
@login_required
@confirmed_without_factor
@never_cache
def recovery_codes(request: HttpRequest) -> HttpResponseBase:
    """How many are left; the codes themselves once. A form makes new ones."""
    assert isinstance(request.user, User)
    account_factors = factors.factors_of(request.user)
    view_options = {
        "template_name": "accounts/recovery_codes.html",
        "extra_context": {"factors": account_factors},
    }
    response: HttpResponseBase
    if request.method == "POST":
        response = MakeCodes.as_view()(request)
    elif request.method == "GET" and account_factors.codes_left is not None:
        response = ViewRecoveryCodesView.as_view(**view_options)(request)
    else:
        response = render(request, "accounts/recovery_codes.html", {"factors": account_factors})
    return response


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
    account_factors = factors.factors_of(user)
    form = factors.ConfirmCodeForm(user=user, data=posted if posted and "code" in posted else None)
    wrong = ""
    if posted is not None:
        if "password" in posted:
            name = user.get_username()
            done = authenticate(request, username=name, password=posted["password"]) == user
            wrong = "" if done else gettext("This is not your password.")
        elif "credential" in posted:
            passkey = factors.ConfirmPasskeyForm(user=user, data=posted)
            done = passkey.is_valid()
            wrong = "" if done else gettext("This passkey is none of yours, or was used for something else.")
        else:
            done = form.is_valid()
        if done:
            sessions.note_confirmation(request)
            security.log("signin.confirmed")
            return redirect(then or "accounts:home")
    context: dict[str, Any] = {
        "next": then,
        "form": form,
        "wrong": wrong,
        "factors": account_factors,
        "by_password": user.has_usable_password(),
        "options": _passkey_options(request) if account_factors.passkeys else None,
        "connections": connections_of(user),
    }
    return render(request, "accounts/confirm.html", context, status=422 if posted is not None else 200)


def _passkey_options(request: HttpRequest) -> Any:
    """What the browser needs to ask for a passkey of the signed-in person, from the library's own page."""
    page = ReauthenticateWebAuthnView()
    page.setup(request)
    return page.get_context_data()["js_data"]["request_options"]
