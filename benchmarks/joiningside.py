"""What `benchmarks/joining.py` does inside the server's settings.

    python -m benchmarks.joiningside make 1000 3    a poll with places for so many people, and a link to it
    python -m benchmarks.joiningside look           places, answers, and what must not be

Each prints one JSON object.
"""

import json
import sys
from typing import Any

import django

django.setup()

from django.db import connection  # noqa: E402
from django.db.models import Count, F, Q  # noqa: E402

from crowd.adapters.link import TAKEN  # noqa: E402
from crowd.models import Assignment, Claim, Hit  # noqa: E402
from crowd.services import stages  # noqa: E402
from crowd.services.endpoints import create_endpoint  # noqa: E402
from crowd.services.tick import tick  # noqa: E402
from people.links import LinkPlan, make_link  # noqa: E402
from people.models import Outcome, Visit  # noqa: E402
from people.owners import project_owner  # noqa: E402
from people.tokens import token_of  # noqa: E402
from tests.crowd.world import make_project, make_stage  # noqa: E402


def make(people: int, tasks: int) -> dict[str, Any]:
    """Things enough that everybody finds `tasks` of them, ten people each, and a link that says so."""
    endpoint = create_endpoint(name="links", preset="link", access_key="", secret="")
    things = -(-people * tasks // 10)
    stage = make_stage(
        endpoint,
        make_project(10**9),
        items=[f"thing {number}" for number in range(things)],
        redundancy=10,
        budget_cents=10**9,
    )
    stages.open_stage(stage=stage)
    while not tick().idle:
        pass
    returns = {"completed": {"code": "DONE-CODE", "address": ""}}
    plan = LinkPlan(
        title="Many people", target=f"stage:{stage.pk}", quota=people, most_tasks=tasks, returns=returns
    )
    link = make_link(owner=project_owner(stage.project), plan=plan, actor=None)
    durability = "WAL" if connection.vendor == "sqlite" else "fsync"
    return {"path": f"/join/{token_of(link)}/", "name": connection.display_name, "durability": durability}


def look() -> dict[str, Any]:
    """What is there after all have gone."""
    good = Assignment.objects.exclude(state=Assignment.State.ENDED)
    over = Hit.objects.annotate(taken=TAKEN).filter(taken__gt=F("places")).count()
    twice = Claim.objects.values("stage", "unit", "worker").annotate(n=Count("pk")).filter(n__gt=1).count()
    finished = Visit.objects.filter(outcome=Outcome.COMPLETED)
    lost = good.filter(Q(state=Assignment.State.APPROVED) & Q(response=None)).count()
    return {
        "places given twice": over,
        "units twice to one person": twice,
        "answers lost": lost,
        "answers": good.filter(stored_at__isnull=False).count(),
        "places": sum(Hit.objects.values_list("places", flat=True)),
        "visits": finished.count(),
    }


if __name__ == "__main__":
    what, *numbers = sys.argv[1:]
    print(json.dumps({"make": make, "look": look}[what](*map(int, numbers))))
