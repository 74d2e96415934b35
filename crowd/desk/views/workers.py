"""Workers of a stage: what they did, and writing to them, excluding or compensating them."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from crowd.desk import tables
from crowd.desk.columns import WORKERS
from crowd.desk.doors import NotEnteredError, Role, StageSeat, on_stage, posted, run_action, show
from crowd.desk.forms import CompensateForm, MessageForm, ReasonForm
from crowd.desk.grids import respond
from crowd.desk.views.projects import entered
from crowd.models import Exclusion, Worker
from crowd.services import review
from money.amounts import dollars
from tables.grids import ROWS
from tables.keys import chosen_keys

WORKER = "desk:worker"
_MOST_WRITTEN_TO = 5000


@require_safe
@on_stage()
def listing(request: HttpRequest, seat: StageSeat) -> HttpResponseBase:
    """Who worked on the stage; sorted, filtered and paged by the address."""
    return respond(
        request,
        seat,
        WORKERS,
        lambda asked: tables.chosen_workers(seat.stage, asked["state"], asked["q"]),
        "workers.html",
        file=f"{seat.stage.slug}-workers",
        rows_as="workers",
        tab="workers",
    )


def _worker(seat: StageSeat, pk: int) -> Worker:
    """Somebody who worked on this stage; others of the endpoint are nobody's business here."""
    found: Worker = get_object_or_404(tables.workers(seat.stage), pk=pk)
    return found


@require_safe
@on_stage()
def worker(request: HttpRequest, seat: StageSeat, *, pk: int) -> HttpResponse:
    """One worker: their work here, and the forms."""
    row = _worker(seat, pk)
    work = list(tables.work(seat.stage, "all", row.external_id)[:ROWS])
    tables.say_what_about(seat.stage, work)
    return show(
        request,
        "worker.html",
        seat,
        tab="workers",
        worker=row,
        exclusion=Exclusion.objects.filter(worker=row, scope=f"stage:{seat.stage.pk}").first(),
        work=work,
        message_form=MessageForm(auto_id="message_%s"),
        exclude_form=ReasonForm(auto_id="exclude_%s"),
        compensate_form=CompensateForm(auto_id="compensate_%s"),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_stage(Role.MANAGER)
def message(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Write to the chosen workers, or to all of the stage."""
    given = request.POST if request.method == "POST" else request.GET
    chosen = chosen_keys(given.getlist("worker"))
    everybody = tables.workers(seat.stage)
    readers = list((everybody.filter(pk__in=chosen) if chosen else everybody)[: _MOST_WRITTEN_TO + 1])
    form = MessageForm(request.POST or None)
    if request.method == "POST":

        def action() -> str:
            letter = entered(form)
            if len(readers) > _MOST_WRITTEN_TO:
                raise NotEnteredError(f"These are more than {_MOST_WRITTEN_TO} people; choose some.")
            review.message_workers(
                stage=seat.stage,
                workers=readers,
                subject=letter["subject"],
                text=letter["text"],
                actor=seat.user,
            )
            return f"The message goes to {len(readers)} {'worker' if len(readers) == 1 else 'workers'}."

        if form.is_valid():
            return run_action(request, action, "desk:workers", seat.project.slug, seat.stage.slug)
    return show(
        request,
        "message.html",
        seat,
        tab="workers",
        form=form,
        readers=readers,
        chosen=chosen,
        status=422 if form.is_bound else 200,
    )


@posted
@on_stage(Role.MANAGER)
def exclude(request: HttpRequest, seat: StageSeat, *, pk: int) -> HttpResponse:
    """Bar somebody from the stage."""
    row = _worker(seat, pk)

    def action() -> str:
        reason = entered(ReasonForm(request.POST))["reason"]
        review.exclude_worker(worker=row, stage=seat.stage, reason=reason, actor=seat.user)
        return "Excluded from this stage. What they did stays, and is paid."

    return run_action(request, action, WORKER, seat.project.slug, seat.stage.slug, pk)


@posted
@on_stage(Role.MANAGER, spends=True)
def compensate(request: HttpRequest, seat: StageSeat, *, pk: int) -> HttpResponse:
    """Pay for a session that broke."""
    row = _worker(seat, pk)

    def action() -> str:
        given = entered(CompensateForm(request.POST))
        now = timezone.now()
        operation = review.compensate(
            stage=seat.stage,
            worker=row,
            cents=given["amount"],
            reason=given["reason"],
            actor=seat.user,
        )
        if operation.planned_at < now:
            raise NotEnteredError(
                f"They were compensated in this stage already, with {dollars(operation.amount_cents)}. "
                "For more, pay a bonus on their work."
            )
        return "The compensation is on its way."

    return run_action(request, action, WORKER, seat.project.slug, seat.stage.slug, pk)
