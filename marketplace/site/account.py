"""A worker's account: joining, profile, e-mail address, password, a copy of their data, and its end."""

import zoneinfo
from contextlib import suppress
from functools import cache
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView, PasswordResetDoneView, PasswordResetView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from core.accounts import guards, security, services
from core.accounts.middleware import too_many
from core.accounts.passwords import new_password_fields
from marketplace import clock
from marketplace.accounts import account_closure, contact
from marketplace.accounts.account_closure import receipt
from marketplace.accounts.contact import ask_for_password, ask_to_confirm, contact_of
from marketplace.accounts.people import change_country, invitation_for, next_change_at
from marketplace.countries import COUNTRIES
from marketplace.errors import Refusal
from marketplace.models import Contact, Worker
from marketplace.money.payees import payee_of
from marketplace.site.access import current_worker, for_workers, join, page
from marketplace.site.forms import AddressField, CountryForm, JoinForm, ProfileForm, SignUpForm
from marketplace.site.lookup import settle_worker
from marketplace.site.records import standing
from marketplace.site.taskpages import site_url
from web import languages


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters()
def signup(request: HttpRequest) -> HttpResponse:
    """Sign-up where registration is open; elsewhere a page that says how to get in."""
    if settings.MARKETPLACE_REGISTRATION != "open":
        return page(request, "closed.html", worker=current_worker(request), now=clock.now(), status=403)
    return _sign_up(request, invitation_token=None)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters()
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Sign-up by invitation."""
    by_address = guards.address_key(guards.INVITATIONS, request)
    # Only tokens that lead nowhere count and wait: those are what guessing sends. A class shares a network.
    if invitation_for(token) is None:
        if wait := guards.seconds_to_wait(by_address):
            return too_many(request, wait)
        guards.count_try(by_address)
        worker = current_worker(request)
        return page(request, "invitation_gone.html", worker=worker, now=clock.now(), status=404)
    return _sign_up(request, invitation_token=token)


def _sign_up(request: HttpRequest, *, invitation_token: str | None) -> HttpResponse:
    worker = current_worker(request)
    if worker is not None:
        messages.info(request, gettext("You are a worker already."))
        return redirect("site:groups")
    user = request.user if isinstance(request.user, User) else None
    # An invitation has uses of its own, and a class of students comes from one address.
    if request.method == "POST" and invitation_token is None:
        by_address = guards.address_key(guards.SIGN_UPS, request)
        if wait := guards.seconds_to_wait(by_address):
            return too_many(request, wait)
        guards.count_try(by_address)
    form = (JoinForm if user else SignUpForm)(request.POST or None)
    if form.is_valid():
        try:
            joined = join(
                request=request, user=user, newcomer=form.newcomer(), invitation_token=invitation_token
            )
        except Refusal as refusal:
            form.add_error("username" if "username" in form.fields else None, refusal.message)
        else:
            if user is None:
                login(request, joined, backend="django.contrib.auth.backends.ModelBackend")
                _ask_to_confirm(request, form.cleaned_data.get("email", ""))
            messages.success(request, gettext("Welcome. Choose a group of HITs and have a look at one."))
            return redirect("site:groups")
    return page(request, "signup.html", worker=None, now=clock.now(), form=form, account=user)


def _ask_to_confirm(request: HttpRequest, email: str) -> None:
    """Send the link to an address given at sign-up; where too many went there, the profile can ask later."""
    worker = current_worker(request)
    if not email or worker is None or guards.wait_for_letter(request, email):
        return
    with suppress(Refusal):
        ask_to_confirm(worker=worker, email=email, base=site_url(request))
        messages.info(
            request,
            gettext("Open the link in the e-mail to %(email)s to confirm the address.") % {"email": email},
        )


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def profile(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What the worker says about themselves, and what the marketplace counts of their work."""
    choices = {name: getattr(worker, name) for name in ProfileForm.base_fields}
    form = ProfileForm(request.POST or None, initial=choices)
    if form.is_valid():
        form.save(worker)
        languages.remember(request, form.cleaned_data["language"])
        with translation.override(form.cleaned_data["language"] or translation.get_language()):
            messages.success(request, gettext("Your profile is saved."))
        answer = redirect("site:profile")
        answer.delete_cookie(settings.LANGUAGE_COOKIE_NAME)  # of a link, before this choice
        return answer
    contact_row = contact_of(worker)
    return page(
        request,
        "profile.html",
        worker=worker,
        now=clock.now(),
        form=form,
        payee=payee_of(worker),
        contact=contact_row,
        digest=Contact.Digest(contact_row.digest if contact_row else "").label,
        place=COUNTRIES.get(worker.country, ""),
        by_mail=settings.NOTICES_BY_EMAIL,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def country(request: HttpRequest, worker: Worker) -> HttpResponse:
    """State another country, with a reason; not twice in some days."""
    initial = {"country": worker.country, "subdivision": worker.subdivision}
    form = CountryForm(request.POST or None, initial=initial)
    if form.is_valid():
        try:
            change_country(worker=worker, **form.cleaned_data)
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, gettext("Your country is changed."))
            return redirect("site:profile")
    return page(
        request,
        "country.html",
        worker=worker,
        now=clock.now(),
        form=form,
        days=settings.MARKETPLACE_COUNTRY_DAYS,
        again_at=next_change_at(worker),
    )


@require_POST
@for_workers
def accept_next(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Switch the automatic acceptance of the next HIT on or off; scripts get an empty answer."""
    Worker.objects.filter(pk=worker.pk).update(accept_next=bool(request.POST.get("accept_next")))
    if request.headers.get("Accept") == "application/json":
        return HttpResponse(status=204)
    back = request.POST.get("back", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return redirect(back if safe and back.startswith("/") else "site:profile")


# E-mail: an address, confirmed by its link, and contact.


class EmailForm(forms.Form):
    """An address, and the password: whoever finds an open browser cannot take the account over."""

    email = AddressField(label=gettext_lazy("E-mail address"))
    password = forms.CharField(
        label=gettext_lazy("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *arguments: Any, request: HttpRequest, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._request = request
        assert isinstance(request.user, User)
        if not request.user.has_usable_password():
            del self.fields["password"]

    def clean_password(self) -> str:
        """Checked as at log-in, so that tries are counted and end after a few."""
        user, password = self._request.user, str(self.cleaned_data["password"])
        if authenticate(self._request, username=user.get_username(), password=password) != user:
            raise forms.ValidationError(gettext("This is not your password."))
        return password


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters("password")
@for_workers
def email(request: HttpRequest, worker: Worker) -> HttpResponse:
    """The worker's address, what waits for its link, and the form for another one."""
    form = EmailForm(request.POST or None, request=request)
    if form.is_valid():
        address = form.cleaned_data["email"]
        if wait := guards.wait_for_letter(request, address):
            return too_many(request, wait)
        try:
            contact.ask_to_confirm(worker=worker, email=address, base=site_url(request))
        except Refusal as refusal:
            form.add_error("email", refusal.message)
        else:
            messages.success(
                request,
                gettext("Open the link in the e-mail to %(address)s to confirm it.") % {"address": address},
            )
            return redirect("site:email")
    return page(
        request,
        "email.html",
        worker=worker,
        now=clock.now(),
        form=form,
        row=contact.contact_of(worker),
        by_mail=settings.NOTICES_BY_EMAIL,
    )


class DigestForm(forms.Form):
    """How often, and when that is."""

    digest = forms.ChoiceField(
        choices=Contact.Digest.choices,
        required=False,
        label=gettext_lazy("New work, decisions and messages by e-mail"),
    )
    time_zone = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Time zone"),
        help_text=gettext_lazy("Of all times that you are shown. Digests come at eight in the morning."),
    )

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        field = self.fields["time_zone"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "UTC"), *((name, name.replace("_", " ")) for name in zones())]


@cache
def zones() -> list[str]:
    """Names of places, as the system's time zones have them."""
    return sorted(
        name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/")
    )


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def digest(request: HttpRequest, worker: Worker) -> HttpResponse:
    """How often the worker wants a digest, and their time zone."""
    row = contact.contact_of(worker)
    initial = {"digest": row.digest if row else "", "time_zone": worker.time_zone}
    form = DigestForm(request.POST or None, initial=initial)
    if form.is_valid():
        contact.choose_digest(worker=worker, **form.cleaned_data)
        messages.success(request, gettext("It is kept."))
        return redirect("site:digest")
    return page(
        request,
        "digest.html",
        worker=worker,
        now=clock.now(),
        form=form,
        row=row,
        by_mail=settings.NOTICES_BY_EMAIL,
    )


# Without a token: mail programs post here by themselves, and the signed token in the path is enough.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """End digests: by a button for people, at once for mail programs (RFC 8058), which send no cookie."""
    row = contact.subscribed(token)
    if row is not None and request.method == "POST":
        contact.unsubscribe(row)
    return page(
        request,
        "unsubscribe.html",
        worker=current_worker(request),
        now=clock.now(),
        status=200 if row else 404,
        row=row,
        ended=request.method == "POST",
    )


@require_POST
@for_workers
def remove_email(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Delete the address, and one that waits."""
    contact.forget_address(worker=worker)
    messages.success(request, gettext("Your e-mail address is deleted."))
    return redirect("site:email")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def confirm_email(request: HttpRequest, token: str) -> HttpResponse:
    """The link in the letter: a page with a button, because programs that check mail open links as well."""
    worker = current_worker(request)
    waiting = contact.waiting_for(token)
    if waiting is not None and request.method == "POST":
        row = contact.confirm(token)
        if row is not None:
            messages.success(request, gettext("Your e-mail address is confirmed."))
            return redirect("site:email" if worker else "site:groups")
        waiting = None
    return page(
        request,
        "email_confirm.html",
        worker=worker,
        now=clock.now(),
        status=200 if waiting else 404,
        address=contact.veiled(waiting.waiting_email) if waiting else "",
        whose=waiting.worker.worker_id if waiting else "",
    )


# A new password by e-mail, by Django's own views: for confirmed addresses, with one answer for all.


class AskForm(forms.Form):
    """The address that was confirmed."""

    email = AddressField(label=gettext_lazy("Your confirmed e-mail address"))


class ChooseForm(SetPasswordForm):  # type: ignore[type-arg]  # no generic when it runs
    """A new password, twice."""

    new_password1, new_password2 = new_password_fields(gettext_lazy("New password"))


class AskForPassword(PasswordResetView):
    """Ask for a link; a job looks whose address it is, so that the answer says nothing about it."""

    template_name = "accounts/ask_for_password.html"
    form_class = AskForm  # type: ignore[assignment]
    success_url = reverse_lazy("site:password_letter_sent")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Whether letters are sent at all."""
        return super().get_context_data(by_mail=settings.NOTICES_BY_EMAIL, **kwargs)

    def form_valid(self, form: AskForm) -> HttpResponse:  # type: ignore[override]
        """Have the letter sent, unless too many were asked for."""
        email = form.cleaned_data["email"]
        if wait := guards.wait_for_letter(self.request, email):
            return too_many(self.request, wait)
        if settings.NOTICES_BY_EMAIL:
            ask_for_password(email=email, base=site_url(self.request))
        return redirect(str(self.success_url))


class LetterSent(PasswordResetDoneView):
    """What happens now, whoever asked."""

    template_name = "accounts/password_letter_sent.html"


class NewPassword(PasswordResetConfirmView):
    """The link in the letter: choose a password. Every session of the account ends."""

    template_name = "accounts/new_password.html"
    form_class = ChooseForm
    success_url = reverse_lazy("accounts:login")

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        """Store it; whoever reads the account's e-mail has shown who they are, so tries begin again."""
        answer = super().form_valid(form)
        user = form.user
        services.password_was_changed(user=user)
        guards.forget_tries(guards.BY_NAME.key(user.get_username()))
        security.log("password.reset", user=user.get_username())
        messages.success(self.request, gettext("Your new password is set. Sign in with it."))
        return answer


# The end of an account: a worker's own data as a file, closing it.


class CloseForm(forms.Form):
    """The worker id, typed, and the password: nobody closes by mistake, or at somebody's open browser."""

    worker_id = forms.CharField(
        label=gettext_lazy("Type your worker id"),
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters"}),
    )
    password = forms.CharField(
        label=gettext_lazy("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    keep_payment_note = forms.BooleanField(
        required=False,
        initial=True,
        label=gettext_lazy("Keep how I want to be paid until I am"),
        help_text=gettext_lazy(
            "It is deleted on the day after everything is paid out. Without it, show your receipt."
        ),
    )

    def __init__(
        self, *arguments: Any, request: HttpRequest, worker: Worker, ask_about_payment: bool
    ) -> None:
        super().__init__(*arguments)
        self._request, self._worker = request, worker
        if not ask_about_payment:
            del self.fields["keep_payment_note"]

    def clean_worker_id(self) -> str:
        """It has to be this worker's."""
        typed = str(self.cleaned_data["worker_id"]).strip().upper()
        if typed != self._worker.worker_id:
            raise forms.ValidationError(
                gettext("Type %(worker_id)s, your worker id.") % {"worker_id": self._worker.worker_id}
            )
        return typed

    def clean_password(self) -> str:
        """Checked as at log-in, so that tries are counted and end after a few."""
        password = str(self.cleaned_data["password"])
        user = self._worker.user
        assert user is not None
        if authenticate(self._request, username=user.get_username(), password=password) != user:
            raise forms.ValidationError(gettext("This is not your password."))
        return password


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters("password")
@for_workers
def close(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What stays and what goes, what is still due, and the form that closes the account."""
    now = clock.now()
    settle_worker(worker, now)
    due = standing(worker)
    ask = due.real and bool(worker.payment_note_sealed or payee_of(worker))
    form = CloseForm(request.POST or None, request=request, worker=worker, ask_about_payment=ask)
    if form.is_valid():
        try:
            keep = bool(form.cleaned_data.get("keep_payment_note"))
            closed = account_closure.close(worker=worker, keep_payment_note=keep)
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            return _gone(request, worker, closed)
    stays = account_closure.login_stays(worker)
    return page(request, "close.html", worker=worker, now=now, form=form, due=due, login_stays=stays)


def _gone(request: HttpRequest, worker: Worker, closed: account_closure.ClosedAccount) -> HttpResponse:
    if not closed.login_stays:
        logout(request)
    return page(
        request,
        "account_closed.html",
        worker=None,
        now=clock.now(),
        worker_id=worker.worker_id,
        receipt=receipt(worker.worker_id),
        due=standing(worker),
        closed=closed,
    )
