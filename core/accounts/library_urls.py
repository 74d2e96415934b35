"""Addresses whose names django-allauth knows; all others of it do not exist here."""

from django.urls import path

from core.accounts.urls import lazy_view
from core.accounts.views import LogIn

urlpatterns = [
    path("login/", LogIn.as_view(), name="account_login"),
    path("factor/", lazy_view("factor_views.second_factor"), name="mfa_authenticate"),
    path("oidc/<slug:provider_id>/login/", lazy_view("provider_views.begin"), name="openid_connect_login"),
    path(
        "oidc/<slug:provider_id>/login/callback/",
        lazy_view("provider_views.callback"),
        name="openid_connect_callback",
    ),
]
