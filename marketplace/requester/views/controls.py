"""The chaos panel: faults on request for one requester, and the clock. Only where test controls are on."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from core.revisions import ConflictError
from marketplace import chaos, clock
from marketplace.models import Chaos
from marketplace.requester.access import RequesterAccess, for_requester, show
from marketplace.requester.controlforms import AdvanceForm, FaultsForm
from marketplace.templatetags.marketplace_time import span

View = Callable[..., HttpResponseBase]


def _where_tests_are(view: View) -> View:
    """Without the setting these addresses do not exist, for anybody."""

    @wraps(view)
    def guarded(request: HttpRequest, **parts: str) -> HttpResponseBase:
        if not settings.MARKETPLACE_TEST_TOKEN:
            raise Http404("Test controls are off.")
        return view(request, **parts)

    return guarded


@_where_tests_are
@require_http_methods(["GET", "HEAD", "POST"])
@for_requester
def controls(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """What is switched on for this requester, and a form that changes it."""
    mine = Chaos.objects.filter(requester=access.requester).first()
    form = FaultsForm(request.POST if request.method == "POST" else None, chaos=mine)
    if request.method == "POST" and form.is_valid():
        try:
            chaos.set_faults(access.requester, form.faults, seen=form.seen)
        except ConflictError:
            mine = Chaos.objects.filter(requester=access.requester).first()
            form.compare(FaultsForm(chaos=mine), request.path)
        else:
            messages.success(request, "The faults are set. They concern calls of this requester alone.")
            return redirect("requester:controls", access.requester.customer_id)
    return show(
        request,
        "controls.html",
        access,
        place="controls",
        form=form,
        clock_form=AdvanceForm(),
        mine=mine,
        everybody=Chaos.objects.filter(requester=None).first(),
        now=clock.now(),
        ahead=clock.advanced_seconds(),
        status=409 if form.conflict else 422 if form.errors else 200,
    )


@_where_tests_are
@require_POST
@for_requester
def no_faults(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Everything works again for this requester."""
    Chaos.objects.filter(requester=access.requester).delete()
    messages.success(request, "No faults of this requester's are left.")
    return redirect("requester:controls", access.requester.customer_id)


@_where_tests_are
@require_POST
@for_requester
def advance(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Move the clock forward: for everybody, so staff alone may."""
    if not access.staff:
        raise Http404("Staff move the clock.")
    form = AdvanceForm(request.POST)
    if not form.is_valid() or clock.advanced_seconds() + form.seconds > clock.MOST_AHEAD_S:
        messages.error(request, "Choose how far the clock moves; it is a hundred years ahead at most.")
    else:
        clock.advance(form.seconds)
        messages.success(request, f"The marketplace's clock moved on by {span(form.seconds)}.")
    return redirect("requester:controls", access.requester.customer_id)
