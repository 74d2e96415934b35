"""Events that no single change causes: what grows is looked at now and then, and told step by step.

Apps bring what to look at as parts of their extensions, and look only at owners who ask for the type:

    StepWatch("stage.progress", Owner.Kind.PROJECT, progress_steps)
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.extensions import parts_of
from core.failures import logged_failure
from core.origin import Owner
from core.webhooks.events import emit_step
from core.webhooks.models import Webhook

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Step:
    """How far something is: told where `value` is higher than what was told under this key."""

    owner: int
    key: str
    value: int
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StepWatch:
    """Finds the steps of one type, for these owners of its kind, in a fixed number of queries."""

    event_type: str
    owner_kind: str
    find: Callable[[Collection[int], datetime], Iterable[Step]]


def tell_steps(now: datetime) -> int:
    """Ask all watches and tell what is new; how many messages were written."""
    told = 0
    asking = list(
        Webhook.objects.filter(removed_at=None, state=Webhook.State.ACTIVE).values_list(
            "owner_kind", "owner_id", "events"
        )
    )
    for watch in parts_of(StepWatch):
        owners = {
            pk for kind, pk, events in asking if kind == watch.owner_kind and watch.event_type in events
        }
        if not owners:
            continue
        with logged_failure(logger, "The watch %s of webhooks", watch.event_type):
            for step in watch.find(owners, now):
                owner = Owner(watch.owner_kind, step.owner)
                told += emit_step(owner, watch.event_type, step.key, step.value, step.data)
    return told
