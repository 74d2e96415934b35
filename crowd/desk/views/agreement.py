"""How far people agree, over all stages of a project."""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from crowd.desk.agreements import ENOUGH, Row, of_project
from crowd.models import Stage
from web.access import ProjectAccess, on_project
from web.table_pages import respond
from web.tables import Column, Grid, GridRequest

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
