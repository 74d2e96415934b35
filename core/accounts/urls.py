"""Urls of an account, below `/accounts/`."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from core.accounts import views

app_name = "accounts"
urlpatterns = [
    path("login/", views.LogIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", views.ChangePassword.as_view(), name="password_change"),
    path("home/", views.home, name="home"),
    path("sign-out-everywhere/", views.sign_out_everywhere, name="sign_out_everywhere"),
    path("end-key/", views.end_key, name="end_key"),
    path("kept/", views.kept_form, name="kept_form"),
]
