"""The page that workers see in the marketplace's frame: open a task, save a draft, finish.

There is no cookie and no session, and nothing that a browser sent is trusted before it was made safe to
store. Around what a kind shows of a unit, the page has a ticket and names of its own for the fields.
"""

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, TypeVar

from csp.decorators import csp_replace
from django.core import signing
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    JsonResponse,
    UnreadablePostError,
)
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe
from django_stubs_ext import StrOrPromise

from core.accounts.security import address_of, neighbourhood
from core.errors import logged_failure
from core.rates import limits
from crowd.adapters import registry
from crowd.adapters.base import Arrival
from crowd.errors import TooLongError, WorkRefusedError
from crowd.kinds import Page, kind_of
from crowd.models import Assignment, Endpoint, Hit, Picture, Stage
from crowd.services.arrivals import RETURN_IT, arrive, note_proof, units_of
from crowd.services.instructions import in_language, language_for, note_language, stage_as_seen
from crowd.services.pictures import render_instructions
from crowd.services.responses import REMEMBERED, keep_draft, page_seed, receipt_fields, store_response
from people.task_foot import foot_of
from web.languages import keep_language, wanted_languages

#: Text that no database column takes: the NUL character, and halves of characters outside the first plane.
_NUL = "\0"
_HALVES = re.compile("[\ud800-\udfff]")


class UnreadableError(Exception):
    """What arrived is no form, or no draft, or too large to be read at all."""


def clean(text: str) -> str:
    """The text without what cannot be stored; a form's line ends become those of a draft."""
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text.replace(_NUL, "").replace("\r\n", "\n"))


def form_of(request: HttpRequest) -> dict[str, str]:
    """The fields of a posted form; of a name that comes twice, the last."""
    try:
        return {clean(name): clean(str(value)) for name, value in request.POST.items()}
    except (SuspiciousOperation, MultiPartParserError, BadRequest, UnreadablePostError) as error:
        raise UnreadableError from error


def draft_of(request: HttpRequest) -> tuple[dict[str, str | None], dict[str, Any]]:
    """The changed fields of a draft, None for those taken away, and the page's measures."""
    try:
        body = json.loads(request.body)
        fields, telemetry = body["fields"].items(), dict(body.get("telemetry", {}))
    except (SuspiciousOperation, UnreadablePostError, RecursionError) as error:
        raise UnreadableError from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError from error
    return {
        clean(name): None if value is None else clean(value)
        for name, value in fields
        if value is None or isinstance(value, str)
    }, cleaned(telemetry)


def telemetry_of(form: Mapping[str, str]) -> dict[str, Any]:
    """The measures in the form's hidden field; none without a script, or where somebody wrote it."""
    try:
        return cleaned(dict(json.loads(form.get("telemetry") or "{}")))
    except (ValueError, TypeError, RecursionError):
        return {}


def cleaned(telemetry: Mapping[str, Any]) -> dict[str, Any]:
    """Measures with the name of their visit made storable."""
    visit = telemetry.get("visit", "")
    return {**telemetry, "visit": clean(visit) if isinstance(visit, str) else ""}


def of_unit(form: Mapping[str, str], unit: str) -> dict[str, str]:
    """The fields of one unit, without their prefix."""
    prefix = f"{unit}|"
    return {name.removeprefix(prefix): value for name, value in form.items() if name.startswith(prefix)}


# What the fields of a unit are called in the page.

# A task as a page

_Value = TypeVar("_Value")


def names_in_page(hit: Hit, units: Sequence[str]) -> dict[str, str]:
    """By unit, what is before the bar in the names of its fields: its place in the HIT.

    Nothing that a worker's browser receives has the unit itself, whose name says whether it is a check and in
    what order things were stored.
    """
    places = dict(hit.units.values_list("unit", "position"))
    return {unit: str(places[unit]) for unit in units if unit in places}


def with_places(hit: Hit, fields: Mapping[str, _Value]) -> dict[str, _Value]:
    """Fields as pages name them now; some may come from a page that still named them after their units."""
    old = {name for name in fields if name.partition("|")[0] and not name.partition("|")[0].isdecimal()}
    if not any("|" in name for name in old):
        return dict(fields)
    places = dict(hit.units.values_list("unit", "position"))
    renamed = {name: _with_place(name, places) if name in old else name for name in fields}
    return {renamed[name]: value for name, value in fields.items()}


def _with_place(name: str, places: Mapping[str, int]) -> str:
    unit, bar, rest = name.partition("|")
    return f"{places[unit]}{bar}{rest}" if bar and unit in places else name


# What a task page carries instead of a cookie: signed, for one assignment, with the address to finish at.

_SALT = "crowd.taskpage"


@dataclass(frozen=True, slots=True)
class Ticket:
    """An assignment's key, where its finished form goes, and whose it is should its row be removed."""

    assignment_pk: int
    submit_to: str
    submission: str = ""
    worker: str = ""


def write_ticket(ticket: Ticket) -> str:
    """The ticket as text for a hidden field or a header."""
    return signing.dumps(list(astuple(ticket)), salt=_SALT)


def read_ticket(text: str, *, max_age_s: int) -> Ticket | None:
    """The ticket again; None where it is not ours or too old."""
    try:
        return Ticket(*signing.loads(text, salt=_SALT, max_age=max_age_s))
    except (signing.BadSignature, ValueError, TypeError):
        return None


#: A field of the page's own in drafts, beside those of the units.
SHORTCUTS = "|shortcuts"


@dataclass(frozen=True, slots=True)
class WorkerForm:
    """Somebody at work: their fields (those of the draft without others), and what is wrong with them."""

    assignment: Assignment
    ticket: Ticket
    values: Mapping[str, str] | None = None
    errors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    alarm: str = ""


@dataclass(frozen=True, slots=True)
class FormValues:
    """The fields of a page as they are, by their names in it, and by unit what is wrong with them."""

    values: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """A line of the summary: the mark to jump to, which unit it is, and the sentence."""

    mark: str
    number: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What a unit goes by in the page: the name before those of its fields, and what its ids begin with."""

    name: str
    id: str


def task_page(
    request: HttpRequest,
    hit: Hit,
    units: Sequence[str],
    *,
    worker_form: WorkerForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page of a HIT: for the worker at work, or without one as a preview that takes nothing."""
    values = (
        (worker_form.assignment.draft if worker_form.values is None else worker_form.values)
        if worker_form
        else {}
    )
    filled = FormValues(values, worker_form.errors if worker_form else {})
    context = {
        "address": keep_language(request, reverse("crowd:task", args=[hit.key])),
        "drafts": reverse("crowd:draft", args=[hit.key]),
        "alarm": worker_form.alarm if worker_form else "",
        "preview": worker_form is None,
        "ticket": write_ticket(worker_form.ticket) if worker_form else "",
        "foot": foot_of(worker_form.ticket.submit_to) if worker_form and hit.endpoint.deals_work else None,
    }
    names_by_unit = names_in_page(hit, units)
    names = {unit: names_by_unit[unit] for unit in units}
    if worker_form:
        stage, seed = stage_as_seen(worker_form.assignment), page_seed(worker_form.assignment)
    else:
        stage = in_language(hit.stage, language_for(hit.stage, wanted_languages(request)))
        seed = stage.seed
    return _page(request, stage, names, filled, about=context, status=status, seed=seed)


def trial_page(
    request: HttpRequest,
    stage: Stage,
    names: Mapping[str, str],
    filled: FormValues,
    *,
    preview: bool = False,
    status: int = 200,
) -> HttpResponse:
    """The page as the worker at work has it, of the units named here, for somebody who only tries it.

    It has no ticket and saves no drafts; it goes back to the address that it came from. As a `preview` it
    takes nothing.
    """
    context = {"address": request.path, "trial": True, "preview": preview}
    return _page(request, stage, names, filled, about=context, status=status, seed=stage.seed)


def _page(
    request: HttpRequest,
    stage: Stage,
    names: Mapping[str, str],
    filled: FormValues,
    *,
    about: Mapping[str, Any],
    status: int,
    seed: int,
) -> HttpResponse:
    values, errors, units = filled.values, filled.errors, list(names)
    preview = bool(about.get("preview"))
    pages = kind_of(stage).pages(stage, units, seed)
    parts = [
        _unit(
            pages[unit],
            Mark(names[unit], f"u{number}-"),
            values,
            errors.get(unit, {}),
            preview=preview,
            language=stage.text_language,
        )
        for number, unit in enumerate(units, 1)
    ]
    problems = [
        Problem(f"u{number}-{name}-error", number, sentence)
        for number, unit in enumerate(units, 1)
        for name, sentence in errors.get(unit, {}).items()
    ]
    context = {
        **about,
        "stage": stage,
        "texts_language": stage.text_language or stage.project.language,
        "units": parts,
        "instructions": [
            render_instructions(stage, text)
            for text in dict.fromkeys(page.instructions for page in pages.values() if page.instructions)
        ],
        "problems": problems,
        "steps": len(units) > 1 and all(page.steps for page in pages.values()),
        "shortcuts": values.get(SHORTCUTS) != "off",
    }
    return render(request, "crowd/task.html", context, status=status)


def _unit(
    page: Page,
    mark: Mark,
    values: Mapping[str, str],
    errors: Mapping[str, str],
    *,
    preview: bool,
    language: str,
) -> SafeString:
    return render_to_string(
        page.template,
        {
            **page.context,
            "prefix": f"{mark.name}|",
            "id": mark.id,
            "values": of_unit(values, mark.name),
            "errors": errors,
            "preview": preview,
            "own_lang": format_html(' lang="{}"', language) if language else "",
        },
    )


_SUBMIT_TO = re.compile(
    r"(?P<origin>https?://[a-z0-9.-]+(?::[0-9]{1,5})?|https?://\[[0-9a-f:]+\](?::[0-9]{1,5})?)"
    r"(?P<path>(?:/[A-Za-z0-9_:=~-][A-Za-z0-9_.:=~-]*)*)",
    re.IGNORECASE,
)


def known_origin(submit_to: str, allowed: Iterable[str]) -> str | None:
    """The origin of an address where it is one of `allowed`, to the letter; None otherwise.

    An address with a user's name, a backslash, a query, dots that climb or white space is never understood.
    """
    match = _SUBMIT_TO.fullmatch(submit_to)
    if match is None:
        return None
    origin = match["origin"].lower()
    return origin if origin in {each.lower().rstrip("/") for each in allowed} else None


# How often an address may knock

#: Per address, or /64 of IPv6: tasks opened, and bytes of drafts, within so many seconds.
WITHIN_SECONDS = 60
MOST_ARRIVALS = 60
MOST_ARRIVALS_AT_ONE_HIT = 20
MOST_SAVED = 4_000_000


def may_arrive(request: HttpRequest, hit: Hit) -> bool:
    """Whether this address may open one more task."""
    address = neighbourhood(address_of(request.META))
    in_all = _more(f"arrivals:{address}", 1) <= MOST_ARRIVALS
    return _more(f"arrivals:{address}:{hit.pk}", 1) <= MOST_ARRIVALS_AT_ONE_HIT and in_all


def may_knock(request: HttpRequest) -> bool:
    """Whether this address may come in by a panel's door once more: each asks the panel who it is."""
    return _more(f"knocks:{neighbourhood(address_of(request.META))}", 1) <= MOST_ARRIVALS


def may_save(request: HttpRequest) -> bool:
    """Whether this address may save one more draft."""
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    return _more(f"drafts:{neighbourhood(address_of(request.META))}", length) <= MOST_SAVED


def network_of(request: HttpRequest, hit: Hit) -> str:
    """A digest of where a request comes from: equal within a HIT, never to be compared between HITs."""
    network = neighbourhood(address_of(request.META))
    return salted_hmac("crowd.arrivals", f"{hit.pk} {network}", algorithm="sha256").hexdigest()[:32]


def _more(name: str, amount: int) -> int:
    return limits().count(name, amount, within_s=WITHIN_SECONDS)


# Open a task, save a draft, finish

logger = logging.getLogger(__name__)

State = Assignment.State
#: A page that was open so much longer than the time allowed cannot be sent any more.
_GRACE_S = 24 * 3600
_AGAIN = gettext_lazy("Open the HIT again from your queue at the marketplace; what was saved is still there.")
_OPEN_TOO_LONG = gettext_lazy("This page was open for too long, or its form was changed on the way.")
_NOT_YOURS = gettext_lazy("This HIT is no longer yours: it was returned, or its time is over.")
_CANNOT = gettext_lazy("You cannot do this one")
_NOTHING_SENT = gettext_lazy("Nothing was sent")
_TOO_MANY = gettext_lazy(
    "Too much was opened or saved from your network just now. Wait a minute, then try again."
)
_UNREADABLE = gettext_lazy(
    "The form did not arrive as it should, so nothing was stored. It may be far too "
    "long: go back in your "
    "browser, shorten what you wrote, and send it again."
)


def _framed(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """A page inside a marketplace's frame: no cookie, no CSRF token; which frames is said per endpoint.

    Whatever goes wrong, the frame shows words: the usual error pages may not be framed and would stay blank.
    """

    @csrf_exempt
    @never_cache
    @xframe_options_exempt
    def framed(request: HttpRequest, key: str) -> HttpResponseBase:
        hit = (
            Hit.objects.select_related("stage__project", "stage__endpoint", "source__endpoint")
            .filter(key=key)
            .first()
        )
        origins = _origins(hit)

        def answered(request: HttpRequest) -> HttpResponse:
            if hit is None:
                return _refused(
                    request, gettext("There is no such task, or not any more.") + f" {RETURN_IT}", status=404
                )
            # The site's error page may not be framed, so a fault gets a page of ours.
            with logged_failure(logger, "The task page of HIT %s failed", hit.key):
                return view(request, hit)
            return _refused(
                request,
                gettext("It is our mistake, and nothing you saved is lost.")
                + f" {_AGAIN} "
                + gettext("If this comes back, return the HIT and write to its requester."),
                title=gettext("Something went wrong"),
                back=_home(hit),
                status=500,
            )

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
        allowed: Callable[..., HttpResponseBase] = csp_replace(policy)(answered)
        return allowed(request)

    return framed


def _origins(hit: Hit | None) -> list[str]:
    """Origins that may frame the page: of the HIT's endpoint, or of all where there is no such HIT."""
    endpoints = [hit.endpoint] if hit else Endpoint.objects.all()
    return list(dict.fromkeys(str(origin) for each in endpoints for origin in each.form_origins))


@require_safe
@cache_control(private=True, immutable=True, max_age=31_536_000)
def picture(request: HttpRequest, sha256: str, name: str) -> HttpResponse:
    """A picture that instructions show; its address has what is in it, so that it never changes."""
    row = Picture.objects.filter(sha256=sha256, name=name).first()
    if row is None:
        raise Http404
    return HttpResponse(bytes(row.content), content_type=row.media_type)


@require_http_methods(["GET", "HEAD", "POST"])
@_framed
def task(request: HttpRequest, hit: Hit) -> HttpResponse:
    """GET shows the task, POST takes the answer."""
    return _finish(request, hit) if request.method == "POST" else _open(request, hit)


def _open(request: HttpRequest, hit: Hit) -> HttpResponse:
    arrival = registry.adapter(hit.endpoint).arrival(request.GET.dict())
    if arrival.is_preview:
        units = list(hit.units.order_by("position").values_list("unit", flat=True))
        return task_page(request, hit, units)
    origin = known_origin(arrival.submit_to, hit.endpoint.form_origins)
    if origin is None:
        return _refused(
            request,
            gettext(
                "The address of this page asks to send your work to a place we do not know, "
                "so the task was not "
                "opened and nothing was sent. Open the HIT again from your queue at the marketplace."
            ),
            back=_home(hit),
            status=400,
        )
    if arrival.proven:
        if not hit.endpoint.deals_work:
            note_proof(hit.endpoint)
    elif not may_arrive(request, hit):
        return _refused(request, _TOO_MANY, back=origin, status=429)
    try:
        arrived = arrive(
            hit=hit,
            external_id=arrival.submission,
            worker_id=arrival.worker,
            listing=arrival.listing,
            proven=arrival.proven,
            network=network_of(request, hit),
        )
    except WorkRefusedError as error:
        return _refused(request, str(error), back=origin)
    ticket = Ticket(arrived.assignment.pk, arrival.submit_to, arrival.submission, arrival.worker)
    if arrived.assignment.response is not None:
        return _hand_over(request, arrived.assignment, ticket)
    note_language(arrived.assignment, wanted_languages(request))
    return task_page(request, hit, arrived.units, worker_form=WorkerForm(arrived.assignment, ticket))


def _finish(request: HttpRequest, hit: Hit) -> HttpResponse:
    try:
        form = form_of(request)
    except UnreadableError:
        return _refused(request, _UNREADABLE, title=_NOTHING_SENT, back=_home(hit), status=413)
    assignment_and_ticket = _assignment_of(request, form.get("ticket", ""), hit)
    if assignment_and_ticket is None:
        return _refused(request, f"{_OPEN_TOO_LONG} {_AGAIN}", title=_NOTHING_SENT, back=_home(hit))
    assignment, ticket = assignment_and_ticket
    back = known_origin(ticket.submit_to, hit.endpoint.form_origins) or ""
    if assignment.state in (State.ENDED, State.QUARANTINED):
        try:
            assignment = arrive(
                hit=hit,
                external_id=assignment.external_id,
                worker_id=assignment.worker.external_id,
                resuming=True,
                proven=assignment.proven,
                network=network_of(request, hit),
            ).assignment
        except WorkRefusedError as error:
            return _refused(request, str(error), title=_NOTHING_SENT, back=back, status=409)
    if assignment.response is None:
        page = _store(request, assignment, ticket, form)
        if page is not None:
            return page
        assignment.refresh_from_db()
    if assignment.response is None:
        return _refused(request, f"{_NOT_YOURS} {RETURN_IT}", title=_NOTHING_SENT, back=back, status=409)
    return _hand_over(request, assignment, ticket)


def _store(
    request: HttpRequest, assignment: Assignment, ticket: Ticket, form: Mapping[str, str]
) -> HttpResponse | None:
    """Keep the form, and where it is complete store it as the answer; a page where something is to mend."""
    hit, units, stage = assignment.hit, units_of(assignment), stage_as_seen(assignment)
    kind = kind_of(stage)
    form = with_places(hit, form)
    try:
        is_saved = keep_draft(
            assignment,
            {name: value for name, value in form.items() if "|" in name},
            telemetry_of(form),
            replaces_all=True,
        )
    except TooLongError as error:
        worker_form = WorkerForm(assignment, ticket, values=form, alarm=str(error))
        return task_page(request, hit, units, worker_form=worker_form, status=413)
    if not is_saved:
        return None
    names = names_in_page(hit, units)
    saved_draft = assignment.draft
    parsed = {unit: kind.parse(stage, unit, of_unit(saved_draft, names[unit])) for unit in units}
    errors = {unit: result.errors for unit, result in parsed.items() if not result.good}
    if errors:
        remembered = {
            f"{names[unit]}|{REMEMBERED}{name}": value
            for unit, result in parsed.items()
            for name, value in result.remember.items()
        }
        if remembered:
            keep_draft(assignment, remembered, ours=True)
        return task_page(
            request, hit, units, worker_form=WorkerForm(assignment, ticket, errors=errors), status=422
        )
    responses: dict[str, Any] = {unit: result.response for unit, result in parsed.items()}
    store_response(assignment, responses, at=timezone.now(), states=[State.WORKING])
    return None


@require_http_methods(["POST", "OPTIONS"])
@_framed
def draft(request: HttpRequest, hit: Hit) -> HttpResponse:
    """Keep what the worker has so far, and what their browser measured; never the keys themselves.

    A marketplace may frame the page without an origin of its own; the ticket is the only credential, so any
    origin may call.
    """
    answer = HttpResponse(status=204) if request.method == "OPTIONS" else _keep(request, hit)
    answer["Access-Control-Allow-Origin"] = "*"
    answer["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
    answer["Access-Control-Max-Age"] = "600"
    return answer


def _keep(request: HttpRequest, hit: Hit) -> HttpResponse:
    ticket = request.headers.get("Authorization", "").removeprefix("Ticket ")
    assignment_and_ticket = _assignment_of(request, ticket, hit)
    if assignment_and_ticket is None:
        return JsonResponse({"error": gettext("This page was open for too long to be saved.")}, status=403)
    if not assignment_and_ticket[0].proven and not may_save(request):
        return JsonResponse({"error": _TOO_MANY}, status=429)
    is_new_row = (
        assignment_and_ticket[0].pk != assignment_and_ticket[1].assignment_pk
        and not assignment_and_ticket[0].draft
    )
    try:
        changes, telemetry = draft_of(request)
        is_saved = keep_draft(assignment_and_ticket[0], with_places(hit, changes), telemetry)
    except UnreadableError:
        return JsonResponse({"error": "Send fields and telemetry as JSON."}, status=400)
    except TooLongError as error:
        return JsonResponse({"error": str(error)}, status=413)
    if not is_saved:
        return JsonResponse({"error": gettext("This HIT is sent already, or no longer yours.")}, status=409)
    # A row that made way and was made again has only these changes: the page sends the rest after them.
    return JsonResponse({"kept": True} | ({"send_all": True} if is_new_row else {}))


def _assignment_of(request: HttpRequest, text: str, hit: Hit) -> tuple[Assignment, Ticket] | None:
    ticket = read_ticket(text, max_age_s=hit.stage.work_seconds + _GRACE_S)
    if ticket is None:
        return None
    assignment = (
        Assignment.objects.select_related(
            "stage__project", "stage__endpoint", "hit__stage", "worker__endpoint"
        )
        .filter(pk=ticket.assignment_pk, hit=hit)
        .first()
    )
    if assignment is None and ticket.submission:
        assignment = _begun_again(request, hit, ticket)
    return (assignment, ticket) if assignment else None


def _begun_again(request: HttpRequest, hit: Hit, ticket: Ticket) -> Assignment | None:
    """The assignment of a ticket whose row was removed: nothing proved it, and others arrived since."""
    try:
        return arrive(
            hit=hit,
            external_id=ticket.submission,
            worker_id=ticket.worker,
            resuming=True,
            proven=False,
            network=network_of(request, hit),
        ).assignment
    except WorkRefusedError:
        return None


def _hand_over(request: HttpRequest, assignment: Assignment, ticket: Ticket) -> HttpResponse:
    """Our record is stored; now the worker's browser gives the marketplace its receipt.

    Where the marketplace has it already, there is nothing to send.
    """
    if assignment.state != State.STORED and not assignment.endpoint.deals_work:
        sentence = gettext(
            "You have sent this HIT already. Your answer is stored, and the marketplace has it too."
        )
        back = known_origin(ticket.submit_to, assignment.endpoint.form_origins) or ""
        return render(
            request, "crowd/refused.html", {"title": gettext("All done"), "sentence": sentence, "back": back}
        )
    arrival = Arrival("", assignment.external_id, assignment.worker.external_id, ticket.submit_to, False)
    form = registry.adapter(assignment.endpoint).finish(arrival, receipt_fields(assignment))
    if not form.fields:
        return HttpResponseRedirect(form.url)
    return render(request, "crowd/handover.html", {"form": form})


def _home(hit: Hit) -> str:
    """The marketplace's origin, where we know one."""
    return next(iter(hit.endpoint.form_origins), "")


def _refused(
    request: HttpRequest,
    sentence: StrOrPromise,
    *,
    title: StrOrPromise = _CANNOT,
    back: str = "",
    status: int = 403,
) -> HttpResponse:
    """Why not, and what to do; with a way back to the marketplace whose origin is `back`."""
    context = {"title": title, "sentence": sentence, "back": back}
    return render(request, "crowd/refused.html", context, status=status)
