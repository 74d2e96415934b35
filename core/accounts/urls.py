"""Urls of an account, below `/accounts/`."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.views import LogoutView
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils.module_loading import import_string

from core.accounts import views


def lazy_view(name: str) -> Callable[..., HttpResponseBase]:
    """The view of this name in this package; its module and its libraries are loaded when it is asked for."""

    def view(*args: Any, **parts: Any) -> HttpResponseBase:
        answer: HttpResponseBase = import_string(f"core.accounts.{name}")(*args, **parts)
        return answer

    view.dotted_name = f"core.accounts.{name}"  # type: ignore[attr-defined]  # for the test of all such names
    return view


app_name = "accounts"
_MEMBERS = "members/<slug:kind>/<slug:target>/"
urlpatterns = [
    path("login/", views.LogIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", views.ChangePassword.as_view(), name="password_change"),
    path("home/", views.home, name="home"),
    path("views/", lazy_view("saved_views.save_view"), name="save_view"),
    path("sign-out-everywhere/", views.sign_out_everywhere, name="sign_out_everywhere"),
    path("end-key/", views.end_key, name="end_key"),
    path("passkey/", lazy_view("factor_views.sign_in_by_passkey"), name="passkey"),
    path(
        "once/<str:number>/<str:token>/",
        lazy_view("sign_in_links.sign_in_by_link"),
        name="sign_in_link",
    ),
    path("confirm/", lazy_view("factor_views.confirm"), name="confirm"),
    path("factors/", lazy_view("factor_views.show_factors"), name="factors"),
    path("factors/ask/", lazy_view("factor_views.factor_prompt"), name="factor_prompt"),
    path("factors/app/", lazy_view("factor_views.new_app"), name="new_app"),
    path("factors/passkey/", lazy_view("factor_views.new_passkey"), name="new_passkey"),
    path("factors/codes/", lazy_view("factor_views.recovery_codes"), name="recovery_codes"),
    path("factors/<int:pk>/remove/", lazy_view("factor_views.remove_factor"), name="remove_factor"),
    path("profile/", lazy_view("profile_views.profile"), name="profile"),
    path("profile/name/", lazy_view("profile_views.set_name"), name="set_name"),
    path("profile/email/", lazy_view("profile_views.set_email"), name="set_email"),
    path("profile/email/remove/", lazy_view("profile_views.remove_email"), name="remove_email"),
    path("email/<str:token>/", lazy_view("profile_views.confirm_email"), name="confirm_email"),
    path("sessions/", lazy_view("profile_views.show_sessions"), name="sessions"),
    path("sessions/<int:pk>/end/", lazy_view("profile_views.end_session"), name="end_session"),
    path("invitations/<str:token>/", lazy_view("membership_views.invitation"), name="invitation"),
    path(f"{_MEMBERS}invite/", lazy_view("membership_views.invite"), name="invite"),
    path(
        f"{_MEMBERS}invitations/<int:pk>/revoke/",
        lazy_view("membership_views.revoke_invitation"),
        name="revoke_invitation",
    ),
    path(f"{_MEMBERS}offer/", lazy_view("membership_views.offer_ownership"), name="offer_ownership"),
    path("offers/<int:pk>/", lazy_view("membership_views.answer_offer"), name="answer_offer"),
    path("oidc/<slug:provider_id>/connect/", lazy_view("provider_views.connect"), name="connect"),
    path("connections/<int:pk>/remove/", lazy_view("provider_views.disconnect"), name="disconnect"),
]

#: Addresses whose names django-allauth knows, outside of our namespace; all others of it do not exist here.
library_urlpatterns = [
    path("login/", views.LogIn.as_view(), name="account_login"),
    path("factor/", lazy_view("factor_views.second_factor"), name="mfa_authenticate"),
    path("oidc/<slug:provider_id>/login/", lazy_view("provider_views.begin"), name="openid_connect_login"),
    path(
        "oidc/<slug:provider_id>/login/callback/",
        lazy_view("provider_views.callback"),
        name="openid_connect_callback",
    ),
]
