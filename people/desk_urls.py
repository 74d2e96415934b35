"""Addresses of study links on the desk."""

from django.urls import path

from people import desk

app_name = "people"
_P = "projects/<slug:project>/people/"
urlpatterns = [
    path("my-studies/", desk.own, name="own"),
    path("texts/", desk.own_texts, name="own_texts"),
    path(_P, desk.listing, name="links"),
    path(f"{_P}new/", desk.new, name="new_link"),
    path(f"{_P}consent/", desk.edit_text, name="consent"),
    path(f"{_P}<int:pk>/", desk.link, name="link"),
    path(f"{_P}<int:pk>/edit/", desk.edit, name="edit_link"),
    path(f"{_P}<int:pk>/live/", desk.live, name="live"),
    path(f"{_P}<int:pk>/visits.csv", desk.visits_csv, name="visits"),
    path(f"{_P}<int:pk>/close/", desk.close, name="close_link"),
    path(f"{_P}<int:pk>/reopen/", desk.reopen, name="reopen_link"),
    path(f"{_P}<int:pk>/quota/", desk.quota, name="quota"),
    path(f"{_P}<int:pk>/list/", desk.roster, name="roster"),
    path(f"{_P}<int:pk>/list.csv", desk.roster_csv, name="roster_csv"),
    path(f"{_P}<int:pk>/list/mail/", desk.mail, name="mail"),
]
