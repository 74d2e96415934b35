"""Task pages that came with their HITs, at signed addresses that look at no cookie."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from marketplace import frame
from marketplace.html import policies
from marketplace.html.documents import task_document
from marketplace.models import HIT, Holding
from marketplace.questionform.parsing import Form
from marketplace.questions import HTMLQuestion
from marketplace.submission import UNKNOWN, draw_form, for_frames, refused, site_url

ENDED = "This assignment is no longer in progress: it was submitted or returned, or its time is over."
GONE = "This preview has grown old. Load the page around it again."
View = Callable[[HttpRequest, str], HttpResponse]


def _task_view(view: View) -> Callable[..., HttpResponseBase]:
    """A page in the worker's frame, made again each time; what is not a task page is a refusal of ours."""
    return require_safe(never_cache(xframe_options_exempt(for_frames(view))))


@_task_view
def signed_task(request: HttpRequest, signature: str) -> HttpResponse:
    """The task page of somebody who holds the assignment that the signature names."""
    pk = frame.holding_of(signature)
    holdings = Holding.objects.select_related("hit__batch", "hit__hit_type", "worker").defer("answer")
    holding = holdings.filter(pk=pk).first() if pk is not None else None
    if holding is None:
        return refused(request, "This is not the address of an assignment", UNKNOWN, status=404)
    if holding.state != Holding.State.ACCEPTED:
        return refused(request, "There is nothing to do here", ENDED, status=410)
    submit_url = f"{frame.submit_to(holding=holding, base_url=site_url(request))}/mturk/externalSubmit"
    return _task(request, holding.hit, submit_url=submit_url)


@_task_view
def signed_preview(request: HttpRequest, signature: str) -> HttpResponse:
    """The task page of a HIT for somebody who may look at it; nothing can be sent from there."""
    pk = frame.previewed_hit(signature)
    hit = HIT.objects.select_related("batch", "hit_type").filter(pk=pk).first() if pk is not None else None
    if hit is None:
        return refused(request, "There is no preview at this address", GONE, status=404)
    return _task(request, hit, submit_url="")


def _task(request: HttpRequest, hit: HIT, *, submit_url: str) -> HttpResponse:
    question = frame.question(hit)
    if isinstance(question, Form):
        return draw_form(request, question, title=hit.hit_type.title, submit_url=submit_url)
    if not isinstance(question, HTMLQuestion):
        return refused(request, "This task page is not here", UNKNOWN, status=404)
    hosts = hit.batch.hosts if hit.batch else None
    page = task_document(question.html, submit_url=submit_url)
    return HttpResponse(page, headers=policies.headers(hosts, submit_url=submit_url))
