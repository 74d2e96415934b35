"""Addresses of this app's pages of the desk; each view checks who may see it (`web.access`)."""

from django.urls import URLPattern, path

from evaluations.desk import compare, external, keyphrases, listing, modelpages, new, one, whyscore

app_name = "evaluations"
_P = "projects/<slug:project>/evaluations/"
_Q = "projects/<slug:project>/queries/<int:pk>/metrics/"
_X = f"{_P}external/"
_E = f"{_P}<str:version>/<int:number>/"
_EXTERNAL: list[URLPattern] = [
    path(_X, external.listing, name="external"),
    path(f"{_X}new/", external.upload, name="upload"),
    path(f"{_X}<int:pk>/look/", external.look, name="look"),
    path(f"{_X}<int:pk>/keep/", external.keep, name="keep"),
    path(f"{_X}<int:pk>/remove/", external.remove, name="remove"),
]
_ONE: list[URLPattern] = [
    path(_E, one.page, name="one"),
    path(f"{_E}live/", one.live, name="live"),
    path(f"{_E}cancel/", one.cancel, name="cancel"),
    path(f"{_E}again/", one.again, name="again"),
    path(f"{_E}leaderboard/show/", one.show_board, name="show_board"),
    path(f"{_E}leaderboard/hide/", one.hide_board, name="hide_board"),
    path(f"{_E}files/<str:path>", one.file, name="file"),
]
urlpatterns: list[URLPattern] = [
    path("evaluations/", listing.everywhere, name="everywhere"),
    path("evaluations/models/", modelpages.listing, name="models"),
    path("evaluations/models/<str:name>/", modelpages.one, name="model"),
    path(_P, listing.listing, name="list"),
    path(f"{_P}new/", new.new, name="new"),
    path(f"{_P}compare/", compare.compare, name="compare"),
    *_EXTERNAL,
    *_ONE,
    path(_Q, whyscore.query, name="query"),
    path(f"{_Q}key-phrases/", keyphrases.page, name="keyphrases"),
    path(f"{_Q}key-phrases/live/", keyphrases.live, name="keyphrases_live"),
    path(f"{_Q}key-phrases/weigh/", keyphrases.weigh, name="weigh"),
]
