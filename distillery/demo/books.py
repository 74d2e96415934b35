"""The demonstration in numbers, read from the database when all is made; money in cents.

Each side's books are laid beside ours: the marketplace's, the study link's, the panel's. They are for the
terminal and for `summary.json`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet, Sum
from django.utils import timezone

from crowd.models import Assignment, Endpoint, Hit, Stage
from crowd.selectors.stage_status import SourceMoney, money_by_endpoint
from crowd.simulation.panel import Panel
from marketplace.models import HIT, Holding, Requester
from people.models import StudyLink
from people.selectors import visit_facts
from releases import storage
from releases.models import Release

#: What a visitor of the study link earns with each task.
LINK_CENTS = 12
#: Tasks, rewards and fees; None where a side does not know of it.
Sums = tuple[int, int | None, int | None]


def summarise(*, site: str, panel: Panel, seconds: float) -> dict[str, Any]:
    """All of it."""
    requester, release = Requester.objects.get(), Release.objects.get(project__slug="answers")
    books = list(compare_books(panel))
    total = sum(row["paid_cents"] + row["fee_cents"] for row in books if row["here"])
    return {
        "database": connection.vendor,
        "url": site,
        "made_at": timezone.now().isoformat(),
        "wall_seconds": round(seconds, 2),
        "books": books,
        "agree": total == requester.paid_cents + requester.fees_cents
        and all(
            row[f"their_{name}"] in (None, row[name]) for row in books for name in ("paid_cents", "fee_cents")
        ),
        "release": {
            "version": release.version,
            "path": str(Path(storage.folder_of(release) or "").relative_to(settings.DATA_DIR)),
            "digest": release.digest,
        },
    }


def compare_books(panel: Panel) -> Iterator[dict[str, Any]]:
    """What the lab's script posted, every stage of this marketplace alone, the study over three sources."""
    script = sum_marketplace(HIT.objects.filter(annotation__startswith="demo "))
    yield make_row("by the lab's script", script, script)
    every = Stage.objects.select_related("project", "endpoint").order_by("pk")
    for stage in every.exclude(project__slug="anywhere"):
        ours, theirs = sum_ours([stage], stage.endpoint), sum_marketplace(find_hits([stage]))
        yield make_row(f"{stage.project.slug}/{stage.slug}", ours, theirs)
    stages = list(every.filter(project__slug="anywhere", slug__in=["answers", "judging"]))
    visits = {
        each["worker"]: int(str(each["tasks_finished"])) for each in visit_facts(StudyLink.objects.get())
    }
    finished, payments = sum(visits.values()), panel.call("GET", "/_control/payments")["payments"]
    rewards, fees = (sum(each[part] for each in payments) for part in ("amount", "fees"))
    sides: dict[str, tuple[str, Sums]] = {
        "the marketplace": ("demo", sum_marketplace(find_hits(stages))),
        "the study link": ("links", (finished, finished * LINK_CENTS, None)),
        "the panel": ("panel", (len(payments), rewards, fees + sum(each["vat"] for each in payments))),
    }
    for name, (endpoint, theirs) in sides.items():
        ours = sum_ours(stages, Endpoint.objects.get(name=endpoint))
        yield make_row(f"anywhere, by {name}", ours, theirs, here=endpoint == "demo")


def make_row(name: str, ours: Sums, theirs: Sums, *, here: bool = True) -> dict[str, Any]:
    """Tasks, rewards and fees by our ledger, and by the other side's books; `here` at this marketplace."""
    (tasks, paid, fee), (_, their_paid, their_fee) = ours, theirs
    return {
        **{"name": name, "tasks": tasks, "paid_cents": paid, "fee_cents": fee},
        **{"their_paid_cents": their_paid, "their_fee_cents": their_fee, "here": here},
    }


def find_hits(stages: Sequence[Stage]) -> QuerySet[HIT]:
    """The stages' HITs as the marketplace has them."""
    return HIT.objects.filter(hit_id__in=Hit.objects.filter(stage__in=stages).values("external_id"))


def sum_marketplace(hits: QuerySet[HIT]) -> tuple[int, int, int]:
    """Tasks that the marketplace paid of these HITs, the rewards and its fees."""
    work = Holding.objects.filter(hit__in=hits, state=Holding.State.APPROVED)
    sums = work.aggregate(paid=Sum("paid_cents", default=0), fees=Sum("hit__fee_cents", default=0))
    return work.count(), sums["paid"], sums["fees"]


def sum_ours(stages: Sequence[Stage], endpoint: Endpoint) -> tuple[int, int, int]:
    """The same of these stages at an endpoint, by our ledger."""
    money = [money_by_endpoint(stage).get(endpoint.pk, SourceMoney()) for stage in stages]
    approved = Assignment.objects.filter(stage__in=stages, state=Assignment.State.APPROVED)
    tasks = approved.filter(worker__endpoint=endpoint).count()
    return tasks, sum(each.spent_cents for each in money), sum(each.fee_cents for each in money)
