"""`manage.py crowd`: endpoints, and one round by hand."""

import json
import os
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crowd.adapters import registry
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.errors import CrowdError
from crowd.models import Endpoint
from crowd.services.endpoints import PRESETS, create_endpoint
from crowd.services.tick import tick
from money.amounts import dollars


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = "Marketplaces to publish on (endpoints), and one round of sending and collecting by hand (tick)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """endpoint add|list|check, tick."""
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

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command; an error of the room becomes the command's."""
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
        keys = {}
        for option in ("key_env", "secret_env"):
            keys[option] = os.environ.get(options[option], "")
            if not keys[option]:
                raise CommandError(f"The environment variable {options[option]} is not set.")
        if not options["preset"] and not options["url"]:
            raise CommandError("Give --preset or --url.")
        endpoint = create_endpoint(
            name=options["name"],
            preset=options["preset"],
            url=options["url"],
            access_key=keys["key_env"],
            secret=keys["secret_env"],
        )
        self.show(options, {"name": endpoint.name, "url": endpoint.url, "real_money": endpoint.real_money})

    def list_endpoints(self, options: dict[str, Any]) -> None:
        """endpoint list."""
        for endpoint in Endpoint.objects.order_by("name"):
            self.show(options, {"name": endpoint.name, "url": endpoint.url, "label": endpoint.label})

    def check_endpoint(self, options: dict[str, Any]) -> None:
        """endpoint check NAME."""
        endpoint = Endpoint.objects.filter(name=options["name"]).first()
        if endpoint is None:
            raise CommandError(f"There is no endpoint named {options['name']!r}.")
        balance = registry.adapter(endpoint).check()
        self.show(options, {"name": endpoint.name, "available": dollars(balance.available.minor)})

    def tick(self, options: dict[str, Any]) -> None:
        """tick."""
        self.show(options, asdict(tick()))
