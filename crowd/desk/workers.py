"""Workers of a stage, of a project and of all my projects: what they did, writing to and excluding them."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.money import dollars
from core.projects.selectors import projects_of
from crowd.access import StageAccess, on_stage
from crowd.desk import overview, tables
from crowd.desk.forms import CompensateForm, MessageForm, ReasonForm, WhyReadmitForm
from crowd.desk.quantities import in_percent
from crowd.desk.tables import WORKERS
from crowd.models import Assignment, Compensation, Exclusion, Stage, Worker
from crowd.selectors import work_lists
from crowd.selectors.people import ENOUGH, Person, people, workers_of
from crowd.services import review
from crowd.services.review import exclude_from_project, readmit_to_project
from metrics.figure import counted
from web import cells
from web.access import ProjectAccess, Role, for_members, on_project
from web.cells import Cell, Link, amount, chip, link, more, several
from web.durations import span
from web.forms import MOST_MATCHING, FormError, chosen_keys, matching_keys, read_form, run_action
from web.kit import Button, Empty, FormSection, Listing, Note, Page, Ticks
from web.pages import show, show_table
from web.tables import ROWS, Choices, Column, Grid, GridRequest, Words, count_column

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


def _draw_person(cell: Cell) -> object:
    row = cell.row
    simulated = ", simulated" if row.simulated else ""
    name = link(row.name, cell.address("desk:person", row.worker), mono=True)
    return several(name, more(counted(len(row.stages), "stage"), simulated))


def _draw_done(cell: Cell) -> object:
    return several(f"{cell.value:,}", more(counted(cell.row.units, "unit")))


def _draw_time(cell: Cell) -> object:
    pace = cell.row.pace
    if pace.seconds is None:
        return cells.NONE
    middle = pace.quarter is not None and more(f"{span(pace.quarter)} to {span(pace.three_quarters)}")
    return several(span(pace.seconds), middle)


def _draw_kappa(cell: Cell) -> object:
    row = cell.row
    return cells.NONE if row.kappa is None else several(f"{row.kappa:.2f}", more(f"of {row.kappa_n:,}"))


def _draw_checks(cell: Cell) -> object:
    row = cell.row
    if not row.passed_interval:
        return "none shown"
    low, high = map(in_percent, row.passed_interval)
    return several(in_percent(row.passed_share), more(f"{low} to {high} of {row.presented}"))


def _draw_removed(cell: Cell) -> object:
    row = cell.row
    if row.removed_share is None:
        return cells.NONE
    return several(in_percent(row.removed_share), more(f"of {row.ratings:,}"))


def _draw_pay(cell: Cell) -> object:
    per_hour = cell.row.pace.per_hour
    if per_hour is None:
        return cells.NONE
    below = per_hour < cell.access.project.wage_floor_cents and more("below the floor")
    return several(amount(per_hour, cell.context["currency"]), below)


def _draw_flags(cell: Cell) -> object:
    row = cell.row
    flags = [chip(flag, "wait") for flag in row.flags]
    return several(row.excluded and chip("excluded", "bad"), *flags, not row.enough and chip("few"))


PEOPLE = Grid(
    "workers",
    columns=(
        Column("worker", gettext_noop("Worker"), "name", by="name", cell=_draw_person),
        Column("simulated", gettext_noop("Simulated"), on_page=False),
        Column("excluded", gettext_noop("Excluded from stages"), on_page=False),
        Column("stages", gettext_noop("Stages"), lambda row: len(row.stages), on_page=False),
        Column("units", gettext_noop("Units"), on_page=False),
        Column("answered", gettext_noop("Done"), "done", by="done", down=True, number=True, cell=_draw_done),
        Column("rejected", gettext_noop("Rejected"), by="rejected", down=True, number=True),
        Column(
            "time", gettext_noop("Time"), _compared("pace.seconds"), by="time", number=True, cell=_draw_time
        ),
        Column("quarter", gettext_noop("First quarter"), "pace.quarter", on_page=False),
        Column("three_quarters", gettext_noop("Third quarter"), "pace.three_quarters", on_page=False),
        Column("kappa", gettext_noop("Kappa"), _compared("kappa"), by="kappa", number=True, cell=_draw_kappa),
        Column("kappa_n", gettext_noop("Items of kappa"), on_page=False),
        Column("checks", gettext_noop("Checks"), _low, by="checks", number=True, cell=_draw_checks),
        Column("presented", gettext_noop("Checks shown"), on_page=False),
        Column("failed", gettext_noop("Checks failed"), on_page=False),
        count_column("removed", gettext_noop("Removed"), _compared("removed_share"), cell=_draw_removed),
        Column(
            "pay", gettext_noop("Pay/h"), _compared("pace.per_hour"), by="pay", number=True, cell=_draw_pay
        ),
        Column("pay_dollars", gettext_noop("Pay per hour in dollars"), _pay, on_page=False),
        Column("flags", gettext_noop("Flags"), cell=_draw_flags),
        Column("last", gettext_noop("Last seen"), by="last", down=True),
    ),
    filters=(
        Choices(
            "state",
            gettext_noop("Which workers to show"),
            {
                "all": "All",
                "flagged": "Flagged",
                "rejected": "Rejected",
                "few": "Too little known",
                "excluded": "Excluded",
            },
            tabs=True,
        ),
        Words("q", gettext_noop("Worker")),
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
        Page(
            gettext("Workers"),
            [
                Listing(
                    gettext("Find a worker"), gettext("worker"), gettext("workers"), _NOBODY, note=_EXPLAINED
                )
            ],
        ),
        file=f"{access.project.slug}-workers",
        tab="workers",
        currency=_currency(access),
    )


_NOBODY = Empty(
    gettext_noop("None yet"),
    "Workers appear here as soon as they open a task of any stage. Then you see how much each did, how "
    "fast, how far they agree with the others, and how their attention checks went.",
)
_EXPLAINED = (
    "Over all stages. Median time of one HIT, below it the middle half. Kappa: quadratic, against all others "
    "together, from judging. Checks passed with Wilson's 95 % interval, by whose lower end they are sorted. "
    "Removed: of their judgments, by the filters in force. Pay: what an hour of their median HIT pays. "
    f"Workers with fewer than {ENOUGH} units come last where people are compared. A flag asks you to "
    "look; it decides nothing."
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
        tab="workers",
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


def _draw_name(cell: Cell) -> object:
    return several(cells.mono(cell), cell.row.simulated and chip("simulated"))


def _draw_projects(cell: Cell) -> object:
    projects = cell.row.in_projects
    links = [link(title, cell.address("desk:person", slug, cell.row.pk), most=60) for slug, title in projects]
    return several(*links, between=", ")


_NOBODY_ANYWHERE = Empty(
    gettext_noop("None yet"),
    "Open a stage in one of your projects. Workers who take its work appear here and in the project.",
)
EVERYBODY = Grid(
    "workers",
    columns=(
        Column("worker", gettext_noop("Worker"), "external_id", by="external_id", cell=_draw_name),
        Column("simulated", gettext_noop("Simulated"), on_page=False),
        Column("marketplace", gettext_noop("Marketplace"), "endpoint.label", by="endpoint__label"),
        Column("answered", gettext_noop("Done"), "done", by="done", down=True, number=True),
        Column("rejected", gettext_noop("Rejected"), by="rejected", down=True, number=True),
        Column(
            "projects",
            gettext_noop("Projects"),
            lambda row: [slug for slug, _ in row.in_projects],
            cell=_draw_projects,
        ),
        Column("last", gettext_noop("Last seen"), by="last", down=True),
    ),
    filters=(Words("q", gettext_noop("Worker")),),
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
        Page(
            gettext("Workers"),
            [Listing(gettext("Find a worker"), gettext("worker"), gettext("workers"), _NOBODY_ANYWHERE)],
            lead=gettext(
                "Everybody who took work of your projects. Their figures are in the project that they "
                "worked in."
            ),
        ),
        complete=complete,
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
        lambda grid: _stage_workers(access, grid),
        _describe_stage_workers(access),
        file=f"{access.stage.slug}-workers",
        tab="workers",
    )


def _stage_workers(access: StageAccess, grid: GridRequest) -> QuerySet[Worker]:
    """Those of the stage whom the list's filters leave."""
    return work_lists.workers_in_state(work_lists.workers(access.stage), grid["state"], grid["q"])


def _describe_stage_workers(access: StageAccess) -> Page:
    begin = (
        "Then you see how much each did and how their checks went, can write to them, and can exclude them."
    )
    empty = Empty(
        gettext("None yet"), f"Workers appear here as soon as they open a task of this stage. {begin}"
    )
    write = access.address("desk:message")
    buttons = [Button(gettext("Write to the chosen"), plain=True), Link(gettext("Write to everybody"), write)]
    ticks = Ticks(
        "worker",
        attrgetter("pk"),
        attrgetter("external_id"),
        write,
        buttons,
        method="get",
        most=MOST_MATCHING,
    )
    listing = Listing(
        gettext("Find a worker"),
        gettext("worker"),
        gettext("workers"),
        empty,
        ticks=ticks if access.manages else None,
    )
    return Page(gettext("Workers"), [listing])


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
        work_table=tables.work_table(work),
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
    """Write to the chosen workers, to those that a filter leaves, or to all of the stage."""
    query = request.POST if request.method == "POST" else request.GET
    worker_ids = chosen_keys(query.getlist("worker"))
    if "every" in query:
        try:
            worker_ids = matching_keys(query, _stage_workers(access, WORKERS.read_request(query)))
        except FormError as error:
            messages.error(request, str(error))
            return redirect(access.address("desk:workers"))
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
    page = _describe_message(access, form, readers, worker_ids, too_many if is_too_many else "")
    return show(request, page, access, tab="workers", status=422 if form.is_bound else 200)


def _describe_message(
    access: StageAccess, form: MessageForm, readers: list[Worker], chosen: list[int], too_many: str
) -> Page:
    back = access.address("desk:workers")
    every = Link(gettext("All workers"), back)
    whom = counted(len(readers), "worker")
    if too_many:
        part: object = Empty(gettext("Too many to write to at once"), (f"{too_many} ", every))
        whom = f"more than {review.MOST_WRITTEN_TO:,} workers"
    elif not readers:
        part = Empty(gettext("No one to write to"), ("These workers did not work on this stage. ", every))
    else:
        names = ", ".join(reader.external_id for reader in readers[:20])
        to = Note(f"To {names}{' and others' if len(readers) > 20 else ''}")
        part = FormSection(
            form,
            [Button(gettext("Send")), Link(gettext("Back"), back)],
            before=[to] if chosen else [],
            fields=[("worker", reader.pk) for reader in readers] if chosen else (),
        )
    return Page(
        f"Write to {whom if chosen or too_many else f'all {whom} of the stage'}", [part], here="Write"
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
            stage=access.stage, worker=row, cents=fields["amount"], reason=fields["reason"], actor=access.user
        )
        return "The compensation is on its way."

    return run_action(request, action, WORKER, access.project.slug, access.stage.slug, pk)
