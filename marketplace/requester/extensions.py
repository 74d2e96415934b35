"""What changes of a batch later: more rows, places and time, its schedule and e-mail; and a copy of it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from core.errors import ActionError
from marketplace import clock
from marketplace.batches import drafts, extensions, publication
from marketplace.batches import schedule as schedules
from marketplace.errors import Refusal
from marketplace.forms.sheets import Sheet
from marketplace.members import Action
from marketplace.models import Batch, BatchExtension
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, show
from marketplace.requester.batches import PLACE, own
from marketplace.requester.batchforms import ExtendForm, HoursForm, RowsForm, ScheduleForm
from metrics.figure import counted
from web.forms import run_action


def _refuse_unpublished(request: HttpRequest, access: RequesterAccess, batch: Batch) -> HttpResponse | None:
    """Back to the page of a batch that cannot get more, with a word."""
    if batch.state == Batch.State.PUBLISHED:
        return None
    messages.error(request, f"Only a published batch gets more; this one is {batch.state}.")
    return redirect("requester:batch", access.requester.customer_id, batch.number)


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def rows(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponseBase:
    """Read a table of more rows for a published batch; they become a draft to look at."""
    batch = own(access, number)
    if (elsewhere := _refuse_unpublished(request, access, batch)) is not None:
        return elsewhere
    posted = request.method == "POST"
    form = RowsForm(request.POST if posted else None, request.FILES if posted else None, label_suffix="")
    if posted and form.is_valid() and (draft := _addition(form, access, batch)):
        messages.success(request, f"{counted(draft.task_count, 'row')} read. Nothing is added yet.")
        return redirect("requester:batch", access.requester.customer_id, draft.number)
    return show(
        request,
        "batch_rows.html",
        access,
        place=PLACE,
        batch=batch,
        form=form,
        drafts=batch.additions.filter(task_count__gt=0).order_by("number"),
        status=422 if form.errors else 200,
    )


def _addition(form: RowsForm, access: RequesterAccess, batch: Batch) -> Batch | None:
    fields, upload = form.cleaned_data, form.upload()
    try:
        sheet = Sheet(
            upload.file,  # type: ignore[arg-type]
            upload.name or "rows.csv",
            encoding=fields["encoding"],
            sheet=fields["sheet"],
        )
        return extensions.make_addition(
            batch=batch, sheet=sheet, leave_out=fields["leave_out"], user=access.user
        )
    except Refusal as refusal:
        form.add_error("file", refusal.message)
        return None


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def extend(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponseBase:
    """More places and more time: first what it costs, then, with the total typed, done."""
    batch = own(access, number)
    if (elsewhere := _refuse_unpublished(request, access, batch)) is not None:
        return elsewhere
    posted = request.method == "POST"
    form = ExtendForm(request.POST if posted else None, batch=batch)
    cost = None
    if posted and form.is_valid():
        cost = extensions.cost_of_extension(batch, form.wish(), clock.now())
        if form.confirms(cost.total) and _extend(form, access, batch):
            messages.success(
                request,
                ngettext("%d HIT is being extended.", "%d HITs are being extended.", cost.hits) % cost.hits,
            )
            return redirect("requester:batch", access.requester.customer_id, number)
    return show(
        request,
        "batch_extend.html",
        access,
        place=PLACE,
        batch=batch,
        form=form,
        cost=cost,
        missing_cents=max(0, cost.total - access.requester.available_cents) if cost else 0,
        before=batch.extensions.select_related("by").order_by("-pk")[:20],
        now=clock.now(),
        status=422 if form.errors else 200,
    )


def _extend(form: ExtendForm, access: RequesterAccess, batch: Batch) -> bool:
    try:
        extensions.extend_batch(
            batch=batch,
            wish=form.wish(),
            cents=form.cleaned_data["amount"],
            once=form.cleaned_data["once"],
            user=access.user,
        )
    except ActionError as error:
        form.add_error(None, str(error))
        return False
    return True


@require_POST
@for_requester
def go_on(request: HttpRequest, access: RequesterAccess, *, number: int, extension: int) -> HttpResponse:
    """Go on with an extension for which the money did not last."""
    row = get_object_or_404(BatchExtension, pk=extension, batch=own(access, number))

    def action() -> str:
        extensions.go_on(extension=row)
        return "It goes on where it stopped."

    return run_action(request, action, _address(access, number))


@require_POST
@for_requester
def copy(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """A draft with the page, the table and the properties of this batch."""
    duplicate = drafts.copy_draft(batch=own(access, number), user=access.user)
    messages.success(request, "This is a copy. Nothing of it is published yet.")
    return redirect("requester:batch", access.requester.customer_id, duplicate.number)


def _address(access: RequesterAccess, number: int) -> str:
    return reverse("requester:batch", args=[access.requester.customer_id, number])


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
    fields = form.cleaned_data
    try:
        schedules.set_schedule(
            batch=batch,
            publish_at=fields.get("publish_at"),
            end_at=fields.get("end_at"),
            cents=fields.get("amount") or 0,
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
    send_mail = "no" not in request.POST

    def action() -> str:
        schedules.ask_for_mail(batch=batch, user=access.user, send_mail=send_mail)
        if not send_mail:
            return "No e-mail is sent at the end of this batch."
        return f"One e-mail goes to {access.user.email} at the end of this batch."

    return run_action(
        request, action, reverse("requester:batch", args=[access.requester.customer_id, number])
    )
