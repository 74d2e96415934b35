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
from marketplace.requester.access import RequesterAccess, for_requester, respond, show
from marketplace.requester.lookup import own_request
from marketplace.requester.qualification_forms import AcceptForm, RevokeForm
from marketplace.requester.selectors import qualifications as selectors
from marketplace.services import qualification_requests
from web.forms import read_form, run_action

PLACE = "qualifications"
State = QualificationRequest.State


@require_safe
@for_requester
def listing(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The requests, those to decide first."""
    return respond(
        request,
        access,
        selectors.REQUESTS,
        lambda asked: selectors.requests(
            access.requester, state=asked["state"], kind=asked["type"], words=asked["q"]
        ),
        "qualification_requests.html",
        place=PLACE,
        file="qualification-requests",
        now=clock.now(),
    )


@require_safe
@for_requester
def asked(request: HttpRequest, access: RequesterAccess, *, asking: str) -> HttpResponse:
    """One request, with what was answered in the test."""
    row = own_request(access.requester, asking)
    return show(
        request,
        "qualification_request.html",
        access,
        place=PLACE,
        now=clock.now(),
        asked=row,
        fields=fields_of(row.answer),
        accept_form=AcceptForm(auto_id="accept_%s"),
        reject_form=RevokeForm(auto_id="reject_%s"),
    )


def _decide(
    request: HttpRequest,
    access: RequesterAccess,
    asking: str,
    wanted: QualificationRequest.State,
    action: Callable[[QualificationRequest], str],
) -> HttpResponse:
    row = own_request(access.requester, asking)

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

    customer = access.requester.customer_id
    following = (
        selectors.requests(access.requester, state=State.PENDING, kind="", words="")
        .exclude(pk=row.pk)
        .order_by("submitted_at", "pk")
        .first()
    )
    if following:
        then = reverse("requester:qualification_request", args=[customer, following.request_id])
    else:
        then = reverse("requester:qualification_requests", args=[customer])
    here = reverse("requester:qualification_request", args=[customer, asking])
    return run_action(request, once, then, other=here)


@require_POST
@for_requester
def accept(request: HttpRequest, access: RequesterAccess, *, asking: str) -> HttpResponse:
    """Grant it, with a value."""

    def action(row: QualificationRequest) -> str:
        value = read_form(AcceptForm(request.POST))["value"]
        qualification_requests.accept(request=row, value=value)
        return f"{row.worker.worker_id} holds “{row.qualification_type.name}” now, value {value}."

    return _decide(request, access, asking, State.GRANTED, action)


@require_POST
@for_requester
def reject(request: HttpRequest, access: RequesterAccess, *, asking: str) -> HttpResponse:
    """Refuse a worker a qualification, with a reason that the worker reads."""

    def action(row: QualificationRequest) -> str:
        reason = read_form(RevokeForm(request.POST))["reason"]
        qualification_requests.reject(request=row, reason=reason)
        return f"{row.worker.worker_id} does not get it."

    return _decide(request, access, asking, State.REJECTED, action)
