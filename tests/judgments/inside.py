"""A training and a judging stage that asks for it, at the marketplace of a running server, with a crowd.

    python -m tests.judgments.inside

It is a process with the server's settings. Everything goes the ways that people and researchers go; only
the tables are read directly at the end.
"""

import json
import sys
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402

from core.projects.services import create_project  # noqa: E402
from crowd.models import Assignment, Stage  # noqa: E402
from crowd.services.endpoints import create_endpoint  # noqa: E402
from crowd.services.stages import create_stage, open_stage  # noqa: E402
from crowd.simulation.accounts import accounts  # noqa: E402
from crowd.simulation.answers import crowd_of  # noqa: E402
from crowd.simulation.run import Crowd  # noqa: E402
from judgments.models import CheckAnswer, Judgment  # noqa: E402
from judgments.selectors.judging import trained  # noqa: E402
from marketplace.accounts.people import create_requester  # noqa: E402
from marketplace.money.deposits import deposit  # noqa: E402
from tests.judgments.judging_world import make_topics  # noqa: E402

PEOPLE = 10
LESSONS = [
    {"question": f"question {n}", "answer": "an answer", "accepted": [score], "reason": "So it is."}
    for n, score in enumerate((1, 5))
]


def stage_of(project: Any, endpoint: Any, slug: str, **fields: Any) -> Stage:
    stage = create_stage(
        project=project,
        slug=slug,
        title=slug.title(),
        endpoint=endpoint,
        task_title=slug,
        task_description="Read and choose.",
        reward_cents=10,
        budget_cents=100_000,
        **fields,
    )
    open_stage(stage=stage)
    return stage


def work_on(stage: Stage) -> dict[str, Any]:
    people = accounts(settings.TASK_URL, PEOPLE)
    return (
        Crowd(stage, crowd_of("sloppy", PEOPLE, seed=3), people, seed=3, threads=2, fast=True, drafts=False)
        .run()
        .facts()
    )


def main() -> None:
    """Prints what came of it as JSON."""
    requester, key = create_requester(name="Judging lab", fee_profile="none-1")
    deposit(requester=requester, cents=1_000_000)
    endpoint = create_endpoint(
        name="judging",
        url=f"{settings.TASK_URL}/mturk/api",
        access_key=key.access_key,
        secret=key.secret,
        real_money=False,
        fee_profile="none-1",
        rate=0,
    )
    project = create_project(slug="judging", title="Judging", budget_cents=500_000)
    make_topics(project, "unilm", "mhpgm")
    training = stage_of(
        project,
        endpoint,
        "training",
        kind="judge-training",
        redundancy=PEOPLE,
        units_per_hit=2,
        config={"lessons": LESSONS, "pass_share": 1.0},
    )
    work_on(training)
    judging = stage_of(
        project,
        endpoint,
        "judging",
        kind="judging",
        redundancy=2,
        units_per_hit=4,
        checks_per_hit=1,
        config={"passages": False, "reference_checks": 2, "foreign_checks": 2},
        eligibility=[{"kind": "passed", "op": "Exists", "values": ["training"], "hide": "discover"}],
    )
    second = work_on(judging)
    judges = Assignment.objects.filter(stage=judging, state__in=Assignment.GOOD)
    found = {
        "troubles": second["troubles"],
        "trained": {each.worker: each.right_at_first for each in trained(training)},
        "paid": Assignment.objects.filter(stage=training, state=Assignment.State.APPROVED).count(),
        "judges": sorted(set(judges.values_list("worker", flat=True))),
        "judgments": Judgment.objects.count(),
        "checks": [CheckAnswer.objects.filter(passed=passed).count() for passed in (True, False)],
        "hits": [sorted(row) for row in judges.values_list("response", flat=True)],
        "queries": {
            f"candidate:{row.candidate_id}": row.candidate.query_id for row in Judgment.objects.all()
        },
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
