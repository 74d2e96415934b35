"""Addresses of the requester site. Below the first, all of them name the requester by its customer id."""

from django.urls import path

from marketplace.requester.views import letters, overview

app_name = "requester"
_R = "<slug:requester>/"
urlpatterns = [
    path(_R, overview.overview, name="overview"),
    path(f"{_R}letters/", letters.letters, name="letters"),
    path(f"{_R}letters/<int:letter>/", letters.letter, name="letter"),
    path(f"{_R}letters/<int:letter>/settle", letters.settle, name="settle_letter"),
    path(f"{_R}ratings/", letters.ratings, name="ratings"),
]
