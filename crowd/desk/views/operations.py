"""The log of what was asked of the marketplace, and what a person must decide about."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from crowd.desk import tables
from crowd.desk.access import StageAccess, on_stage
from crowd.desk.forms import ResolveForm
from crowd.desk.tables import OPERATIONS
from crowd.models import MarketOperation
from crowd.selectors import operations
from crowd.services import review
from web.access import Role
from web.forms import read_form, run_action
from web.pages import show
from web.table_pages import respond
from web.tables import page_of

Kind = MarketOperation.Kind

#: Per kind: what was asked, where to look, what "it happened" and "it did not" do.
_WORDS: dict[str, tuple[str, str, str, str]] = {
    Kind.PUBLISH: (
        "Publish a HIT",
        "Look in the marketplace's list of HITs for one whose annotation ends with the token.",
        "The HIT is taken as published under the id that you give; its answers are collected and paid.",
        "Its money is free again and the HIT counts as refused; topping up asks for its units anew.",
    ),
    Kind.EXTEND: (
        "Give a HIT more places",
        "Look at the HIT: has it the new number of places?",
        "The places are counted, their money stays reserved.",
        "The money is free again; you can ask for more places once more.",
    ),
    Kind.BONUS: (
        "Pay a bonus",
        "Look in the list of bonus payments of the assignment for one with the reference in its reason.",
        "The bonus is booked as paid and never paid again.",
        "The money is free again; this bonus is not tried again by itself. You can plan another one.",
    ),
    Kind.APPROVE: (
        "Approve work",
        "Look at the assignment: is it approved?",
        "The work is booked as approved and paid.",
        "Nothing is booked; the work waits for another decision.",
    ),
    Kind.REJECT: (
        "Reject work",
        "Look at the assignment: is it rejected?",
        "The work is booked as rejected; its money is free again.",
        "Nothing is booked; the work waits for another decision.",
    ),
}
_OTHERS = (
    "",
    "Look at the marketplace whether it was done.",
    "It is booked as done.",
    "It is booked as not done, and is not tried again by itself.",
)


@require_safe
@on_stage()
def listing(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """Every call that changed something, or should have; newest first unless the address says otherwise."""
    return respond(
        request,
        access,
        OPERATIONS,
        lambda asked: tables.operations_of(operations.recent_operations(access.stage), asked["state"]),
        "operations.html",
        file=f"{access.stage.slug}-operations",
        rows_as="operations",
        tab="operations",
        undecided=operations.operations_for_people(access.stage).count(),
    )


@require_safe
@on_stage()
def decisions(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Operations that nobody answered, with what each answer of yours does."""
    page = page_of(operations.operations_for_people(access.stage), request)
    cases = [
        (
            row,
            _WORDS.get(row.kind, (row.get_kind_display(), *_OTHERS[1:])),
            ResolveForm(auto_id=f"{row.token[:8]}_%s"),
        )
        for row in page
    ]
    return show(request, "decisions.html", access, tab="operations", cases=cases, pages=page)


@require_POST
@on_stage(Role.MANAGER)
def resolve(request: HttpRequest, access: StageAccess, *, operation: uuid.UUID) -> HttpResponse:
    """What became of an operation; booking money that was reserved spends nothing new."""
    row = get_object_or_404(MarketOperation, stage=access.stage, pk=operation)

    def action() -> str:
        given = read_form(ResolveForm(request.POST))
        happened = given["happened"] == "yes"
        review.resolve_operation(
            operation=row, actor=access.user, happened=happened, ref=given["ref"], why=given["why"]
        )
        return "Booked as done." if happened else "Booked as not done; its money is free again."

    answer = run_action(request, action, "desk:decisions", access.project.slug, access.stage.slug)
    if (
        request.GET.get("queue") == "operations"
        and not operations.operations_for_people(access.stage).exists()
    ):
        return redirect("desk:queue", access.project.slug, "operations")
    return answer
