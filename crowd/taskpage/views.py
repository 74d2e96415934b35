"""Open a task, save a draft, finish."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from crowd.adapters import registry
from crowd.adapters.base import Arrival
from crowd.errors import WorkRefusedError
from crowd.kinds import kind_of
from crowd.models import Assignment, Hit, Stage
from crowd.services import drafts, receipts
from crowd.services.arrivals import arrive
from crowd.taskpage import tokens
from crowd.taskpage.tokens import Ticket

State = Assignment.State
#: A page that was open so much longer than the time allowed cannot be sent any more.
_GRACE_S = 24 * 3600


def _framed(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """A page inside a marketplace's frame: no cookie, no CSRF token; which frames is said per endpoint."""

    @csrf_exempt
    @never_cache
    @xframe_options_exempt
    def framed(request: HttpRequest, key: str) -> HttpResponseBase:
        hit = Hit.objects.select_related("stage__project", "stage__endpoint").filter(key=key).first()
        if hit is None:
            raise Http404("There is no such task.")
        origins = [str(origin) for origin in hit.stage.endpoint.submit_origins]
        policy = {
            "default-src": ["'none'"],
            "script-src": ["'self'"],
            "style-src": ["'self'"],
            "img-src": ["'self'", "data:"],
            "connect-src": ["'self'"],
            "form-action": ["'self'", *origins],
            "base-uri": ["'none'"],
            "frame-ancestors": ["'self'", *origins],
        }
        allowed: Callable[..., HttpResponseBase] = csp_replace(policy)(view)
        return allowed(request, hit)

    return framed


@require_http_methods(["GET", "HEAD", "POST"])
@_framed
def task(request: HttpRequest, hit: Hit) -> HttpResponse:
    """GET shows the task, POST takes the answer."""
    if request.method == "POST":
        return _finish(request, hit)
    arrival = registry.adapter(hit.stage.endpoint).arrival(request.GET.dict())
    if arrival.is_preview:
        units = list(hit.units.order_by("position").values_list("unit", flat=True))
        return _page(request, hit, None, units, preview=True)
    if _origin(arrival.submit_to) not in hit.stage.endpoint.submit_origins:
        return _refused(
            request,
            "This address asks to send your work to a place we do not know, so it was not opened. "
            "Open the HIT again from the marketplace's own list.",
            status=400,
        )
    try:
        arrived = arrive(hit=hit, external_id=arrival.submission, worker_id=arrival.worker)
    except WorkRefusedError as error:
        return _refused(request, str(error))
    ticket = Ticket(arrived.assignment.pk, arrival.submit_to)
    if arrived.assignment.response is not None:
        return _hand_over(request, arrived.assignment, ticket)
    return _page(request, hit, ticket, arrived.units, values=arrived.assignment.draft)


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _finish(request: HttpRequest, hit: Hit) -> HttpResponse:
    found = _assignment_of(request.POST.get("ticket", ""), hit)
    if found is None:
        return _refused(
            request, "This page was open for too long. Open the HIT again from your queue.", status=403
        )
    assignment, ticket = found
    if assignment.response is not None:
        return _hand_over(request, assignment, ticket)
    if assignment.state != State.WORKING:
        return _refused(
            request, "This HIT is no longer yours: it was returned, or its time is over.", status=409
        )
    units = list(assignment.claims.values_list("unit", flat=True))
    form = request.POST.dict()
    responses: dict[str, Any] = {}
    errors: dict[str, Mapping[str, str]] = {}
    kind = kind_of(hit.stage)
    for unit in units:
        parsed = kind.parse(hit.stage, unit, _fields_of(form, unit))
        if parsed.good:
            responses[unit] = parsed.response
        else:
            errors[unit] = parsed.errors
    drafts.keep(assignment, form)
    if errors:
        arrived = arrive(hit=hit, external_id=assignment.external_id, worker_id=assignment.worker.external_id)
        return _page(request, hit, ticket, arrived.units, values=assignment.draft, errors=errors, status=422)
    receipts.store_response(assignment, responses, at=timezone.now())
    assignment.refresh_from_db(fields=["response", "receipt"])
    return _hand_over(request, assignment, ticket)


@require_POST
@_framed
def draft(request: HttpRequest, hit: Hit) -> HttpResponse:
    """Keep what the worker has so far, and what their browser measured; never the keys themselves."""
    found = _assignment_of(request.headers.get("Authorization", "").removeprefix("Ticket "), hit)
    if found is None:
        return JsonResponse({"error": "This page was open for too long."}, status=403)
    try:
        body = json.loads(request.body)
        fields, telemetry = dict(body["fields"]), dict(body.get("telemetry", {}))
    except (ValueError, KeyError, TypeError):
        return JsonResponse({"error": "Send fields and telemetry as JSON."}, status=400)
    kept = drafts.keep(found[0], {str(name): str(value) for name, value in fields.items()}, telemetry)
    return JsonResponse({"kept": kept}, status=200 if kept else 409)


def _assignment_of(text: str, hit: Hit) -> tuple[Assignment, Ticket] | None:
    ticket = tokens.read(text, max_age_s=hit.stage.work_seconds + _GRACE_S)
    if ticket is None:
        return None
    assignment = (
        Assignment.objects.select_related("stage__project", "stage__endpoint", "hit", "worker")
        .filter(pk=ticket.assignment_pk, hit=hit)
        .first()
    )
    return (assignment, ticket) if assignment else None


def _fields_of(form: Mapping[str, str], unit: str) -> dict[str, str]:
    prefix = f"{unit}|"
    return {name.removeprefix(prefix): value for name, value in form.items() if name.startswith(prefix)}


def _page(
    request: HttpRequest,
    hit: Hit,
    ticket: Ticket | None,
    units: list[str],
    *,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, Mapping[str, str]] | None = None,
    preview: bool = False,
    status: int = 200,
) -> HttpResponse:
    shown = [_unit(hit.stage, unit, values or {}, (errors or {}).get(unit, {}), preview) for unit in units]
    return render(
        request,
        "crowd/task.html",
        {
            "stage": hit.stage,
            "hit": hit,
            "units": shown,
            "errors": sum(len(found) for found in (errors or {}).values()),
            "preview": preview,
            "ticket": tokens.write(ticket) if ticket else "",
        },
        status=status,
    )


def _unit(
    stage: Stage, unit: str, values: Mapping[str, str], errors: Mapping[str, str], preview: bool
) -> SafeString:
    page = kind_of(stage).page(stage, unit, stage.seed)
    return render_to_string(
        page.template,
        {
            **page.context,
            "prefix": f"{unit}|",
            "values": _fields_of(values, unit),
            "errors": errors,
            "preview": preview,
        },
    )


def _hand_over(request: HttpRequest, assignment: Assignment, ticket: Ticket) -> HttpResponse:
    """Our record stands; now the worker's browser gives the marketplace its receipt."""
    arrival = Arrival("", assignment.external_id, assignment.worker.external_id, ticket.submit_to, False)
    form = registry.adapter(assignment.stage.endpoint).finish(arrival, receipts.receipt_fields(assignment))
    return render(request, "crowd/handover.html", {"form": form})


def _refused(request: HttpRequest, sentence: str, *, status: int = 403) -> HttpResponse:
    return render(request, "crowd/refused.html", {"sentence": sentence}, status=status)
