"""Drafts and templates to look at: their pages in a task's frame, at signed addresses without a cookie."""

from collections.abc import Callable
from typing import cast
from urllib.parse import urlencode

from csp.constants import SELF
from csp.decorators import csp_update
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from marketplace.batches import placeholders
from marketplace.html import task_document, task_headers
from marketplace.models import BatchTask, Template
from marketplace.taskpages import NO_ASSIGNMENT, for_frames, refused

#: An address that was handed out can be loaded for so long, in seconds.
AGE = 24 * 3600
_signer = signing.TimestampSigner(salt="marketplace.batches.frames")
GONE = "Load the page around it again."


def may_frame_ours(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """The page may hold a frame of ours, which can be led nowhere else, whatever a script in it does."""
    return cast(Callable[..., HttpResponseBase], csp_update({"frame-src": [SELF]})(view))


def address_of(shown: BatchTask | Template) -> str:
    """Address of the page of a task or a template, for a frame."""
    kind = "task" if isinstance(shown, BatchTask) else "template"
    signature = _signer.sign(f"{kind}.{shown.pk}").replace(":", "~")
    query = urlencode({"assignmentId": NO_ASSIGNMENT})
    return f"{reverse('batch-frame', args=[signature])}?{query}"


@require_safe
@never_cache
@xframe_options_sameorigin
@for_frames
def look(request: HttpRequest, signature: str) -> HttpResponse:
    """The page; nothing can be sent from it, and it loads from the hosts that were chosen only."""
    found = _shown(signature)
    if found is None:
        return refused(request, "There is no preview at this address", GONE, status=404)
    html, hosts = found
    return HttpResponse(task_document(html), headers=task_headers(hosts))


def _shown(signature: str) -> tuple[str, list[str]] | None:
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
    return placeholders.parse(task.batch.html).fill(values), task.batch.hosts
