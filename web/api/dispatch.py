"""Answers requests below /api/v1/: finds the operation, and says every refusal as a problem."""

from functools import cache

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLResolver
from django.urls.exceptions import Resolver404
from django.urls.resolvers import RegexPattern
from django.views.decorators.gzip import gzip_page

from core.accounts.security import Actor, acting_as, address_of
from core.origin import Via
from web.api import ROOT, problems
from web.api.operations import api, schema_text
from web.api.problems import ProblemError

#: Where the schema lies.
SCHEMA = f"{ROOT}openapi.json"


@cache
def resolver() -> URLResolver:
    """Finds the operations of an address."""
    patterns, _, namespace = api().urls
    own = [each for each in patterns if getattr(each, "name", "") != "api-root"]
    return URLResolver(RegexPattern(f"^{ROOT}"), own, app_name="ninja", namespace=namespace)


def answer(request: HttpRequest) -> HttpResponseBase:
    """The answer to a request below `ROOT`, whatever it is."""
    with acting_as(lambda: _actor(request), via=Via.API):
        try:
            response = _answer(request)
        except Exception as error:  # every refusal is a problem, and so is what was not expected
            response = problems.handle(request, error)
    response.headers.setdefault("Cache-Control", "no-store")
    if rate := settings.API_REQUESTS_PER_SECOND:
        response.headers["RateLimit-Policy"] = f'"token";q={rate};w=1'
    return response


def _actor(request: HttpRequest) -> Actor:
    caller = getattr(request, "caller", None)
    address = address_of(request.META)
    if caller is None:
        return Actor(address=address)
    return Actor(user=caller.user, access_key=caller.token.prefix, address=address)


def _answer(request: HttpRequest) -> HttpResponseBase:
    request.get_host()
    if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
        raise BadRequest("The character U+0000 is allowed in no text.")
    if request.path_info == SCHEMA:
        return _schema(request)
    try:
        match = resolver().resolve(request.path_info)
    except Resolver404:
        raise ProblemError(
            404, "not_found", "There is no such address; /api/v1/openapi.json has all."
        ) from None
    request.resolver_match = match
    is_head = request.method == "HEAD"
    if is_head:
        request.method = "GET"
        request.only_head = True  # type: ignore[attr-defined]
    response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    if response.status_code == 405 and "Allow" in response.headers:
        return _not_allowed(response.headers["Allow"])
    return _head_of(response) if is_head else response


def _head_of(response: HttpResponseBase) -> HttpResponseBase:
    """The answer without its body; a stream is not read, and only what knows its length says it."""
    if isinstance(response, HttpResponse):
        response.headers.setdefault("Content-Length", str(len(response.content)))
        response.content = b""
        return response
    response.close()
    return HttpResponse(status=response.status_code, headers=dict(response.headers))


def _not_allowed(allowed: str) -> HttpResponse:
    methods = ", ".join(sorted(allowed.replace(" ", "").split(",")))
    message = f"This address takes {methods}."
    return problems.respond(ProblemError(405, "method_not_allowed", message, headers={"Allow": methods}))


@gzip_page
def _schema(request: HttpRequest) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return _not_allowed("GET")
    response = HttpResponse(schema_text(), content_type="application/json")
    response.headers["Cache-Control"] = "max-age=300"
    return response
