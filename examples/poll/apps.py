"""The poll app."""

from django.apps import AppConfig


class PollConfig(AppConfig):
    """Makes the kind known when Django starts."""

    name = "examples.poll"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the kind; its module needs the models, so it is imported only now."""
        from crowd.kinds import register  # noqa: PLC0415
        from examples.poll.kind import Poll  # noqa: PLC0415

        register(Poll())
