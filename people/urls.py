"""Addresses of people who come by a link."""

from django.urls import path

from people import views

app_name = "join"
urlpatterns = [
    path("join/<str:token>/", views.open_link, name="open"),
    path("join/<str:token>/agree/", views.consent, name="consent"),
    path("join/<str:token>/next/", views.following, name="next"),
    path("join/<str:token>/next/<str:signed>", views.following, name="handed_over"),
    path("join/<str:token>/end/", views.end, name="end"),
    path("join/<str:token>/stop/", views.stop, name="stop"),
    path("join/<str:token>/work/", views.own_work, name="work"),
    path("join/<str:token>/withdraw/", views.withdraw, name="withdraw"),
    path("join/<str:token>/account/", views.account, name="account"),
    path("join/<str:token>/code/", views.other_device, name="code"),
    path("join/<str:token>/back/<str:secret>/", views.come_back, name="back"),
    path("join/<str:token>/for/<str:secret>/", views.invited, name="invited"),
    path("texts/<slug:kind>/", views.text, name="text"),
]
