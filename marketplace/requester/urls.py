"""Addresses of the requester site. Below the first, all of them name the requester by its customer id."""

from django.urls import path

from marketplace.requester.views import overview

app_name = "requester"
_R = "<slug:requester>/"
urlpatterns = [
    path(_R, overview.overview, name="overview"),
]
