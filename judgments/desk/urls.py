"""Addresses of this room's pages of the desk; below them the doors of `crowd.desk.doors` stand."""

from django.urls import URLPattern, path

from judgments.desk import imports, systems

app_name = "judgments"
_P = "projects/<slug:project>/"
_S = f"{_P}stages/<slug:stage>/"
_SYSTEMS: list[URLPattern] = [
    path(f"{_P}systems/", systems.listing, name="systems"),
    path(f"{_P}systems/human/", systems.human, name="human"),
    path(f"{_P}systems/copies/", systems.refresh, name="refresh_exact"),
    path(f"{_P}systems/<int:pk>/", systems.system, name="system"),
    path(f"{_P}systems/<int:pk>/answers.csv", systems.download, name="system_csv"),
    path(f"{_P}systems/<int:pk>/keep-copies/", systems.keep_copies, name="keep_copies"),
    path(f"{_P}systems/answers/<int:pk>/", systems.candidate, name="candidate"),
    path(f"{_P}systems/answers/<int:pk>/take-out/", systems.take_out, name="take_out"),
    path(f"{_P}systems/answers/<int:pk>/put-back/", systems.back, name="put_back"),
    path(f"{_P}systems/imports/new/", imports.new, name="import_new"),
    path(f"{_P}systems/imports/<str:sha256>/preview/", imports.look, name="import_preview"),
    path(f"{_P}systems/imports/running/<int:job>/", imports.running, name="import_job"),
    path(f"{_P}systems/imports/running/<int:job>/live/", imports.live, name="import_live"),
    path(f"{_P}systems/imports/<int:pk>/", imports.source, name="source"),
]
urlpatterns: list[URLPattern] = [*_SYSTEMS]
