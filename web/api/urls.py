"""Pages about the API. The API itself is answered before these, by `web.api.middleware`."""

from django.urls import path

from web.pages import lazy_view

app_name = "api"
urlpatterns = [path("", lazy_view("web.api.reference.show_reference"), name="reference")]
