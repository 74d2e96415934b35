"""Task pages in a frame of ours: where they come from, what they may do there, and pages of drafts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlencode

from csp.constants import SELF
from csp.decorators import csp_update
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from marketplace.batches import templates
from marketplace.forms import html
from marketplace.forms.html import task_document, task_headers
from marketplace.forms.loopback import anywhere
from marketplace.forms.questions import ExternalQuestion, HTMLQuestion, Question
from marketplace.models import BatchTask, Template
from marketplace.site.taskpages import NO_ASSIGNMENT, for_frames, refused

#: A task page at work. Its own origin keeps its storage; it leaves the frame only when the worker clicks.
AT_WORK = (
    "allow-scripts allow-forms allow-modals allow-same-origin allow-popups allow-popups-to-escape-sandbox "
    "allow-top-navigation-by-user-activation allow-downloads"
)
#: A task page that is only looked at: everything but sending something off.
PREVIEW = "allow-scripts allow-modals allow-same-origin allow-popups allow-popups-to-escape-sandbox"


#: A task page that we serve: nobody's origin. Only the click that follows a submission leaves the frame;
#: the task page itself may not, by the policy it comes with (`marketplace.forms.html`).
OURS_AT_WORK = f"{html.SANDBOX} allow-top-navigation-by-user-activation"


def frame_sources() -> dict[str, list[str]]:
    """What the policy of a page with a requester's own page in a frame allows beside its own."""
    return {"frame-src": [SELF, *anywhere()]}


def sandbox(question: Question, *, working: bool) -> str:
    """What the frame of a task page allows."""
    if isinstance(question, ExternalQuestion):
        return AT_WORK if working else PREVIEW
    return OURS_AT_WORK if working else html.SANDBOX


#: What the page of a QuestionForm loads (`templates/marketplace/frame/form.html`).
_OF_FORMS = ("html/frame.js", "tokens.css", "base.css", "site.css", "html/questionform.js")


@dataclass(frozen=True, slots=True)
class Preload:
    """A file of ours that the frame is going to ask for, and what it is."""

    address: str
    kind: str


def preloads(question: Question) -> list[Preload]:
    """What the page around the frame fetches early, so that the frame has it when it asks."""
    if isinstance(question, ExternalQuestion):
        return []
    files = html.files_of(question.html) if isinstance(question, HTMLQuestion) else _OF_FORMS
    return [Preload(static(name), "style" if name.endswith(".css") else "script") for name in files]


def with_task(response: HttpResponse, question: Question, *, origin: str) -> HttpResponse:
    """A page with a task frame; one whose task we serve can be led nowhere else, whatever its script does."""
    ours = [f"{origin}/s/", f"{origin}/p/"]
    sources = frame_sources() if isinstance(question, ExternalQuestion) else {"frame-src": ours}
    response._csp_update = sources  # type: ignore[attr-defined]  # as csp.decorators.csp_update does
    return response


# Drafts and templates to look at: their pages at signed addresses, without a cookie.

#: An address that was handed out can be loaded for so long, in seconds.
AGE = 24 * 3600
#: The salt is part of addresses that are handed out; it stays, whatever this module is called.
_signer = signing.TimestampSigner(salt="marketplace.batches.frames")
GONE = gettext_lazy("Reload the page around it.")


def may_frame_ours(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """The page may hold a frame of ours, which can be led nowhere else, whatever a script in it does."""
    return cast(Callable[..., HttpResponseBase], csp_update({"frame-src": [SELF]})(view))


def address_of(page_source: BatchTask | Template) -> str:
    """Address of the page of a task or a template, for a frame."""
    kind = "task" if isinstance(page_source, BatchTask) else "template"
    signature = _signer.sign(f"{kind}.{page_source.pk}").replace(":", "~")
    query = urlencode({"assignmentId": NO_ASSIGNMENT})
    return f"{reverse('batch-frame', args=[signature])}?{query}"


@require_safe
@never_cache
@xframe_options_sameorigin
@for_frames
def look(request: HttpRequest, signature: str) -> HttpResponse:
    """The page; nothing can be sent from it, and it loads from the hosts that were chosen only."""
    page_and_hosts = _load_page(signature)
    if page_and_hosts is None:
        return refused(request, gettext("There is no preview at this address"), GONE, status=404)
    text, hosts = page_and_hosts
    return HttpResponse(task_document(text), headers=task_headers(hosts))


def _load_page(signature: str) -> tuple[str, list[str]] | None:
    try:
        kind, _, pk = _signer.unsign(signature.replace("~", ":"), max_age=AGE).partition(".")
    except signing.BadSignature:
        return None
    if kind == "template":
        template = Template.objects.filter(pk=int(pk)).first()
        return (template.html, template.hosts) if template else None
    task = BatchTask.objects.select_related("batch").filter(pk=int(pk)).first()
    if task is None:
        return None
    values = dict(zip(task.batch.columns, task.values, strict=True))
    return templates.parse(task.batch.html).fill(values), task.batch.hosts
