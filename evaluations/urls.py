"""Addresses of leaderboards, which need no log-in."""

from django.urls import URLPattern, path

from evaluations import leaderboard

app_name = "leaderboards"
_B = "<slug:project>/<str:version>/"
urlpatterns: list[URLPattern] = [
    path(_B, leaderboard.page, name="page"),
    path(f"{_B}leaderboard.json", leaderboard.as_json, name="json"),
    path(f"{_B}leaderboard.csv", leaderboard.as_csv, name="csv"),
]
