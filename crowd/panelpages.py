"""Doors of panels: where participants come in and go out again, and where hooks arrive."""

import json
import logging
import time
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from core.crypto import unseal
from crowd import panelmodels
from crowd.adapters.panel import SignatureError, verify_hook
from crowd.models import Endpoint, PanelStudy, PanelSubmission
from crowd.services import panels
from crowd.services.deals import NoWork, NoWorkError, deal
from crowd.services.endpoints import PRESETS
from crowd.services.panels import ArrivalError, confirm_arrival
from crowd.sources import stage_at
from crowd.taskpage import may_knock
from people import consents
from people.models import ConsentText
from web.languages import wanted_languages

logger = logging.getLogger(__name__)
_SALT, _CONSENT_SALT = "crowd.panel", "crowd.panel.consent"
#: Where people go on with a completion code; a rehearsal's panel has the page at its own address.
_COMPLETE = "/submissions/complete?cc={code}"
#: The largest body of a hook that is read.
_LARGEST_HOOK = 64_000
#: How a person's visit ends when there is no work for them.
_ENDINGS = {
    NoWork.CLOSED: panelmodels.NOTHING_LEFT,
    NoWork.NOTHING_LEFT: panelmodels.NOTHING_LEFT,
    NoWork.LIMIT: panelmodels.NOTHING_LEFT,
    NoWork.EXCLUDED: panelmodels.SCREENED_OUT,
}


def _study(key: UUID) -> PanelStudy:
    studies = PanelStudy.objects.select_related("stage__project", "stage__endpoint", "endpoint").filter(
        key=key
    )
    study = studies.first()
    if study is None:
        raise Http404("There is no such study.")
    study.stage = stage_at(study.stage, study.endpoint)
    return study


@require_safe
@never_cache
def enter(request: HttpRequest, key: UUID) -> HttpResponse:
    """A participant comes: who it is, is asked of the panel; then the task, or why there is none."""
    study = _study(key)
    if not may_knock(request):
        return _sorry(
            request,
            gettext("Too many people came from your network just now. Wait a minute, then reload."),
            429,
        )
    who, which, what = panels.panel_of(study.endpoint).parameters
    try:
        submission = confirm_arrival(
            study,
            participant=request.GET.get(who, ""),
            study_ref=request.GET.get(which, ""),
            submission=request.GET.get(what, ""),
            token=request.GET.get("prolific_token", ""),
        )
    except ArrivalError as error:
        return _sorry(request, str(error), 403)
    if submission.consented_at is None:
        return _consent_page(request, study, submission)
    return _begin(study, submission)


def _consent_page(request: HttpRequest, study: PanelStudy, submission: PanelSubmission) -> HttpResponse:
    text = consents.text_of_project(study.stage.project, wanted_languages(request))
    return render(
        request,
        "crowd/panel_consent.html",
        {
            "stage": study.stage,
            "key": study.key,
            "text": text,
            "body": consents.render_text(text.body),
            "own_texts": consents.own_kinds(),
            "state": signing.dumps(submission.external_id, salt=_CONSENT_SALT),
        },
    )


@csrf_exempt
@require_POST
@never_cache
def consent(request: HttpRequest, key: UUID) -> HttpResponse:
    """Agree, or not; the signed state of the page says who."""
    study = _study(key)
    try:
        external_id = signing.loads(request.POST.get("state", ""), salt=_CONSENT_SALT)
    except signing.BadSignature as error:
        raise Http404("There is no such page.") from error
    submission = get_object_or_404(PanelSubmission, study=study, external_id=external_id)
    if request.POST.get("agree") != "yes":
        return HttpResponseRedirect(_ending(study, submission.external_id, panelmodels.NO_CONSENT))
    number = request.POST.get("text", "")
    text = get_object_or_404(
        ConsentText,
        pk=number if number.isdigit() else 0,
        project=study.stage.project_id,
        kind=ConsentText.Kind.CONSENT,
    )
    panels.agree(submission, text)
    return _begin(study, submission)


def _begin(study: PanelStudy, submission: PanelSubmission) -> HttpResponse:
    try:
        dealt = deal(
            study.stage,
            worker_id=submission.participant,
            session=submission.external_id,
            submit_to=settings.TASK_URL + _ending(study, submission.external_id, panelmodels.COMPLETED),
        )
    except NoWorkError as error:
        return HttpResponseRedirect(_ending(study, submission.external_id, _ENDINGS[error.reason]))
    return HttpResponseRedirect(dealt.task_address)


def _ending(study: PanelStudy, submission: str, outcome: str) -> str:
    signed = signing.dumps([submission, outcome], salt=_SALT)
    return reverse("crowd:panel_done", args=[study.key, signed])


@require_safe
@never_cache
def leave(request: HttpRequest, key: UUID, signed: str) -> HttpResponse:
    """The end of a visit: the completion code of its outcome, and the way back to the panel."""
    study = _study(key)
    try:
        _, outcome = signing.loads(signed, salt=_SALT)
    except (signing.BadSignature, ValueError) as error:
        raise Http404("There is no such page.") from error
    code = study.codes[outcome]
    is_known = study.endpoint.protocol == Endpoint.Protocol.PROLIFIC or outcome == panelmodels.COMPLETED
    return render(
        request,
        "crowd/completed.html",
        {
            "code": code if is_known else "",
            "completed": outcome == panelmodels.COMPLETED,
            "screened_out": outcome == panelmodels.SCREENED_OUT,
            "refused": outcome == panelmodels.NO_CONSENT,
            "address": _way_back(study.endpoint, code),
            "panel": study.endpoint.label,
        },
    )


def _way_back(endpoint: Endpoint, code: str) -> str:
    """Where the person goes on with a code: the panel's site, or the simulated panel's; empty if unknown."""
    address, site = endpoint.url.rstrip("/"), panels.panel_of(endpoint).site
    if site and address != PRESETS[endpoint.protocol].url:
        site = address
    return site and site + _COMPLETE.format(code=code)


def _sorry(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    context = {"title": gettext("You cannot go on here"), "sentence": sentence, "back": ""}
    return render(request, "crowd/refused.html", context, status=status)


@csrf_exempt
@require_POST
def hook(request: HttpRequest, endpoint: str) -> HttpResponse:
    """Take a panel's hook: its signature over the raw body first, then the event, once; then 200."""
    row = Endpoint.objects.filter(name=endpoint, protocol__in=Endpoint.PANELS).first()
    if row is None or not row.hook_secret_sealed:
        raise Http404("No hooks are expected here.")
    if int(request.META.get("CONTENT_LENGTH") or 0) > _LARGEST_HOOK:
        return JsonResponse({"error": "The body is too large."}, status=413)
    body = request.body
    try:
        verify_hook(
            secret=unseal(row.hook_secret_sealed, purpose=panels.HOOK_SEALED_FOR) or "",
            timestamp=request.headers.get("X-Prolific-Request-Timestamp", ""),
            body=body,
            signature=request.headers.get("X-Prolific-Request-Signature", ""),
            now=time.time(),
        )
        event = json.loads(body)
        resource, event_type = str(event["resource_id"]), str(event["event_type"])
    except SignatureError as error:
        logger.warning("A hook for %s was refused: %s", row.name, error)
        return JsonResponse({"error": str(error)}, status=401)
    except (ValueError, KeyError, TypeError):
        return JsonResponse({"error": "The body is not a hook of the contract."}, status=400)
    event_id = request.headers.get("X-Event-ID", "") or f"{resource} {event_type}"
    new = panels.take_hook(row, event_id=event_id, event_type=event_type, resource=resource)
    return JsonResponse({"taken": new})
