"""Decisions that wait for a person: how many of each kind, and on to the next one."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from crowd.desk import queues
from web.access import ProjectAccess, on_project
from web.pages import show


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """All queues with their counts."""
    found = queues.waiting(access.project)
    return show(
        request,
        "queues.html",
        access,
        tab="queues",
        waiting=[each for each in found if each.count],
        done=[each for each in found if not each.count],
        together=sum(each.count for each in found),
    )


@require_safe
@on_project()
def following(request: HttpRequest, access: ProjectAccess, *, queue: str) -> HttpResponse:
    """On to the next one that waits, or back to the queues where none does."""
    found = queues.queue_named(queue)
    if found is None:
        raise Http404("There is no such queue.")
    address = found.first(access.project)
    if address:
        return redirect(address)
    messages.success(request, f"Nothing is left: {found.label.lower()}.")
    return redirect("desk:queues", access.project.slug)
