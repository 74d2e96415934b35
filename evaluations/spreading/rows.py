"""Parts as rows: offered, taken under a job's lease, computed, collected, swept."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from core.jobs.models import Job, JobState
from evaluations.models import Call, Evaluation, Part
from evaluations.spreading.pickles import digest_of, pack, unpack
from metrics.errors import MetricError

#: So many open parts are looked at, for several workers want the first one at the same moment.
_AT_ONCE = 16
_TODO = Q(result__isnull=True, why="")


def call_of(evaluation: Evaluation, function: Callable[[Any], Any]) -> Call:
    """The call of this function, the one of an earlier attempt where that had the same."""
    packed = pack(function)
    call, _ = Call.objects.get_or_create(
        evaluation=evaluation, digest=digest_of(packed), defaults={"function": packed}
    )
    return call


def offer(call: Call, inputs: Sequence[Any]) -> list[str]:
    """Put inputs into rows, but for those that are there; their digests, by which results are found."""
    packed = [pack(each) for each in inputs]
    digests = [digest_of(each) for each in packed]
    rows = [
        Part(call=call, digest=digest, given=given) for digest, given in zip(digests, packed, strict=True)
    ]
    Part.objects.bulk_create(rows, ignore_conflicts=True)
    return digests


def take(evaluation: int, owner: UUID) -> Part | None:
    """A part that nobody computes, from now on this owner's; None where there is none."""
    live = Job.objects.filter(state=JobState.RUNNING, lease_owner=OuterRef("owner"), lease_until__gt=Now())
    free = Part.objects.filter(_TODO, call__evaluation=evaluation).exclude(Exists(live))
    for key, before in free.order_by("pk").values_list("pk", "owner")[:_AT_ONCE]:
        mine = Part.objects.filter(_TODO, pk=key, owner=before) if before else _unowned(key)
        if mine.update(owner=owner):
            return Part.objects.select_related("call").defer("call__function").filter(pk=key).first()
    return None


def _unowned(key: int) -> QuerySet[Part]:
    return Part.objects.filter(_TODO, pk=key, owner__isnull=True)


class Functions:
    """Functions of calls, the last one kept: it may carry all data of an evaluation."""

    def __init__(self) -> None:
        self._call: int | None = None
        self._function: Callable[[Any], Any] | None = None

    def of(self, call: int) -> Callable[[Any], Any] | None:
        """The function of a call; None where it was swept meanwhile."""
        if self._call != call or self._function is None:
            packed = Call.objects.filter(pk=call).values_list("function", flat=True).first()
            if packed is None:
                return None
            self._call, self._function = call, unpack(packed)
        return self._function


def compute(part: Part, owner: UUID, functions: Functions) -> bool:
    """Compute a part and store its result; False where the part was swept or is somebody else's by now.

    What the function itself complains about is stored in place of a result: it would complain again.
    """
    function = functions.of(part.call_id)
    if function is None:
        return False
    try:
        values: dict[str, Any] = {"result": pack(function(unpack(part.given)))}
    except MetricError as error:
        values = {"why": str(error)}
    mine = Part.objects.filter(_TODO, pk=part.pk, owner=owner)
    return bool(mine.update(given=b"", owner=None, **values))


def results(call: Call, digests: Sequence[str]) -> dict[str, Any]:
    """Results that are there, by digest. Raises MetricError with what a part complains about."""
    rows = Part.objects.filter(call=call, digest__in=set(digests)).exclude(_TODO)
    found = {}
    for digest, result, why in rows.values_list("digest", "result", "why"):
        if why:
            raise MetricError(why)
        assert result is not None, "a part without complaint has a result"
        found[digest] = unpack(result)
    return found
