"""Django's admin asks what every page of money, keys and members asks: who it is, and a second factor."""

from collections.abc import Callable
from typing import Any

from django.contrib.admin import AdminSite

from core.accounts.confirmation import confirmed


class ConfirmedAdminSite(AdminSite):
    """Accounts and their rights are changed here, so each page but log-out asks, after the permission."""

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """The view as it is asked by staff who lately showed who they are."""
        return super().admin_view(view if view == self.logout else confirmed(view), cacheable)
