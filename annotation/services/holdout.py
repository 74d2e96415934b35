"""Answers of some people are set aside as the candidate system `human` (paper 004, round 1).

They are no references then: what people reach when they are judged like a system is the upper bound of the
comparison. Whom the draw takes depends on the seed, the query's key and the workers' names alone, so the same
data give the same people in every installation.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.kinds.distillation_config import distillation_config
from annotation.models import Answer, HeldOutWorker, Query
from annotation.selectors.answers import COUNTED
from core.projects.models import Project
from core.projects.services import record
from crowd.errors import CrowdError
from crowd.models import Stage, Worker
from crowd.services.stages import refuse_read_only

_BATCH = 500
_MOST_PEOPLE = 1000


@dataclass(frozen=True, slots=True)
class HoldoutCounts:
    """How many queries got people held out, and how many have too few answers for that."""

    queries: int
    too_few: int


def draw(*, project: Project, people: int, seed: int, actor: Any = None) -> HoldoutCounts:
    """Hold out `people` of each query that has all its answers and nobody held out yet.

    At least one answer stays a reference: a query with fewer than people + 1 is left alone and counted. What
    was drawn once never changes by another draw.
    """
    refuse_read_only(project)
    if not 1 <= people <= _MOST_PEOPLE:
        raise CrowdError(f"Hold out at least one person per query, and at most {_MOST_PEOPLE}.")
    queries = Query.objects.filter(project=project)
    done = _draw(queries.order_by("pk").values_list("pk", flat=True), people, seed)
    if done.queries:
        record(
            project=project,
            action="answers.held_out",
            actor=actor,
            details={"people": people, "seed": seed, "queries": done.queries, "too_few": done.too_few},
        )
    return done


def draw_configured(stage: Stage) -> int:
    """Hold out as many people as the stage's options say, by its seed; the number of queries drawn for."""
    people = distillation_config(stage).hold_out
    if not people:
        return 0
    mine = Answer.objects.filter(stage=stage, query=OuterRef("pk"))
    queries = Query.objects.filter(Exists(mine), project=stage.project_id)
    return _draw(queries.order_by("pk").values_list("pk", flat=True), people, stage.seed).queries


def _draw(queries: Any, people: int, seed: int) -> HoldoutCounts:
    nobody = ~Exists(_drawn().filter(query=OuterRef("pk")))
    open_to = list(queries.filter(nobody, status=Query.Status.ANSWERED))
    drawn = too_few = 0
    for start in range(0, len(open_to), _BATCH):
        done = _draw_batch(open_to[start : start + _BATCH], people, seed)
        drawn, too_few = drawn + done.queries, too_few + done.too_few
    return HoldoutCounts(drawn, too_few)


def _drawn() -> QuerySet[HeldOutWorker]:
    """Who is held out with an answer that could be a reference; continuations of a dialogue never could."""
    answers = Answer.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    return HeldOutWorker.objects.filter(Exists(answers.exclude(stage__kind="continuation")))


@transaction.atomic
def _draw_batch(pks: Sequence[int], people: int, seed: int) -> HoldoutCounts:
    """The queries are held meanwhile, so that two draws at once do not both draw for one."""
    locked = Query.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=pks)
    keys = dict(locked.values_list("pk", "key"))
    for pk in _drawn().filter(query__in=keys).values_list("query", flat=True):
        keys.pop(pk, None)
    writers: dict[int, dict[tuple[str, str], int]] = defaultdict(dict)
    answers = Answer.objects.filter(COUNTED, query__in=keys).exclude(stage__kind="continuation")
    rows = answers.values_list("query", "worker__endpoint__name", "worker__external_id", "worker")
    for query, endpoint, name, worker in rows:
        writers[query][endpoint, name] = worker
    now, made = timezone.now(), []
    able = {pk: found for pk, found in writers.items() if len(found) > people}
    for pk, found in able.items():
        rng = random.Random(f"holdout:{seed}:{keys[pk]}")
        made += [
            HeldOutWorker(query_id=pk, worker_id=found[name], seed=seed, created_at=now)
            for name in rng.sample(sorted(found), people)
        ]
    HeldOutWorker.objects.bulk_create(made, batch_size=1000)
    return HoldoutCounts(len(able), len(keys) - len(able))


@transaction.atomic
def hold_out(*, query: Query, worker: Worker, actor: Any) -> HeldOutWorker:
    """A person holds somebody's answer to a query out; at least one answer stays a reference."""
    refuse_read_only(query.project)
    Query.objects.select_for_update(of=("self",), no_key=True).get(pk=query.pk)
    counted = set(Answer.objects.filter(COUNTED, query=query).values_list("worker", flat=True))
    aside = set(HeldOutWorker.objects.filter(query=query).values_list("worker", flat=True))
    if worker.pk not in counted:
        raise CrowdError("Only somebody whose answer counts can be held out.")
    if not counted - aside - {worker.pk}:
        raise CrowdError("At least one answer stays a reference.")
    made, new = HeldOutWorker.objects.get_or_create(
        query=query, worker=worker, defaults={"created_at": timezone.now()}
    )
    if new:
        _record(query, [worker], actor, "answers.held_out")
    return made


@transaction.atomic
def take_back(*, query: Query, worker: Worker, stage: Stage, actor: Any) -> None:
    """Somebody's answer is a reference again.

    Where the stage's options hold people out by themselves, the last one cannot be taken back: the next round
    would draw again.
    """
    refuse_read_only(query.project)
    Query.objects.select_for_update(of=("self",), no_key=True).get(pk=query.pk)
    others = HeldOutWorker.objects.filter(query=query).exclude(worker=worker)
    if distillation_config(stage).hold_out and not others.exists():
        raise CrowdError(
            "The stage's options hold people out of every query. Hold out somebody else first, then take "
            "this one back."
        )
    if HeldOutWorker.objects.filter(query=query, worker=worker).delete()[0]:
        _record(query, [worker], actor, "answers.taken_back")


def _record(query: Query, workers: Iterable[Worker], actor: Any, action: str) -> None:
    record(
        project=query.project,
        action=action,
        subject=query.key,
        actor=actor,
        details={"workers": [worker.external_id for worker in workers]},
    )
