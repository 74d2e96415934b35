"""Addresses of this app's pages of the desk; each view checks who may see it (`web.access`)."""

from collections.abc import Callable

from django.http import HttpResponse
from django.urls import URLPattern, path

from web.pages import lazy_view

app_name = "evaluations"


def _page(name: str) -> Callable[..., HttpResponse]:
    return lazy_view(f"evaluations.desk.{name}")


_P = "projects/<slug:project>/evaluations/"
_Q = "projects/<slug:project>/queries/<int:pk>/metrics/"
_X = f"{_P}external/"
_E = f"{_P}<str:version>/<int:number>/"
_EXTERNAL: list[URLPattern] = [
    path(_X, _page("external.listing"), name="external"),
    path(f"{_X}new/", _page("external.upload"), name="upload"),
    path(f"{_X}<int:pk>/look/", _page("external.look"), name="look"),
    path(f"{_X}<int:pk>/keep/", _page("external.keep"), name="keep"),
    path(f"{_X}<int:pk>/remove/", _page("external.remove"), name="remove"),
]
_ONE: list[URLPattern] = [
    path(_E, _page("evaluations.page"), name="one"),
    path(f"{_E}live/", _page("evaluations.live"), name="live"),
    path(f"{_E}cancel/", _page("evaluations.cancel"), name="cancel"),
    path(f"{_E}again/", _page("evaluations.again"), name="again"),
    path(f"{_E}leaderboard/show/", _page("evaluations.show_board"), name="show_board"),
    path(f"{_E}leaderboard/hide/", _page("evaluations.hide_board"), name="hide_board"),
    path(f"{_E}files/<str:path>", _page("evaluations.file"), name="file"),
]
urlpatterns: list[URLPattern] = [
    path("evaluations/", _page("evaluations.everywhere"), name="everywhere"),
    path("evaluations/models/", _page("models.listing"), name="models"),
    path("evaluations/models/<str:name>/", _page("models.one"), name="model"),
    path(_P, _page("evaluations.listing"), name="list"),
    path(f"{_P}new/", _page("new.new"), name="new"),
    path(f"{_P}compare/", _page("evaluations.compare"), name="compare"),
    *_EXTERNAL,
    *_ONE,
    path(_Q, _page("keyphrases.query"), name="query"),
    path(f"{_Q}key-phrases/", _page("keyphrases.page"), name="keyphrases"),
    path(f"{_Q}key-phrases/live/", _page("keyphrases.live"), name="keyphrases_live"),
    path(f"{_Q}key-phrases/weigh/", _page("keyphrases.weigh"), name="weigh"),
]
