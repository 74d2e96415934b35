"""`manage.py marketplace`: requesters, workers, deposits, invitations, the audit."""

import json
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from marketplace import ledger
from marketplace.errors import Refusal
from marketplace.management import batches
from marketplace.models import Requester
from marketplace.services import people
from money.amounts import cents, dollars
from money.fees import PROFILES

#: Scripted workers made by one command.
MOST_AT_ONCE = 10_000


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = "Manage the marketplace: requesters, scripted workers, deposits, invitations, the ledger audit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command per thing that can be done."""
        commands = parser.add_subparsers(dest="what", required=True)

        requester = commands.add_parser("requester", help="somebody who posts HITs").add_subparsers(
            dest="action", required=True
        )
        create = requester.add_parser("create", help="make a requester and show its keys once")
        create.add_argument("name")
        create.add_argument("--fees", choices=sorted(PROFILES), help="fee profile (default: the setting)")
        create.add_argument("--owner", help="user name of the researcher it belongs to")
        create.add_argument("--json", action="store_true")
        create.set_defaults(run=self.create_requester)

        worker = commands.add_parser("worker", help="a scripted worker").add_subparsers(
            dest="action", required=True
        )
        create = worker.add_parser("create", help="make a simulated worker and show its token once")
        create.add_argument("name")
        create.add_argument(
            "--count", type=int, metavar="N", help='make N of them, named "NAME 1" to "NAME N"'
        )
        create.add_argument("--country", default="", help="ISO 3166 country, such as US")
        create.add_argument("--subdivision", default="", help="state, such as PA")
        create.add_argument("--adult", action="store_true", help="agreed to adult content")
        create.add_argument("--json", action="store_true")
        create.set_defaults(run=self.create_worker)

        deposit = commands.add_parser("deposit", help="credit money to a requester")
        deposit.add_argument("name")
        deposit.add_argument("amount", help="such as 100.00")
        deposit.add_argument("--json", action="store_true")
        deposit.set_defaults(run=self.deposit)

        invite = commands.add_parser("invite", help="make a sign-up link for workers")
        invite.add_argument("label", help="who it is for")
        invite.add_argument("--uses", type=int, default=1, help="how many people may use it")
        invite.add_argument("--days", type=int, help="how long it is valid (default: until used)")
        invite.add_argument("--json", action="store_true")
        invite.set_defaults(run=self.invite)

        batches.add(commands, self.show)

        audit = commands.add_parser("audit", help="check that no cent is lost; exit status 1 where one is")
        audit.add_argument("--json", action="store_true")
        audit.set_defaults(run=self.audit)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command; a refusal becomes the command's error."""
        try:
            options["run"](options)
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal

    def show(self, options: dict[str, Any], facts: dict[str, Any]) -> None:
        """Print facts as JSON or line by line."""
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            width = max(map(len, facts))
            for name, value in facts.items():
                self.stdout.write(f"{name:<{width}}  {value}")

    def create_requester(self, options: dict[str, Any]) -> None:
        """requester create NAME."""
        owner = None
        if options["owner"]:
            owner = get_user_model().objects.filter(username=options["owner"]).first()
            if owner is None:
                raise CommandError(f"There is no user named {options['owner']!r}.")
        requester, secret = people.create_requester(
            name=options["name"], fee_profile=options["fees"], owner=owner
        )
        self.show(
            options,
            {
                "name": requester.name,
                "access_key": requester.access_key,
                "secret": secret,
                "fee_profile": requester.fee_profile,
                "endpoint_path": "/mturk/api/",
                "region": "us-east-1",
            },
        )

    def create_worker(self, options: dict[str, Any]) -> None:
        """worker create NAME."""
        for name in ("country", "subdivision"):
            if options[name] and not (
                len(options[name]) == 2 and options[name].isascii() and options[name].isupper()
            ):
                raise CommandError(f"--{name} takes two capital letters, such as US or PA.")
        count = options["count"]
        if count is not None and not 1 <= count <= MOST_AT_ONCE:
            raise CommandError(f"--count is from 1 to {MOST_AT_ONCE:,}.")
        name = options["name"]
        made = people.create_scripted_workers(
            names=[name] if count is None else [f"{name} {number}" for number in range(1, count + 1)],
            country=options["country"],
            subdivision=options["subdivision"],
            adult=options["adult"],
        )
        facts = [
            {"name": worker.name, "worker_id": worker.worker_id, "token": token, "simulated": True}
            for worker, token in made
        ]
        if count is not None and options["json"]:
            self.stdout.write(json.dumps(facts))
            return
        for fact in facts:
            self.show(options, fact)

    def deposit(self, options: dict[str, Any]) -> None:
        """deposit NAME AMOUNT."""
        requester = Requester.objects.filter(name=options["name"]).first()
        if requester is None:
            raise CommandError(
                f"There is no requester named {options['name']!r}. "
                "Make one with `manage.py marketplace requester create NAME`."
            )
        try:
            amount = cents(options["amount"])
        except ValueError as error:
            raise CommandError(str(error)) from error
        requester = people.deposit(requester=requester, cents=amount)
        self.show(
            options,
            {
                "name": requester.name,
                "deposited": dollars(amount),
                "available": dollars(requester.available_cents),
                "on_hold": dollars(requester.held_cents),
            },
        )

    def invite(self, options: dict[str, Any]) -> None:
        """invite LABEL."""
        if options["uses"] < 1 or (options["days"] is not None and options["days"] < 1):
            raise CommandError("--uses and --days are at least 1.")
        invitation, token = people.create_invitation(
            label=options["label"], max_uses=options["uses"], days=options["days"]
        )
        self.show(
            options,
            {"label": invitation.label, "url_path": f"/invitation/{token}", "token": token},
        )

    def audit(self, options: dict[str, Any]) -> None:
        """audit."""
        faults = ledger.audit()
        if options["json"]:
            self.stdout.write(json.dumps({"faults": faults}))
        else:
            for fault in faults:
                self.stdout.write(fault)
        if faults:
            raise CommandError(f"The ledger does not add up in {len(faults)} places.")
        if not options["json"]:
            self.stdout.write("The ledger adds up.")
