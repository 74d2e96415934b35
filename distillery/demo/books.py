"""The demonstration in numbers, read from the database when all is made; money in cents.

Each side's books are laid beside ours: the marketplace's, the study link's, the panel's. They are for the
terminal and for `summary.json`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet, Sum
from django.utils import timezone

from crowd.models import Assignment, Hit, LedgerEntry, Stage
from crowd.selectors.stage_status import source_status
from distillery.demo.panel import Panel
from marketplace.models import HIT, Holding, Requester
from people.models import StudyLink
from people.selectors import VISIT_COLUMNS, visit_rows
from releases import storage
from releases.models import Release


def summarise(*, site: str, panel: Panel, seconds: float) -> dict[str, Any]:
    """All of it."""
    requester, release = Requester.objects.get(), Release.objects.get(project__slug="answers")
    books = [*stage_books(), *source_books(panel)]
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


def make_row(
    name: str, tasks: int, ours: tuple[int, int], theirs: tuple[int | None, ...], *, here: bool = True
) -> dict[str, Any]:
    """Rewards and fees by our ledger, and by the other side's books; `here` at this marketplace."""
    names = ("paid_cents", "fee_cents", "their_paid_cents", "their_fee_cents")
    return {"name": name, "tasks": tasks, **dict(zip(names, (*ours, *theirs), strict=True)), "here": here}


def marketplace_side(hits: QuerySet[HIT]) -> tuple[int, int, int]:
    """Tasks that the marketplace paid of these HITs, the rewards and its fees."""
    work = Holding.objects.filter(hit__in=hits, state=Holding.State.APPROVED)
    sums = work.aggregate(paid=Sum("paid_cents", default=0), fees=Sum("hit__fee_cents", default=0))
    return work.count(), sums["paid"], sums["fees"]


def at_marketplace(stages: QuerySet[Stage]) -> QuerySet[HIT]:
    """The stages' HITs as the marketplace has them."""
    return HIT.objects.filter(hit_id__in=Hit.objects.filter(stage__in=stages).values("external_id"))


def stage_books() -> Iterator[dict[str, Any]]:
    """Every stage that is published on this marketplace alone, and what the lab's script posted."""
    tasks, *paid = marketplace_side(HIT.objects.filter(annotation__startswith="demo "))
    yield make_row("by the lab's script", tasks, (paid[0], paid[1]), tuple(paid))
    stages = Stage.objects.exclude(project__slug="anywhere").select_related("project").order_by("pk")
    for stage in stages:
        spent = LedgerEntry.objects.filter(stage=stage, kind=LedgerEntry.Kind.SPEND)
        sums = spent.aggregate(paid=Sum("cents", default=0), fees=Sum("fee_cents", default=0))
        done = Assignment.objects.filter(stage=stage, state=Assignment.State.APPROVED).count()
        theirs = marketplace_side(at_marketplace(stages.filter(pk=stage.pk)))[1:]
        yield make_row(f"{stage.project.slug}/{stage.slug}", done, (sums["paid"], sums["fees"]), theirs)


def source_books(panel: Panel) -> Iterator[dict[str, Any]]:
    """The study over three sources. People of a link have earned what they finished."""
    stages = Stage.objects.filter(project__slug="anywhere", slug__in=["answers", "judging"])
    link, finished = StudyLink.objects.get(), VISIT_COLUMNS.index("tasks_finished")
    people = {
        str(visit[VISIT_COLUMNS.index("worker")]): int(str(visit[finished])) for visit in visit_rows(link)
    }
    payments = panel.call("GET", "/_control/payments")["payments"]
    theirs: dict[str, tuple[int | None, ...]] = {
        "the marketplace": marketplace_side(at_marketplace(stages))[1:],
        "the study link": (sum(people.values()) * 12, None),
        "the panel": (
            sum(each["amount"] for each in payments),
            sum(each["fees"] + each["vat"] for each in payments),
        ),
    }
    for number, (name, side) in enumerate(theirs.items()):
        sources = [source_status(stage)[number] for stage in stages]
        ours = (
            sum(each.money.spent_cents for each in sources),
            sum(each.money.fee_cents for each in sources),
        )
        tasks = sum(each.places.answers for each in sources)
        yield make_row(f"anywhere, by {name}", tasks, ours, side, here=number == 0)
