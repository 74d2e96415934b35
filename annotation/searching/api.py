"""The answer as JSON: what the published endpoint takes and gives (paper 001, section 4), and what we add.

A program comes with a key. A page of ours comes with a session, and then with the token that all forms have.
"""

import json
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from annotation.searching.contract import FieldsRefusedError, answer_of, asked_of
from annotation.searching.keys import access_of
from retrieval.errors import EngineError, RetrievalError
from retrieval.selectors import searchable
from web.access import ProjectAccess, on_project


@csrf_exempt
@require_POST
def getanswer(request: HttpRequest, *, project: str) -> HttpResponseBase:
    """Answer the last of `questions`, for a key or a member's session; 400 and 503 have `errors` by field."""
    given = request.headers.get("Authorization", "")
    if not given:
        return csrf_protect(on_project()(_answered))(request, project=project)
    access = access_of(given.removeprefix("Bearer ").strip(), project)
    if access is None:
        return _json({"errors": {"": "This key is not, or not any more, valid for this project."}}, 401)
    return _answered(request, access)


def _answered(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    try:
        asked = asked_of(_body(request), searchable(access.project))
    except FieldsRefusedError as error:
        return _json({"errors": error.faults}, 400)
    try:
        return _json(answer_of(asked), 200)
    except EngineError as error:  # nothing is wrong with what was asked
        return _json({"errors": {"": str(error)}}, 503)
    except RetrievalError as error:
        return _json({"errors": {"questions": str(error)}}, 400)


def _body(request: HttpRequest) -> dict[str, Any]:
    if request.content_type != "application/json":
        raise FieldsRefusedError({"": "Send JSON, with Content-Type: application/json."})
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError, RequestDataTooBig) as error:
        raise FieldsRefusedError({"": "Send a JSON object of less than 2.5 MB."}) from error
    if not isinstance(body, dict):
        raise FieldsRefusedError({"": "Send a JSON object with `questions`."})
    return body


def _json(value: dict[str, Any], status: int) -> JsonResponse:
    return JsonResponse(value, status=status, json_dumps_params={"ensure_ascii": False, "allow_nan": False})
