"""`manage.py marketplace`: requesters, keys, workers, money, invitations, the audit."""

import json
from argparse import ArgumentParser
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from core.extensions import parts_of
from core.files.reading import reading_lines
from core.money import FEE_PROFILES, dollars, entered_cents
from marketplace import clock
from marketplace.accounts import accesskeys, people
from marketplace.errors import Refusal
from marketplace.lifecycle.expiry import settle
from marketplace.management import requesters, workers
from marketplace.models import AccessKey, Requester
from marketplace.money import deposits, finance, ledger
from marketplace.parts import SubCommands

#: Scripted workers made by one command.
MOST_AT_ONCE = 10_000
#: The longest overlap of old and new keys.
MOST_DAYS = 365


def _day(text: str) -> datetime:
    """The beginning of a day in UTC."""
    return datetime.combine(date.fromisoformat(text), time.min, tzinfo=UTC)


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = "Manage the marketplace: requesters, keys, scripted workers, money, invitations, the ledger audit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command per thing that can be done."""
        commands = parser.add_subparsers(dest="what", required=True)

        self._people(commands)
        self._keys(commands)
        self._money(commands)

    def _people(self, commands: Any) -> None:
        """Requesters, scripted workers, invitations."""
        requester = commands.add_parser("requester", help="somebody who posts HITs").add_subparsers(
            dest="action", required=True
        )
        create = requester.add_parser("create", help="make a requester and show its keys once")
        create.add_argument("name")
        create.add_argument("--fees", choices=sorted(FEE_PROFILES), help="fee profile (default: the setting)")
        create.add_argument("--owner", help="user name of the researcher it belongs to")
        create.add_argument(
            "--real-money",
            action="store_true",
            help="the account holds money that you pay out (default: play)",
        )
        create.add_argument("--json", action="store_true")
        create.set_defaults(run=self.create_requester)

        worker = commands.add_parser("worker", help="workers, scripted and other").add_subparsers(
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
        self._add_parts("worker", worker)
        workers.add_workers(worker)

        invite = commands.add_parser("invite", help="make a sign-up link for workers")
        invite.add_argument("label", help="who it is for")
        invite.add_argument("--uses", type=int, default=1, help="how many people may use it")
        invite.add_argument("--days", type=int, help="how long it is valid (default: until used)")
        invite.add_argument("--json", action="store_true")
        invite.set_defaults(run=self.invite)

        requesters.add_batches(commands, self.show)
        requesters.add_layouts(commands, self.show, self.stdout.write)
        self._add_parts("", commands)

    def _add_parts(self, group: str, commands: Any) -> None:
        for part in parts_of(SubCommands):
            if part.group == group:
                part.add(commands, self.show, self.stdout.write)

    def _keys(self, commands: Any) -> None:
        """Access keys of requesters."""
        key = commands.add_parser("key", help="access keys of a requester").add_subparsers(
            dest="action", required=True
        )
        new = key.add_parser("new", help="make a further key and show its secret once")
        new.add_argument("name", help="of the requester")
        new.add_argument("--label", default="", help="what the key is for")
        new.add_argument(
            "--others-end-in", type=int, metavar="DAYS", help="end the present keys after so many days"
        )
        new.add_argument("--ends-in", type=int, metavar="DAYS", help="the new key is valid for so many days")
        new.add_argument("--read-only", action="store_true", help="it may change nothing")
        new.add_argument("--json", action="store_true")
        new.set_defaults(run=self.new_key)
        list_parser = key.add_parser("list", help="all keys of a requester, without secrets")
        list_parser.add_argument("name", help="of the requester")
        list_parser.add_argument("--json", action="store_true")
        list_parser.set_defaults(run=self.list_keys)
        end = key.add_parser("end", help="refuse a key from now on")
        end.add_argument("access_key")
        end.add_argument("--json", action="store_true")
        end.set_defaults(run=self.end_key)

    def _money(self, commands: Any) -> None:
        """Deposits, reports to pay out, invoices, the audit."""
        deposit = commands.add_parser("deposit", help="credit money to a requester")
        deposit.add_argument("name")
        deposit.add_argument("amount", help="such as 100.00")
        deposit.add_argument("--reference", default="", help="order or transfer number")
        deposit.add_argument("--note", default="", help="anything else your books should know")
        deposit.add_argument("--json", action="store_true")
        deposit.set_defaults(run=self.deposit)

        payable = commands.add_parser("payable", help="reports for the finance office").add_subparsers(
            dest="action", required=True
        )
        make = payable.add_parser("make", help="put all payments that no report has into a new one")
        make.add_argument("name", help="of the requester")
        make.add_argument("--before", type=_day, help="payments before this day (UTC), such as 2026-12-01")
        make.add_argument("--simulated", action="store_true", help="with those to simulated workers")
        make.add_argument("--json", action="store_true")
        make.set_defaults(run=self.make_payable)
        paid = payable.add_parser("paid", help="note that a report was paid out")
        paid.add_argument("name", help="of the requester")
        paid.add_argument("number", type=int)
        paid.add_argument("--json", action="store_true")
        paid.set_defaults(run=self.mark_paid)

        invoice = commands.add_parser("invoice", help="write down what was spent in a period that is over")
        invoice.add_argument("name", help="of the requester")
        invoice.add_argument("first", type=_day, help="first day (UTC), such as 2026-11-01")
        invoice.add_argument("last", type=_day, help="last day, such as 2026-11-30")
        invoice.add_argument("--address", default="", help="whom it is for")
        invoice.add_argument("--json", action="store_true")
        invoice.set_defaults(run=self.invoice)

        audit = commands.add_parser("audit", help="check that no cent is lost; exit status 1 where one is")
        audit.add_argument("--json", action="store_true")
        audit.set_defaults(run=self.audit)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command; a refusal becomes the command's error."""
        try:
            if "facts" in options:
                self.show(options, options["facts"](options))
            else:
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
                for text in reading_lines(value) if name == "read_as" else (value,):
                    self.stdout.write(f"{name:<{width}}  {text}")

    def create_requester(self, options: dict[str, Any]) -> None:
        """requester create NAME."""
        owner = None
        if options["owner"]:
            owner = get_user_model().objects.filter(username=options["owner"]).first()
            if owner is None:
                raise CommandError(f"There is no user named {options['owner']!r}.")
        requester, key = people.create_requester(
            name=options["name"],
            fee_profile=options["fees"],
            owner=owner,
            real_money=options["real_money"],
        )
        self.show(
            options,
            {
                "name": requester.name,
                "access_key": key.access_key,
                "secret": key.secret,
                "fee_profile": requester.fee_profile,
                "real_money": requester.real_money,
                "endpoint_path": "/mturk/api/",
                "region": "us-east-1",
            },
        )

    def new_key(self, options: dict[str, Any]) -> None:
        """key new NAME."""
        days = options["others_end_in"]
        if days is not None and not 0 <= days <= MOST_DAYS:
            raise CommandError(f"--others-end-in is from 0 to {MOST_DAYS} days.")
        life = options["ends_in"]
        if life is not None and not 1 <= life <= MOST_DAYS:
            raise CommandError(f"--ends-in is from 1 to {MOST_DAYS} days.")
        key = accesskeys.issue_key(
            requester=self.requester(options),
            label=options["label"],
            others_end_in=None if days is None else timedelta(days=days),
            ends_in=None if life is None else timedelta(days=life),
            read_only=options["read_only"],
        )
        self.show(options, {"access_key": key.access_key, "secret": key.secret, "label": key.row.label})

    def list_keys(self, options: dict[str, Any]) -> None:
        """key list NAME."""
        facts = [
            {
                "access_key": key.access_key,
                "label": key.label,
                "created_at": key.created_at.isoformat(),
                "last_used_at": key.last_used_at and key.last_used_at.isoformat(),
                "ends_at": key.ends_at and key.ends_at.isoformat(),
            }
            for key in self.requester(options).keys.order_by("pk")
        ]
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            for fact in facts:
                self.show(options, fact)

    def end_key(self, options: dict[str, Any]) -> None:
        """key end ACCESS_KEY."""
        key = AccessKey.objects.filter(access_key=options["access_key"]).first()
        if key is None:
            raise CommandError(f"There is no access key {options['access_key']!r}.")
        at = accesskeys.end_key(key=key)
        self.show(options, {"access_key": key.access_key, "ended_at": at.isoformat()})

    def requester(self, options: dict[str, Any]) -> Requester:
        """The requester that is named."""
        requester = Requester.objects.filter(name=options["name"]).first()
        if requester is None:
            raise CommandError(
                f"There is no requester named {options['name']!r}. "
                "Make one with `manage.py marketplace requester create NAME`."
            )
        return requester

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
        created = people.create_scripted_workers(
            names=[name] if count is None else [f"{name} {number}" for number in range(1, count + 1)],
            country=options["country"],
            subdivision=options["subdivision"],
            adult=options["adult"],
        )
        facts = [
            {"name": worker.name, "worker_id": worker.worker_id, "token": token, "simulated": True}
            for worker, token in created
        ]
        if count is not None and options["json"]:
            self.stdout.write(json.dumps(facts))
            return
        for fact in facts:
            self.show(options, fact)

    def deposit(self, options: dict[str, Any]) -> None:
        """deposit NAME AMOUNT."""
        requester = self.requester(options)
        try:
            amount = entered_cents(options["amount"])
        except ValueError as error:
            raise CommandError(str(error)) from error
        requester = deposits.deposit(
            requester=requester, cents=amount, reference=options["reference"], note=options["note"]
        )
        self.show(
            options,
            {
                "name": requester.name,
                "deposited": dollars(amount),
                "available": dollars(requester.available_cents),
                "on_hold": dollars(requester.held_cents),
            },
        )

    def make_payable(self, options: dict[str, Any]) -> None:
        """payable make NAME."""
        settle()
        report = finance.make_payable(
            requester=self.requester(options),
            until=options["before"] or clock.now(),
            simulated=options["simulated"],
        )
        self.show(options, {"number": report.number, "workers": report.workers, "sum": dollars(report.cents)})

    def mark_paid(self, options: dict[str, Any]) -> None:
        """payable paid NAME NUMBER."""
        report = self.requester(options).payables.filter(number=options["number"]).first()
        if report is None:
            raise CommandError(f"{options['name']!r} has no report {options['number']}.")
        finance.mark_paid(report=report)
        report.refresh_from_db()
        assert report.paid_at is not None
        self.show(options, {"number": report.number, "paid_at": report.paid_at.isoformat()})

    def invoice(self, options: dict[str, Any]) -> None:
        """invoice NAME FIRST LAST."""
        if options["last"] >= clock.now():
            raise CommandError("LAST is a day in the past.")
        settle()
        invoice = finance.issue_invoice(
            requester=self.requester(options),
            begins=options["first"],
            ends=options["last"] + timedelta(days=1),
            address=options["address"],
        )
        self.show(
            options, {"number": invoice.number, "sum": dollars(invoice.cents), "lines": len(invoice.lines)}
        )

    def invite(self, options: dict[str, Any]) -> None:
        """invite LABEL."""
        if options["uses"] < 1:
            raise CommandError("--uses is at least 1.")
        if options["days"] is not None and not 1 <= options["days"] <= MOST_DAYS:
            raise CommandError(f"--days is from 1 to {MOST_DAYS}.")
        invitation, token = people.create_invitation(
            label=options["label"], max_uses=options["uses"], days=options["days"]
        )
        self.show(
            options,
            {
                "label": invitation.label,
                "url": f"{settings.TASK_URL}/invitation/{token}",
                "url_path": f"/invitation/{token}",
                "token": token,
            },
        )

    def audit(self, options: dict[str, Any]) -> None:
        """Print the faults of the ledger; an error where there are any."""
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
