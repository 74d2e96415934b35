"""Workers who ask for a qualification: the table of their requests, and the decision on one."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.answers import fields_of
from marketplace.errors import Refusal
from marketplace.models import QualificationRequest
from marketplace.requester.actions import entered, run_action
from marketplace.requester.doors import Seat, for_requester, respond, show
from marketplace.requester.lookup import own_request
from marketplace.requester.qualification_forms import AcceptForm, RevokeForm
from marketplace.requester.selectors import qualifications as selectors
from marketplace.services import qualification_requests

PLACE = "qualifications"
State = QualificationRequest.State


@require_safe
@for_requester
def listing(request: HttpRequest, seat: Seat) -> HttpResponseBase:
    """The requests, those to decide first."""
    return respond(
        request,
        seat,
        selectors.REQUESTS,
        lambda asked: selectors.requests(
            seat.requester, state=asked["state"], kind=asked["type"], words=asked["q"]
        ),
        "qualification_requests.html",
        place=PLACE,
        file="qualification-requests",
        now=clock.now(),
    )


@require_safe
@for_requester
def asked(request: HttpRequest, seat: Seat, *, asking: str) -> HttpResponse:
    """One request, with what was answered in the test."""
    row = own_request(seat.requester, asking)
    return show(
        request,
        "qualification_request.html",
        seat,
        place=PLACE,
        now=clock.now(),
        asked=row,
        fields=fields_of(row.answer),
        accept_form=AcceptForm(auto_id="accept_%s"),
        reject_form=RevokeForm(auto_id="reject_%s"),
    )


def _decide(
    request: HttpRequest,
    seat: Seat,
    asking: str,
    wanted: QualificationRequest.State,
    action: Callable[[QualificationRequest], str],
) -> HttpResponse:
    row = own_request(seat.requester, asking)

    def once() -> str:
        try:
            return action(row)
        except Refusal as refusal:
            row.refresh_from_db(fields=["state"])
            if refusal.code != "InvalidQualificationRequestState":
                raise
            if row.state == wanted:
                raise Refusal("DuplicateRequest", f"It was {row.state} already.") from refusal
            raise Refusal(refusal.code, f"It was {row.state} meanwhile.") from refusal

    customer = seat.requester.customer_id
    following = (
        selectors.requests(seat.requester, state=State.PENDING, kind="", words="")
        .exclude(pk=row.pk)
        .order_by("submitted_at", "pk")
        .first()
    )
    if following:
        then = reverse("requester:qualification_request", args=[customer, following.request_id])
    else:
        then = reverse("requester:qualification_requests", args=[customer])
    here = reverse("requester:qualification_request", args=[customer, asking])
    return run_action(request, once, then, otherwise=here)


@require_POST
@for_requester
def accept(request: HttpRequest, seat: Seat, *, asking: str) -> HttpResponse:
    """Grant it, with a value."""

    def action(row: QualificationRequest) -> str:
        value = entered(AcceptForm(request.POST))["value"]
        qualification_requests.accept(request=row, value=value)
        return f"{row.worker.worker_id} holds “{row.qualification_type.name}” now, value {value}."

    return _decide(request, seat, asking, State.GRANTED, action)


@require_POST
@for_requester
def reject(request: HttpRequest, seat: Seat, *, asking: str) -> HttpResponse:
    """Reject it."""

    def action(row: QualificationRequest) -> str:
        reason = entered(RevokeForm(request.POST))["reason"]
        qualification_requests.reject(request=row, reason=reason)
        return f"{row.worker.worker_id} does not get it."

    return _decide(request, seat, asking, State.REJECTED, action)
