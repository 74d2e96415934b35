"""Root urls. The protocol endpoint is answered before these, by `marketplace.protocol.endpoint`."""

from datetime import timedelta

from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path
from django.utils import timezone
from django.views.decorators.http import require_safe

from core.accounts.urls import library_urlpatterns
from core.accounts.views import LogIn
from distillery.health import health, show_metrics

#: RFC 9116 asks for an end less than a year away.
_CONTACT_HOLDS_FOR = timedelta(days=180)


@require_safe
def show_security_contact(request: HttpRequest) -> HttpResponse:
    """The file security.txt (RFC 9116): whom to tell of a weakness of this installation.

    Without a contact that the operator named there is no such file.
    """
    if not settings.SECURITY_CONTACT:
        raise Http404("SECURITY_CONTACT is not set.")
    until = (timezone.now() + _CONTACT_HOLDS_FOR).replace(microsecond=0)
    lines = [
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {until.strftime('%Y-%m-%dT%H:%M:%SZ')}",
        "Preferred-Languages: en",
        *([f"Policy: {settings.SECURITY_POLICY}"] if settings.SECURITY_POLICY else []),
        f"Canonical: {settings.PUBLIC_URL or request.build_absolute_uri('/').rstrip('/')}{request.path}",
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


@require_safe
def show_agents_guide(request: HttpRequest) -> HttpResponse:
    """The file llms.txt, which tells agents what this is and where to go on: the repository's own."""
    text = (settings.FILES_DIR / "docs" / "llms.txt").read_bytes()
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_safe
def show_languages(request: HttpRequest) -> HttpResponse:
    """Which languages pages for workers and visitors have, and who has read them."""
    return render(request, "languages.html")


urlpatterns = [
    # First, because Django tries addresses in turn and programs ask for a search hundreds of times a second.
    path("desk/", include("annotation.desk.urls")),
    path("", include("marketplace.urls")),
    path("", include("annotation.rewrites")),
    path("", include("people.urls")),
    path("api/", include("web.api.urls")),
    path("", include("crowd.urls")),
    path("desk/", include("crowd.desk.urls")),
    path("desk/", include("people.desk")),
    path("desk/", include("judgments.desk.urls")),
    path("desk/", include("releases.desk.urls")),
    path("desk/", include("evaluations.desk.urls")),
    path("releases/", include("releases.urls")),
    path("leaderboards/", include("evaluations.urls")),
    path("accounts/", include("core.accounts.urls")),
    path("accounts/", include(library_urlpatterns)),
    path("examples/", include("distillery.demo.tour")),
    path(".well-known/security.txt", show_security_contact, name="security"),
    path("llms.txt", show_agents_guide, name="llms"),
    path("languages/", show_languages, name="languages"),
    path("health/", health, name="health"),
    path("metrics", show_metrics, name="metrics"),
    # The admin's own page would let people in without their second factor.
    path("admin/login/", LogIn.as_view(redirect_field_name="next"), name="admin_login"),
    path("admin/", admin.site.urls),
]
