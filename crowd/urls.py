"""Addresses of the app: task pages, for workers' frames."""

from django.urls import path

from crowd import panelpages, taskpage

app_name = "crowd"
urlpatterns = [
    path("task/<uuid:key>/", taskpage.task, name="task"),
    path("task/<uuid:key>/draft/", taskpage.draft, name="draft"),
    path("pictures/<str:sha256>/<str:name>", taskpage.picture, name="picture"),
    path("panel/<uuid:key>/", panelpages.enter, name="panel"),
    path("panel/<uuid:key>/consent/", panelpages.consent, name="panel_consent"),
    path("panel/<uuid:key>/done/<str:signed>", panelpages.leave, name="panel_done"),
    path("panel/hooks/<slug:endpoint>/", panelpages.hook, name="panel_hook"),
]
