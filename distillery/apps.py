"""The project itself as an app, for its commands, checks and the folders of the embedded services."""

import contextlib
from pathlib import Path

from django.apps import AppConfig, apps
from django.conf import settings
from django.contrib.admin.apps import AdminConfig
from django.core.checks import Tags, register
from django.core.exceptions import ImproperlyConfigured
from django.db.models.signals import post_migrate


class DistilleryConfig(AppConfig):
    """Creates the data folder before anything wants to write into it, and registers the system checks."""

    name = "distillery"

    def ready(self) -> None:
        """Make the folders of the embedded database and broker; register the system checks."""
        # They need the models, which are there only now.
        from distillery import checks, env

        try:
            _make_folders(settings.DATA_DIR, broker=not settings.REDIS_URL)
        except OSError as error:
            raise ImproperlyConfigured(
                f"{error.filename} cannot be made: {error.strerror}. "
                "Set DATA_DIR to a folder this user can write."
            ) from error
        # Its own has no models, and Django sends the signal for none such.
        post_migrate.connect(_place_canary, sender=apps.get_app_config("sealing"))
        if settings.METRICS_TOKEN:
            from distillery import prometheus

            prometheus.connect()
        if settings.TRACES:
            from distillery import traces

            traces.connect()
        own = (
            checks.check_hosts,
            checks.check_public_url,
            checks.check_ping_url,
            checks.check_tracing,
            checks.check_secret_key,
            env.check_names,
        )
        for check in own:
            register(check)
        register(checks.check_tables, Tags.database)


def _place_canary(**sent: object) -> None:
    if not sent.get("plan"):
        return  # nothing was migrated: `flush` sends the signal too, and `up` places one by itself
    from distillery.canary import place_canary  # needs the models

    place_canary()


def _make_folders(data: Path, *, broker: bool) -> None:
    data.mkdir(parents=True, exist_ok=True, mode=0o750)
    for database in data.glob("*.sqlite3*"):
        _close_to_others(database)
    if broker:
        (data / "broker").mkdir(exist_ok=True, mode=0o700)
        for folder in ("queue", "control", "taken"):
            (data / "broker" / folder).mkdir(exist_ok=True)


def _close_to_others(file: Path) -> None:
    """Make a file of an older version as private as new ones are, where it is ours."""
    with contextlib.suppress(OSError):
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)


class ConfirmedAdminConfig(AdminConfig):
    """Django's handle on its admin, with a site that asks who it is."""

    default_site = "distillery.admin_site.ConfirmedAdminSite"
