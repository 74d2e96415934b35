"""Addresses of the app: task pages, for workers' frames."""

from django.urls import path

from crowd.taskpage import panel, views

app_name = "crowd"
urlpatterns = [
    path("task/<uuid:key>/", views.task, name="task"),
    path("task/<uuid:key>/draft/", views.draft, name="draft"),
    path("panel/<uuid:key>/", panel.enter, name="panel"),
    path("panel/<uuid:key>/consent/", panel.consent, name="panel_consent"),
    path("panel/<uuid:key>/done/<str:signed>", panel.leave, name="panel_done"),
    path("panel/hooks/<slug:endpoint>/", panel.hook, name="panel_hook"),
]
