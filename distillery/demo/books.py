"""The demonstration in numbers, read from the database when all is made; money in cents.

Each side's books are laid beside ours: the marketplace's, the study link's, the panel's. They are for the
terminal and for `summary.json`.
"""

from collections.abc import Iterable, Iterator
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
MONEY = ("paid_cents", "fee_cents")
#: None where a side does not know.
Sums = tuple[int | None, ...]


def summarise(*, site: str, panel: Panel, seconds: float) -> dict[str, Any]:
    """All of it."""
    requester, release = Requester.objects.get(), Release.objects.get(project__slug="answers")
    books = list(compare_books(panel))
    spent = sum(row[name] for row in books if row["here"] for name in MONEY)
    agreeing = [row[f"their_{name}"] in (None, row[name]) for row in books for name in MONEY]
    return {
        "database": connection.vendor,
        "url": site,
        "made_at": timezone.now().isoformat(),
        "wall_seconds": round(seconds, 2),
        "books": books,
        "agree": all(agreeing) and spent == requester.paid_cents + requester.fees_cents,
        "release": {
            "version": release.version,
            "path": str(Path(storage.folder_of(release) or "").relative_to(settings.DATA_DIR)),
            "digest": release.digest,
        },
    }


def compare_books(panel: Panel) -> Iterator[dict[str, Any]]:
    """What the lab's script posted; each stage of this marketplace alone; the study over three sources."""
    script = sum_marketplace(HIT.objects.filter(annotation__startswith="demo "))
    yield make_row("by the lab's script", script, script[1:])
    every = Stage.objects.select_related("project").order_by("pk")
    for stage in every.exclude(project__slug="anywhere"):
        hits = find_hits(every.filter(pk=stage.pk))
        yield make_row(f"{stage.project.slug}/{stage.slug}", sum_ours([stage]), sum_marketplace(hits)[1:])
    stages = every.filter(project__slug="anywhere", slug__in=["answers", "judging"])
    visits = visit_facts(StudyLink.objects.get())
    by_person = {visit["worker"]: int(str(visit["tasks_finished"])) for visit in visits}
    payments = panel.call("GET", "/_control/payments")["payments"]
    paid, fees, vat = (sum(payment[part] for payment in payments) for part in ("amount", "fees", "vat"))
    theirs: dict[tuple[str, str], Sums] = {
        ("demo", "the marketplace"): sum_marketplace(find_hits(stages))[1:],
        ("links", "the study link"): (sum(by_person.values()) * LINK_CENTS, None),
        ("panel", "the panel"): (paid, fees + vat),
    }
    for (endpoint, name), sums in theirs.items():
        yield make_row(f"anywhere, by {name}", sum_ours(stages, endpoint), sums, is_local=endpoint == "demo")


def make_row(name: str, ours: Sums, theirs: Sums, *, is_local: bool = True) -> dict[str, Any]:
    """Tasks, rewards and fees by our ledger, and by the books of others; `is_local` at this marketplace."""
    columns = ("tasks", *MONEY, *(f"their_{column}" for column in MONEY))
    return {"name": name, **dict(zip(columns, (*ours, *theirs), strict=True)), "here": is_local}


def find_hits(stages: QuerySet[Stage]) -> QuerySet[HIT]:
    """The stages' HITs as the marketplace has them."""
    return HIT.objects.filter(hit_id__in=Hit.objects.filter(stage__in=stages).values("external_id"))


def sum_marketplace(hits: QuerySet[HIT]) -> tuple[int, int, int]:
    """Tasks that the marketplace paid of these HITs, the rewards and its fees."""
    work = Holding.objects.filter(hit__in=hits, state=Holding.State.APPROVED)
    sums = work.aggregate(paid=Sum("paid_cents", default=0), fees=Sum("hit__fee_cents", default=0))
    return work.count(), sums["paid"], sums["fees"]


def sum_ours(stages: Iterable[Stage], endpoint: str = "demo") -> tuple[int, int, int]:
    """The same of these stages at an endpoint, by our ledger."""
    place = Endpoint.objects.get(name=endpoint)
    money = [money_by_endpoint(stage).get(place.pk, SourceMoney()) for stage in stages]
    approved = Assignment.objects.filter(stage__in=stages, state=Assignment.State.APPROVED)
    tasks = approved.filter(worker__endpoint=place).count()
    return tasks, sum(each.spent_cents for each in money), sum(each.fee_cents for each in money)
