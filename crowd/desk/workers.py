"""Workers of a stage, of a project and of all my projects: what they did, writing to and excluding them."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.money import dollars
from core.projects.selectors import projects_of
from crowd.access import StageAccess, on_stage
from crowd.desk import overview, tables
from crowd.desk.forms import CompensateForm, MessageForm, ReasonForm, WhyReadmitForm
from crowd.desk.tables import WORKERS
from crowd.models import Assignment, Compensation, Exclusion, Stage, Worker
from crowd.selectors import work_lists
from crowd.selectors.people import ENOUGH, Person, people, workers_of
from crowd.services import review
from crowd.services.review import exclude_from_project, readmit_to_project
from web.access import ProjectAccess, Role, for_members, on_project
from web.forms import FormError, chosen_keys, read_form, run_action
from web.pages import show, show_table
from web.tables import ROWS, Choices, Column, Grid, GridRequest, Words

_WORK = 25


def _compared(name: str) -> Any:
    """A figure that is compared with others': nothing for those who did too little."""
    figure = attrgetter(name)
    return lambda row: figure(row) if row.enough else None


def _low(row: Person) -> float | None:
    """The lower end of the interval of passed checks: who answered few checks is not trusted yet."""
    interval = row.passed_interval
    return interval[0] if interval and row.enough else None


def _pay(row: Person) -> str | None:
    return None if row.pace.per_hour is None else dollars(row.pace.per_hour)


PEOPLE = Grid(
    "workers",
    columns=(
        Column("worker", "Worker", "name", by="name"),
        Column("simulated", "Simulated", on_page=False),
        Column("excluded", "Excluded from stages", on_page=False),
        Column("stages", "Stages", lambda row: len(row.stages), on_page=False),
        Column("units", "Units", on_page=False),
        Column("answered", "Done", "done", by="done", down=True, number=True),
        Column("rejected", "Rejected", by="rejected", down=True, number=True),
        Column("time", "Time", _compared("pace.seconds"), by="time", number=True),
        Column("quarter", "First quarter", "pace.quarter", on_page=False),
        Column("three_quarters", "Third quarter", "pace.three_quarters", on_page=False),
        Column("kappa", "Kappa", _compared("kappa"), by="kappa", number=True),
        Column("kappa_n", "Items of kappa", on_page=False),
        Column("checks", "Checks", _low, by="checks", number=True),
        Column("presented", "Checks shown", on_page=False),
        Column("failed", "Checks failed", on_page=False),
        Column("removed", "Removed", _compared("removed_share"), by="removed", down=True, number=True),
        Column("pay", "Pay/h", _compared("pace.per_hour"), by="pay", number=True),
        Column("pay_dollars", "Pay per hour in dollars", _pay, on_page=False),
        Column("flags", "Flags"),
        Column("last", "Last seen", by="last", down=True),
    ),
    filters=(
        Choices(
            "state",
            "Which workers to show",
            {
                "all": "All",
                "flagged": "Flagged",
                "rejected": "Rejected",
                "few": "Too little known",
                "excluded": "Excluded",
            },
            tabs=True,
        ),
        Words("q", "Worker"),
    ),
    order="answered",
)
_STATES: dict[str, Callable[[Person], bool]] = {
    "all": lambda row: True,
    "flagged": lambda row: bool(row.flags),
    "rejected": lambda row: row.rejected > 0,
    "few": lambda row: not row.enough,
    "excluded": lambda row: row.excluded > 0,
}


@require_safe
@on_project()
def list_workers(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """The table over all stages; figures that compare people leave out who did less than ENOUGH."""

    def rows(grid: GridRequest) -> list[Person]:
        text = grid["q"].lower()
        is_in_state = _STATES[grid["state"]]
        return [row for row in people(access.project) if is_in_state(row) and text in row.name.lower()]

    return show_table(
        request,
        access,
        PEOPLE,
        rows,
        "people.html",
        file=f"{access.project.slug}-workers",
        rows_as="people",
        tab="people",
        enough=ENOUGH,
        currency=_currency(access),
    )


def _currency(access: ProjectAccess) -> str:
    """The currency of the project's stages; the installation's while there are none."""
    currencies = Stage.objects.filter(project=access.project).values_list("endpoint__currency", flat=True)
    return currencies.order_by("pk").first() or ""


@require_safe
@on_project()
def person(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponseBase:
    """One worker over all stages: figures, what apps above know, their latest work, and what can be done."""
    worker = _worker(access, pk)
    stages = {stage.pk: stage for stage in Stage.objects.filter(project=access.project)}
    figures = next((row for row in people(access.project) if row.worker == pk), None)
    scopes = {f"stage:{key}": stage for key, stage in stages.items()}
    barred = Exclusion.objects.filter(worker=worker, scope__in=scopes).order_by("created_at", "pk")
    work = Assignment.objects.filter(worker=worker, stage__in=stages).select_related("stage", "hit")
    return show(
        request,
        "person.html",
        access,
        tab="people",
        worker=worker,
        figures=figures,
        stages=[(stages[row.stage], row) for row in figures.stages] if figures else [],
        enough=ENOUGH,
        currency=worker.endpoint.currency,
        exclusions=[(scopes[row.scope], row) for row in barred],
        work=work.order_by("-pk")[:_WORK],
        sections=overview.worker_sections(access.project, worker),
        exclude_form=ReasonForm(auto_id="exclude_%s"),
        readmit_form=WhyReadmitForm(auto_id="readmit_%s"),
    )


def _worker(access: ProjectAccess, pk: int) -> Worker:
    """Somebody who took work of this project; others of the marketplace are nobody's business here."""
    everybody = Worker.objects.filter(assignments__stage__project=access.project).select_related("endpoint")
    row: Worker = get_object_or_404(everybody.distinct(), pk=pk)
    return row


@require_POST
@on_project(Role.MANAGER)
def exclude(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponseBase:
    """Bar somebody from all stages of the project."""

    def action() -> str:
        count = exclude_from_project(
            worker=_worker(access, pk),
            project=access.project,
            reason=read_form(ReasonForm(request.POST))["reason"],
            actor=access.user,
        )
        return (
            f"Excluded from {count} {'stage' if count == 1 else 'stages'}. What they did stays, and is paid."
        )

    return run_action(request, action, "desk:person", access.project.slug, pk)


@require_POST
@on_project(Role.MANAGER)
def readmit(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponseBase:
    """Let a worker take work again of all stages of the project that they were excluded from."""

    def action() -> str:
        count = readmit_to_project(
            worker=_worker(access, pk),
            project=access.project,
            reason=read_form(WhyReadmitForm(request.POST))["reason"],
            actor=access.user,
        )
        return f"They can take work of {count} {'stage' if count == 1 else 'stages'} again."

    return run_action(request, action, "desk:person", access.project.slug, pk)


EVERYBODY = Grid(
    "workers",
    columns=(
        Column("worker", "Worker", "external_id", by="external_id"),
        Column("simulated", "Simulated", on_page=False),
        Column("marketplace", "Marketplace", "endpoint.label", by="endpoint__label"),
        Column("answered", "Done", "done", by="done", down=True, number=True),
        Column("rejected", "Rejected", by="rejected", down=True, number=True),
        Column("projects", "Projects", lambda row: [slug for slug, _ in row.in_projects]),
        Column("last", "Last seen", by="last", down=True),
    ),
    filters=(Words("q", "Worker"),),
    order="last",
)


@require_safe
@for_members
def everywhere(request: HttpRequest, user: User) -> HttpResponseBase:
    """Everybody who took work of any of my projects, with the projects that they worked in."""
    mine = projects_of(user)

    def rows(grid: GridRequest) -> QuerySet[Worker]:
        own_work = Q(assignments__stage__project__in=mine)
        workers = Worker.objects.filter(own_work).select_related("endpoint")
        if grid["q"]:
            workers = workers.filter(external_id__icontains=grid["q"])
        return workers.annotate(
            done=Count("assignments", filter=Q(assignments__state__in=Assignment.GOOD)),
            rejected=Count("assignments", filter=Q(assignments__state=Assignment.State.REJECTED)),
            last=Max("assignments__arrived_at"),
        )

    def complete(workers: list[Any]) -> list[Any]:
        rows = Assignment.objects.filter(worker__in=workers, stage__project__in=mine).order_by(
            "stage__project"
        )
        columns = rows.values_list("worker", "stage__project__slug", "stage__project__title").distinct()
        by_worker: dict[int, list[tuple[str, str]]] = {}
        for worker, slug, title in columns:
            by_worker.setdefault(worker, []).append((slug, title))
        for row in workers:
            row.in_projects = by_worker.get(row.pk, [])
        return workers

    return show_table(
        request,
        None,
        EVERYBODY,
        rows,
        "everybody.html",
        complete=complete,
        rows_as="workers",
        sidebar="workers",
    )


# Workers of one stage

WORKER = "desk:worker"


@require_safe
@on_stage()
def list_stage_workers(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """Who worked on the stage; sorted, filtered and paged by the address."""
    return show_table(
        request,
        access,
        WORKERS,
        lambda grid: work_lists.workers_in_state(work_lists.workers(access.stage), grid["state"], grid["q"]),
        "workers.html",
        file=f"{access.stage.slug}-workers",
        rows_as="workers",
        tab="workers",
    )


def _stage_worker(access: StageAccess, pk: int) -> Worker:
    """Somebody who worked on this stage; others of the endpoint are nobody's business here."""
    row: Worker = get_object_or_404(work_lists.workers(access.stage), pk=pk)
    return row


@require_safe
@on_stage()
def worker(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """One worker: their work here, and the forms."""
    row = _stage_worker(access, pk)
    work = list(work_lists.work(access.stage, "all", row.external_id)[:ROWS])
    tables.say_what_about(access.stage, work)
    return show(
        request,
        "worker.html",
        access,
        tab="workers",
        worker=row,
        exclusion=Exclusion.objects.filter(worker=row, scope=f"stage:{access.stage.pk}").first(),
        work=work,
        compensation=Compensation.objects.filter(stage=access.stage, worker=row)
        .select_related("operation")
        .first(),
        message_form=MessageForm(auto_id="message_%s"),
        exclude_form=ReasonForm(auto_id="exclude_%s"),
        readmit_form=WhyReadmitForm(auto_id="readmit_%s"),
        compensate_form=CompensateForm(auto_id="compensate_%s"),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_stage(Role.MANAGER)
def message(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Write to the chosen workers, or to all of the stage."""
    query = request.POST if request.method == "POST" else request.GET
    worker_ids = chosen_keys(query.getlist("worker"))
    readers = workers_of(access.stage, most=review.MOST_WRITTEN_TO + 1, among=worker_ids or None)
    too_many = f"These are more than {review.MOST_WRITTEN_TO:,} people; choose some."
    is_too_many = len(readers) > review.MOST_WRITTEN_TO
    form = MessageForm(request.POST or None)
    if request.method == "POST":

        def action() -> str:
            letter = read_form(form)
            if is_too_many:
                raise FormError(too_many)
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
            sentence = f"The message goes to {len(reached)} {'worker' if len(reached) == 1 else 'workers'}"
            return f"{sentence}, and not to {len(others)}: {review.NO_INBOX}" if others else f"{sentence}."

        if form.is_valid():
            return run_action(request, action, "desk:workers", access.project.slug, access.stage.slug)
    return show(
        request,
        "message.html",
        access,
        tab="workers",
        form=form,
        readers=readers,
        chosen=worker_ids,
        too_many=too_many if is_too_many else "",
        most=review.MOST_WRITTEN_TO,
        status=422 if form.is_bound else 200,
    )


@require_POST
@on_stage(Role.MANAGER)
def exclude_from_stage(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Bar somebody from the stage."""
    row = _stage_worker(access, pk)

    def action() -> str:
        reason = read_form(ReasonForm(request.POST))["reason"]
        review.exclude_worker(worker=row, stage=access.stage, reason=reason, actor=access.user)
        return "Excluded from this stage. What they did stays, and is paid."

    return run_action(request, action, WORKER, access.project.slug, access.stage.slug, pk)


@require_POST
@on_stage(Role.MANAGER)
def readmit_to_stage(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Let an excluded worker take work of the stage again."""
    row = _stage_worker(access, pk)

    def action() -> str:
        reason = read_form(WhyReadmitForm(request.POST))["reason"]
        review.readmit_worker(worker=row, stage=access.stage, reason=reason, actor=access.user)
        return "They can take work of this stage again."

    return run_action(request, action, WORKER, access.project.slug, access.stage.slug, pk)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def compensate(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Pay for a session that broke."""
    row = _stage_worker(access, pk)

    def action() -> str:
        fields = read_form(CompensateForm(request.POST, currency=access.stage.endpoint.currency))
        review.compensate(
            stage=access.stage,
            worker=row,
            cents=fields["amount"],
            reason=fields["reason"],
            actor=access.user,
        )
        return "The compensation is on its way."

    return run_action(request, action, WORKER, access.project.slug, access.stage.slug, pk)
