"""`manage.py marketplace worker …`: workers that are there."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from core.money import dollars
from marketplace.accounts import account_closure
from marketplace.accounts.account_closure import receipt, worker_of
from marketplace.management.requesters import Facts
from marketplace.models import Worker
from marketplace.site.records import standing


def add_workers(worker: Any) -> None:
    """Add `close` and `receipt` to the sub-commands of `worker`."""
    close: ArgumentParser = worker.add_parser("close", help="close a worker's account for ever")
    close.add_argument("worker_id")
    close.add_argument("--yes", action="store_true", help="really; there is no way back")
    close.add_argument("--json", action="store_true")
    close.set_defaults(facts=_close)

    receipt_parser: ArgumentParser = worker.add_parser(
        "receipt", help="whose receipt of a closed account this is, and what is due"
    )
    receipt_parser.add_argument("receipt")
    receipt_parser.add_argument("--json", action="store_true")
    receipt_parser.set_defaults(facts=_receipt)


def worker_named(options: Facts) -> Worker:
    """The worker of `worker_id`."""
    worker = Worker.objects.filter(worker_id=options["worker_id"]).select_related("user").first()
    if worker is None:
        raise CommandError(f"There is no worker with the id {options['worker_id']!r}.")
    return worker


def _close(options: Facts) -> Facts:
    worker = worker_named(options)
    if not options["yes"]:
        raise CommandError(
            f"This closes the account of {worker.worker_id} for ever. Say --yes if you mean it."
        )
    closed = account_closure.close(worker=worker)
    return {
        "worker_id": worker.worker_id,
        "closed": True,
        "returned": closed.returned,
        "login_stays": closed.login_stays,
        "receipt": receipt(worker.worker_id),
    }


def _receipt(options: Facts) -> Facts:
    worker = worker_of(options["receipt"])
    if worker is None:
        raise CommandError("This is not a receipt of an account that was closed here.")
    due = standing(worker)
    return {
        "worker_id": worker.worker_id,
        "waiting": due.waiting,
        "waiting_amount": dollars(due.waiting_cents),
        "not_paid_out": dollars(due.unpaid_cents),
    }
