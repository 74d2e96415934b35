"""Passwords in the admin: who still has to change theirs."""

from django.contrib import admin

from accounts.models import PasswordState


@admin.register(PasswordState)
class PasswordStateAdmin(admin.ModelAdmin[PasswordState]):
    """Tick `must change` after setting a password for somebody."""

    list_display = ("user", "must_change")
    list_select_related = ("user",)
