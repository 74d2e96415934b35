"""Work by people who came by a study link: the page of a HIT without an account, a session or a cookie.

The signature in the path names one assignment; who has it may do that one. When it is over, the browser goes
back to the study, which leads to the next HIT or to the end.
"""

from collections.abc import Callable
from contextlib import suppress

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import Holding
from marketplace.services import hits, traces
from marketplace.site.views.work import WorkPage, read_counts, record_storage, show_work
from marketplace.sweep import settle
from marketplace.taskpages import guest_address, guest_holding
from people.models import StudyLink
from people.tokens import sign_visit, token_of

State = Holding.State
_ROWS = Holding.objects.select_related("worker", "hit__hit_type__requester", "visit__link").defer("answer")
View = Callable[..., HttpResponse]


def _of_guest(view: View) -> View:
    """The view gets the assignment that the path names. A form needs no token: the path is the credential."""

    @csrf_exempt
    @never_cache
    def guarded(request: HttpRequest, signature: str) -> HttpResponse:
        pk = guest_holding(signature)
        holding = _ROWS.filter(pk=pk, visit__isnull=False).first() if pk is not None else None
        if holding is None:
            raise Http404("There is no such assignment.")
        return view(request, holding)

    return guarded


@require_safe
@_of_guest
def work(request: HttpRequest, holding: Holding) -> HttpResponse:
    """The requester's task page in its frame, with the time that is left."""
    now = clock.now()
    if holding.state == State.ACCEPTED and holding.deadline <= now:
        settle(now=now, hits=[holding.hit])
        holding.refresh_from_db(fields=["state"])
    if holding.state != State.ACCEPTED:
        return _go_on(holding)
    going_on = guest_address(holding, "continue")
    page = WorkPage(
        other_work=going_on,
        going_on=going_on,
        attention=guest_address(holding, "attention"),
        storage=guest_address(holding, "storage"),
        give_back=guest_address(holding, "return"),
        pay=_pay(holding),
        own_work=_study_address(holding, "work"),
        guest=True,
    )
    return show_work(request, holding, page, now=now)


@require_safe
@_of_guest
def going_on(request: HttpRequest, holding: Holding) -> HttpResponse:
    """Back to the study: to the next HIT, or to the end."""
    return _go_on(holding)


def _pay(holding: Holding) -> str:
    """What people get in place of the reward; empty where the reward is paid."""
    if not holding.unpaid or holding.visit is None:
        return ""
    link = holding.visit.link
    nothing = link.compensation == StudyLink.Compensation.NOTHING
    return "Without pay" if nothing else link.get_compensation_display()


def _study_address(holding: Holding, page: str) -> str:
    """A page of the study. The browser that joined has rights in its cookie; the address carries none."""
    visit = holding.visit
    assert visit is not None
    token, state = token_of(visit.link), sign_visit(visit, trusted=False)
    if page == "next":
        path = reverse("join:handed_over", args=[token, state])
    else:
        path = f"{reverse(f'join:{page}', args=[token])}?{urlencode({'v': state})}"
    return f"{settings.TASK_URL if settings.PUBLIC_URL else ''}{path}"


def _go_on(holding: Holding) -> HttpResponse:
    return redirect(_study_address(holding, "next"))


@require_POST
@_of_guest
def give_back(request: HttpRequest, holding: Holding) -> HttpResponse:
    """Return the HIT unfinished; it is not offered to the person again."""
    with suppress(Refusal):  # submitted or over meanwhile: the study knows where to go on
        hits.return_assignment(holding=holding)
    return redirect(guest_address(holding, "continue"))


@require_POST
@_of_guest
def attention(request: HttpRequest, holding: Holding) -> HttpResponse:
    """What the browser counted on the working page."""
    counts = read_counts(request)
    if holding.state in Holding.OCCUPYING and any(counts.values()):
        traces.note_counts(holding=holding, **counts)
    return HttpResponse(status=204)


@require_POST
@_of_guest
def keep_storage(request: HttpRequest, holding: Holding) -> HttpResponse:
    """What a task page changed in the storage that is lent to it."""
    if holding.state not in Holding.OCCUPYING:
        raise Http404("The assignment is over.")
    return record_storage(request, holding)
