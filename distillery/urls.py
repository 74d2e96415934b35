"""Root urls. The protocol endpoint is answered before these, by `marketplace.protocol.endpoint`."""

from django.contrib import admin
from django.urls import include, path

from core.accounts.views import LogIn

urlpatterns = [
    # First, because Django tries addresses in turn and programs ask for a search hundreds of times a second.
    path("desk/", include("annotation.desk.urls")),
    path("", include("marketplace.urls")),
    path("", include("annotation.rewrites")),
    path("", include("people.urls")),
    path("api/", include("web.api.urls")),
    path("", include("crowd.urls")),
    path("desk/", include("crowd.desk.urls")),
    path("desk/", include("people.desk_urls")),
    path("desk/", include("judgments.desk.urls")),
    path("desk/", include("releases.desk.urls")),
    path("desk/", include("evaluations.desk.urls")),
    path("releases/", include("releases.urls")),
    path("leaderboards/", include("evaluations.urls")),
    path("accounts/", include("core.accounts.urls")),
    path("accounts/", include("core.accounts.library_urls")),
    path("examples/", include("distillery.demo.urls")),
    path(".well-known/", include("distillery.wellknown")),
    path("health/", include("distillery.health")),
    path("", include("distillery.monitoring.views")),
    # The admin's own page would let people in without their second factor.
    path("admin/login/", LogIn.as_view(redirect_field_name="next"), name="admin_login"),
    path("admin/", admin.site.urls),
]
