"""Where task pages post their answers: the worker's browser, cross-site, without any cookie."""

from collections.abc import Callable

from csp.decorators import csp
from django.conf import settings
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from core.database.composedqueries import ComposedQuery
from marketplace.errors import Refusal
from marketplace.frame import NO_ASSIGNMENT, holding_of, question
from marketplace.models import Holding
from marketplace.questionform import fields, form_answers
from marketplace.questionform.form_answers import FormAnswers
from marketplace.questionform.parsing import Form
from marketplace.services import assignments

#: The whole policy of pages in the frame: unlike elsewhere, nothing is said about who may frame them.
_IN_FRAME = {
    "default-src": ["'none'"],
    "style-src": ["'self'"],
    "script-src": ["'self'"],
    "img-src": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
}
PREVIEW = "You are looking at a preview. Accept the HIT first; nothing was sent."
UNREADABLE = (
    "The form did not arrive as it should, so nothing was recorded. It has to be an ordinary web form with "
    "at least one field, no files, and less than 2.5 megabytes. Tell the requester; you can still submit."
)
UNKNOWN = "We could not tell whose assignment this is, so nothing was recorded. Open the HIT from your queue."


def _frame_view(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """A page that lives in the worker's frame: no cookie, no CSRF token, may be framed by anybody's page."""

    def readable(request: HttpRequest, *arguments: str, **named: str) -> HttpResponse:
        try:
            complete = bool(request.POST) and not request.FILES
        except (SuspiciousOperation, MultiPartParserError, BadRequest):
            complete = False
        if not complete:
            return refused(request, "Nothing was recorded", UNREADABLE, status=400)
        return view(request, *arguments, **named)

    return csrf_exempt(require_POST(xframe_options_exempt(for_frames(readable))))


def for_frames(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """The view's pages have the policy of our own pages in a frame, unless they come with one."""
    return csp(_IN_FRAME)(view)


@_frame_view
def signed_submit(request: HttpRequest, signature: str) -> HttpResponse:
    """A task page's form, posted to the address that belongs to one holding."""
    pk = holding_of(signature)
    holding = _SIGNED.first(pk) if pk is not None else None
    if holding is None:
        return refused(request, "This is not the address of an assignment", UNKNOWN, status=404)
    if request.POST.get("assignmentId", holding.assignment_id) not in (holding.assignment_id, ""):
        if request.POST["assignmentId"] == NO_ASSIGNMENT:
            return refused(request, "Nothing was sent", PREVIEW, status=400)
        return refused(request, "This form belongs to another assignment", UNKNOWN, status=400)
    return _record(request, holding)


@_frame_view
def bare_submit(request: HttpRequest) -> HttpResponse:
    """The same without a signature: works only in the worker's own first-party session."""
    assignment_id = request.POST.get("assignmentId", "")
    if assignment_id == NO_ASSIGNMENT:
        return refused(request, "Nothing was sent", PREVIEW, status=400)
    user = request.user
    holding = (
        _loaded().filter(assignment_id=assignment_id, worker__user=user, state__in=Holding.OCCUPYING).first()
        if user.is_authenticated and assignment_id
        else None
    )
    if holding is None:
        return refused(request, "We do not know who you are", UNKNOWN, status=403)
    return _record(request, holding)


def _loaded() -> QuerySet[Holding]:
    return Holding.objects.select_related("hit__hit_type", "worker").only(
        "assignment_id",
        "state",
        "hit__question",
        "hit__requester_id",
        "hit__hit_review_policy",
        "hit__assignment_review_policy",
        "hit__hit_type__auto_approval_s",
        "hit__hit_type__title",
        "hit__hit_type__notification",
        "worker__worker_id",
    )


_SIGNED = ComposedQuery(Holding, ["id"], lambda pk: _loaded().filter(pk=pk))


def _record(request: HttpRequest, holding: Holding) -> HttpResponse:
    asked = question(holding.hit)
    fields = [(name, value) for name, values in request.POST.lists() for value in values]
    answer = ""
    if isinstance(asked, Form):
        given = form_answers.read(asked, request.POST)
        if given.problems and holding.state == Holding.State.ACCEPTED:
            title, here = holding.hit.hit_type.title, site_url(request) + request.path
            return draw_form(request, asked, title=title, submit_url=here, given=given)
        answer = form_answers.answers_xml(asked, given)
    try:
        holding = assignments.submit(holding=holding, fields=fields, answer=answer)
    except Refusal as refusal:
        return refused(request, "Your work could not be submitted", refusal.message, status=409)
    return render(
        request,
        "marketplace/frame/submitted.html",
        {"holding": holding, "continue_url": continue_url(request, holding)},
    )


def draw_form(
    request: HttpRequest, form: Form, *, title: str, submit_url: str, given: FormAnswers | None = None
) -> HttpResponse:
    """A QuestionForm as a page in the frame; with `given`, what was filled in and what is wrong with it."""
    drawn = render(
        request,
        "marketplace/frame/form.html",
        {"form": form, "title": title, "submit_url": submit_url, "given": given},
        status=422 if given else 200,
    )
    policy = fields.media_sources() | {"form-action": [submit_url or "'none'"]}
    drawn._csp_replace = policy  # type: ignore[attr-defined]  # as csp.decorators.csp_replace does
    return drawn


def continue_url(request: HttpRequest, holding: Holding) -> str:
    """Where the worker goes on, as an absolute URL for the window around the frame."""
    return site_url(request) + reverse("site:continue", args=[holding.pk])


def site_url(request: HttpRequest) -> str:
    """Origin of this installation as workers' browsers see it, without trailing slash."""
    return settings.PUBLIC_URL or f"{request.scheme}://{request.get_host()}"


def refused(request: HttpRequest, title: str, sentence: str, *, status: int) -> HttpResponse:
    """A page in the frame that says why nothing was recorded."""
    return render(
        request, "marketplace/frame/refused.html", {"title": title, "sentence": sentence}, status=status
    )
