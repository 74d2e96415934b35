"""What somebody should know of, as rules: they are looked at together, and notices come and go with them.

Apps bring their rules as parts of their extensions, so that this app need not know them:

    Rule("stuck", stuck_stages, kinds=("stuck",))
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from core.extensions import parts_of
from core.failures import logged_failure
from core.notices.models import Notice
from core.notices.services import end_notices, raise_for

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is so now: the words of its notice, and the key under which it is told once.

    Without a project it is about the whole installation.
    """

    project: int | None
    kind: str
    key: str
    level: str
    sentence: str
    address: str = ""


Find = Callable[[datetime], Iterable[Condition]]


@dataclass(frozen=True, slots=True)
class Rule:
    """Finds everything of these kinds in all projects, in a number of queries that does not grow."""

    name: str
    find: Find
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoticeCounts:
    """How many notices a look raised and ended."""

    raised: int = 0
    ended: int = 0


_RULE_FAILED = "The rule %s of notices"


def look(now: datetime) -> NoticeCounts:
    """Ask all rules, raise what is new, put right the words of what goes on, end what is over.

    A rule that fails is written to the log, and its notices stay as they were.
    """
    found: dict[tuple[int | None, str], Condition] = {}
    kinds: set[str] = set()
    for rule in parts_of(Rule):
        conditions: list[Condition] | None = None
        with logged_failure(logger, _RULE_FAILED, rule.name), transaction.atomic():
            conditions = list(rule.find(now))
        if conditions is None:
            continue
        kinds.update(rule.kinds)
        found |= {(each.project, each.key): each for each in conditions}
    standing = {(row.project_id, row.key): row for row in Notice.objects.filter(over_at=None, kind__in=kinds)}
    new = [each for name, each in found.items() if name not in standing]
    for each in new:
        raise_for(
            each.project,
            kind=each.kind,
            key=each.key,
            level=each.level,
            sentence=each.sentence,
            address=each.address,
            now=now,
        )
    _put_right([(standing[name], each) for name, each in found.items() if name in standing])
    over = [row.pk for name, row in standing.items() if name not in found]
    return NoticeCounts(len(new), end_notices(Notice.objects.filter(pk__in=over), now=now) if over else 0)


def _put_right(pairs: list[tuple[Notice, Condition]]) -> None:
    changed = []
    for row, now_so in pairs:
        words = (now_so.level, now_so.sentence[:300], now_so.address)
        if (row.level, row.sentence, row.address) != words:
            row.level, row.sentence, row.address = words
            changed.append(row)
    if changed:
        Notice.objects.bulk_update(changed, ["level", "sentence", "address"], batch_size=500)


def everything_now(now: datetime) -> list[Condition]:
    """What all rules find at this moment, in all projects; a rule that fails is written to the log."""
    found: list[Condition] = []
    for rule in parts_of(Rule):
        with logged_failure(logger, _RULE_FAILED, rule.name):
            found += rule.find(now)
    return found
