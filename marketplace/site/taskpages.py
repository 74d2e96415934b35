"""Task pages in the worker's frame: their signed addresses, their views, and where their answers are sent.

None of them reads a cookie: what a browser may do is in the signature of the address.
"""

import re
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit, urlunsplit

from csp.decorators import csp
from django.conf import settings
from django.core import signing
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from django_stubs_ext import StrOrPromise

from marketplace.accounts import accesskeys
from marketplace.errors import Refusal
from marketplace.forms import formanswers as fields
from marketplace.forms import html, pagestorage, uploads
from marketplace.forms.formanswers import FormAnswers, answers_xml, read_form_answers
from marketplace.forms.html import task_document
from marketplace.forms.questionform import Form
from marketplace.forms.questions import ExternalQuestion, HTMLQuestion, Question, read_stored_question
from marketplace.lifecycle import assignments
from marketplace.models import HIT, Holding

# Where task pages post their answers: the worker's browser, cross-site, without any cookie.

# The task page in the worker's frame: its URL, and the signed address to which it submits.
#
# An AssignmentId is used again by the next holder of a place, and a task page posts nothing else. So each
# holding gets a `turkSubmitTo` of its own, `<base>/s/<signature>`, to which clients append
# `/mturk/externalSubmit`: a late post of a former holder can never land on the new one.

NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
#: A preview that somebody keeps open or passes on can be loaded for so long, in seconds.
PREVIEW_AGE = 24 * 3600
_UPLOADS = re.compile(r"/uploads/([A-Za-z0-9_-]+)/mturk/externalSubmit")
_signer = signing.Signer(salt="marketplace.taskpages")
_preview_signer = signing.TimestampSigner(salt="marketplace.taskpages.preview")


def load_question(hit: HIT) -> Question:
    """The HIT's question, parsed."""
    return read_stored_question(hit.question)


def uploads_to(*, holding: Holding, base_url: str) -> str:
    """Where the form of a task goes that takes files: an address at which bodies may be long."""
    return f"{base_url}/uploads/{submit_signature(holding.pk)}/mturk/externalSubmit"


def may_take_files(request: HttpRequest) -> int:
    """How many bytes of files the address of this post takes: 0 where it is no assignment that wants any."""
    match = _UPLOADS.fullmatch(request.path_info)
    pk = holding_of(match[1]) if match and request.method == "POST" else None
    holding = Holding.objects.select_related("hit").filter(pk=pk).first() if pk is not None else None
    if holding is None or holding.state != Holding.State.ACCEPTED:
        return 0
    question = load_question(holding.hit)
    file_questions = uploads.file_questions(question) if isinstance(question, Form) else []
    return sum(uploads.most_bytes(answer) for _, answer in file_questions)


def submit_signature(holding_id: int) -> str:
    """Signature that names one holding, for the path of its submit address."""
    return _signer.sign(str(holding_id)).replace(":", "-", 1)


def holding_of(signature: str) -> int | None:
    """Holding that a signature names, or None where the signature is not ours."""
    try:
        return int(_signer.unsign(signature.replace("-", ":", 1)))
    except (signing.BadSignature, ValueError):
        return None


def submit_to(*, holding: Holding, base_url: str) -> str:
    """Where the holding's work goes, without `/mturk/externalSubmit`; `base_url` is this server's origin."""
    return f"{base_url}/s/{submit_signature(holding.pk)}"


def turk_submit_to(*, holding: Holding, base_url: str) -> str:
    """`turkSubmitTo` of a holding, without trailing slash.

    For a page of the requester's it ends with what proves to that page that this worker holds this
    assignment: the page has the same words in its address, and signs them with its own access key's secret.
    """
    to = submit_to(holding=holding, base_url=base_url)
    if not isinstance(load_question(holding.hit), ExternalQuestion):
        return to
    signature = to.rpartition("/")[2]
    message = "|".join((holding.assignment_id, holding.worker.worker_id, holding.hit.hit_id, signature))
    proofs = ".".join(accesskeys.proofs(holding.requester_id, message))
    return f"{to}~{proofs}" if proofs else to


def previewed_hit(signature: str) -> int | None:
    """HIT that a signature of a preview names, or None where it is not ours or too old."""
    try:
        return int(_preview_signer.unsign(signature.replace("-", ":", 2), max_age=PREVIEW_AGE))
    except (signing.BadSignature, ValueError):
        return None


def frame_url(*, holding: Holding, base_url: str) -> str:
    """URL of the task page for somebody who works on it."""
    question = load_question(holding.hit)
    to = turk_submit_to(holding=holding, base_url=base_url)
    return _with_query(
        question.url if isinstance(question, ExternalQuestion) else f"{to}/task",
        assignmentId=holding.assignment_id,
        hitId=holding.hit.hit_id,
        turkSubmitTo=to,
        workerId=holding.worker.worker_id,
    )


def preview_url(*, hit: HIT, base_url: str) -> str:
    """URL of the task page for somebody who looks before accepting."""
    question = load_question(hit)
    if isinstance(question, ExternalQuestion):
        url = question.url
    else:
        url = f"{base_url}/p/{_preview_signer.sign(str(hit.pk)).replace(':', '-', 2)}/task"
    return _with_query(url, assignmentId=NO_ASSIGNMENT, hitId=hit.hit_id)


def _with_query(url: str, **parameters: str) -> str:
    parts = urlsplit(url)
    query = "&".join(part for part in (parts.query, urlencode(parameters)) if part)
    return urlunsplit(parts._replace(query=query))


#: The whole policy of pages in the frame: unlike elsewhere, nothing is said about who may frame them.
_IN_FRAME = {
    "default-src": ["'none'"],
    "style-src": ["'self'"],
    "script-src": ["'self'"],
    "img-src": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
}
PREVIEW = gettext_lazy("You are looking at a preview. Accept the HIT first; nothing was sent.")
UNREADABLE = gettext_lazy(
    "The form did not arrive as it should, so nothing was recorded. It has to be an ordinary web form with "
    "at least one field, no files, and less than 2.5 megabytes. Tell the requester; you can still submit."
)
UNKNOWN = gettext_lazy(
    "We could not tell whose assignment this is, so nothing was recorded. Open the HIT from your queue."
)


def _frame_view(
    view: Callable[..., HttpResponse], *, takes_files: bool = False
) -> Callable[..., HttpResponseBase]:
    """A page that lives in the worker's frame: no cookie, no CSRF token, may be framed by anybody's page."""

    def readable(request: HttpRequest, *arguments: str, **named: str) -> HttpResponse:
        try:
            complete = bool(request.POST or (takes_files and request.FILES)) and (
                takes_files or not request.FILES
            )
        except (SuspiciousOperation, MultiPartParserError, BadRequest):
            complete = False
        if not complete:
            return refused(request, gettext("Nothing was recorded"), UNREADABLE, status=400)
        return view(request, *arguments, **named)

    return csrf_exempt(require_POST(xframe_options_exempt(for_frames(readable))))


def for_frames(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """The view's pages have the policy of our own pages in a frame, unless they come with one."""
    return csp(_IN_FRAME)(view)


View = Callable[[HttpRequest, str], HttpResponse]


def _task_view(view: View) -> Callable[..., HttpResponseBase]:
    """A page in the worker's frame, made again each time; what is not a task page is a refusal of ours."""
    return require_safe(never_cache(xframe_options_exempt(for_frames(view))))


def _signed_submit(request: HttpRequest, signature: str) -> HttpResponse:
    """A task page's form, posted to the address that belongs to one holding."""
    pk = holding_of(signature)
    holding = _loaded().filter(pk=pk).first() if pk is not None else None
    if holding is None:
        return refused(request, gettext("This is not the address of an assignment"), UNKNOWN, status=404)
    # A page that was saved from a preview still says that it is one: the signed address knows better.
    own = (holding.assignment_id, NO_ASSIGNMENT, "")
    if request.POST.get("assignmentId", "") not in own:
        return refused(request, gettext("This form belongs to another assignment"), UNKNOWN, status=400)
    return _record(request, holding)


_posted = _frame_view(_signed_submit)


def _sent_by_address(request: HttpRequest, signature: str) -> HttpResponse:
    """An answer in the query of the address, as survey sites lead back to MTurk: a page that posts it."""
    address = site_url(request) + request.path
    fields = [(name, value) for name, values in request.GET.lists() for value in values]
    page = render(request, "marketplace/frame/send.html", {"fields": fields, "submit_url": address})
    page._csp_replace = {"form-action": [address]}  # type: ignore[attr-defined]  # as csp.decorators.csp_replace does
    return page


_sent_page = _task_view(_sent_by_address)


@csrf_exempt
def signed_submit(request: HttpRequest, signature: str) -> HttpResponseBase:
    """Where a task's answer goes: posted by a form, or led to with the answer in the address."""
    return (_sent_page if request.method in ("GET", "HEAD") and request.GET else _posted)(request, signature)


#: The same for a form with files, at an address of its own: only there may a visitor's post be long.
signed_upload = _frame_view(_signed_submit, takes_files=True)


@_frame_view
def bare_submit(request: HttpRequest) -> HttpResponse:
    """The same without a signature: works only in the worker's own first-party session."""
    assignment_id = request.POST.get("assignmentId", "")
    if assignment_id == NO_ASSIGNMENT:
        return refused(request, gettext("Nothing was sent"), PREVIEW, status=400)
    user = request.user
    holding = (
        _loaded().filter(assignment_id=assignment_id, worker__user=user, state__in=Holding.OCCUPYING).first()
        if user.is_authenticated and assignment_id
        else None
    )
    if holding is None:
        return refused(request, gettext("We do not know who you are"), UNKNOWN, status=403)
    return _record(request, holding)


def _loaded() -> QuerySet[Holding]:
    return Holding.objects.select_related("hit__hit_type", "worker").only(
        "assignment_id",
        "state",
        "visit",
        "unpaid",
        "hit__question",
        "hit__requester_id",
        "hit__hit_review_policy",
        "hit__assignment_review_policy",
        "hit__hit_type__auto_approval_s",
        "hit__hit_type__title",
        "hit__hit_type__notification",
        "worker__worker_id",
    )


def _record(request: HttpRequest, holding: Holding) -> HttpResponse:
    question = load_question(holding.hit)
    if isinstance(question, Form):
        return _record_form(request, holding, question)
    fields = [(name, value) for name, values in request.POST.lists() for value in values]
    return _submit(request, holding, fields, "")


def _record_form(request: HttpRequest, holding: Holding, form: Form) -> HttpResponse:
    files, refused_files = _take_files(request, holding, form)
    answers = read_form_answers(form, request.POST, files, refused_files)
    if answers.problems and holding.state == Holding.State.ACCEPTED:
        if _wants_json(request):
            return JsonResponse({"invalid": True}, status=422)
        title, address = holding.hit.hit_type.title, site_url(request) + request.path
        return draw_form(request, form, title=title, submit_url=address, answers=answers)
    fields = [(name, value) for name, values in request.POST.lists() for value in values]
    return _submit(request, holding, fields, answers_xml(form, answers))


def _take_files(
    request: HttpRequest, holding: Holding, form: Form
) -> tuple[dict[str, fields.GivenFile], dict[str, str]]:
    """Keep the files of a post; those that are there, and what is wrong with others, by question."""
    file_questions = uploads.file_questions(form)
    if not file_questions:
        return {}, {}
    wrong: dict[str, str] = {}
    for question, answer in file_questions:
        posted = request.FILES.get(fields.file_name(question))
        if posted is None or holding.state != Holding.State.ACCEPTED:
            continue
        if problem := uploads.problem_of(answer, posted.size or 0):
            wrong[question.identifier] = problem
        else:
            uploads.keep_file(holding, question.identifier, posted)
    stored = {
        name: fields.GivenFile(row.key, row.name, row.size) for name, row in uploads.files_of(holding).items()
    }
    return stored, wrong


def _submit(
    request: HttpRequest, holding: Holding, fields: list[tuple[str, str]], answer: str
) -> HttpResponse:
    try:
        holding = assignments.submit(holding=holding, fields=fields, answer=answer, notes_words=True)
    except Refusal as refusal:
        return refused(request, gettext("Your work could not be submitted"), refusal.message, status=409)
    if _wants_json(request):
        return JsonResponse({"arrived": True})
    return render(
        request,
        "marketplace/frame/submitted.html",
        {"holding": holding, "continue_url": continue_url(request, holding)},
    )


def draw_form(
    request: HttpRequest, form: Form, *, title: str, submit_url: str, answers: FormAnswers | None = None
) -> HttpResponse:
    """A QuestionForm as a page in the frame; with `answers`, what was filled in and what is wrong with it."""
    response = render(
        request,
        "marketplace/frame/form.html",
        {
            "form": form,
            "title": title,
            "submit_url": submit_url,
            "given": answers,
            "takes_files": bool(uploads.file_questions(form)),
        },
        status=422 if answers else 200,
    )
    policy = fields.media_sources() | {"form-action": [submit_url or "'none'"]}
    response._csp_replace = policy  # type: ignore[attr-defined]  # as csp.decorators.csp_replace does
    return response


def continue_url(request: HttpRequest, holding: Holding) -> str:
    """Where the worker goes on, as an absolute URL for the window around the frame."""
    if holding.visit_id is not None:
        return site_url(request) + guest_address(holding, "continue")
    return site_url(request) + reverse("site:continue", args=[holding.pk])


_guest_signer = signing.Signer(salt="marketplace.guest")


def guest_address(holding: Holding, page: str = "") -> str:
    """The path of a page of work by somebody who came by a study link: it needs no account and no cookie.

    Who knows it may do this one assignment in the person's name, and nothing else.
    """
    signature = _guest_signer.sign(str(holding.pk)).replace(":", "-", 1)
    return reverse(f"site:guest_{page or 'work'}", args=[signature])


def guest_holding(signature: str) -> int | None:
    """The assignment that such a path names, or None where it is not ours."""
    try:
        return int(_guest_signer.unsign(signature.replace("-", ":", 1)))
    except (signing.BadSignature, ValueError):
        return None


def site_url(request: HttpRequest) -> str:
    """Origin of this installation as workers' browsers see it, without trailing slash."""
    return settings.PUBLIC_URL or f"{request.scheme}://{request.get_host()}"


def _wants_json(request: HttpRequest) -> bool:
    """The page around the frame delivers an answer and asks for a word, not for a page."""
    return request.headers.get("Accept") == "application/json"


def refused(
    request: HttpRequest, title: StrOrPromise, sentence: StrOrPromise, *, status: int
) -> HttpResponse:
    """A page in the frame that says why nothing was recorded."""
    if _wants_json(request):
        return JsonResponse({"refused": sentence, "title": title}, status=status)
    return render(
        request, "marketplace/frame/refused.html", {"title": title, "sentence": sentence}, status=status
    )


#: What a worker reads who opens a task that they no longer have.
ENDED = {
    Holding.State.RETURNED: gettext_lazy(
        "You returned this HIT, perhaps in another tab. Nothing more can be sent."
    ),
    Holding.State.ABANDONED: gettext_lazy("The time for this HIT is over. Nothing more can be sent."),
}
ANSWERED = gettext_lazy("You have submitted this HIT, perhaps in another tab.")
GONE = gettext_lazy("This preview is out of date. Reload the page around it.")


@_task_view
def signed_task(request: HttpRequest, signature: str) -> HttpResponse:
    """The task page of somebody who holds the assignment that the signature names."""
    pk = holding_of(signature)
    holdings = Holding.objects.select_related("hit__batch", "hit__hit_type", "worker").defer("answer")
    holding = holdings.filter(pk=pk).first() if pk is not None else None
    if holding is None:
        return refused(request, gettext("This is not the address of an assignment"), UNKNOWN, status=404)
    if holding.state != Holding.State.ACCEPTED:
        sentence = ENDED.get(Holding.State(holding.state), ANSWERED)
        return refused(request, gettext("There is nothing to do here"), sentence, status=410)
    submit_url = f"{submit_to(holding=holding, base_url=site_url(request))}/mturk/externalSubmit"
    question = load_question(holding.hit)
    if isinstance(question, Form) and uploads.file_questions(question):
        submit_url = uploads_to(holding=holding, base_url=site_url(request))
    return _task(request, holding.hit, submit_url=submit_url, holding=holding)


@_task_view
def signed_preview(request: HttpRequest, signature: str) -> HttpResponse:
    """The task page of a HIT for somebody who may look at it; nothing can be sent from there."""
    pk = previewed_hit(signature)
    hit = HIT.objects.select_related("batch", "hit_type").filter(pk=pk).first() if pk is not None else None
    if hit is None:
        return refused(request, gettext_lazy("There is no preview at this address"), GONE, status=404)
    return _task(request, hit, submit_url="")


def _task(request: HttpRequest, hit: HIT, *, submit_url: str, holding: Holding | None = None) -> HttpResponse:
    question = load_question(hit)
    if isinstance(question, Form):
        return draw_form(request, question, title=hit.hit_type.title, submit_url=submit_url)
    if not isinstance(question, HTMLQuestion):
        return refused(request, gettext_lazy("This task page is not here"), UNKNOWN, status=404)
    hosts = hit.batch.hosts if hit.batch else None
    lent = (
        pagestorage.lent_to(worker_pk=holding.worker_id, requester_pk=hit.requester_id) if holding else None
    )
    page = task_document(question.html, submit_url=submit_url, lent=lent)
    return HttpResponse(page, headers=html.task_headers(hosts, submit_url=submit_url))
