"""A worker's e-mail address: giving it, confirming it by its link, removing it."""

import zoneinfo
from functools import cache
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from core.accounts import guards
from core.accounts.middleware import too_many
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import Contact, Worker
from marketplace.services import contact
from marketplace.site.access import current_worker, for_workers, page
from marketplace.site.forms import AddressField
from marketplace.taskpages import site_url


class EmailForm(forms.Form):
    """An address, and the password: whoever finds an open browser cannot take the account over."""

    email = AddressField(label="E-mail address")
    password = forms.CharField(
        label="Your password",
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
            raise forms.ValidationError("This is not your password.")
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
            messages.success(request, f"Open the link in the e-mail to {address}: then it counts.")
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
        choices=Contact.Digest.choices, required=False, label="New work, decisions and messages by e-mail"
    )
    time_zone = forms.ChoiceField(
        required=False,
        label="Time zone",
        help_text="Of all times that you are shown. Digests come at eight in the morning.",
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
        messages.success(request, "It is kept.")
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
    messages.success(request, "Your e-mail address is deleted.")
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
            messages.success(request, "Your e-mail address is confirmed.")
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
