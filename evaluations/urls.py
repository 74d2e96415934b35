"""Addresses of leaderboards, which need no log-in."""

from django.urls import URLPattern, path

from evaluations import public

app_name = "leaderboards"
_B = "<slug:project>/<str:version>/"
urlpatterns: list[URLPattern] = [
    path(_B, public.page, name="page"),
    path(f"{_B}leaderboard.json", public.as_json, name="json"),
    path(f"{_B}leaderboard.csv", public.as_csv, name="csv"),
]
