"""Workers over all stages of a project, a page for each of them, and those of all my projects."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from core.money import dollars
from core.projects.selectors import projects_of
from crowd.desk import panels
from crowd.desk.forms import ReasonForm, WhyReadmitForm
from crowd.models import Assignment, Exclusion, Stage, Worker
from crowd.selectors.people import ENOUGH, Person, people
from crowd.services.review import exclude_from_project, readmit_to_project
from web.access import ProjectAccess, Role, for_members, on_project
from web.forms import read_form, run_action
from web.pages import show
from web.table_pages import respond
from web.tables import Choices, Column, Grid, GridRequest, Words

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
        Column("worker", "Worker", attrgetter("name"), by="name"),
        Column("simulated", "Simulated", attrgetter("simulated"), on_page=False),
        Column("excluded", "Excluded from stages", attrgetter("excluded"), on_page=False),
        Column("stages", "Stages", lambda row: len(row.stages), on_page=False),
        Column("units", "Units", attrgetter("units"), on_page=False),
        Column("answered", "Done", attrgetter("done"), by="done", down=True, number=True),
        Column("rejected", "Rejected", attrgetter("rejected"), by="rejected", down=True, number=True),
        Column("time", "Time", _compared("pace.seconds"), by="time", number=True),
        Column("quarter", "First quarter", attrgetter("pace.quarter"), on_page=False),
        Column("three_quarters", "Third quarter", attrgetter("pace.three_quarters"), on_page=False),
        Column("kappa", "Kappa", _compared("kappa"), by="kappa", number=True),
        Column("kappa_n", "Items of kappa", attrgetter("kappa_n"), on_page=False),
        Column("checks", "Checks", _low, by="checks", number=True),
        Column("presented", "Checks shown", attrgetter("presented"), on_page=False),
        Column("failed", "Checks failed", attrgetter("failed"), on_page=False),
        Column("removed", "Removed", _compared("removed_share"), by="removed", down=True, number=True),
        Column("pay", "Pay/h", _compared("pace.per_hour"), by="pay", number=True),
        Column("pay_dollars", "Pay per hour in dollars", _pay, on_page=False),
        Column("flags", "Look", attrgetter("flags")),
        Column("last", "Last seen", attrgetter("last"), by="last", down=True),
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
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """The table over all stages; figures that compare people leave out who did less than ENOUGH."""

    def rows(asked: GridRequest) -> list[Person]:
        words = asked["q"].lower()
        shown = _STATES[asked["state"]]
        return [row for row in people(access.project) if shown(row) and words in row.name.lower()]

    return respond(
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
    found = Stage.objects.filter(project=access.project).values_list("endpoint__currency", flat=True)
    return found.order_by("pk").first() or ""


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
        sections=panels.worker_sections(access.project, worker),
        exclude_form=ReasonForm(auto_id="exclude_%s"),
        readmit_form=WhyReadmitForm(auto_id="readmit_%s"),
    )


def _worker(access: ProjectAccess, pk: int) -> Worker:
    """Somebody who took work of this project; others of the marketplace are nobody's business here."""
    everybody = Worker.objects.filter(assignments__stage__project=access.project).select_related("endpoint")
    found: Worker = get_object_or_404(everybody.distinct(), pk=pk)
    return found


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
        Column("worker", "Worker", attrgetter("external_id"), by="external_id"),
        Column("simulated", "Simulated", attrgetter("simulated"), on_page=False),
        Column("marketplace", "Marketplace", attrgetter("endpoint.label"), by="endpoint__label"),
        Column("answered", "Done", attrgetter("done"), by="done", down=True, number=True),
        Column("rejected", "Rejected", attrgetter("rejected"), by="rejected", down=True, number=True),
        Column("projects", "Projects", lambda row: [slug for slug, _ in row.in_projects]),
        Column("last", "Last seen", attrgetter("last"), by="last", down=True),
    ),
    filters=(Words("q", "Worker"),),
    order="last",
)


@require_safe
@for_members
def everywhere(request: HttpRequest, user: User) -> HttpResponseBase:
    """Everybody who took work of any of my projects, with the projects that they worked in."""
    mine = projects_of(user)

    def rows(asked: GridRequest) -> QuerySet[Worker]:
        here = Q(assignments__stage__project__in=mine)
        found = Worker.objects.filter(here).select_related("endpoint")
        if asked["q"]:
            found = found.filter(external_id__icontains=asked["q"])
        return found.annotate(
            done=Count("assignments", filter=Q(assignments__state__in=Assignment.GOOD)),
            rejected=Count("assignments", filter=Q(assignments__state=Assignment.State.REJECTED)),
            last=Max("assignments__arrived_at"),
        )

    def complete(some: list[Any]) -> list[Any]:
        rows = Assignment.objects.filter(worker__in=some, stage__project__in=mine).order_by("stage__project")
        columns = rows.values_list("worker", "stage__project__slug", "stage__project__title").distinct()
        by_worker: dict[int, list[tuple[str, str]]] = {}
        for worker, slug, title in columns:
            by_worker.setdefault(worker, []).append((slug, title))
        for row in some:
            row.in_projects = by_worker.get(row.pk, [])
        return some

    return respond(
        request,
        None,
        EVERYBODY,
        rows,
        "everybody.html",
        complete=complete,
        rows_as="workers",
        sidebar="people",
    )
