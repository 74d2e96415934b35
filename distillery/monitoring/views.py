"""`/metrics`, as Prometheus reads it, for those who have the token."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

# Programs that have METRICS_TOKEN may see figures and details of the installation.


def has_token(request: HttpRequest) -> bool:
    """Whether the request carries the token, where there is one."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return bool(settings.METRICS_TOKEN) and constant_time_compare(given, settings.METRICS_TOKEN)


@require_safe
@never_cache
def show_metrics(request: HttpRequest) -> HttpResponse:
    """The state of the installation, and counts of its processes on this host; 404 without METRICS_TOKEN."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not has_token(request):
        refused = HttpResponse("A token is needed: Authorization: Bearer …\n", status=401)
        refused["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return refused
    from distillery.monitoring.exposition import CONTENT_TYPE, exposition  # noqa: PLC0415  # makes its folder

    return HttpResponse(exposition(), content_type=CONTENT_TYPE)


urlpatterns = [path("metrics", show_metrics, name="metrics")]
