"""The projects app."""

from typing import Any

from django.apps import AppConfig
from django.utils.module_loading import import_string

from core.origin import Owner
from core.webhooks.apps import webhook_changed


class ProjectsConfig(AppConfig):
    """Django's handle on the app."""

    name = "core.projects"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Note changes of a project's webhooks in its log."""
        webhook_changed.connect(_note_webhook, dispatch_uid="core.projects.webhooks")


def _note_webhook(hook: Any, what: str, **_: Any) -> None:
    if hook.owner_kind == Owner.Kind.PROJECT:
        import_string("core.projects.services.note_webhook")(hook, what)
