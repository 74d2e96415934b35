"""Qualifications of a worker: what they hold, ask for and could have."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from marketplace.errors import Refusal
from marketplace.models import QualificationRequest, QualificationType, Worker
from marketplace.services.qualification_requests import ask
from marketplace.site.access import for_workers
from marketplace.site.lookup import group_named

State = QualificationRequest.State


@require_POST
@for_workers
def request_for_group(
    request: HttpRequest, worker: Worker, group_id: str, qualification_type_id: str
) -> HttpResponse:
    """Ask for a qualification that this group wants; back to the group, or on to the test."""
    hit_type = group_named(group_id)
    wanted = [requirement["QualificationTypeId"] for requirement in hit_type.requirements]
    if qualification_type_id not in wanted:
        raise Http404("This group does not ask for that qualification.")
    kind = get_object_or_404(QualificationType, qualification_type_id=qualification_type_id)
    try:
        asked = ask(worker=worker, qualification_type=kind)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        if asked.state == State.GRANTED:
            messages.success(request, "The qualification is yours.")
        else:
            messages.success(request, "Your request was sent; the requester decides.")
    return redirect("site:preview", group_id=hit_type.group_id)
