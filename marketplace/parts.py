"""What other apps add to the marketplace, as parts of their extensions (`core.extensions`)."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.module_loading import import_string

from core.extensions import parts_of
from marketplace.models import HIT, Holding, Requester, Worker

Policy = Mapping[str, Any] | None


@dataclass(frozen=True)
class ProtocolService:
    """Another service of the endpoint. `is_call` is told whether the path is the protocol's own."""

    is_call: Callable[[HttpRequest, bool], bool]
    answer: Callable[[HttpRequest], HttpResponse]


@dataclass(frozen=True)
class OperationModule:
    """A module that fills `marketplace.protocol.calls.OPERATIONS` further when it is imported."""

    name: str


@dataclass(frozen=True)
class EventSink:
    """Where events go that a HIT type's notification asks for; called in the transaction of what happened."""

    put: Callable[[Requester, Mapping[str, Any], Mapping[str, str]], None]


@dataclass(frozen=True)
class ReviewRules:
    """Review policies of HITs: checked when one is made, followed in the transactions of its work."""

    check: Callable[[Policy, Policy], None]
    review_answer: Callable[[Holding, HIT, datetime], None]
    review_hit: Callable[[HIT, datetime], None]


@dataclass(frozen=True)
class WorkerNames:
    """Other ids of workers. `explain` says why some of a requester's lead to none."""

    find: Callable[[Collection[str]], dict[str, Worker]]
    explain: Callable[[Requester, Collection[str]], dict[str, str]]


@dataclass(frozen=True)
class PeriodicWork:
    """What is done with each sweep, by the timer after it, and once a day."""

    sweep: Callable[[datetime], object]
    tick: Callable[[], object]
    nightly: Callable[[datetime], object]


@dataclass(frozen=True)
class Tables:
    """Tables that test controls empty with all work, and those whose rows go with a worker's account."""

    of_work: tuple[type[Model], ...]
    of_worker: tuple[type[Model], ...]


def tables_of_work() -> list[type[Model]]:
    """In the order in which they can be emptied, before the marketplace's own."""
    return [table for tables in parts_of(Tables) for table in tables.of_work]


def tables_of_worker() -> list[type[Model]]:
    """Each has a column `worker`."""
    return [table for tables in parts_of(Tables) for table in tables.of_worker]


@dataclass(frozen=True)
class Pages:
    """Further addresses of the site's section `site` or `requester`: where the list of patterns is."""

    section: str
    patterns: str


def patterns_of(section: str) -> list[URLPattern]:
    """All further addresses of a section."""
    lists = (import_string(pages.patterns) for pages in parts_of(Pages) if pages.section == section)
    return [pattern for patterns in lists for pattern in patterns]


@dataclass(frozen=True)
class SubCommands:
    """Further sub-commands of `marketplace`, or of its command `group`; `show` and `write` print."""

    group: str
    add: Callable[[Any, Callable[..., Any], Callable[[str], Any]], None]
