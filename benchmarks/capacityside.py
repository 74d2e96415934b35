"""What `benchmarks/capacity.py` does inside the server's settings.

    python -m benchmarks.capacityside make 100    a campaign of 100 queries, ready to be judged
    python -m benchmarks.capacityside look        rows and bytes of every table, calls, how far the work is

Each prints one JSON object.
"""

import json
import sys
from collections import Counter
from typing import Any

import django

django.setup()

from django.apps import apps  # noqa: E402
from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.models import Count, Sum  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks import fill  # noqa: E402
from benchmarks.campaign.loading import NAME, load  # noqa: E402
from benchmarks.campaign.world import Size  # noqa: E402
from crowd.models import Assignment, Hit, MarketOperation, Stage  # noqa: E402
from crowd.services.endpoints import create_endpoint  # noqa: E402
from judgments.models import Judgment  # noqa: E402
from marketplace.models import CallLog  # noqa: E402


def make(queries: int) -> dict[str, Any]:
    """A campaign whose systems have answered; its judging stage is open at the server's own marketplace."""
    world = load(Size(queries=queries), judge=False)
    stages = Stage.objects.filter(project=world.project)
    # What came before is over: the endpoint that it names is none.
    Assignment.objects.filter(stage__in=stages, state=Assignment.State.SUBMITTED).update(
        state=Assignment.State.APPROVED, held=False, decided_at=timezone.now()
    )
    MarketOperation.objects.filter(stage__in=stages).update(
        state=MarketOperation.State.CONFIRMED, needs_person=False, finished_at=timezone.now()
    )
    account = fill.requester()
    endpoint = create_endpoint(
        name="bench",
        url=f"{settings.TASK_URL}/mturk/api",
        access_key=account["access_key"],
        secret=account["secret"],
        real_money=False,
        rate=0,
    )
    stages.filter(kind="judging").update(
        endpoint=endpoint, status=Stage.Status.OPEN, opened_at=timezone.now()
    )
    return {"stage": f"{NAME}/judging"}


def look() -> dict[str, Any]:
    """What is there now."""
    stage = Stage.objects.get(project__slug=NAME, kind="judging")
    operations = MarketOperation.objects.filter(stage=stage)
    unfinished = operations.exclude(state__in=MarketOperation.FINAL).count()
    return {
        "tables": {model._meta.db_table: _table(model._meta.db_table) for model in apps.get_models()},
        "hits": Hit.objects.filter(stage=stage).exclude(external_id="").count(),
        "assignments": Assignment.objects.filter(stage=stage, state__in=Assignment.GOOD).count(),
        "judgments": Judgment.objects.filter(stage=stage).count(),
        "operations": dict(operations.values_list("kind").annotate(n=Sum("attempts"))),
        "calls": dict(Counter(dict(CallLog.objects.values_list("operation").annotate(n=Count("pk"))))),
        "unsettled": unfinished
        + Assignment.objects.filter(
            stage=stage, state__in=[Assignment.State.STORED, Assignment.State.SUBMITTED], held=False
        ).count(),
    }


def _table(name: str) -> tuple[int, int]:
    """Rows, and bytes with indexes."""
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT (SELECT count(*) FROM "{name}"), pg_total_relation_size(\'"{name}"\'::regclass)'
        )
        rows, size = cursor.fetchone()
        return rows, size


def main() -> None:
    """Do what the arguments say."""
    what, *numbers = sys.argv[1:]
    found = make(int(numbers[0])) if what == "make" else look()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
