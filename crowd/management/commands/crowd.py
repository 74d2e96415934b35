"""`manage.py crowd`: endpoints, and one round by hand."""

import json
import os
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.money import dollars
from crowd.adapters import registry
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.errors import CrowdError
from crowd.models import DispatchHalt, Endpoint
from crowd.outbox import epoch
from crowd.services.endpoints import PRESETS, change_keys, create_endpoint
from crowd.services.recovery import recover
from crowd.services.tick import tick


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = (
        "Marketplaces to publish on (endpoints), one round of sending and collecting by hand (tick), and "
        "what must be done after a restore (reconcile)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """endpoint add|keys|list|check, tick, reconcile."""
        commands = parser.add_subparsers(dest="what", required=True)
        endpoint = commands.add_parser("endpoint", help="a marketplace").add_subparsers(
            dest="action", required=True
        )
        add = endpoint.add_parser("add", help="keys come from the environment, never from the command line")
        add.add_argument("name")
        add.add_argument("--preset", choices=sorted(PRESETS))
        add.add_argument("--url", default="", help="any endpoint that speaks the MTurk protocol")
        add.add_argument("--key-env", default="CROWD_ACCESS_KEY", help="variable with the access key")
        add.add_argument("--secret-env", default="CROWD_SECRET", help="variable with the secret key")
        add.add_argument("--json", action="store_true")
        add.set_defaults(run=self.add_endpoint)
        keys = endpoint.add_parser("keys", help="enter its keys again, from the environment as with add")
        keys.add_argument("name")
        keys.add_argument("--key-env", default="CROWD_ACCESS_KEY", help="variable with the access key")
        keys.add_argument("--secret-env", default="CROWD_SECRET", help="variable with the secret key")
        keys.set_defaults(run=self.change_keys)
        listed = endpoint.add_parser("list")
        listed.add_argument("--json", action="store_true")
        listed.set_defaults(run=self.list_endpoints)
        check = endpoint.add_parser("check", help="ask for the balance")
        check.add_argument("name")
        check.add_argument("--json", action="store_true")
        check.set_defaults(run=self.check_endpoint)
        once = commands.add_parser("tick", help="one round: reconcile, send, collect, top up")
        once.add_argument("--json", action="store_true")
        once.set_defaults(run=self.tick)
        again = commands.add_parser("reconcile", help="let sending go on after a restore")
        which = again.add_mutually_exclusive_group(required=True)
        which.add_argument(
            "--after-restore",
            action="store_true",
            help="compare every marketplace with the restored database, and take over what it did not know",
        )
        which.add_argument(
            "--not-restored",
            action="store_true",
            help="this host or its data folder is new, and the database was not restored from a backup",
        )
        again.add_argument("--endpoint", default="", metavar="NAME", help="this marketplace alone")
        again.add_argument("--json", action="store_true")
        again.set_defaults(run=self.reconcile)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command; an error of the app becomes the command's."""
        try:
            options["run"](options)
        except (CrowdError, MarketplaceDownError, MarketplaceRefusedError) as error:
            raise CommandError(str(error)) from error

    def show(self, options: dict[str, Any], facts: dict[str, Any]) -> None:
        """Print facts as JSON or line by line."""
        if options["json"]:
            self.stdout.write(json.dumps(facts))
            return
        width = max(map(len, facts), default=0)
        for name, value in facts.items():
            self.stdout.write(f"{name:<{width}}  {value}")

    def add_endpoint(self, options: dict[str, Any]) -> None:
        """endpoint add NAME."""
        if not options["preset"] and not options["url"]:
            raise CommandError("Give --preset or --url.")
        preset = PRESETS.get(options["preset"])
        signed = preset is None or preset.needs_keys
        keys = self._keys(options) if signed else {"key_env": "", "secret_env": ""}
        endpoint = create_endpoint(
            name=options["name"],
            preset=options["preset"],
            url=options["url"],
            access_key=keys["key_env"],
            secret=keys["secret_env"],
        )
        self.show(options, {"name": endpoint.name, "url": endpoint.url, "real_money": endpoint.real_money})

    def _keys(self, options: dict[str, Any]) -> dict[str, str]:
        keys = {}
        for option in ("key_env", "secret_env"):
            keys[option] = os.environ.get(options[option], "")
            if not keys[option]:
                raise CommandError(f"The environment variable {options[option]} is not set.")
        return keys

    def _endpoint(self, name: str) -> Endpoint:
        endpoint = Endpoint.objects.filter(name=name).first()
        if endpoint is None:
            raise CommandError(f"There is no endpoint named {name!r}.")
        return endpoint

    def change_keys(self, options: dict[str, Any]) -> None:
        """endpoint keys NAME."""
        endpoint, keys = self._endpoint(options["name"]), self._keys(options)
        change_keys(endpoint=endpoint, access_key=keys["key_env"], secret=keys["secret_env"])
        self.stdout.write(f"{endpoint.name} has these keys from now on.")

    def list_endpoints(self, options: dict[str, Any]) -> None:
        """endpoint list."""
        for endpoint in Endpoint.objects.order_by("name"):
            self.show(options, {"name": endpoint.name, "url": endpoint.url, "label": endpoint.label})

    def check_endpoint(self, options: dict[str, Any]) -> None:
        """endpoint check NAME."""
        endpoint = self._endpoint(options["name"])
        balance = registry.adapter(endpoint).check()
        self.show(options, {"name": endpoint.name, "available": dollars(balance.available.minor)})

    def tick(self, options: dict[str, Any]) -> None:
        """Run a round of every endpoint and print what it did."""
        self.show(options, asdict(tick()))

    def reconcile(self, options: dict[str, Any]) -> None:
        """reconcile --after-restore | --not-restored."""
        if options["not_restored"]:
            if DispatchHalt.objects.exists():
                raise CommandError(
                    "The database was restored: marketplaces are halted. Use --after-restore, which looks."
                )
            epoch.trust()
            self.stdout.write("This data folder goes with this database from now on.")
            return
        if not DispatchHalt.objects.exists():
            epoch.halt_all("A person said that the database was restored.")
        halted = Endpoint.objects.exclude(halt=None).order_by("name")
        if options["endpoint"]:
            halted = halted.filter(name=options["endpoint"])
            if not halted:
                raise CommandError(f"No marketplace named {options['endpoint']!r} waits for a comparison.")
        failed = [endpoint.name for endpoint in halted if not self._recover(endpoint, options)]
        epoch.trust()
        if failed:
            raise CommandError(
                f"Nothing is sent to {', '.join(failed)} yet. Put the above right and run this again, or "
                "leave that marketplace halted: the others go on."
            )

    def _recover(self, endpoint: Endpoint, options: dict[str, Any]) -> bool:
        """Whether a marketplace was compared to the end; if not, why was said."""

        def progress(what: str, number: int) -> None:
            self.stderr.write(f"{endpoint.name}: {what}: {number:,}")

        try:
            found = recover(endpoint, progress=progress)
        except (CrowdError, MarketplaceDownError, MarketplaceRefusedError, ValueError) as error:
            self.stderr.write(f"{endpoint.name}: {error}")
            return False
        self.show(options, {"name": endpoint.name, **asdict(found)})
        return True
