"""What waits for a person: queues of decisions per project.

Each queue is a part of its app's extension:

    Queue("tied", "Ties", "Editors were of two minds …", count=…, first=…, position=10)

`first(project)` is the address of the page on which the next one is decided, empty where none waits; that
page leads on to the next one by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, QuerySet
from django.urls import reverse

from core.extensions import parts_of
from core.projects.models import Project
from crowd.models import Assignment, MarketOperation
from web.cache import cached

State, Kind = Assignment.State, MarketOperation.Kind


@dataclass(frozen=True, slots=True)
class Queue:
    """One kind of decision; `what` says why it waits and what the decision does."""

    name: str
    label: str
    what: str
    count: Callable[[Project], int]
    first: Callable[[Project], str]
    position: int
    pressing: bool = False


@dataclass(frozen=True, slots=True)
class QueueCount:
    """A queue with how many wait in it now."""

    queue: Queue
    count: int


@dataclass(frozen=True, slots=True)
class SeparateQueues:
    """Work that an app decides about in queues of its own, so that it is not counted twice.

    `work()` tells it, of an outer assignment; the queue of work by hand leaves it out.
    """

    work: Callable[[], Exists]


def all_queues() -> list[Queue]:
    """All queues, in the order of pages."""
    return sorted(parts_of(Queue), key=lambda queue: queue.position)


def queue_named(name: str) -> Queue | None:
    """The queue of this name."""
    return next((each for each in parts_of(Queue) if each.name == name), None)


def waiting(project: Project) -> list[QueueCount]:
    """All queues with their counts; where counting takes long, as they were a while ago."""

    def count() -> dict[str, int]:
        return {queue.name: queue.count(project) for queue in all_queues()}

    counts = cached(("queues", project.pk), count)
    return [QueueCount(queue, counts[queue.name]) for queue in all_queues() if queue.name in counts]


def _undecided(project: Project) -> QuerySet[Assignment]:
    """Work that a person can decide about, without a decision on its way."""
    under_way = MarketOperation.objects.filter(
        assignment=OuterRef("pk"), kind__in=[Kind.APPROVE, Kind.REJECT]
    ).exclude(state__in=MarketOperation.FINAL)
    return Assignment.objects.filter(~Exists(under_way), stage__project=project)


def _held_work(project: Project) -> QuerySet[Assignment]:
    return _undecided(project).filter(held=True, state=State.SUBMITTED)


def _by_hand(project: Project) -> QuerySet[Assignment]:
    rows = _undecided(project).filter(held=False, state=State.SUBMITTED, stage__approve_at_once=False)
    for source in parts_of(SeparateQueues):
        rows = rows.exclude(source.work())
    return rows


def _quarantined(project: Project) -> QuerySet[Assignment]:
    return _undecided(project).filter(state=State.QUARANTINED)


def _operations(project: Project) -> QuerySet[MarketOperation]:
    return MarketOperation.objects.filter(
        stage__project=project, needs_person=True, state=MarketOperation.State.UNKNOWN
    )


def _of_work(
    rows: Callable[[Project], QuerySet[Assignment]], name: str
) -> tuple[Callable[[Project], int], Callable[[Project], str]]:
    def first(project: Project) -> str:
        soonest = F("auto_approve_at").asc(nulls_last=True)
        location = rows(project).order_by(soonest, "pk").values_list("stage__slug", "pk").first()
        if location is None:
            return ""
        return f"{reverse('desk:assignment', args=[project.slug, *location])}?queue={name}"

    return lambda project: rows(project).count(), first


def _first_operation(project: Project) -> str:
    slug = _operations(project).order_by("planned_at", "pk").values_list("stage__slug", flat=True).first()
    return f"{reverse('desk:decisions', args=[project.slug, slug])}?queue=operations" if slug else ""


def _queue_of_work(
    name: str,
    label: str,
    what: str,
    rows: Callable[[Project], QuerySet[Assignment]],
    position: int,
    *,
    pressing: bool = False,
) -> Queue:
    count, first = _of_work(rows, name)
    return Queue(name, label, what, count, first, position, pressing)


#: The queues of work and of operations in doubt.
QUEUES = (
    _queue_of_work(
        "held",
        "Held work",
        "It failed attention checks. Approve it, let it go on, or reject it with a reason; unless "
        "a person decides, the marketplace approves and pays it.",
        _held_work,
        50,
        pressing=True,
    ),
    _queue_of_work(
        "by-hand",
        "Work to approve by hand",
        "Stages that approve by hand wait for you. Unless a person decides, the marketplace approves "
        "and pays it.",
        _by_hand,
        51,
    ),
    _queue_of_work(
        "quarantined",
        "Work in quarantine",
        "What the marketplace lists and what was stored here do not agree. A person did it, unless "
        "you know better.",
        _quarantined,
        52,
    ),
    Queue(
        "operations",
        "Operations in doubt",
        "The marketplace did not answer. Look there, then record the result.",
        lambda project: _operations(project).count(),
        _first_operation,
        40,
        pressing=True,
    ),
)
