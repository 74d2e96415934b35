"""Screens and curates queries on a running server with simulated editors; tells what became of them.

    python -m tests.annotation.inside '{"people": 6, "queries": 6}'

It is a process with the server's settings. Stages are made by a study's services, people go the ways that
people go; only the tables are read directly at the end.
"""

import json
import sys
import uuid
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.utils import timezone  # noqa: E402

from annotation.models import (  # noqa: E402
    CandidatePassage,
    CuratedSet,
    PassageSelection,
    Query,
    QuerySource,
    ScreeningVote,
)
from core.projects.models import Project  # noqa: E402
from core.projects.services import create_project  # noqa: E402
from crowd.kinds import Habit, Profile  # noqa: E402
from crowd.models import Exclusion, Stage  # noqa: E402
from crowd.services.stages import create_stage, open_stage  # noqa: E402
from crowd.services.tick import tick  # noqa: E402
from crowd.simulation.accounts import accounts  # noqa: E402
from crowd.simulation.run import Crowd  # noqa: E402
from tests.simulation.inside import endpoint_with  # noqa: E402

CAREFUL = Profile("careful", Habit.KNOWS, pace=1.0, spread=0.3)
#: What is true of the queries, in turn: fit, navigational, fit but no passage answers it.
TRUTHS: list[dict[str, Any]] = [
    {"kind": "informational", "unambiguous": "yes", "answerable": "yes", "passages": ["p2"]},
    {"kind": "navigational", "passages": []},
    {"kind": "informational", "unambiguous": "yes", "answerable": "yes", "passages": []},
]


def make_queries(project: Project, count: int) -> None:
    """Queries with three candidates each."""
    source = QuerySource.objects.create(
        project=project, name="log.tsv", format="tsv", state="ready", created_at=timezone.now()
    )
    for number in range(count):
        truth = {"sensitive": "no", "adult": "no", **TRUTHS[number % len(TRUTHS)]}
        query = Query.objects.create(
            project=project,
            source=source,
            key=f"q{number}",
            digest=f"{number:064x}",
            text=f"query number {number}",
            extra={"truth": truth},
        )
        for rank in (1, 2, 3):
            CandidatePassage.objects.create(
                query=query, rank=rank, key=f"p{rank}", text=f"Passage {rank} about number {number}."
            )


def make_stage(project: Project, kind: str, **fields: Any) -> Stage:
    """An open stage at the server's own marketplace, with its HITs on offer."""
    stage = create_stage(
        project=project,
        slug=kind,
        title=kind,
        kind=kind,
        endpoint=endpoint_with(fees="none-1", real_money=False),
        task_title=f"{kind} {project.slug}",
        task_description="Read and say.",
        reward_cents=5,
        budget_cents=100_000,
        **fields,
    )
    open_stage(stage=stage, typed_cents=100_000)
    return stage


def work_on(stage: Stage, people: int) -> dict[str, Any]:
    """Editors who make no mistakes; then what came in is settled."""
    workers = accounts(settings.TASK_URL, people)
    said = Crowd(stage, [CAREFUL] * people, workers, seed=7, threads=4, fast=True).run().facts()
    for _ in range(3):
        tick()
    return said


def main() -> None:
    """Both stages, one after the other."""
    wanted = json.loads(sys.argv[1])
    project = create_project(slug=uuid.uuid4().hex[:12], title="Boiling", budget_cents=1_000_000)
    make_queries(project, wanted["queries"])
    checks = {"facebook": "navigational"}
    screening = make_stage(
        project, "screening", redundancy=3, units_per_hit=3, checks_per_hit=1, config={"checks": checks}
    )
    said = [work_on(screening, wanted["people"])]
    screened = dict(Query.objects.filter(project=project).values_list("key", "status"))
    curation = make_stage(project, "curation", redundancy=1, config={"highlights": True})
    said.append(work_on(curation, wanted["people"]))
    found = {
        "troubles": [trouble for each in said for trouble in each["troubles"]],
        "screened": screened,
        "curated": dict(Query.objects.filter(project=project).values_list("key", "status")),
        "reasons": dict(Query.objects.filter(project=project).values_list("key", "status_reason")),
        "votes": ScreeningVote.objects.filter(stage=screening).count(),
        "selections": PassageSelection.objects.filter(stage=curation).count(),
        "sets": {
            made.query.key: list(made.members.values_list("candidate__key", flat=True))
            for made in CuratedSet.objects.filter(query__project=project).select_related("query")
        },
        "barred": Exclusion.objects.filter(scope__endswith=":distil").count(),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
