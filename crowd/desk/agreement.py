"""How far people agree: one row per stage of a project, from the apps that know how their people can agree.

Each is a part of its app's extension:

    Source(("judging",), rows_of)

`rows_of(stages, quick)` gives the rows of these stages by key. With `quick` it works nothing out: it gives
what is stored or was worked out before, and leaves out the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_safe

from core.extensions import parts_of
from core.projects.models import Project
from crowd.desk.forms import WhyForm
from crowd.models import Stage
from crowd.selectors import work_lists
from metrics.figure import counted
from web.access import ProjectAccess, on_project
from web.pages import show, show_table
from web.tables import Column, Grid, GridRequest

#: Krippendorff's lowest limit for tentative conclusions (Content Analysis, 2004, chapter 11): alpha of 0.667.
TARGET = 2 / 3
#: Below so many items nothing is said to be below the target.
ENOUGH = 20


@dataclass(frozen=True, slots=True)
class SourceAgreement:
    """Agreement among the people of one of several sources of a stage, before filters; None with a reason."""

    source: str
    ratings: int
    workers: int
    alpha: float | None
    low: float | None
    high: float | None
    reason: str = ""

    @property
    def summary(self) -> str:
        """In one line, for a file: `links 0.52 (0.40 to 0.61), 120 judgments by 14 judges`."""
        if self.alpha is None:
            figure = f"none ({self.reason})"
        elif self.low is None or self.high is None:
            figure = f"{self.alpha:.2f}"
        else:
            figure = f"{self.alpha:.2f} ({self.low:.2f} to {self.high:.2f})"
        judgments, judges = counted(self.ratings, "judgment"), counted(self.workers, "judge")
        return f"{self.source} {figure}, {judgments} by {judges}"


@dataclass(frozen=True, slots=True)
class Row:
    """Agreement in a stage: before anything was filtered, and after; None where it is not defined or known.

    `low` and `high` are the 95 % interval of the last of the two that is there. `items` is what it rests on,
    `of` says of what ("queries", "answers"). `note` says why a number is missing. `address` leads to the
    stage's report.
    """

    measure: str
    before: float | None
    after: float | None
    low: float | None
    high: float | None
    items: int
    of: str
    address: str
    note: str = ""
    signature: str = ""
    target: float = TARGET
    sources: tuple[SourceAgreement, ...] = ()

    @property
    def by_source(self) -> str:
        """All sources in one cell; empty where the stage has one."""
        return "; ".join(each.summary for each in self.sources)

    @property
    def now(self) -> float | None:
        """After filters, or before where there are none."""
        return self.before if self.after is None else self.after

    @property
    def below(self) -> bool:
        """Under the target, and on enough items to say so."""
        return self.now is not None and self.now < self.target and self.items >= ENOUGH


Rows = Callable[[Sequence[Stage], bool], Mapping[int, Row]]


@dataclass(frozen=True, slots=True)
class Source:
    """The kinds of stages that an app has rows for, and where to ask for them."""

    kinds: tuple[str, ...]
    rows: Rows


def agreements_of(stages: Sequence[Stage], *, quick: bool = False) -> dict[int, Row]:
    """Rows of these stages by their keys; stages of kinds that nobody has rows for are left out."""
    agreements: dict[int, Row] = {}
    for source in parts_of(Source):
        mine = [stage for stage in stages if stage.kind in source.kinds]
        if mine:
            agreements |= source.rows(mine, quick)
    return agreements


def of_project(project: Project, *, quick: bool = False) -> list[tuple[Stage, Row | None]]:
    """All stages of a project in the order in which they were made, each with its row."""
    stages = list(Stage.objects.filter(project=project).select_related("project").order_by("pk"))
    agreements = agreements_of(stages, quick=quick)
    return [(stage, agreements.get(stage.pk)) for stage in stages]


# The stages of a project by what state they are in.

_HEADS = {
    Stage.Status.DRAFT: ("Drafts", "Nothing is published yet."),
    Stage.Status.OPEN: ("Open", "People find the work and do it."),
    Stage.Status.PAUSED: ("Paused", "Nothing new is published; what is on offer comes in."),
    Stage.Status.CLOSED: ("Closed", "All HITs have expired."),
}


@require_safe
@on_project()
def board(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """A column for each state: cards with how much is done, what it cost, and how far people agree."""
    cards = work_lists.stage_cards(access.project)
    rows = agreements_of([card.stage for card in cards], quick=True)
    return show(
        request,
        "board.html",
        access,
        tab="board",
        columns=[
            (
                state,
                head,
                label,
                [(card, rows.get(card.stage.pk)) for card in cards if card.stage.status == state],
            )
            for state, (head, label) in _HEADS.items()
        ],
        anything=bool(cards),
        why_form=WhyForm(),
    )


Line = tuple[Stage, Row]


def _row(name: str) -> Any:
    return lambda line: getattr(line[1], name)


AGREEMENT = Grid(
    "agreement",
    columns=(
        Column("number", gettext_noop("Number"), lambda line: line[0].pk, by="number", on_page=False),
        Column("stage", gettext_noop("Stage"), lambda line: line[0].slug, by="stage"),
        Column("kind", gettext_noop("Kind"), lambda line: line[0].kind, by="kind"),
        Column("measure", gettext_noop("Measure"), _row("measure")),
        Column("before", gettext_noop("Before filters"), _row("before"), by="before", number=True),
        Column("after", gettext_noop("After filters"), _row("after"), by="after", number=True),
        Column("low", gettext_noop("Low"), _row("low"), on_page=False),
        Column("high", gettext_noop("High"), _row("high"), on_page=False),
        Column("interval", "95 % interval", None, number=True),
        Column("target", gettext_noop("Target"), _row("target"), by="target", number=True),
        Column("items", gettext_noop("Rests on"), _row("items"), by="items", down=True, number=True),
        Column("of", gettext_noop("Items are"), _row("of"), on_page=False),
        Column("note", gettext_noop("Note"), _row("note"), on_page=False),
        Column("sources", gettext_noop("By source"), _row("by_source"), on_page=False),
        Column("signature", gettext_noop("Signature"), _row("signature"), on_page=False),
    ),
    order="number",
)


@require_safe
@on_project()
def agreement(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """One row per stage whose people can agree, before and after filters; the stage has the whole report."""

    def rows(_: GridRequest) -> list[Line]:
        return [(stage, row) for stage, row in of_project(access.project) if row is not None]

    return show_table(
        request,
        access,
        AGREEMENT,
        rows,
        "agreement.html",
        file=f"{access.project.slug}-agreement",
        tab="agreement",
        enough=ENOUGH,
    )
