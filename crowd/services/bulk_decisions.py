"""One decision about many pieces of work, each as if it had been made alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from crowd.errors import CrowdError
from crowd.kinds import kind_of
from crowd.models import Assignment, Stage
from crowd.services.review import approve

#: Pieces of work that one request decides about.
MOST_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many were approved, and each that was not: the worker's id and why.

    `undecided` names approved work in which something still waits for a reviewer, and what.
    """

    approved: int
    refused: tuple[tuple[str, str], ...]
    undecided: tuple[tuple[str, str], ...] = ()


def approve_chosen(*, stage: Stage, chosen: Sequence[int], actor: Any, note: str = "") -> Outcome:
    """Plan to approve these assignments of the stage, each in a transaction of its own with its own event.

    One that somebody else has decided about is refused in words and stops no other. Raises CrowdError where
    nothing or more than `MOST_AT_ONCE` is chosen; then nothing happens. Ids of other stages are passed over.
    """
    wanted = sorted(set(chosen))
    if not wanted:
        raise CrowdError("Nothing is chosen. Tick the work to approve first.")
    if len(wanted) > MOST_AT_ONCE:
        raise CrowdError(f"{len(wanted)} are chosen; at most {MOST_AT_ONCE} are approved at once.")
    approved, refused, undecided = 0, [], []
    for pk in wanted:
        with transaction.atomic():
            row = (
                Assignment.objects.select_related("worker")
                .select_for_update(of=("self",), no_key=True)
                .filter(stage=stage, pk=pk)
                .first()
            )
            if row is None:
                continue
            row.stage = stage
            try:
                with transaction.atomic():
                    approve(assignment=row, actor=actor, note=note)
            except CrowdError as error:
                refused.append((row.worker.external_id, str(error)))
            else:
                approved += 1
                if words := kind_of(stage).undecided(row):
                    undecided.append((row.worker.external_id, words))
    return Outcome(approved, tuple(refused), tuple(undecided))
