"""Workers of different endpoints who may be one person: noticed, treated as one, shown, and never merged.

Workers are rows of an endpoint, so a person who comes from two places is two workers. What two of them have
in common (the id at a panel, an e-mail address, an account for payments) is noticed when they begin work, for
projects that ask people at several endpoints. Until a reviewer says that they are two people, what bars one
bars the other; nothing that either did is rejected or changed.
"""

import contextlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core.projects.models import Project
from core.projects.services import record
from crowd.errors import CrowdError, WorkRefusedError
from crowd.models import PersonMatch, Stage, StageSource, Worker, WorkerMark
from people.identities import Mark, Marks, mark_of_id, marks_of

Verdict = PersonMatch.Verdict
#: Workers whose marks are read at once, and how often a lock that a new match overtook is taken again.
_PAGE, _TRIES = 500, 5


def has_several_endpoints(project: int) -> bool:
    """Whether the project asks people at more than one endpoint."""
    own = Stage.objects.filter(project=project).order_by().values_list("endpoint")
    more = StageSource.objects.filter(stage__project=project).values_list("endpoint")
    return len(own.union(more)) > 1


def note_marks(worker: Worker) -> list[WorkerMark]:
    """Keep by what this worker may be recognized elsewhere; marks that are gone by now stay."""
    marks = _with_own_id(worker, marks_of([worker.external_id]))
    WorkerMark.objects.bulk_create(
        (WorkerMark(worker=worker, kind=kind.value, digest=digest) for kind, digest in sorted(marks)),
        ignore_conflicts=True,
    )
    return list(WorkerMark.objects.filter(worker=worker))


def _with_own_id(worker: Worker, marks_by_worker: Marks) -> set[Mark]:
    """A worker's marks; at a panel, the worker's id is the person's."""
    marks = set(marks_by_worker.get(worker.external_id, ()))
    if worker.endpoint.is_panel:
        marks.add(mark_of_id(worker.external_id))
    return marks


def find_matches(worker: Worker, project: Project) -> None:
    """Note who of another endpoint of the project has a mark of this worker's; what a person said stays."""
    if not has_several_endpoints(project.pk):
        return
    marks = note_marks(worker)
    if not marks:
        return
    alike = Q()
    for mark in marks:
        alike |= Q(kind=mark.kind, digest=mark.digest)
    others = WorkerMark.objects.filter(alike).exclude(worker__endpoint=worker.endpoint_id)
    endpoints = Stage.objects.filter(project=project).values("endpoint")
    sources = StageSource.objects.filter(stage__project=project).values("endpoint")
    others = others.filter(Q(worker__endpoint__in=endpoints) | Q(worker__endpoint__in=sources)).distinct()
    kinds: dict[int, set[str]] = defaultdict(set)
    for other, kind in others.values_list("worker", "kind"):
        kinds[other].add(kind)
    matched_ids = {pk for match in matches_of(worker, project.pk) for pk in (match.first_id, match.second_id)}
    new = [
        PersonMatch(
            project=project,
            first_id=min(worker.pk, other),
            second_id=max(worker.pk, other),
            kinds=sorted(common),
            found_at=timezone.now(),
        )
        for other, common in sorted(kinds.items())
        if other not in matched_ids
    ]
    if new:
        PersonMatch.objects.bulk_create(new, ignore_conflicts=True)


def matches_of(worker: Worker, project: int) -> "QuerySet[PersonMatch]":
    """All matches of a worker in a project, whatever was said of them."""
    return PersonMatch.objects.filter(Q(first=worker) | Q(second=worker), project=project)


def same_person(worker: Worker, project: int) -> list[int]:
    """Keys of this worker and of all who count as the same person, also by way of others, in order."""
    worker_ids, new = {worker.pk}, {worker.pk}
    while new:
        rows = PersonMatch.objects.filter(Q(first__in=new) | Q(second__in=new), project=project).exclude(
            verdict=Verdict.DIFFERENT
        )
        new = {pk for pair in rows.values_list("first", "second") for pk in pair} - worker_ids
        worker_ids |= new
    return sorted(worker_ids)


class _ChangedError(Exception):
    """A match was found while the rows were being locked."""


def hold_person(worker: Worker, project: int) -> list[int]:
    """Lock a worker and all who count as the same person, in one order, and give their keys.

    In the caller's transaction: of two who may be one person and come at the same time, one waits for the
    other.
    """
    for _ in range(_TRIES):
        people = same_person(worker, project)
        with contextlib.suppress(_ChangedError), transaction.atomic():
            rows = Worker.objects.select_for_update(no_key=True).filter(pk__in=people).order_by("pk")
            list(rows.values_list("pk"))
            # Who came meanwhile had noted the match before they waited for this lock.
            if same_person(worker, project) != people:
                raise _ChangedError
            return people
    raise WorkRefusedError("Another page of yours is just opening. Wait a moment, then open this one again.")


def note_marks_of_project(project: Project) -> None:
    """Keep the marks of all who worked in a project: it began to ask people at several endpoints."""
    if not has_several_endpoints(project.pk):
        return
    workers = Worker.objects.filter(assignments__stage__project=project).select_related("endpoint").distinct()
    last = 0
    while page := list(workers.filter(pk__gt=last).order_by("pk")[:_PAGE]):
        marks_by_worker = marks_of([worker.external_id for worker in page])
        WorkerMark.objects.bulk_create(
            (
                WorkerMark(worker=worker, kind=kind.value, digest=digest)
                for worker in page
                for kind, digest in sorted(_with_own_id(worker, marks_by_worker))
            ),
            ignore_conflicts=True,
        )
        last = page[-1].pk


@transaction.atomic
def decide_match(*, match: PersonMatch, verdict: str, actor: Any) -> None:
    """Note what a reviewer says: the same person, or two people. It is logged, and can be changed later."""
    if verdict not in (Verdict.SAME, Verdict.DIFFERENT):
        raise CrowdError("Say whether they are the same person or different people.")
    PersonMatch.objects.filter(pk=match.pk).update(
        verdict=verdict, decided_at=timezone.now(), decided_by=actor
    )
    record(
        project=match.project,
        action="match.decided",
        subject=f"{match.first.external_id} and {match.second.external_id}",
        actor=actor,
        details={"verdict": Verdict(verdict).label},
    )


def count_open(project: Project) -> int:
    """Matches of which nobody has said anything yet."""
    return PersonMatch.objects.filter(project=project, verdict=Verdict.OPEN).count()


def list_matches(project: Project, *, workers: Iterable[int] | None = None) -> list[PersonMatch]:
    """Matches of a project, the undecided ones first; or those of some workers."""
    rows = PersonMatch.objects.filter(project=project).select_related(
        "first__endpoint", "second__endpoint", "decided_by", "project"
    )
    if workers is not None:
        keys = list(workers)
        rows = rows.filter(Q(first__in=keys) | Q(second__in=keys))
    order = [Verdict.OPEN, Verdict.SAME, Verdict.DIFFERENT]
    return sorted(rows, key=lambda row: (order.index(Verdict(row.verdict)), row.pk))
