"""What the heritage adds to the marketplace, and its notices."""

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from core.extensions import Extension
from core.notices.conditions import Condition, Rule
from core.notices.models import Notice
from marketplace.heritage import commands, formerids, notifications, review_policies, sns, sqs, topics
from marketplace.heritage.models import FormerIdClaim, Queue, QueuedEvent, WorkerFile, WorkerFileLine
from marketplace.parts import (
    EventSink,
    OperationModule,
    Pages,
    PeriodicWork,
    ProtocolService,
    ReviewRules,
    SubCommands,
    Tables,
    WorkerNames,
)

#: Notices of one look; a flood of claims is one matter.
_MOST_CONTESTED = 100


def contested_former_ids(now: datetime) -> Iterator[Condition]:
    """MTurk ids that several workers state, until staff decide whose each is."""
    for row in formerids.unsettled(_MOST_CONTESTED):
        yield Condition(
            None,
            "former_id",
            f"former_id:{row.former_id}",
            Notice.Level.WARNING,
            f"The MTurk id {row.former_id} is stated by {row.people} workers: decide whose it is"
            + ("." if row.kept_by else f", with `marketplace former-ids settle {row.former_id} WORKER`."),
            reverse("requester:former_id_conflicts", args=[row.kept_by]) if row.kept_by else "",
        )


EXTENSION = Extension(
    ProtocolService(sqs.is_call, sqs.answer),
    ProtocolService(sns.is_call, sns.answer),
    OperationModule("marketplace.heritage.operations"),
    EventSink(notifications.put_event),
    ReviewRules(
        review_policies.check_policies, review_policies.review_known_answers, review_policies.review_plurality
    ),
    WorkerNames(formerids.find_workers, formerids.explain_unstated),
    PeriodicWork(notifications.forget_events, formerids.pay_waiting_bonuses, topics.forget_old),
    Tables(of_work=(WorkerFileLine, WorkerFile, QueuedEvent, Queue), of_worker=(FormerIdClaim,)),
    Pages("site", "marketplace.heritage.urls.SITE"),
    Pages("requester", "marketplace.heritage.urls.REQUESTER"),
    SubCommands("", commands.add_commands),
    SubCommands("worker", commands.add_export),
    Rule("former_id", contested_former_ids, kinds=("former_id",)),
)
