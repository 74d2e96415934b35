"""The tables of this app's pages: their columns and filters, and their rows in a fixed number of queries."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet
from django.http import HttpRequest

from core.money import dollars
from core.projects.models import Event, Membership, Project
from core.projects.selectors import projects_of
from crowd.kinds import kind_of
from crowd.models import Assignment, HitUnit, Stage
from web.tables import Choices, Column, Grid, Words

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


PROJECTS = Grid(
    "projects",
    columns=(
        Column("slug", "Short name", on_page=False),
        Column("title", "Project", by="title"),
        Column("role", "Your role", "my_role", by="my_role", gaps=True),
        Column("stages", "Stages", "stage_count", by="stage_count", down=True, number=True),
        Column("open", "Open", "open_count", by="open_count", down=True, number=True),
        Column("spent", "Spent", _money("spent_cents"), by="spent_cents", down=True, number=True),
        Column("reserved", "Reserved", _money("reserved_cents"), by="reserved_cents", down=True, number=True),
        Column("budget", "Budget", _money("budget_cents"), by="budget_cents", down=True, number=True),
        Column("made", "Made", "created_at", by="created_at", down=True),
    ),
    filters=(
        Choices(
            "state", "Which projects", {"all": "All", "open": "With open stages", "mine": "Mine as owner"}
        ),
        Words("q", "Title or short name"),
    ),
    order="made",
)
MEMBERS = Grid(
    "members",
    columns=(
        Column("name", "Name", lambda row: row.user.get_username(), by="user__username"),
        Column("role", "Role", by="role"),
    ),
    filters=(
        Choices(
            "role", "Role", {"all": "All", "owner": "Owners", "manager": "Managers", "viewer": "Viewers"}
        ),
        Words("q", "Name"),
    ),
    order="name",
)
EVENTS = Grid(
    "events",
    columns=(
        Column("at", "When", by="pk", down=True),
        Column("who", "Who", _who, by="actor__username", gaps=True),
        Column("action", "What", by="action"),
        Column("words", "In words", on_page=False),
        Column("subject", "About", by="subject"),
        Column("why", "Why", lambda row: row.details.get("why", "")),
        Column("via", "By", lambda row: row.get_via_display(), by="via"),
        Column("credential", "Key or token", on_page=False),
        Column("address", "From", by="address"),
    ),
    filters=(Words("q", "About, who, address or token"),),
    order="at",
)
HITS = Grid(
    "hits",
    columns=(
        Column("number", "HIT", "ordinal", by="ordinal"),
        Column("id", "Id at the marketplace", "external_id", on_page=False),
        Column("state", "State", by="state"),
        Column("answered", "Answered", by="answered", down=True, number=True),
        Column("places", "Places", on_page=False),
        Column("missing", "Missing", by="missing", down=True, number=True),
        Column("working", "At work", by="working", down=True, number=True),
        Column("reward", "Reward + fee", _money("reward_cents"), by="reward_cents", down=True, number=True),
        Column("fee", "Fee", _money("fee_cents"), on_page=False),
        Column("wave", "Wave", by="wave", number=True),
        Column("expires", "Expires", "expires_at", by="expires_at", gaps=True),
    ),
    filters=(Choices("state", "Which HITs to show", HIT_STATES, tabs=True), Words("q", "Number or id")),
    order="number",
)
WORK = Grid(
    "work",
    columns=(
        Column("worker", "Worker", "worker.external_id", by="worker__external_id"),
        Column("id", "Id at the marketplace", "external_id", on_page=False),
        Column("simulated", "Simulated", "worker.simulated", on_page=False),
        Column("state", "State", by="state"),
        Column("held", "Held", on_page=False),
        Column("note", "Note", on_page=False),
        Column("hit", "About", _hit, by="hit__ordinal", gaps=True),
        Column("about", "Units", on_page=False),
        Column("consent", "Consent text", lambda row: row.consent and row.consent.label, on_page=False),
        Column(
            "protocol", "Protocol", lambda row: row.consent and row.consent.protocol_number, on_page=False
        ),
        Column("consented", "Agreed", lambda row: row.consent and row.consent.at, on_page=False),
        Column("checks", "Checks failed", "failed_checks", by="failed_checks", down=True, number=True),
        Column("newest", "Came in", "stored_at", by="pk", down=True),
        Column("due", "Approved automatically", "auto_approve_at", by="auto_approve_at", gaps=True),
    ),
    filters=(
        Choices("state", "Which work to show", WORK_STATES, tabs=True),
        Words("worker", "Worker", hidden=True),
    ),
    order="due",
)
WORKERS = Grid(
    "workers",
    columns=(
        Column("worker", "Worker", "external_id", by="external_id"),
        Column("simulated", "Simulated", on_page=False),
        Column("excluded", "Excluded", on_page=False),
        Column("answered", "Answered", "done", by="done", down=True, number=True),
        Column("rejected", "Rejected", by="rejected", down=True, number=True),
        Column("held", "Held", by="held", down=True, number=True),
        Column("checks", "Checks failed", "failed", by="failed", down=True, number=True, gaps=True),
        Column("last", "Last seen", by="last", down=True, number=True, gaps=True),
    ),
    filters=(
        Choices(
            "state",
            "Which workers to show",
            {"all": "All", "failed": "Failed a check", "rejected": "Rejected", "excluded": "Excluded"},
            tabs=True,
        ),
        Words("q", "Worker"),
    ),
    order="last",
)
OPERATIONS = Grid(
    "operations",
    columns=(
        Column("kind", "Operation", lambda row: row.get_kind_display(), by="kind"),
        Column("target", "About", on_page=False),
        Column("state", "State", by="state"),
        Column("error", "Error", lambda row: f"{row.error_code} {row.error_text}".strip(), on_page=False),
        Column("amount", "Amount + fee", _money("amount_cents"), by="amount_cents", down=True, number=True),
        Column("fee", "Fee", _money("fee_cents"), on_page=False),
        Column("asked", "Asked", "planned_at", by="planned_at", down=True),
        Column("tries", "Tries", "attempts", by="attempts", down=True, number=True),
        Column("request", "Request id", "request_id"),
        Column("token", "Token", on_page=False),
    ),
    filters=(Choices("state", "Which operations to show", OPERATION_STATES, tabs=True),),
    order="asked",
)
