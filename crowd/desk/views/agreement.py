"""How far people agree, over all stages of a project."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from crowd.desk import agreements, tables
from crowd.desk.agreements import ENOUGH, Row, of_project
from crowd.desk.forms import WhyForm
from crowd.models import Stage
from web.access import ProjectAccess, on_project
from web.pages import show
from web.table_pages import respond
from web.tables import Column, Grid, GridRequest

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
    cards = tables.stage_cards(access.project)
    rows = agreements.rows([card.stage for card in cards], quick=True)
    return show(
        request,
        "board.html",
        access,
        tab="board",
        columns=[
            (
                state,
                head,
                words,
                [(card, rows.get(card.stage.pk)) for card in cards if card.stage.status == state],
            )
            for state, (head, words) in _HEADS.items()
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
        Column("number", "Number", lambda line: line[0].pk, by="number", on_page=False),
        Column("stage", "Stage", lambda line: line[0].slug, by="stage"),
        Column("kind", "Kind", lambda line: line[0].kind, by="kind"),
        Column("measure", "Measure", _row("measure")),
        Column("before", "Before filters", _row("before"), by="before", number=True),
        Column("after", "After filters", _row("after"), by="after", number=True),
        Column("low", "Low", _row("low"), on_page=False),
        Column("high", "High", _row("high"), on_page=False),
        Column("interval", "95 % interval", number=True),
        Column("target", "Target", _row("target"), by="target", number=True),
        Column("items", "Rests on", _row("items"), by="items", down=True, number=True),
        Column("of", "Items are", _row("of"), on_page=False),
        Column("note", "Note", _row("note"), on_page=False),
        Column("sources", "By source", _row("by_source"), on_page=False),
        Column("signature", "Signature", _row("signature"), on_page=False),
    ),
    order="number",
)


@require_safe
@on_project()
def agreement(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """One row per stage whose people can agree, before and after filters; the stage has the whole report."""

    def rows(_: GridRequest) -> list[Line]:
        return [(stage, row) for stage, row in of_project(access.project) if row is not None]

    return respond(
        request,
        access,
        AGREEMENT,
        rows,
        "agreement.html",
        file=f"{access.project.slug}-agreement",
        tab="agreement",
        enough=ENOUGH,
    )
