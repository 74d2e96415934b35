"""`/.well-known/security.txt` (RFC 9116): whom to tell of a weakness of this installation."""

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_safe

_HOLDS_FOR = timedelta(days=180)


@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """The contact that the operator named; without one there is no such file."""
    if not settings.SECURITY_CONTACT:
        raise Http404("SECURITY_CONTACT is not set.")
    until = (timezone.now() + _HOLDS_FOR).replace(microsecond=0)
    lines = [
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {until.strftime('%Y-%m-%dT%H:%M:%SZ')}",
        "Preferred-Languages: en",
        *([f"Policy: {settings.SECURITY_POLICY}"] if settings.SECURITY_POLICY else []),
        f"Canonical: {settings.PUBLIC_URL or request.build_absolute_uri('/').rstrip('/')}{request.path}",
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


urlpatterns = [path("security.txt", security, name="security")]
