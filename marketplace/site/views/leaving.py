"""A worker's own data as a file, and closing the account."""

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.export.archive import exported
from marketplace.models import Worker
from marketplace.receipts import receipt
from marketplace.services import closing
from marketplace.site.access import for_workers
from marketplace.site.fresh import settle_worker
from marketplace.site.leaving_forms import CloseForm
from marketplace.site.pages import page
from marketplace.site.selectors.leaving import standing


@require_POST
@never_cache
@for_workers
def export(request: HttpRequest, worker: Worker) -> StreamingHttpResponse:
    """Everything about the worker as one archive, sent while it is made."""
    now = clock.now()
    answer = StreamingHttpResponse(exported(worker, now=now), content_type="application/zip")
    name = f"distillery-{worker.worker_id}-{now:%Y-%m-%d}.zip"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters("password")
@for_workers
def close(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What stays and what goes, what is still due, and the form that closes the account."""
    now = clock.now()
    settle_worker(worker, now)
    due = standing(worker)
    form = CloseForm(request.POST or None, request=request, worker=worker)
    if form.is_valid():
        try:
            closed = closing.close(worker=worker)
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            return _gone(request, worker, closed)
    stays = closing.login_stays(worker)
    return page(request, "close.html", worker=worker, now=now, form=form, due=due, login_stays=stays)


def _gone(request: HttpRequest, worker: Worker, closed: closing.Closed) -> HttpResponse:
    if not closed.login_stays:
        logout(request)
    return page(
        request,
        "account_closed.html",
        worker=None,
        now=clock.now(),
        worker_id=worker.worker_id,
        receipt=receipt(worker.worker_id),
        due=standing(worker),
        closed=closed,
    )
