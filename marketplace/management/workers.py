"""`manage.py marketplace worker …` and `former-ids …`: workers that are there, and worker ids of MTurk."""

from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.money import dollars
from marketplace import clock
from marketplace.batches.sheets import Sheet
from marketplace.management.requesters import Facts, Show, requester_named, write_all
from marketplace.models import FormerIdRecord, Worker
from marketplace.services import account_closure, formerids
from marketplace.services.account_closure import receipt, worker_of
from marketplace.site.records import standing
from marketplace.worker_archive import exported


def add_workers(worker: Any) -> None:
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

    receipt_parser: ArgumentParser = worker.add_parser(
        "receipt", help="whose receipt of a closed account this is, and what is due"
    )
    receipt_parser.add_argument("receipt")
    receipt_parser.add_argument("--json", action="store_true")
    receipt_parser.set_defaults(facts=_receipt)


def _worker(options: Facts) -> Worker:
    worker = Worker.objects.filter(worker_id=options["worker_id"]).select_related("user").first()
    if worker is None:
        raise CommandError(f"There is no worker with the id {options['worker_id']!r}.")
    return worker


def _export(options: Facts) -> Facts:
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


def _close(options: Facts) -> Facts:
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


# Worker ids of MTurk: tables of a requester's, and who states which id.


def add_former_ids(commands: Any, show: Show, write: Callable[[str], Any]) -> None:
    """The sub-commands; `show` prints facts as the options ask for, `write` a line."""
    parser = commands.add_parser("former-ids", help="worker ids of MTurk: tables, and who states them")
    actions = parser.add_subparsers(dest="action", required=True)

    bring = actions.add_parser("import", help="bring in a table of ids with blocks, grants and bonuses")
    bring.add_argument("name", help="of the requester")
    bring.add_argument("file", type=Path, help="CSV or workbook with the column worker_id")
    bring.add_argument("--json", action="store_true")
    bring.set_defaults(facts=_import)

    list_parser = actions.add_parser("list", help="what is kept on ids, and on whom it took effect")
    list_parser.add_argument("name", help="of the requester")
    list_parser.add_argument("--json", action="store_true")
    list_parser.set_defaults(run=partial(write_all, show, write, _records))

    conflicts = actions.add_parser("conflicts", help="ids that several workers state")
    conflicts.add_argument("--json", action="store_true")
    conflicts.set_defaults(run=partial(write_all, show, write, _conflicts))

    settle = actions.add_parser("settle", help="decide whose an id is that several workers state")
    settle.add_argument("former_id", help="of MTurk")
    settle.add_argument("worker_id", help="of this marketplace")
    settle.add_argument("--json", action="store_true")
    settle.set_defaults(facts=_settle)

    state = actions.add_parser("state", help="note which MTurk id a worker says to have had")
    state.add_argument("worker_id", help="of this marketplace")
    state.add_argument("former_id", help="of MTurk")
    state.add_argument("--json", action="store_true")
    state.set_defaults(facts=_state)

    pay = actions.add_parser("pay", help="pay bonuses of stated ids now, as the timer does")
    pay.add_argument("--json", action="store_true")
    pay.set_defaults(facts=lambda options: {"paid": formerids.pay_waiting_bonuses()})


def _import(options: Facts) -> Facts:
    path = options["file"]
    try:
        file = path.open("rb")
    except OSError as error:
        raise CommandError(f"{path}: {error}") from error
    with file:
        outcome = formerids.bring_in(requester=requester_named(options["name"]), sheet=Sheet(file, path.name))
    return {
        "rows": outcome.rows,
        "new": outcome.new,
        "same": outcome.same,
        "read_as": outcome.reading.as_json(),
    }


def _settle(options: Facts) -> Facts:
    claim = formerids.settle_claim(former_id=options["former_id"], worker=_worker(options))
    return {"former_id": claim.former_id, "worker_id": claim.worker.worker_id}


def _state(options: Facts) -> Facts:
    claim = formerids.state_former_id(worker=_worker(options), former_id=options["former_id"])
    return {"former_id": claim.former_id, "accepted": claim.accepted}


def _records(options: Facts) -> list[Facts]:
    rows = FormerIdRecord.objects.filter(requester=requester_named(options["name"]))
    return [
        {
            "former_id": row.former_id,
            "kind": row.kind,
            "qualification": row.qualification_type and row.qualification_type.name,
            "value": row.value if row.kind == FormerIdRecord.Kind.GRANT else None,
            "cents": row.cents or None,
            "reason": row.reason,
            "applied_at": row.applied_at and row.applied_at.isoformat(),
            "worker_id": row.worker and row.worker.worker_id,
            "why": row.why,
        }
        for row in rows.select_related("qualification_type", "worker").order_by("former_id", "pk")
    ]


def _conflicts(options: Facts) -> list[Facts]:
    return [
        {
            "former_id": claim.former_id,
            "worker_id": claim.worker.worker_id,
            "accepted": claim.accepted,
            "at": claim.at.isoformat(),
        }
        for claim in formerids.contested()
    ]
