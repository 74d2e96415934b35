"""Addresses of the search page; they stand among those of this app's desk."""

from django.urls import URLPattern, path

from annotation.search import api, views

_P = "projects/<slug:project>/search/"
PATHS: list[URLPattern] = [
    path(_P, views.search, name="search"),
    path(f"{_P}send/", views.send, name="search_send"),
    path(f"{_P}api/getanswer", api.getanswer, name="search_api"),
]
