"""Work begins or ceases to count after it came in: what was decided on it is decided again.

A row is written in the transaction that changes the work. The stage's next round hands the rows to its kind,
and removes them in the transaction in which the kind drew its consequences: killed in between, it is done
again, and doing it again changes nothing.
"""

from collections.abc import Iterable

from django.db import transaction

from crowd.kinds import kind_of
from crowd.models import Assignment, Recount, Stage

#: Pieces of work whose consequences are drawn in one transaction.
_BATCH = 100


def recount(work: Assignment, what: str) -> None:
    """Have what was decided on this work decided again; `what` says what became of it: "was rejected"."""
    recount_all([work], what)


def recount_all(works: Iterable[Assignment], what: str) -> None:
    """`recount` of several, each read with its worker."""
    Recount.objects.bulk_create(
        Recount(
            stage_id=work.stage_id,
            assignment=work,
            why=f"the work of {work.worker.external_id} {what}"[:200],
        )
        for work in works
    )


def reconsider(stage: Stage) -> int:
    """Let the stage's kind decide again where it has to; how many pieces of work were the reason."""
    done, kind, mine = 0, kind_of(stage), Recount.objects.filter(stage=stage).order_by("pk")
    while mine.exists():
        with transaction.atomic():
            rows = list(mine[:_BATCH])
            kind.reconsider(stage, {row.assignment_id: row.why for row in rows})
            Recount.objects.filter(pk__in=[row.pk for row in rows]).delete()
            done += len(rows)
    return done
