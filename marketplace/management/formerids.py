"""`manage.py marketplace former-ids`: MTurk worker ids of a requester's table, and who states them."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from marketplace.batches.sheets import Sheet
from marketplace.models import FormerIdRecord, Requester, Worker
from marketplace.services import formerids

Facts = dict[str, Any]
Show = Callable[[Facts, Facts], None]


def add(commands: Any, show: Show, write: Callable[[str], Any]) -> None:
    """The sub-commands; `show` prints facts as the options ask for, `write` a line."""
    parser = commands.add_parser("former-ids", help="worker ids of MTurk: tables, and who states them")
    actions = parser.add_subparsers(dest="action", required=True)

    bring = actions.add_parser("import", help="bring in a table of ids with blocks, grants and bonuses")
    bring.add_argument("name", help="of the requester")
    bring.add_argument("file", type=Path, help="CSV or workbook with the column worker_id")
    bring.add_argument("--json", action="store_true")
    bring.set_defaults(facts=_import)

    listed = actions.add_parser("list", help="what is kept on ids, and on whom it took effect")
    listed.add_argument("name", help="of the requester")
    listed.add_argument("--json", action="store_true")
    listed.set_defaults(run=partial(_write_all, show, write, _records))

    conflicts = actions.add_parser("conflicts", help="ids that several workers state")
    conflicts.add_argument("--json", action="store_true")
    conflicts.set_defaults(run=partial(_write_all, show, write, _conflicts))

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


def _requester(name: str) -> Requester:
    found = Requester.objects.filter(name=name).first()
    if found is None:
        raise CommandError(f"There is no requester named {name!r}.")
    return found


def _worker(worker_id: str) -> Worker:
    found = Worker.objects.filter(worker_id=worker_id).first()
    if found is None:
        raise CommandError(f"There is no worker with the id {worker_id!r}.")
    return found


def _import(options: Facts) -> Facts:
    path = options["file"]
    try:
        file = path.open("rb")
    except OSError as error:
        raise CommandError(f"{path}: {error}") from error
    with file:
        made = formerids.bring_in(requester=_requester(options["name"]), sheet=Sheet(file, path.name))
    return {"rows": made.rows, "new": made.new, "same": made.same}


def _settle(options: Facts) -> Facts:
    claim = formerids.settle_claim(former_id=options["former_id"], worker=_worker(options["worker_id"]))
    return {"former_id": claim.former_id, "worker_id": claim.worker.worker_id}


def _state(options: Facts) -> Facts:
    claim = formerids.state_former_id(worker=_worker(options["worker_id"]), former_id=options["former_id"])
    return {"former_id": claim.former_id, "accepted": claim.accepted}


def _write_all(
    show: Show, write: Callable[[str], Any], read: Callable[[Facts], list[Facts]], options: Facts
) -> None:
    found = read(options)
    if options["json"]:
        write(json.dumps(found))
        return
    for facts in found:
        show(options, facts)
        write("")
    if not found:
        write("There are none.")


def _records(options: Facts) -> list[Facts]:
    rows = FormerIdRecord.objects.filter(requester=_requester(options["name"]))
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
