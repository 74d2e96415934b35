"""Task pages as a requester would host them, without cookie or script; and the switch of the tour."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from csp.constants import SELF
from csp.decorators import csp_replace
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_POST, require_safe

from distillery.demo.tasks import task_numbered
from distillery.demo.tour import HIDDEN

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
ASSIGNMENT_ID = re.compile(r"[A-Z0-9]{1,64}")
SUBMIT_TO = re.compile(
    r"(?P<origin>https?://[^/?#\\@\s]+)(?P<path>(?:/[A-Za-z0-9_:=~-][A-Za-z0-9_.:=~-]*)*)/?"
)
LOOPBACK = ("localhost", "127.0.0.1")


@dataclass(frozen=True)
class Visit:
    """One opening of a task page: a preview, a worker at work, or something that must not be trusted."""

    assignment_id: str = ""
    submit_url: str = ""
    refusal: str = ""

    @property
    def at_work(self) -> bool:
        """Whether somebody accepted the task and may answer it here."""
        return bool(self.submit_url)

    @property
    def preview(self) -> bool:
        """Whether the task is only being looked at."""
        return not self.submit_url and not self.refusal


def marketplace_origins(request: HttpRequest) -> list[str]:
    """Origins whose marketplace may frame our task pages and receive their answers: this installation's own.

    On one's own machine `localhost` and `127.0.0.1` are different origins of the same server.
    """
    own = f"{request.scheme}://{request.get_host()}".lower()
    origins = [own]
    if settings.PUBLIC_URL:
        public = urlsplit(settings.PUBLIC_URL)
        origins.append(f"{public.scheme}://{public.netloc}".lower())
    host = urlsplit(own)
    if host.hostname in LOOPBACK:
        port = f":{host.port}" if host.port else ""
        origins += [f"{host.scheme}://{name}{port}" for name in LOOPBACK]
    return list(dict.fromkeys(origins))


def read_visit(parameters: QueryDict, origins: list[str]) -> Visit:
    """Understand the parameters that a marketplace appends to an external task's address."""
    assignment_id = parameters.get("assignmentId", "")
    if assignment_id in ("", PREVIEW):
        return Visit()
    if not ASSIGNMENT_ID.fullmatch(assignment_id):
        return Visit(
            refusal="The address of this page names an assignment that no marketplace would give out."
        )
    submit_to = parameters.get("turkSubmitTo", "")
    if not submit_to:
        return Visit(refusal="The address of this page does not say which marketplace sent you here.")
    match = SUBMIT_TO.fullmatch(submit_to)
    if match is None or match["origin"].lower() not in origins:
        return Visit(refusal="The address of this page would send your answer to a place we do not know.")
    return Visit(
        assignment_id=assignment_id, submit_url=f"{match['origin']}{match['path']}/mturk/externalSubmit"
    )


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
