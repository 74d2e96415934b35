"""Task pages as a requester would host them, without cookie or script; and the switch of the tour."""

from csp.constants import SELF
from csp.decorators import csp_replace
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_POST, require_safe

from distillery.demo.tasks import task_numbered
from distillery.demo.tour import HIDDEN
from distillery.demo.visits import marketplace_origins, read_visit


@require_safe
@xframe_options_exempt
def answer(request: HttpRequest, number: int) -> HttpResponseBase:
    """Ask for an answer, in the worker's own words, to one question; the marketplace receives it."""
    task = task_numbered(number)
    if task is None:
        raise Http404("There is no task with this number.")
    origins = marketplace_origins(request)
    visit = read_visit(request.GET, origins)

    @csp_replace({"frame-ancestors": [SELF, *origins], "form-action": [SELF, *origins]})
    def page(request: HttpRequest) -> HttpResponse:
        status = 400 if visit.refusal else 200
        return render(request, "examples/answer.html", {"task": task, "visit": visit}, status=status)

    return page(request)


@require_POST
@login_required
def tour(request: HttpRequest) -> HttpResponseBase:
    """Hide the tour, or show it again, for as long as the person is logged in."""
    request.session[HIDDEN] = request.POST.get("show") != "1"
    back = request.POST.get("next", "")
    ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    return redirect(back if ours else "desk:projects")
