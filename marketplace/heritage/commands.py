"""Sub-commands of `manage.py marketplace`: topics, worker ids of MTurk, and a copy of a worker's data."""

from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from marketplace import clock
from marketplace.forms.sheets import Sheet
from marketplace.heritage import formerids
from marketplace.heritage.models import FormerIdRecord, TopicDelivery
from marketplace.heritage.topics import send_due
from marketplace.heritage.worker_archive import exported
from marketplace.management.requesters import Facts, Show, requester_named, write_all
from marketplace.management.workers import worker_named


def add_commands(commands: Any, show: Show, write: Callable[[str], Any]) -> None:
    """`topic` and `former-ids`."""
    add_topics(commands, show, write)
    add_former_ids(commands, show, write)


def add_export(worker: Any, show: Show, write: Callable[[str], Any]) -> None:
    """`worker export`."""
    export: ArgumentParser = worker.add_parser(
        "export", help="write everything about a worker into a ZIP archive"
    )
    export.add_argument("worker_id")
    export.add_argument("file", help="where to write it; must not exist")
    export.add_argument("--blocks", action="store_true", help="also who blocks them, and why")
    export.add_argument("--json", action="store_true")
    export.set_defaults(facts=_export)


# Topics of notifications, the log of what was sent, sending what is due.


def add_topics(commands: Any, show: Show, write: Callable[[str], Any]) -> None:
    """The sub-commands; `show` prints facts as the options ask for, `write` a line."""
    parser = commands.add_parser("topic", help="topics of notifications (SNS) and what was sent")
    actions = parser.add_subparsers(dest="action", required=True)

    list_parser = actions.add_parser("list", help="topics and subscriptions of a requester")
    list_parser.add_argument("name", help="of the requester")
    list_parser.add_argument("--json", action="store_true")
    list_parser.set_defaults(run=partial(write_all, show, write, _subscriptions))

    log = actions.add_parser("deliveries", help="messages that were sent or wait, the latest first")
    log.add_argument("name", help="of the requester")
    log.add_argument("--state", choices=TopicDelivery.State.values, help="only these")
    log.add_argument("--most", type=int, default=50, help="how many (default: 50)")
    log.add_argument("--json", action="store_true")
    log.set_defaults(run=partial(write_all, show, write, _deliveries))

    deliver = actions.add_parser("deliver", help="send what is due now, in this process")
    deliver.add_argument("--json", action="store_true")
    deliver.set_defaults(facts=lambda options: {"delivered": send_due()})


def _subscriptions(options: Facts) -> list[Facts]:
    return [
        {
            "topic": topic.arn,
            "subscriptions": [
                {
                    "protocol": each.protocol,
                    "endpoint": each.endpoint,
                    "confirmed": each.confirmed_at is not None,
                }
                for each in topic.subscriptions.all()
                if each.ended_at is None
            ],
        }
        for topic in requester_named(options["name"]).topics.order_by("pk").prefetch_related("subscriptions")
    ]


def _deliveries(options: Facts) -> list[Facts]:
    rows = TopicDelivery.objects.filter(subscription__topic__requester=requester_named(options["name"]))
    if options["state"]:
        rows = rows.filter(state=options["state"])
    rows = rows.select_related("subscription__topic").order_by("-pk")[: max(1, options["most"])]
    return [
        {
            "at": row.created_at.isoformat(),
            "type": row.document["Type"],
            "message_id": str(row.message_id),
            "topic": row.subscription.topic.name,
            "endpoint": row.subscription.endpoint,
            "state": row.state,
            "attempts": row.attempts,
            "status": row.status,
            "error": row.error,
            "next_attempt_at": row.due_at and row.due_at.isoformat(),
        }
        for row in rows
    ]


def _export(options: Facts) -> Facts:
    worker, path = worker_named(options), Path(options["file"])
    try:
        with path.open("xb") as file:
            for piece in exported(worker, now=clock.now(), with_blocks=options["blocks"]):
                file.write(piece)
    except FileExistsError as error:
        raise CommandError(f"{path} is there already. Give another name.") from error
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
    return {"worker_id": worker.worker_id, "file": str(path), "bytes": path.stat().st_size}


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
    claim = formerids.settle_claim(former_id=options["former_id"], worker=worker_named(options))
    return {"former_id": claim.former_id, "worker_id": claim.worker.worker_id}


def _state(options: Facts) -> Facts:
    claim = formerids.state_former_id(worker=worker_named(options), former_id=options["former_id"])
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
