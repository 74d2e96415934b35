"""`manage.py crowd`: endpoints, and one round by hand."""

import json
import os
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import Permission
from django.core.management.base import BaseCommand, CommandError

from core.accounts import security
from core.accounts.commandline import user_named
from core.money import dollars
from core.projects.models import Project
from crowd.adapters import registry
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.errors import CrowdError
from crowd.models import DispatchHalt, Endpoint
from crowd.outbox import epoch
from crowd.services import spenders
from crowd.services.endpoints import PRESETS, change_keys, create_endpoint, move_endpoint, remove_endpoint
from crowd.services.recovery import recover
from crowd.services.tick import tick


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = (
        "Marketplaces to publish on (endpoints), one round of sending and collecting by hand (tick), and "
        "what must be done after a restore (reconcile)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """endpoint add|keys|move|remove|list|check, tick, reconcile."""
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
        add.add_argument("--as", dest="user", metavar="USER", help="who adds it, and may spend from it")
        add.add_argument("--json", action="store_true")
        add.set_defaults(run=self.add_endpoint)
        keys = endpoint.add_parser("keys", help="enter its keys again, from the environment as with add")
        keys.add_argument("name")
        keys.add_argument("--key-env", default="CROWD_ACCESS_KEY", help="variable with the access key")
        keys.add_argument("--secret-env", default="CROWD_SECRET", help="variable with the secret key")
        keys.set_defaults(run=self.change_keys)
        self._add_corrections(endpoint)
        list_command = endpoint.add_parser("list")
        list_command.add_argument("--json", action="store_true")
        list_command.set_defaults(run=self.list_endpoints)
        for action, help_text, run in (
            ("allow", "let a project or a person spend from it", self.allow_spending),
            ("disallow", "take that right away; stages that had it by this alone are paused", self.disallow),
        ):
            right = endpoint.add_parser(action, help=help_text)
            right.add_argument("name")
            holder = right.add_mutually_exclusive_group(required=True)
            holder.add_argument("--project", metavar="SLUG")
            holder.add_argument("--user", metavar="USER", help="in projects where they are manager or owner")
            right.set_defaults(run=run)
        check = endpoint.add_parser("check", help="ask for the balance")
        check.add_argument("name")
        check.add_argument("--json", action="store_true")
        check.set_defaults(run=self.check_endpoint)
        makers = commands.add_parser("makers", help="people who may make projects, besides staff")
        makers.add_argument("action", choices=["add", "remove", "list"])
        makers.add_argument("user", nargs="?", metavar="USER")
        makers.set_defaults(run=self.change_makers)
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

    def _add_corrections(self, endpoint: Any) -> None:
        moved = endpoint.add_parser("move", help="correct its address, as long as nothing was sent there")
        moved.add_argument("name")
        moved.add_argument("url")
        moved.set_defaults(run=self.move_endpoint)
        removed = endpoint.add_parser("remove", help="remove one that nothing was done with")
        removed.add_argument("name")
        removed.set_defaults(run=self.remove_endpoint)

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
            actor=user_named(options["user"]),
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

    def move_endpoint(self, options: dict[str, Any]) -> None:
        """endpoint move NAME URL."""
        endpoint = move_endpoint(endpoint=self._endpoint(options["name"]), url=options["url"])
        self.stdout.write(f"{endpoint.name} is at {endpoint.url}.")

    def remove_endpoint(self, options: dict[str, Any]) -> None:
        """endpoint remove NAME."""
        remove_endpoint(endpoint=self._endpoint(options["name"]))
        self.stdout.write(f"{options['name']} is removed.")

    def list_endpoints(self, options: dict[str, Any]) -> None:
        """endpoint list."""
        for endpoint in Endpoint.objects.order_by("name"):
            holders = [str(each.project or each.user) for each in endpoint.spenders.order_by("pk")]
            facts = {"name": endpoint.name, "url": endpoint.url, "label": endpoint.label}
            self.show(options, {**facts, "spenders": holders if options["json"] else ", ".join(holders)})

    def _holder(self, options: dict[str, Any]) -> dict[str, Any]:
        if options["user"]:
            return {"user": user_named(options["user"]), "project": None}
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        return {"project": project, "user": None}

    def allow_spending(self, options: dict[str, Any]) -> None:
        """endpoint allow NAME --project SLUG | --user USER."""
        row = spenders.allow_spending(endpoint=self._endpoint(options["name"]), **self._holder(options))
        self.stdout.write(f"{row.project or row.user} may spend from {row.endpoint.name}.")

    def disallow(self, options: dict[str, Any]) -> None:
        """endpoint disallow NAME --project SLUG | --user USER."""
        row = self._endpoint(options["name"]).spenders.filter(**self._holder(options)).first()
        if row is None:
            raise CommandError("There is no such right; `crowd endpoint list` shows those that there are.")
        count = spenders.disallow_spending(row=row)
        self.stdout.write(f"Taken away; stages that were paused: {count}.")

    def change_makers(self, options: dict[str, Any]) -> None:
        """makers add USER | remove USER | list."""
        right = Permission.objects.get(content_type__app_label="projects", codename="add_project")
        if options["action"] == "list":
            for user in right.user_set.order_by("username"):
                self.stdout.write(user.get_username())
            return
        user = user_named(options["user"])
        if user is None:
            raise CommandError("Name the person.")
        change = right.user_set.add if options["action"] == "add" else right.user_set.remove
        change(user)
        security.log("project_maker.changed", subject=user.get_username(), may=options["action"] == "add")
        may = "may" if options["action"] == "add" else "may not"
        self.stdout.write(f"{user.get_username()} {may} make projects.")

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
            recovery = recover(endpoint, progress=progress)
        except (CrowdError, MarketplaceDownError, MarketplaceRefusedError, ValueError) as error:
            self.stderr.write(f"{endpoint.name}: {error}")
            return False
        self.show(options, {"name": endpoint.name, **asdict(recovery)})
        return True
