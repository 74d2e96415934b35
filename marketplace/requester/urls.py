"""Addresses of the requester site. Below the first, all of them name the requester by its customer id."""

from django.urls import path

from marketplace.requester.views import keys, overview

app_name = "requester"
_R = "<slug:requester>/"
urlpatterns = [
    path(_R, overview.overview, name="overview"),
    path(f"{_R}keys/", keys.keys, name="keys"),
    path(f"{_R}keys/new", keys.new_key, name="new_key"),
    path(f"{_R}keys/<int:key>/end", keys.end_key, name="end_key"),
]
