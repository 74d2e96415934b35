"""Qualifications of a worker: what they hold, ask for and could have, and the tests for them."""

from csp.decorators import csp_update
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.forms import formanswers
from marketplace.forms.formanswers import FormAnswers, media_sources
from marketplace.forms.questionform import Form, parse_form
from marketplace.models import QualificationRequest, QualificationType, Worker
from marketplace.qualifications import grants as services
from marketplace.qualifications.grants import standing
from marketplace.site import selectors
from marketplace.site.access import for_workers, page
from marketplace.site.lookup import group_named

State = QualificationRequest.State
TABS = ("held", "asked", "offered")


@require_safe
@for_workers
def qualifications(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What the worker holds, asked for, and could have; the tab and the search stand in the URL."""
    now = clock.now()
    tab = request.GET.get("show", "")
    tab = tab if tab in TABS else TABS[0]
    search = request.GET.get("q", "").replace("\0", "").strip()[: selectors.MAX_SEARCH]
    views, pages, counts = selectors.qualifications(
        request=request, worker=worker, tab=tab, search=search, now=now
    )
    return page(
        request,
        "qualifications.html",
        worker=worker,
        now=now,
        tab=tab,
        shown=views,
        pages=pages,
        counts=counts,
        search=search,
    )


@require_safe
@never_cache
@for_workers
def qualification(request: HttpRequest, worker: Worker, qualification_type_id: str) -> HttpResponse:
    """One qualification: what it is, how to get it, what the worker holds, and which work wants it."""
    now = clock.now()
    kind = _kind(qualification_type_id)
    status = standing(worker=worker, qualification_type=kind)
    attempts = kind.requests.filter(worker=worker).defer(*selectors.LONG_OF_REQUEST)
    return page(
        request,
        "qualification.html",
        worker=worker,
        now=now,
        kind=kind,
        shown=selectors.QualificationView(status, now),
        attempts=attempts.order_by("-started_at", "-pk")[: selectors.MAX_ATTEMPTS],
        questions=len(parse_form(kind.test, parameter="Test").questions) if kind.test else 0,
        groups=selectors.groups_wanting(kind=kind, worker=worker, now=now),
    )


@require_POST
@for_workers
def ask(request: HttpRequest, worker: Worker, qualification_type_id: str) -> HttpResponse:
    """Ask for a qualification, or begin its test."""
    return redirect(_ask(request, worker, _kind(qualification_type_id)) or _page_of(qualification_type_id))


@require_POST
@for_workers
def ask_for_group(
    request: HttpRequest, worker: Worker, group_id: str, qualification_type_id: str
) -> HttpResponse:
    """Ask for a qualification that this group wants; back to the group, or on to the test."""
    hit_type = group_named(group_id)
    type_ids = [requirement["QualificationTypeId"] for requirement in hit_type.requirements]
    if qualification_type_id not in type_ids:
        raise Http404("This group does not ask for that qualification.")
    test = _ask(request, worker, _kind(qualification_type_id))
    return redirect(test or reverse("site:preview", args=[hit_type.group_id]))


def _ask(request: HttpRequest, worker: Worker, kind: QualificationType) -> str:
    """What came of it is said to the worker; the address of the test where there is one to take, else ""."""
    try:
        qualification_request = services.ask(worker=worker, qualification_type=kind)
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return ""
    if qualification_request.state == State.STARTED:
        return reverse("site:qualification_test", args=[kind.qualification_type_id])
    if qualification_request.state == State.GRANTED:
        messages.success(request, gettext("The qualification is yours."))
    else:
        messages.success(request, gettext("Your request was sent; the requester decides."))
    return ""


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@csp_update(media_sources())
@for_workers
def test(request: HttpRequest, worker: Worker, qualification_type_id: str) -> HttpResponse:
    """The test that the worker has begun: its questions with the time that is left, and its answers."""
    kind = _kind(qualification_type_id)
    begun = kind.requests.filter(worker=worker).order_by("-started_at", "-pk").first()
    if begun is None or begun.state != State.STARTED or begun.deadline is None:
        return redirect(_page_of(qualification_type_id))
    form = parse_form(begun.test, parameter="Test")
    answers: FormAnswers | None = None
    if request.method == "POST":
        answers = formanswers.read_form_answers(form, request.POST)
        if not answers.problems:
            return _hand_in(request, begun, answers)
    return _draw(request, worker, begun, form, answers)


def _hand_in(request: HttpRequest, begun: QualificationRequest, answers: FormAnswers) -> HttpResponse:
    try:
        done = services.hand_in(request=begun, answers=answers)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        if done.state == State.GRANTED:
            messages.success(
                request, gettext("Your test was scored. Your value is %(score)s.") % {"score": done.score}
            )
        else:
            messages.success(request, gettext("Your answers were sent; the requester decides."))
    return redirect(_page_of(begun.qualification_type.qualification_type_id))


def _draw(
    request: HttpRequest, worker: Worker, begun: QualificationRequest, form: Form, answers: FormAnswers | None
) -> HttpResponse:
    now = clock.now()
    assert begun.deadline is not None
    if begun.deadline <= now:
        messages.error(request, gettext("The time for this test is over."))
        return redirect(_page_of(begun.qualification_type.qualification_type_id))
    return page(
        request,
        "qualification_test.html",
        worker=worker,
        now=now,
        status=422 if answers else 200,
        kind=begun.qualification_type,
        begun=begun,
        form=form,
        given=answers,
        seconds_left=(begun.deadline - now).total_seconds(),
    )


def _kind(qualification_type_id: str) -> QualificationType:
    kinds = QualificationType.objects.select_related("requester").filter(deleted_at=None)
    return get_object_or_404(kinds, qualification_type_id=qualification_type_id)


def _page_of(qualification_type_id: str) -> str:
    return reverse("site:qualification", args=[qualification_type_id])
