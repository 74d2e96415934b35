"""`manage.py audit`: the audit log of projects and requesters: verify, export, seal, prune."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from core.audit import chain
from core.audit.models import AuditChain
from core.origin import Owner
from core.projects.models import Project
from marketplace.models import Requester


class Command(BaseCommand):
    """What operators do with the audit log."""

    help = "Verify that the audit log is whole, export it as JSONL, seal what is new, or prune what is old."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One command after another word; `verify` exits with 1 where something is missing or changed."""
        commands = parser.add_subparsers(dest="what", required=True)
        verify = commands.add_parser("verify", help="compute all digests again")
        verify.add_argument("--json", action="store_true", dest="as_json", help="print JSON")
        export = commands.add_parser("export", help="print a log as JSONL, in the order of its chain")
        for each in (verify, export):
            each.add_argument("--project", metavar="SLUG")
            each.add_argument("--requester", metavar="CUSTOMER_ID")
        commands.add_parser("seal", help="bring what is new into the chains now")
        prune = commands.add_parser("prune", help="delete old entries; what is left stays verifiable")
        prune.add_argument("--days", type=int, required=True, help="entries that are older go")
        prune.add_argument("--why", required=True, help="kept in the checkpoint")

    def handle(self, *args: Any, **options: Any) -> None:
        """Call the service and print."""
        getattr(self, f"_{options['what']}")(options)

    def _verify(self, options: dict[str, Any]) -> None:
        chain.seal_all(everything=True)
        owner = _owner(options)
        chains = AuditChain.objects.order_by("kind", "owner_id")
        if owner is not None:
            chains = chains.filter(kind=owner.kind, owner_id=owner.pk)
        reports = [chain.verify(each) for each in chains]
        faults = sum(len(report.faults) for report in reports)
        if options["as_json"]:
            document = {"ok": not faults, "chains": [asdict(report) for report in reports]}
            self.stdout.write(json.dumps(document, indent=2))
        else:
            for report in reports:
                pruned = f", pruned up to {report.pruned}" if report.pruned else ""
                state = "whole" if not report.faults else "NOT WHOLE"
                entries = f"{report.length} entries{pruned}"
                self.stdout.write(f"{report.kind} {report.owner_id}: {entries}: {state}. {report.head}")
                for fault in report.faults:
                    self.stdout.write(f"    {fault}")
        if faults:
            sys.exit(1)

    def _export(self, options: dict[str, Any]) -> None:
        owner = _owner(options)
        if owner is None:
            raise CommandError("Name the log: --project SLUG or --requester CUSTOMER_ID.")
        for line in chain.export_lines(owner):
            self.stdout.write(line, ending="")

    def _seal(self, options: dict[str, Any]) -> None:
        self.stdout.write(f"Entries sealed: {chain.seal_all(everything=True):,}.")

    def _prune(self, options: dict[str, Any]) -> None:
        if options["days"] < 1:
            raise CommandError("--days is 1 or more.")
        gone = chain.prune(timezone.now() - timedelta(days=options["days"]), why=options["why"])
        self.stdout.write(f"Entries deleted: {gone:,}. A checkpoint says so in each chain.")


def _owner(options: dict[str, Any]) -> Owner | None:
    slug, customer = options["project"], options["requester"]
    if slug and customer:
        raise CommandError("Name one log: --project or --requester.")
    if slug:
        owner_pk = Project.objects.filter(slug=slug).values_list("pk", flat=True).first()
        if owner_pk is None:
            raise CommandError(f"There is no project {slug!r}.")
        return Owner(Owner.Kind.PROJECT, owner_pk)
    if customer:
        owner_pk = Requester.objects.filter(customer_id=customer).values_list("pk", flat=True).first()
        if owner_pk is None:
            raise CommandError(f"There is no requester {customer!r}.")
        return Owner(Owner.Kind.REQUESTER, owner_pk)
    return None
