"""What the doctor says about a key that does not belong to the database, and after a restore."""

from django.conf import settings

from crowd.models import DispatchHalt
from crowd.outbox import epoch
from distillery import canary, env
from distillery.finding import Finding


def secret_key() -> Finding:
    """This host has the key that the secrets in the database were sealed with, and keeps it."""
    place = settings.DATA_DIR / "secrets" / "secret_key"
    if not env.text("SECRET_KEY") and not place.exists():
        return Finding(
            "error",
            "secrets",
            "There is no SECRET_KEY, and none was generated: the database did not say whether it holds "
            "secrets that another one sealed.",
            f"Run this again now that it answers. A key of yours goes into {place}.",
        )
    if canary.key_opens() is False:
        return Finding(
            "error",
            "secrets",
            "SECRET_KEY is not the one that sealed the secrets in this database: no key of a requester or a "
            "marketplace would open.",
            "Put the old one back (secrets/secret_key of a backup's keys file, or SECRET_KEY of the other "
            "hosts), or add it to SECRET_KEY_FALLBACKS and run `manage.py reseal`.",
        )
    return Finding("ok", "secrets", "SECRET_KEY opens what is sealed in the database.")


def dispatching() -> Finding:
    """Calls go out to marketplaces, or a restore keeps them back."""
    halted = list(DispatchHalt.objects.select_related("endpoint").order_by("endpoint__name"))
    if halted:
        names = ", ".join(halt.endpoint.name for halt in halted)
        since = halted[0].since
        return Finding(
            "error",
            "marketplaces",
            f"Nothing is sent to {names} since {since:%Y-%m-%d %H:%M} UTC. {halted[0].why}",
            f"Run `{epoch.COMMAND}`: it looks up what was done after the backup, then lets sending go on.",
        )
    if unsure := epoch.unsure():
        return Finding("error", "marketplaces", unsure, "One of the two commands lets sending go on.")
    return Finding("ok", "marketplaces", "Calls go out to marketplaces.")
