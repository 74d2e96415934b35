"""`/metrics`, as Prometheus reads it, for those who have the token."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from distillery.monitoring.tokens import has_token


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
