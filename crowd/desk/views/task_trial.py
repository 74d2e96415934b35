"""Try the task: exactly the worker's page, with real units, and nothing of it is stored."""

from csp.decorators import csp_replace, csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods, require_safe

from crowd.desk.access import StageAccess, on_stage
from crowd.errors import CrowdError
from crowd.kinds import kind_of
from crowd.models import Stage
from crowd.services.drafts import is_remembered, roll_back_after, units_to_try
from crowd.taskpage import fields
from crowd.taskpage.fields import UnreadableError
from crowd.taskpage.page import FormValues, trial_page
from web.pages import show

_SELF = "'self'"
_POLICY = {
    "default-src": ["'none'"],
    "script-src": [_SELF],
    "style-src": [_SELF],
    "img-src": [_SELF, "data:"],
    "form-action": [_SELF],
    "base-uri": ["'none'"],
    "frame-ancestors": [_SELF],
}


@require_safe
@csp_update({"frame-src": [_SELF]})
@on_stage()
def trial(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """The task in a frame, wide or as wide as a phone."""
    return show(request, "try.html", access)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@xframe_options_sameorigin
@csp_replace(_POLICY)
@on_stage()
def task(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """GET shows the task, POST says what is missing; neither keeps anything."""
    with roll_back_after():
        try:
            names = units_to_try(access.stage)
        except CrowdError as error:
            return _show_message(request, "This cannot be shown yet", str(error))
        if not names:
            sentence = (
                "There is nothing to ask about yet. Bring what this stage needs; then its first HIT is here."
            )
            return _show_message(request, "No units yet", sentence)
        if request.method == "POST":
            return _read(request, access.stage, names)
        return trial_page(request, access.stage, names, FormValues())


def _read(request: HttpRequest, stage: Stage, names: dict[str, str]) -> HttpResponse:
    """What a worker would read who sent this form."""
    try:
        sent = fields.form_of(request)
    except UnreadableError:
        return _show_message(
            request, "Nothing was read", "The form is far too long.", again=request.path, status=413
        )
    form = {name: value for name, value in sent.items() if "|" in name and not is_remembered(name)}
    kind = kind_of(stage)
    parsed = {unit: kind.parse(stage, unit, fields.of_unit(form, name)) for unit, name in names.items()}
    errors = {unit: result.errors for unit, result in parsed.items() if not result.good}
    if errors:
        return trial_page(request, stage, names, FormValues(form, errors), status=422)
    sentence = (
        "Everything is filled in; a worker's answer would be stored now. This was a trial: nothing was."
    )
    return _show_message(request, "That would be all", sentence, again=request.path)


def _show_message(
    request: HttpRequest, title: str, sentence: str, *, again: str = "", status: int = 200
) -> HttpResponse:
    context = {"title": title, "sentence": sentence, "again": again}
    return render(request, "crowd/tried.html", context, status=status)
