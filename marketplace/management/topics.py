"""`manage.py marketplace topic`: topics of a requester, the log of what was sent, sending what is due."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from marketplace.models import Requester, TopicDelivery
from marketplace.topics import send_due

Facts = dict[str, Any]
Show = Callable[[Facts, Facts], None]


def add(commands: Any, show: Show, write: Callable[[str], Any]) -> None:
    """The sub-commands; `show` prints facts as the options ask for, `write` a line."""
    parser = commands.add_parser("topic", help="topics of notifications (SNS) and what was sent")
    actions = parser.add_subparsers(dest="action", required=True)

    listed = actions.add_parser("list", help="topics and subscriptions of a requester")
    listed.add_argument("name", help="of the requester")
    listed.add_argument("--json", action="store_true")
    listed.set_defaults(run=partial(_write_all, show, write, _subscriptions))

    log = actions.add_parser("deliveries", help="messages that were sent or wait, the latest first")
    log.add_argument("name", help="of the requester")
    log.add_argument("--state", choices=TopicDelivery.State.values, help="only these")
    log.add_argument("--most", type=int, default=50, help="how many (default: 50)")
    log.add_argument("--json", action="store_true")
    log.set_defaults(run=partial(_write_all, show, write, _deliveries))

    deliver = actions.add_parser("deliver", help="send what is due now, in this process")
    deliver.add_argument("--json", action="store_true")
    deliver.set_defaults(facts=lambda options: {"delivered": send_due()})


def _requester(name: str) -> Requester:
    found = Requester.objects.filter(name=name).first()
    if found is None:
        raise CommandError(f"There is no requester named {name!r}.")
    return found


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
        for topic in _requester(options["name"]).topics.order_by("pk").prefetch_related("subscriptions")
    ]


def _deliveries(options: Facts) -> list[Facts]:
    rows = TopicDelivery.objects.filter(subscription__topic__requester=_requester(options["name"]))
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
