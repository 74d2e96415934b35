"""Addresses of releases that need no log-in."""

from django.urls import URLPattern, path

from releases import download_files

app_name = "public_releases"
_R = "<slug:project>/<str:version>/"
urlpatterns: list[URLPattern] = [
    path("link/<str:token>/<path:path>", download_files.linked, name="linked"),
    path(_R, download_files.page, name="page"),
    path(f"{_R}files/<path:path>", download_files.file, name="file"),
    path(f"{_R}all.zip", download_files.archive, name="archive"),
]
