"""When a batch is published and ended by itself, and who gets an e-mail at its end."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from core.errors import ActionError
from marketplace import clock
from marketplace.batches import publication
from marketplace.batches import schedule as schedules
from marketplace.models import Batch
from marketplace.requester.access import RequesterAccess, on_requester, show
from marketplace.requester.batchforms import HoursForm, ScheduleForm
from marketplace.requester.views.batches import PLACE, own
from marketplace.services.members import Action
from web.forms import run_action


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def schedule(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponseBase:
    """Set the times of a batch, or take them away."""
    batch = own(access, number)
    if batch.state == Batch.State.CANCELLED:
        messages.error(request, "This batch is cancelled; nothing of it can be scheduled.")
        return redirect("requester:batch", access.requester.customer_id, number)
    asks_hours = request.method == "POST" and "hours" in request.POST
    asks_times = request.method == "POST" and not asks_hours
    hours_form = HoursForm(request.POST if asks_hours else None, batch=batch)
    if asks_hours and hours_form.is_valid() and _set_hours(hours_form, batch):
        messages.success(request, "The hours are stored.")
        return redirect("requester:batch", access.requester.customer_id, number)
    form = ScheduleForm(request.POST if asks_times else None, batch=batch)
    if form.is_bound and form.is_valid() and _set(form, access, batch):
        messages.success(request, "The schedule is stored.")
        return redirect("requester:batch", access.requester.customer_id, number)
    return show(
        request,
        "batch_schedule.html",
        access,
        place=PLACE,
        batch=batch,
        form=form,
        hours_form=hours_form,
        cost=publication.cost_of(batch),
        now=clock.now(),
        status=422 if form.errors or hours_form.errors else 200,
    )


def _set(form: ScheduleForm, access: RequesterAccess, batch: Batch) -> bool:
    given = form.cleaned_data
    try:
        schedules.set_schedule(
            batch=batch,
            publish_at=given.get("publish_at"),
            end_at=given.get("end_at"),
            cents=given.get("amount") or 0,
            user=access.user,
        )
    except ActionError as error:
        form.add_error("amount" if "total is" in str(error) else None, str(error))
        return False
    return True


def _set_hours(form: HoursForm, batch: Batch) -> bool:
    try:
        schedules.set_hours(batch=batch, hours=form.hours())
    except ActionError as error:
        form.add_error(None, str(error))
        return False
    return True


@require_POST
@on_requester(act=(Action.MANAGE, Action.REVIEW))
def mail(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """Ask for an e-mail at the end of a batch, or for none."""
    batch = own(access, number)
    wanted = "no" not in request.POST

    def action() -> str:
        schedules.ask_for_mail(batch=batch, user=access.user, wanted=wanted)
        if not wanted:
            return "No e-mail is sent at the end of this batch."
        return f"One e-mail goes to {access.user.email} at the end of this batch."

    return run_action(
        request, action, reverse("requester:batch", args=[access.requester.customer_id, number])
    )
