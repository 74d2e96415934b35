"""The project itself as an app, for its commands, checks and the folders of the embedded services."""

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import register


class DistilleryConfig(AppConfig):
    """Creates the data folder before anything wants to write into it, and registers the system checks."""

    name = "distillery"

    def ready(self) -> None:
        """Make the folders of the embedded database and broker; register the system checks."""
        from distillery import checks  # noqa: PLC0415  # it needs the models, which are there only now

        settings.DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o750)
        if not settings.REDIS_URL:
            broker = settings.DATA_DIR / "broker"
            broker.mkdir(exist_ok=True, mode=0o700)
            for folder in ("queue", "control", "taken"):
                (broker / folder).mkdir(exist_ok=True)
        for check in (checks.check_hosts, checks.check_public_url, checks.check_secret_key):
            register(check)
