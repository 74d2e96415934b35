"""The stages of a project by what state they are in."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from crowd.desk import agreements, tables
from crowd.desk.forms import WhyForm
from crowd.models import Stage
from web.access import ProjectAccess, on_project
from web.pages import show

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
