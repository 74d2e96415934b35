"""A finished campaign of any size in the database, one stage after the other.

Rows are what the services would have made; queries, checks and filters are made by the services themselves.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Answer, Query
from core.bulk_rows import BulkTable
from core.projects.models import Event, Project
from core.projects.services import create_project
from crowd.models import Assignment, Claim, Endpoint, Stage
from crowd.services.endpoints import create_endpoint
from crowd.services.stages import create_stage
from judgments.models import Judgment, Verdict
from tests.campaign import annotated, judged
from tests.campaign.texts import Texts
from tests.campaign.world import Size, World, people

NAME = "campaign"
PASSWORD = "a password for measurements"
_BUDGET = 10_000_000_00
_STAGES = {
    "screening": {"redundancy": 4, "units_per_hit": 10, "reward_cents": 30, "expected_seconds": 120},
    "curation": {"redundancy": 3, "units_per_hit": 5, "reward_cents": 60, "expected_seconds": 300},
    "distillation": {"units_per_hit": 5, "reward_cents": 80, "expected_seconds": 360},
    "judging": {"units_per_hit": 10, "checks_per_hit": 1, "reward_cents": 50, "expected_seconds": 200},
}


def load(
    size: Size,
    *,
    name: str = NAME,
    judge: bool = True,
    filters: bool = True,
    report: bool = False,
    analyse: bool = True,
) -> World:
    """A finished campaign of this size, in the database; one transaction a stage.

    Without `judge` it ends with the answers of systems. `analyse`: let the database look at its tables in
    between, as a running one would by itself.
    """
    owner = User.objects.filter(username=name).first() or User.objects.create_user(name, password=PASSWORD)
    begin = timezone.now() - timedelta(days=40)
    project = create_project(slug=name, title="A large campaign", owner=owner, budget_cents=_BUDGET)
    chance = random.Random(f"{name}:{size.seed}")
    world = World(size, project, owner, begin, chance)
    texts = Texts(size.seed)
    _make_stages(world)
    keys = annotated.queries(world, texts)
    fate = annotated.fates(world, keys)
    with bulk():
        people(world, world.stages["screening"].endpoint_id)
        annotated.screened(world, world.stages["screening"], fate)
    with bulk():
        annotated.curated(world, world.stages["curation"], texts, fate)
    with bulk():
        written = annotated.answered(world, world.stages["distillation"], texts, fate)
        annotated.settled(world, fate)
        candidates = judged.systems(world, texts, written)
    if not judge:
        return world
    with bulk():
        judged.judged(world, world.stages["judging"], candidates)
        _events(world)
    _know(world, analyse)
    if filters:
        _filter(world.stages["judging"], owner)
    if report:
        _report(world.stages["judging"])
    _know(world, analyse)
    return world


def _make_stages(world: World) -> None:
    endpoint = Endpoint.objects.filter(name=world.project.slug).first() or create_endpoint(
        name=world.project.slug, url="http://localhost:8000/mturk/api", access_key="AKCAMPAIGN",
        secret="not one", real_money=False, rate=0,
    )  # fmt: skip
    people_per = {
        "distillation": world.size.answers_per_query, "judging": world.size.judgments_per_candidate
    }  # fmt: skip
    for kind, given in _STAGES.items():
        world.stages[kind] = create_stage(
            project=world.project,
            slug=kind,
            title=kind.title(),
            kind=kind,
            actor=world.owner,
            endpoint=endpoint,
            task_title=f"Short questions: {kind}",
            task_description="Read what is there, then answer.",
            budget_cents=_BUDGET // 4,
            **{"redundancy": people_per.get(kind, 1), **given},
        )


def _events(world: World) -> None:
    """The rounds of every stage, each of which says what it settled."""
    table = BulkTable(Event, "project_id", "at", "actor_id", "action", "subject", "details")
    for stage in world.stages.values():
        for number in range(max(5, world.size.queries // 8)):
            table.add(world.project.pk, world.at(30), None, "stage.settled", stage.slug, {"round": number})
    table.close()


def _filter(stage: Stage, owner: User) -> None:
    from judgments.services.filter_runs import apply

    apply(stage=stage, recipe="default", parameters={}, actor=owner)


def _report(stage: Stage) -> None:
    from judgments.services import reports

    reports.keep(reports.make(stage, lambda *_: None))


def _know(world: World, analyse: bool) -> None:
    """Let the database know its tables as a running one would."""
    with connection.cursor() as cursor:
        if not analyse:
            pass
        elif connection.vendor == "postgresql":
            cursor.execute("ANALYZE" if connection.in_atomic_block else "VACUUM ANALYZE")
        else:
            cursor.execute("PRAGMA optimize")
    world.project = Project.objects.get(pk=world.project.pk)
    for kind, stage in world.stages.items():
        world.stages[kind] = Stage.objects.select_related("project", "endpoint").get(pk=stage.pk)


@contextmanager
def bulk() -> Iterator[None]:
    """A transaction in which PostgreSQL, where it may be told so, trusts that keys point at rows."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
                if cursor.fetchone()[0]:
                    cursor.execute("SET LOCAL session_replication_role = replica")
        yield


def facts(world: World) -> dict[str, Any]:
    """How many rows of what there are in the project, and its stages' keys."""
    stages = [stage.pk for stage in world.stages.values()]
    return {
        "project": world.project.slug,
        "stages": {kind: stage.pk for kind, stage in world.stages.items()},
        "queries": Query.objects.filter(project=world.project).count(),
        "answers": Answer.objects.filter(stage__in=stages).count(),
        "judgments": Judgment.objects.filter(stage__in=stages).count(),
        "verdicts": Verdict.objects.filter(run__stage__in=stages).count(),
        "assignments": Assignment.objects.filter(stage__in=stages).count(),
        "claims": Claim.objects.filter(stage__in=stages).count(),
    }
