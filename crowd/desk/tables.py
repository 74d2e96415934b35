"""The tables of this app's pages: their columns and filters, and their rows in a fixed number of queries."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop

from core.money import dollars
from core.projects.models import Event, Membership, Project
from core.projects.selectors import projects_of
from crowd.desk.quantities import state_chip
from crowd.kinds import kind_of
from crowd.models import Assignment, HitUnit, MarketOperation, Stage
from web import cells
from web.cells import Cell, Draw, Link, Post, amount, chip, isolated, link, more, phrase, post, several, short
from web.kit import Table
from web.tables import Choices, Column, Grid, Rows, Words, count_column

State = Assignment.State


@dataclass(frozen=True, slots=True)
class Choice:
    """What the address chose of a few named possibilities, the first one unless it names another."""

    options: Mapping[str, str]
    chosen: str


def choice(request: HttpRequest, name: str, options: Mapping[str, str]) -> Choice:
    """The option that the address names."""
    option = request.GET.get(name, "")
    return Choice(options, option if option in options else next(iter(options)))


def my_projects(user: Any, state: str = "all", text: str = "") -> QuerySet[Project]:
    """A user's projects with `my_role` and counts of their stages, newest first."""
    mine = Membership.objects.filter(project=OuterRef("pk"), user=user).values("role")[:1]
    rows = (
        projects_of(user)
        .annotate(
            my_role=mine,
            stage_count=Count("stages", distinct=True),
            open_count=Count("stages", filter=Q(stages__status=Stage.Status.OPEN), distinct=True),
        )
        .order_by("-created_at", "-pk")
    )
    if text:
        rows = rows.filter(Q(title__icontains=text) | Q(slug__icontains=text))
    if state == "open":
        return rows.filter(open_count__gt=0)
    return rows.filter(my_role=Membership.Role.OWNER) if state == "mine" else rows


HIT_STATES = {
    "all": "All",
    "open": "On offer",
    "planned": "Being published",
    "closed": "Closed",
    "refused": "Refused",
}


WORK_STATES = {
    "waiting": "Undecided",
    "held": "Held",
    "quarantined": "Quarantined",
    "approved": "Approved",
    "rejected": "Rejected",
    "working": "At work",
    "all": "All",
}


#: Units that a row of the table of work names in words.
_NAMED = 2


def say_what_about(stage: Stage, rows: Iterable[Assignment]) -> None:
    """Give each row `about`, the first units of its HIT in the kind's words, and `about_more`, how many more.

    One query for all rows, and the kind is asked once.
    """
    assignments = list(rows)
    first: dict[int, list[str]] = {}
    count: Counter[int] = Counter()
    units = HitUnit.objects.filter(hit__in={row.hit_id for row in assignments}, role=HitUnit.Role.UNIT)
    for hit, unit in units.order_by("hit", "position").values_list("hit_id", "unit").iterator():
        count[hit] += 1
        if count[hit] <= _NAMED:
            first.setdefault(hit, []).append(unit)
    wording = kind_of(stage).wording(stage, sorted({unit for named in first.values() for unit in named}))
    for row in assignments:
        named = first.get(row.hit_id, [])
        row.about = [wording.get(unit, unit) for unit in named]  # type: ignore[attr-defined]
        row.about_more = count[row.hit_id] - len(named)  # type: ignore[attr-defined]


OPERATION_STATES = {
    "all": "All",
    "unfinished": "On their way",
    "unknown": "Unknown",
    "refused": "Refused",
    "confirmed": "Done",
}


# The tables of this app's pages: which columns they have, and what they can be filtered and sorted by.


def _money(name: str) -> Any:
    """An amount of cents as dollars, for files."""
    return lambda row: dollars(getattr(row, name))


def _who(event: Event) -> str:
    return event.actor.get_username() if event.actor else ""


def _hit(work: Assignment) -> int | None:
    return work.hit.ordinal if work.hit else None


def _draw_project(cell: Cell) -> object:
    title = link(cell.value, reverse("desk:project", args=[cell.row.slug]))
    return several(title, more(cell.row.slug, mono=True))


def _draw_with_fee(name: str) -> Draw:
    """An amount and its fee, in the currency of the stage's marketplace."""

    def draw_both(cell: Cell) -> object:
        cents, fee = getattr(cell.row, name), cell.row.fee_cents
        currency = cell.access.stage.endpoint.currency
        return f"{amount(cents, currency)} + {amount(fee, currency)}" if cents or fee else cells.NONE

    return draw_both


def _fee_column(name: str, label: str) -> Column:
    cents = f"{name}_cents"
    return count_column(name, label, _money(cents), cents, cell=_draw_with_fee(cents))


def _sum_column(name: str, label: str) -> Column:
    cents = f"{name}_cents"
    return count_column(name, label, _money(cents), cents, cell=lambda cell: amount(getattr(cell.row, cents)))


def _draw_copy(cell: Cell) -> object:
    """The way to the form that copies a project, for those who may use it."""
    project = cell.row
    if not cell.context.get("may_make") or project.my_role == Membership.Role.VIEWER:
        return ""
    address = reverse("desk:settings", args=[project.slug])
    return format_html('<a href="{}#copying">Copy{}</a>', address, cells.unseen(project.title))


PROJECTS = Grid(
    "projects",
    columns=(
        Column("slug", gettext_noop("Short name"), on_page=False),
        Column("title", gettext_noop("Project"), by="title", cell=_draw_project),
        Column("role", gettext_noop("Your role"), "my_role", by="my_role", gaps=True),
        Column("stages", gettext_noop("Stages"), "stage_count", by="stage_count", down=True, number=True),
        count_column("open", gettext_noop("Open"), "open_count", "open_count"),
        _sum_column("spent", gettext_noop("Spent")),
        _sum_column("reserved", gettext_noop("Reserved")),
        _sum_column("budget", gettext_noop("Budget")),
        Column("made", gettext_noop("Made"), "created_at", by="created_at", down=True),
        Column("copy", gettext_noop("Copy"), None, unseen=True, cell=_draw_copy),
    ),
    filters=(
        Choices(
            "state",
            gettext_noop("Which projects"),
            {"all": "All", "open": "With open stages", "mine": "Mine as owner"},
        ),
        Words("q", gettext_noop("Title or short name")),
    ),
    order="made",
)


def _draw_removal(cell: Cell) -> object:
    member = cell.row
    if not cell.access.owns:
        return ""
    address = cell.address("desk:remove_member", member.user_id)
    return post(cell.context, Post(gettext("Remove"), address, unseen=member.user.get_username()))


MEMBERS = Grid(
    "members",
    columns=(
        Column("name", gettext_noop("Name"), lambda row: row.user.get_username(), by="user__username"),
        Column("role", gettext_noop("Role"), by="role"),
        Column("remove", gettext_noop("Remove"), None, unseen=True, cell=_draw_removal),
    ),
    filters=(
        Choices(
            "role",
            gettext_noop("Role"),
            {"all": "All", "owner": "Owners", "manager": "Managers", "viewer": "Viewers"},
        ),
        Words("q", gettext_noop("Name")),
    ),
    order="name",
)


def _draw_actor(cell: Cell) -> object:
    return isolated(cell.value, most=40) if cell.value else "The system"


def _draw_way(cell: Cell) -> object:
    return several(cell.value or cells.NONE, cell.row.credential and more(cell.row.credential, mono=True))


EVENTS = Grid(
    "events",
    columns=(
        Column("at", gettext_noop("When"), by="pk", down=True),
        Column("who", gettext_noop("Who"), _who, by="actor__username", gaps=True, cell=_draw_actor),
        Column("action", gettext_noop("What"), by="action", cell=lambda cell: cell.row.words),
        Column("words", gettext_noop("In words"), on_page=False),
        Column("subject", gettext_noop("About"), by="subject", cell=cells.mono),
        Column("why", gettext_noop("Why"), lambda row: row.details.get("why", "")),
        Column("via", gettext_noop("By"), lambda row: row.get_via_display(), by="via", cell=_draw_way),
        Column("credential", gettext_noop("Key or token"), on_page=False),
        Column("address", gettext_noop("From"), by="address", cell=cells.mono),
    ),
    filters=(Words("q", gettext_noop("About, who, address or token")),),
    order="at",
)


def _name_hit(cell: Cell, number: int) -> object:
    return phrase(Link(f"No.\N{NO-BREAK SPACE}{number}", cell.address("desk:hit", number)))


def _draw_hit(cell: Cell) -> object:
    row = cell.row
    made_for = row.compensates_id and chip("compensation")
    return several(
        _name_hit(cell, row.ordinal), made_for, more(row.external_id or "not published yet", mono=True)
    )


HITS = Grid(
    "hits",
    columns=(
        Column("number", "HIT", "ordinal", by="ordinal", cell=_draw_hit),
        Column("id", gettext_noop("Id at the marketplace"), "external_id", on_page=False),
        Column("state", gettext_noop("State"), by="state", cell=lambda cell: state_chip(cell.value)),
        count_column(
            "answered", gettext_noop("Answered"), cell=lambda cell: f"{cell.value} of {cell.row.places}"
        ),
        Column("places", gettext_noop("Places"), on_page=False),
        Column("missing", gettext_noop("Missing"), by="missing", down=True, number=True),
        Column("working", gettext_noop("At work"), by="working", down=True, number=True),
        _fee_column("reward", gettext_noop("Reward + fee")),
        Column("fee", gettext_noop("Fee"), _money("fee_cents"), on_page=False),
        Column("wave", gettext_noop("Wave"), by="wave", number=True),
        Column("expires", gettext_noop("Expires"), "expires_at", by="expires_at", gaps=True, cell=cells.when),
    ),
    filters=(
        Choices("state", gettext_noop("Which HITs to show"), HIT_STATES, tabs=True),
        Words("q", gettext_noop("Number or id")),
    ),
    order="number",
)


def _draw_work(cell: Cell) -> object:
    worker = cell.row.worker
    address = cell.address("desk:assignment", cell.row.pk)
    return several(link(worker.external_id, address, mono=True), worker.simulated and chip("simulated"))


def _draw_work_state(cell: Cell) -> object:
    row = cell.row
    return several(
        state_chip(row.state), row.held and chip("held", "wait"), row.note and more(short(row.note, 90))
    )


def _draw_units(cell: Cell) -> object:
    row = cell.row
    units = [more(isolated(each, most=48)) for each in getattr(row, "about", ())]
    left = getattr(row, "about_more", 0)
    rest = left and more(f"and {left} more")
    return several(row.hit and _name_hit(cell, row.hit.ordinal), *units, rest)


def _draw_due(cell: Cell) -> object:
    return cells.when(cell) if cell.row.state == State.SUBMITTED else cells.NONE


_DUE = "Approved automatically"
WORK = Grid(
    "work",
    columns=(
        Column(
            "worker", gettext_noop("Worker"), "worker.external_id", by="worker__external_id", cell=_draw_work
        ),
        Column("id", gettext_noop("Id at the marketplace"), "external_id", on_page=False),
        Column("simulated", gettext_noop("Simulated"), "worker.simulated", on_page=False),
        Column("state", gettext_noop("State"), by="state", cell=_draw_work_state),
        Column("held", gettext_noop("Held"), on_page=False),
        Column("note", gettext_noop("Note"), on_page=False),
        Column("hit", gettext_noop("About"), _hit, by="hit__ordinal", gaps=True, cell=_draw_units),
        Column("about", gettext_noop("Units"), on_page=False),
        Column(
            "consent",
            gettext_noop("Consent text"),
            lambda row: row.consent and row.consent.label,
            on_page=False,
        ),
        Column(
            "protocol",
            gettext_noop("Protocol"),
            lambda row: row.consent and row.consent.protocol_number,
            on_page=False,
        ),
        Column(
            "consented", gettext_noop("Agreed"), lambda row: row.consent and row.consent.at, on_page=False
        ),
        Column(
            "checks",
            gettext_noop("Checks failed"),
            "failed_checks",
            by="failed_checks",
            down=True,
            number=True,
        ),
        Column("newest", gettext_noop("Came in"), "stored_at", by="pk", down=True),
        Column("due", _DUE, "auto_approve_at", by="auto_approve_at", gaps=True, cell=_draw_due),
    ),
    filters=(
        Choices("state", gettext_noop("Which work to show"), WORK_STATES, tabs=True),
        Words("worker", gettext_noop("Worker"), hidden=True),
    ),
    order="due",
)


def _draw_worker(cell: Cell) -> object:
    row = cell.row
    name = link(row.external_id, cell.address("desk:worker", row.pk), mono=True)
    return several(name, row.simulated and chip("simulated"), row.excluded and chip("excluded", "bad"))


WORKERS = Grid(
    "workers",
    columns=(
        Column("worker", gettext_noop("Worker"), "external_id", by="external_id", cell=_draw_worker),
        Column("simulated", gettext_noop("Simulated"), on_page=False),
        Column("excluded", gettext_noop("Excluded"), on_page=False),
        Column("answered", gettext_noop("Answered"), "done", by="done", down=True, number=True),
        Column("rejected", gettext_noop("Rejected"), by="rejected", down=True, number=True),
        Column("held", gettext_noop("Held"), by="held", down=True, number=True),
        Column(
            "checks", gettext_noop("Checks failed"), "failed", by="failed", down=True, number=True, gaps=True
        ),
        Column("last", gettext_noop("Last seen"), by="last", down=True, number=True, gaps=True),
    ),
    filters=(
        Choices(
            "state",
            gettext_noop("Which workers to show"),
            {"all": "All", "failed": "Failed a check", "rejected": "Rejected", "excluded": "Excluded"},
            tabs=True,
        ),
        Words("q", gettext_noop("Worker")),
    ),
    order="last",
)


def _draw_call(cell: Cell) -> object:
    return several(cell.value, more(cell.row.target, mono=True))


def _draw_outcome(cell: Cell) -> object:
    row = cell.row
    error = row.error_code and more(isolated(f"{row.error_code}: {short(row.error_text, 120)}"))
    return several(state_chip(row.state), error)


OPERATIONS = Grid(
    "operations",
    columns=(
        Column(
            "kind", gettext_noop("Operation"), lambda row: row.get_kind_display(), by="kind", cell=_draw_call
        ),
        Column("target", gettext_noop("About"), on_page=False),
        Column("state", gettext_noop("State"), by="state", cell=_draw_outcome),
        Column(
            "error",
            gettext_noop("Error"),
            lambda row: f"{row.error_code} {row.error_text}".strip(),
            on_page=False,
        ),
        _fee_column("amount", gettext_noop("Amount + fee")),
        Column("fee", gettext_noop("Fee"), _money("fee_cents"), on_page=False),
        Column("asked", gettext_noop("Asked"), "planned_at", by="planned_at", down=True),
        Column("tries", gettext_noop("Tries"), "attempts", by="attempts", down=True, number=True),
        Column("request", gettext_noop("Request id"), "request_id", cell=cells.mono),
        Column("token", gettext_noop("Token"), on_page=False),
    ),
    filters=(Choices("state", gettext_noop("Which operations to show"), OPERATION_STATES, tabs=True),),
    order="asked",
)


def work_table(rows: Rows) -> Table:
    """Work on a page about something else."""
    return Table(gettext("Table of work"), WORK.columns, rows, empty=gettext("None yet."))


def operation_table(rows: QuerySet[MarketOperation]) -> Table:
    """The latest operations, on a page about something else."""
    latest = rows.order_by("-planned_at", "-pk")[:50]
    return Table(
        gettext("Table of operations"),
        OPERATIONS.columns,
        latest,
        empty=gettext("Nothing was asked of the marketplace."),
    )
