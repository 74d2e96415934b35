"""Workers of a stage: what they did, and writing to them, excluding or compensating them."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.money import dollars
from crowd.desk import tables
from crowd.desk.access import StageAccess, on_stage
from crowd.desk.forms import CompensateForm, MessageForm, ReasonForm, WhyReadmitForm
from crowd.desk.tables import WORKERS
from crowd.models import Exclusion, Worker
from crowd.services import review
from web.access import Role
from web.forms import FormError, chosen_keys, read_form, run_action
from web.pages import show
from web.table_pages import respond
from web.tables import ROWS

WORKER = "desk:worker"
_MOST_WRITTEN_TO = 5000


@require_safe
@on_stage()
def listing(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """Who worked on the stage; sorted, filtered and paged by the address."""
    return respond(
        request,
        access,
        WORKERS,
        lambda asked: tables.chosen_workers(access.stage, asked["state"], asked["q"]),
        "workers.html",
        file=f"{access.stage.slug}-workers",
        rows_as="workers",
        tab="workers",
    )


def _worker(access: StageAccess, pk: int) -> Worker:
    """Somebody who worked on this stage; others of the endpoint are nobody's business here."""
    found: Worker = get_object_or_404(tables.workers(access.stage), pk=pk)
    return found


@require_safe
@on_stage()
def worker(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """One worker: their work here, and the forms."""
    row = _worker(access, pk)
    work = list(tables.work(access.stage, "all", row.external_id)[:ROWS])
    tables.say_what_about(access.stage, work)
    return show(
        request,
        "worker.html",
        access,
        tab="workers",
        worker=row,
        exclusion=Exclusion.objects.filter(worker=row, scope=f"stage:{access.stage.pk}").first(),
        work=work,
        message_form=MessageForm(auto_id="message_%s"),
        exclude_form=ReasonForm(auto_id="exclude_%s"),
        readmit_form=WhyReadmitForm(auto_id="readmit_%s"),
        compensate_form=CompensateForm(auto_id="compensate_%s"),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_stage(Role.MANAGER)
def message(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Write to the chosen workers, or to all of the stage."""
    given = request.POST if request.method == "POST" else request.GET
    chosen = chosen_keys(given.getlist("worker"))
    everybody = tables.workers(access.stage)
    readers = list((everybody.filter(pk__in=chosen) if chosen else everybody)[: _MOST_WRITTEN_TO + 1])
    form = MessageForm(request.POST or None)
    if request.method == "POST":

        def action() -> str:
            letter = read_form(form)
            if len(readers) > _MOST_WRITTEN_TO:
                raise FormError(f"These are more than {_MOST_WRITTEN_TO} people; choose some.")
            reached, others = review.split_by_inbox(readers)
            if others and not reached:
                raise FormError(f"The message goes to none of them. {review.NO_INBOX}")
            review.message_workers(
                stage=access.stage,
                workers=reached,
                subject=letter["subject"],
                text=letter["text"],
                actor=access.user,
            )
            said = f"The message goes to {len(reached)} {'worker' if len(reached) == 1 else 'workers'}"
            return f"{said}, and not to {len(others)}: {review.NO_INBOX}" if others else f"{said}."

        if form.is_valid():
            return run_action(request, action, "desk:workers", access.project.slug, access.stage.slug)
    return show(
        request,
        "message.html",
        access,
        tab="workers",
        form=form,
        readers=readers,
        chosen=chosen,
        status=422 if form.is_bound else 200,
    )


@require_POST
@on_stage(Role.MANAGER)
def exclude(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Bar somebody from the stage."""
    row = _worker(access, pk)

    def action() -> str:
        reason = read_form(ReasonForm(request.POST))["reason"]
        review.exclude_worker(worker=row, stage=access.stage, reason=reason, actor=access.user)
        return "Excluded from this stage. What they did stays, and is paid."

    return run_action(request, action, WORKER, access.project.slug, access.stage.slug, pk)


@require_POST
@on_stage(Role.MANAGER)
def readmit(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Let an excluded worker take work of the stage again."""
    row = _worker(access, pk)

    def action() -> str:
        reason = read_form(WhyReadmitForm(request.POST))["reason"]
        review.readmit_worker(worker=row, stage=access.stage, reason=reason, actor=access.user)
        return "They can take work of this stage again."

    return run_action(request, action, WORKER, access.project.slug, access.stage.slug, pk)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def compensate(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Pay for a session that broke."""
    row = _worker(access, pk)

    def action() -> str:
        given = read_form(CompensateForm(request.POST))
        now = timezone.now()
        operation = review.compensate(
            stage=access.stage,
            worker=row,
            cents=given["amount"],
            reason=given["reason"],
            actor=access.user,
        )
        if operation.planned_at < now:
            raise FormError(
                f"They were compensated in this stage already, with {dollars(operation.amount_cents)}. "
                "For more, pay a bonus on their work."
            )
        return "The compensation is on its way."

    return run_action(request, action, WORKER, access.project.slug, access.stage.slug, pk)
