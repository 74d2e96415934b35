"""Addresses of this app's pages of the desk; each view checks who may see it (`web.access`)."""

from django.urls import URLPattern, path

from releases.desk import release, wizard

app_name = "releases"
_P = "projects/<slug:project>/releases/"
_N = f"{_P}new/"
_R = f"{_P}<str:version>/"
_WIZARD: list[URLPattern] = [
    path(_N, wizard.content, name="content"),
    path(f"{_N}formats/", wizard.formats, name="formats"),
    path(f"{_N}privacy/", wizard.privacy, name="privacy"),
    path(f"{_N}privacy/decide/", wizard.decide, name="decide"),
    path(f"{_N}privacy/check/", wizard.check, name="check"),
    path(f"{_N}privacy/check/<int:job>/", wizard.check_job, name="check_job"),
    path(f"{_N}privacy/check/<int:job>/live/", wizard.check_live, name="check_live"),
    path(f"{_N}privacy/check/<int:job>/cancel/", wizard.check_cancel, name="check_cancel"),
    path(f"{_N}preview/", wizard.preview, name="preview"),
    path(f"{_N}card/", wizard.card, name="card"),
    path(f"{_P}builds/<int:job>/", release.build, name="build"),
    path(f"{_P}builds/<int:job>/live/", release.live, name="live"),
]
urlpatterns: list[URLPattern] = [
    path("releases/", release.everywhere, name="everywhere"),
    path(_P, release.listing, name="list"),
    *_WIZARD,
    path(_R, release.page, name="release"),
    path(f"{_R}difference/", release.difference, name="difference"),
    path(f"{_R}cancel/", release.cancel, name="cancel"),
    path(f"{_R}again/", release.again, name="again"),
    path(f"{_R}publish/", release.publish, name="publish"),
    path(f"{_R}hide/", release.hide, name="hide"),
    path(f"{_R}withdraw/", release.withdraw, name="withdraw"),
    path(f"{_R}all.zip", release.archive, name="archive"),
    path(f"{_R}files/<path:path>", release.file, name="file"),
]
