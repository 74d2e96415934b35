"""Addresses of the app: task pages, for workers' frames."""

from django.urls import path

from crowd.taskpage import views

app_name = "crowd"
urlpatterns = [
    path("task/<uuid:key>/", views.task, name="task"),
    path("task/<uuid:key>/draft/", views.draft, name="draft"),
]
