"""What load balancers, probes and the supervisor ask.

`/health/` is an ordinary page. `/health/live` and `/health/ready` are answered before the site looks at the
host and the scheme of a request: probes call a process by its address, and over http.
"""

from collections.abc import Callable

from django.contrib.auth.models import User
from django.db import Error as DatabaseTrouble
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from distillery.monitoring.views import has_token
from distillery.readiness import CHECKS, readiness
from distillery.version import VERSION

_LOOPBACK = ("127.0.0.1", "::1")
#: A proxy on this machine also calls from a loopback address, and names its client in a header.
_OF_PROXIES = ("HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP")


@require_safe
@never_cache
def health(request: HttpRequest) -> HttpResponse:
    """200 if the database answers, 503 if not, and no more to visitors; staff get the version."""
    answers = _database_answers() or _database_answers()  # twice: the first may find a connection that died
    found = {"status": "ok" if answers else "unavailable", "database": "ok" if answers else "unreachable"}
    if answers and isinstance(request.user, User) and request.user.is_staff:
        found["version"] = VERSION
    return JsonResponse(found, status=200 if answers else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseTrouble:
        connection.close()
        return False
    return True


urlpatterns = [path("", health, name="health")]


class ProbeMiddleware:
    """Answers `/health/live` and `/health/ready`, whatever name and scheme they are asked under."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._probes = {"/health/live": show_liveness, "/health/ready": show_readiness}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, or pass the request on."""
        probe = self._probes.get(request.path_info.removesuffix("/"))
        if probe is None:
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        answer = probe(request)
        answer["Cache-Control"] = "no-store"
        # Django would log every 503 as an error of the page; `readiness` logs when that changes.
        answer._has_been_logged = True  # type: ignore[attr-defined]
        return answer


def show_liveness(request: HttpRequest) -> HttpResponse:
    """200: this process answers. Nothing else is looked at, so that no outage elsewhere has it restarted."""
    return JsonResponse({"status": "ok"})


def show_readiness(request: HttpRequest) -> HttpResponse:
    """200 if every check passes, 503 if one fails; `exclude=NAME` leaves one out and may be repeated."""

    excluded = request.GET.getlist("exclude")
    known = ("running", *CHECKS)
    if unknown := sorted(set(excluded).difference(known)):
        words = f"There is no check {', '.join(map(repr, unknown))}; there are {', '.join(known)}."
        return JsonResponse({"status": "error", "detail": words[:300]}, status=400)
    checks = {name: check for name, check in readiness.look().items() if name not in excluded}
    is_ready = all(check.is_ok for check in checks.values())
    details = _may_see_details(request)
    answer = {
        "status": "ok" if is_ready else "unavailable",
        "checks": {name: check.describe(with_details=details) for name, check in checks.items()},
    }
    return JsonResponse(answer, status=200 if is_ready else 503)


def _may_see_details(request: HttpRequest) -> bool:
    """Programs with METRICS_TOKEN, and requests that come from this machine without a proxy."""
    meta = request.META
    forwarded = any(name in meta for name in _OF_PROXIES) or any(
        name.startswith("HTTP_X_FORWARDED_") for name in meta
    )
    return has_token(request) or (meta.get("REMOTE_ADDR") in _LOOPBACK and not forwarded)
