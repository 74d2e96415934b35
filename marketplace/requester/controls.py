"""The chaos panel: faults on request for one requester, and the clock. Only where test controls are on."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from core.revisions import ConflictError
from marketplace import clock
from marketplace.models import Chaos
from marketplace.protocol import testcontrols as chaos
from marketplace.requester.access import RequesterAccess, for_requester, show
from web.durations import span
from web.forms import RevisedForm

# Forms of the chaos panel.

MOST_CALLS, MOST_DELAY_S = 1_000_000, 86_400
_HOUR, _DAY = 3600, 86_400
#: Faults that stay until somebody changes them; the others are counted down by the calls that meet them.
_KEPT = ("throttle_rate", "error_rate", "visibility_delay_s", "duplicate_events")


def _count_field(label: str, help_text: str) -> forms.IntegerField:
    return forms.IntegerField(
        required=False, min_value=0, max_value=MOST_CALLS, label=label, help_text=help_text
    )


def _share_field(label: str, help_text: str) -> forms.FloatField:
    return forms.FloatField(required=False, min_value=0, max_value=1, label=label, help_text=help_text)


class FaultsForm(RevisedForm, forms.Form):
    """Faults of one requester; what is left empty is off."""

    lose_response_after_commit = _count_field(
        "Lose answers", "So many coming calls that change something are done, and then lose their answer."
    )
    throttle_next = _count_field(
        "Throttle the next calls", "So many coming calls are refused with ThrottlingException."
    )
    throttle_rate = _share_field("Throttle by chance", "Share of all calls, from 0 to 1.")
    error_rate = _share_field(
        "Fail inside by chance",
        "Share of all calls, from 0 to 1: they break off in the middle, and are undone.",
    )
    visibility_delay_s = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MOST_DELAY_S,
        label="Show submitted work later",
        help_text="Seconds until an assignment can be listed and reviewed.",
    )
    duplicate_events = forms.BooleanField(required=False, label="Send every event twice")

    def __init__(self, data: Any = None, *, chaos: Chaos | None = None) -> None:
        initial = {name: getattr(chaos, name) for name in self.base_fields} if chaos else None
        super().__init__(data, label_suffix="", initial=initial)
        self.shows(chaos, _KEPT)

    @property
    def faults(self) -> dict[str, float | bool]:
        """Every fault by its name."""
        return {name: value or 0 for name, value in self.cleaned_data.items()} | {
            "duplicate_events": bool(self.cleaned_data["duplicate_events"])
        }


class AdvanceForm(forms.Form):
    """How far the marketplace's clock moves on."""

    by = forms.ChoiceField(
        label="Move the clock on by",
        choices=[
            (str(_HOUR), "an hour"),
            (str(_DAY), "a day"),
            (str(7 * _DAY), "a week"),
            (str(30 * _DAY), "30 days"),
        ],
        help_text="For everybody on this installation. It cannot go back, but for a reset by the test token.",
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)

    @property
    def seconds(self) -> int:
        """The same in seconds."""
        return int(self.cleaned_data["by"])


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
