"""Becoming a worker, and what a worker says about themselves."""

from contextlib import suppress

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from core.accounts import guards
from core.accounts.middleware import too_many
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import FormerIdClaim, Worker
from marketplace.services.contact import ask_to_confirm, contact_of
from marketplace.services.formerids import state_former_id
from marketplace.services.payees import payee_of
from marketplace.services.people import change_country, invitation_for, next_change_at
from marketplace.site.access import current_worker, for_workers, join, page
from marketplace.site.forms import COUNTRIES, CountryForm, FormerIdForm, JoinForm, ProfileForm, SignUpForm
from marketplace.taskpages import site_url


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
    if wait := guards.seconds_to_wait(by_address):
        return too_many(request, wait)
    if invitation_for(token) is None:
        guards.count_try(by_address)
        worker = current_worker(request)
        return page(request, "invitation_gone.html", worker=worker, now=clock.now(), status=404)
    return _sign_up(request, invitation_token=token)


def _sign_up(request: HttpRequest, *, invitation_token: str | None) -> HttpResponse:
    worker = current_worker(request)
    if worker is not None:
        messages.info(request, "You are a worker already.")
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
                login(request, joined, backend="core.accounts.backends.ModelBackend")
                _ask_to_confirm(request, form.cleaned_data.get("email", ""))
            messages.success(request, "Welcome. Choose a group of HITs and have a look at one.")
            return redirect("site:groups")
    return page(request, "signup.html", worker=None, now=clock.now(), form=form, account=user)


def _ask_to_confirm(request: HttpRequest, email: str) -> None:
    """Send the link to an address given at sign-up; where too many went there, the profile can ask later."""
    worker = current_worker(request)
    if not email or worker is None or guards.wait_for_letter(request, email):
        return
    with suppress(Refusal):
        ask_to_confirm(worker=worker, email=email, base=site_url(request))
        messages.info(request, f"Open the link in the e-mail to {email} to confirm the address.")


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def profile(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What the worker says about themselves, and what the marketplace counts of their work."""
    choices = {name: getattr(worker, name) for name in ProfileForm.base_fields}
    form = ProfileForm(request.POST or None, initial=choices)
    if form.is_valid():
        form.save(worker)
        messages.success(request, "Your profile is saved.")
        return redirect("site:profile")
    return page(
        request,
        "profile.html",
        worker=worker,
        now=clock.now(),
        form=form,
        payee=payee_of(worker),
        contact=contact_of(worker),
        place=COUNTRIES.get(worker.country, ""),
        by_mail=settings.NOTICES_BY_EMAIL,
        former_claim=FormerIdClaim.objects.filter(worker=worker).first(),
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
            messages.success(request, "Your country is changed.")
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


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def former_id(request: HttpRequest, worker: Worker) -> HttpResponse:
    """State the worker id that one had on MTurk, once."""
    claim = FormerIdClaim.objects.filter(worker=worker).first()
    form = FormerIdForm(request.POST or None) if claim is None else None
    if form is not None and form.is_valid():
        try:
            claim = state_former_id(worker=worker, former_id=form.cleaned_data["former_id"])
        except Refusal as refusal:
            form.add_error("former_id", refusal.message)
        else:
            if claim.accepted:
                messages.success(
                    request, "Your MTurk id is noted. What requesters kept on it counts for you."
                )
            else:
                messages.warning(
                    request, "Another person has stated this id. The people who run this site decide."
                )
            return redirect("site:profile")
    return page(request, "former_id.html", worker=worker, now=clock.now(), form=form, claim=claim)


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
