"""The audit app."""

from typing import Any

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models.signals import post_migrate


class AuditConfig(AppConfig):
    """Keeps the triggers of append-only tables in place."""

    name = "core.audit"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """After each migration the triggers are there: SQLite loses them where it makes a table again."""
        post_migrate.connect(_install, sender=self, dispatch_uid="audit.install_triggers")


def _install(using: str = DEFAULT_DB_ALIAS, **_: Any) -> None:
    from core.audit import chain  # needs the models

    chain.install_triggers(connections[using])
