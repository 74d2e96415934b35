"""Addresses of this room's pages of the desk; below them the doors of `crowd.desk.doors` stand."""

from django.urls import URLPattern

app_name = "judgments"
_P = "projects/<slug:project>/"
_S = f"{_P}stages/<slug:stage>/"
urlpatterns: list[URLPattern] = []
