"""Addresses of rewrites."""

from django.urls import path

from annotation.rewriting import views

app_name = "rewriting"
urlpatterns = [path("task/rewrite/<str:token>/", views.rewrite, name="rewrite")]
