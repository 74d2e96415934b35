"""`manage.py marketplace worker …` for workers that are there: their data, closing, receipts."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.money import dollars
from marketplace import clock
from marketplace.archive import exported
from marketplace.models import Worker
from marketplace.services import account_closure
from marketplace.services.account_closure import receipt, worker_of
from marketplace.site.records import standing


def add_commands(worker: Any) -> None:
    """Add `export`, `close` and `receipt` to the sub-commands of `worker`."""
    export: ArgumentParser = worker.add_parser(
        "export", help="write everything about a worker into a ZIP archive"
    )
    export.add_argument("worker_id")
    export.add_argument("file", help="where to write it; must not exist")
    export.add_argument("--blocks", action="store_true", help="also who blocks them, and why")
    export.add_argument("--json", action="store_true")
    export.set_defaults(facts=_export)

    close: ArgumentParser = worker.add_parser("close", help="close a worker's account for ever")
    close.add_argument("worker_id")
    close.add_argument("--yes", action="store_true", help="really; there is no way back")
    close.add_argument("--json", action="store_true")
    close.set_defaults(facts=_close)

    shown: ArgumentParser = worker.add_parser(
        "receipt", help="whose receipt of a closed account this is, and what is due"
    )
    shown.add_argument("receipt")
    shown.add_argument("--json", action="store_true")
    shown.set_defaults(facts=_receipt)


def _worker(options: dict[str, Any]) -> Worker:
    worker = Worker.objects.filter(worker_id=options["worker_id"]).select_related("user").first()
    if worker is None:
        raise CommandError(f"There is no worker with the id {options['worker_id']!r}.")
    return worker


def _export(options: dict[str, Any]) -> dict[str, Any]:
    worker, path = _worker(options), Path(options["file"])
    try:
        with path.open("xb") as file:
            for piece in exported(worker, now=clock.now(), with_blocks=options["blocks"]):
                file.write(piece)
    except FileExistsError as error:
        raise CommandError(f"{path} is there already. Give another name.") from error
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
    return {"worker_id": worker.worker_id, "file": str(path), "bytes": path.stat().st_size}


def _close(options: dict[str, Any]) -> dict[str, Any]:
    worker = _worker(options)
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


def _receipt(options: dict[str, Any]) -> dict[str, Any]:
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
