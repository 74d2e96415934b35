"""One evaluation's work in parts, on as many workers as there are.

The process that runs an evaluation puts the parts into rows and computes them one after another; other
workers take parts out of the same rows. So one worker alone comes to the end, no process waits for a worker
that is not there, and the result does not depend on which one computes a part.

Functions, inputs and results are pickles. Unpickling runs code, so every pickle carries an HMAC-SHA256 under
the installation's secret key, and one without a right seal is never read. A model in METRIC_MODELS is named
by its place there: another host has the folder elsewhere. A function may carry all data of an evaluation, so
its pickle is compressed as it is written, and the process that has it does not read it again.
"""

import gzip
import hashlib
import hmac
import io
import logging
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from core.jobs.handlers import JobContext
from core.jobs.models import Job, JobState, WorkerHeartbeat
from core.jobs.services import cancel, enqueue
from evaluations import model_shelf
from evaluations.models import Call, Evaluation, Part
from metrics.errors import MetricError
from metrics.model_folders import Choice

logger = logging.getLogger(__name__)
_SALT = "evaluations.spreading"
_SEAL = hashlib.sha256().digest_size
_PROTOCOL = 5
#: How a compressed pickle begins, which no pickle does, and the level that takes the least time.
_GZIP = b"\x1f\x8b"
_FAST = 1


class SealError(ValueError):
    """The bytes were not written here."""


def pack(something: Any, *, compressed: bool = False) -> bytes:
    """The seal and the pickle; `compressed` for what is large and read seldom."""
    written = io.BytesIO()
    if compressed:
        with gzip.GzipFile(fileobj=written, mode="wb", compresslevel=_FAST, mtime=0) as file:
            _Pickler(file, protocol=_PROTOCOL).dump(something)
    else:
        _Pickler(written, protocol=_PROTOCOL).dump(something)
    body = written.getvalue()
    return _seal(body) + body


def unpack(packed: bytes | memoryview) -> Any:
    """What was packed; SealError where the seal is not ours."""
    sealed = bytes(packed)
    seal, body = sealed[:_SEAL], sealed[_SEAL:]
    if not hmac.compare_digest(seal, _seal(body)):
        raise SealError("A part of an evaluation carries no seal of this installation.")
    file = io.BytesIO(body)
    if body.startswith(_GZIP):
        return _Unpickler(gzip.GzipFile(fileobj=file)).load()
    return _Unpickler(file).load()


class _Pickler(pickle.Pickler):
    """Names models by their place in METRIC_MODELS."""

    def persistent_id(self, obj: Any) -> tuple[str, str] | None:
        """Name and digest of a model that is there."""
        if not isinstance(obj, Choice):
            return None
        folder, root = Path(obj.folder), Path(settings.METRIC_MODELS).resolve()
        return (folder.name, obj.digest) if folder.parent == root else None


class _Unpickler(pickle.Unpickler):
    """Finds models in the METRIC_MODELS of this host."""

    def persistent_load(self, pid: Any) -> Choice:
        """The model of this name; one that is missing here is fetched."""
        name, digest = pid
        folder = Path(settings.METRIC_MODELS).resolve() / name
        if not folder.is_dir() and (model := model_shelf.model_named(name)) is not None:
            model_shelf.fetch_files(model)
        return Choice(str(folder), digest)


def digest_of(packed: bytes) -> str:
    """SHA-256 of the pickle, in hex: the same input has the same."""
    return hashlib.sha256(packed[_SEAL:]).hexdigest()


def _seal(body: bytes) -> bytes:
    return salted_hmac(_SALT, body, algorithm="sha256").digest()


#: So many open parts are looked at, for several workers want the first one at the same moment.
_MOST_OPEN_PARTS = 16
_TODO = Q(result__isnull=True, why="")


def call_of(evaluation: Evaluation, function: Callable[[Any], Any]) -> Call:
    """The call of this function, the one of an earlier attempt where that had the same."""
    packed = pack(function, compressed=True)
    calls = Call.objects.defer("function")
    call, new = calls.get_or_create(
        evaluation=evaluation, digest=digest_of(packed), defaults={"function": packed}
    )
    # A new row still holds the bytes that were stored: for the whole call, beside the data they are made of.
    return calls.get(pk=call.pk) if new else call


def offer(call: Call, inputs: Sequence[Any]) -> list[str]:
    """Put inputs into rows, but for those that are there; their digests, by which results are found."""
    packed = [pack(each) for each in inputs]
    digests = [digest_of(each) for each in packed]
    rows = [
        Part(call=call, digest=digest, given=packed_input)
        for digest, packed_input in zip(digests, packed, strict=True)
    ]
    Part.objects.bulk_create(rows, ignore_conflicts=True)
    return digests


def take(evaluation: int, owner: UUID) -> Part | None:
    """A part that nobody computes, from now on this owner's; None where there is none."""
    live = Job.objects.filter(state=JobState.RUNNING, lease_owner=OuterRef("owner"), lease_until__gt=Now())
    free = Part.objects.filter(_TODO, call__evaluation=evaluation).exclude(Exists(live))
    for key, before in free.order_by("pk").values_list("pk", "owner")[:_MOST_OPEN_PARTS]:
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

    def keep(self, call: int, function: Callable[[Any], Any]) -> None:
        """The function of a call as it is at hand, so that it is not read."""
        self._call, self._function = call, function

    def of(self, call: int) -> Callable[[Any], Any] | None:
        """The function of a call; None where it was swept meanwhile, or is one of another version."""
        if self._call != call:
            packed = Call.objects.filter(pk=call).values_list("function", flat=True).first()
            self._call, self._function = call, _load_function(packed) if packed else None
        return self._function


def _load_function(packed: bytes | memoryview) -> Callable[[Any], Any] | None:
    """A call of an evaluation that was under way during an upgrade may name what is elsewhere by now.

    Its parts are left alone: the evaluation goes on with calls of this version.
    """
    try:
        return cast(Callable[[Any], Any], unpack(packed))
    except (ImportError, AttributeError) as error:
        logger.warning("A call of an evaluation was written by another version: %s", error)
        return None


def compute(part: Part, owner: UUID, functions: Functions) -> bool:
    """Compute a part and store its result; False where the call or the part is not there for us any more.

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
    by_digest = {}
    for digest, result, why in rows.values_list("digest", "result", "why"):
        if why:
            raise MetricError(why)
        assert result is not None, "a part without complaint has a result"
        by_digest[digest] = unpack(result)
    return by_digest


P = TypeVar("P")
R = TypeVar("R")
HELP = "evaluations.help"
#: A worker process that answered within this time is counted as one that can help.
_LATELY = timedelta(minutes=5)
#: How often results of others are looked for while this job has something to compute, and while not.
_LOOK_SECONDS, _NAP_SECONDS = 1.0, 0.2
#: Parts of one statement.
_PARTS_PER_STATEMENT = 500


class PartRunner:
    """Computes parts for the job of an evaluation, and lets other workers compute some."""

    def __init__(self, context: JobContext, evaluation: Evaluation) -> None:
        owner = context.job.lease_owner
        assert owner is not None, "a job that runs has a lease"
        self._context, self._evaluation, self._owner = context, evaluation, owner
        self._functions = Functions()
        self._said = (0, 0, "")
        self._calls = 0

    def progress(self, done: int, total: int, note: str) -> None:
        """Say how far the work is as a whole; repeated while parts of it are computed."""
        self._said = (done, total, note)
        self._context.progress(done, total, note)

    def __call__(
        self, work: Callable[[P], R], parts: Sequence[P], done: Callable[[int], None] | None = None
    ) -> list[R]:
        """Results in the order of the parts (a `metrics.metaeval` `PartRunner`); a lone part is done here."""
        several = len(parts) > 1
        outputs = self.over(work, parts, ahead=len(parts), total=len(parts)) if several else map(work, parts)
        results = []
        for result in outputs:
            results.append(result)
            if done is not None:
                done(len(results))
        return results

    def over(
        self, function: Callable[[P], R], parts: Iterable[P], *, ahead: int, total: int = 0
    ) -> Iterator[R]:
        """Results in the order of the parts, of which at most `ahead` wait or are computed at a time.

        Raises MetricError where a part cannot be computed, LeaseLostError or StoppingError where this job is
        not to go on.
        """
        call = call_of(self._evaluation, function)
        self._functions.keep(call.pk, function)
        helpers = self._ask_for_help(call, total)
        try:
            yield from self._joined(call, iter(parts), ahead)
        finally:
            self._functions = Functions()
            for key in helpers:
                if Job.objects.filter(pk=key, state=JobState.QUEUED).exists():
                    cancel(job_id=key)

    def _joined(self, call: Call, parts: Iterator[Any], ahead: int) -> Iterator[Any]:
        waiting: deque[str] = deque()
        ready: dict[str, Any] = {}
        looked = float("-inf")
        more = True
        while more or waiting:
            batch = list(islice(parts, min(_PARTS_PER_STATEMENT, ahead - len(waiting)))) if more else []
            if batch:
                waiting.extend(offer(call, batch))
                looked = float("-inf")
                if len(waiting) < ahead:
                    continue
            elif len(waiting) < ahead:
                more = False
            if time.monotonic() - looked > _LOOK_SECONDS:
                ready |= self._collected(call, waiting, ready)
                looked = time.monotonic()
            while waiting and waiting[0] in ready:
                digest = waiting.popleft()
                yield ready[digest] if digest in waiting else ready.pop(digest)
            self._context.progress(*self._said)
            if waiting and waiting[0] not in ready:
                computed = self._compute_one(call)
                ready |= computed
                if not computed:
                    time.sleep(_NAP_SECONDS)
                    looked = float("-inf")

    def _collected(self, call: Call, waiting: deque[str], ready: dict[str, Any]) -> dict[str, Any]:
        missing = [digest for digest in waiting if digest not in ready]
        collected: dict[str, Any] = {}
        for start in range(0, len(missing), _PARTS_PER_STATEMENT):
            collected |= results(call, missing[start : start + _PARTS_PER_STATEMENT])
        return collected

    def _compute_one(self, call: Call) -> dict[str, Any]:
        """Compute a part that nobody has; its result by digest, empty where there was none to compute."""
        part = take(self._evaluation.pk, self._owner)
        if part is None or not compute(part, self._owner, self._functions):
            return {}
        return results(call, [part.digest])

    def _ask_for_help(self, call: Call, total: int) -> list[int]:
        helpers = min(settings.EVALUATIONS_HELPERS, others(), total - 1 if total else others())
        payload = {"evaluation": self._evaluation.pk, "call": call.pk}
        self._calls += 1
        once = f"help:{self._owner.hex}:{self._calls}"
        return [
            enqueue(kind=HELP, payload=payload, effect=f"{once}:{number}").pk
            for number in range(max(0, helpers))
        ]


def others() -> int:
    """How many worker processes beside this one answered lately."""
    return max(0, WorkerHeartbeat.objects.filter(seen_at__gt=Now() - _LATELY).count() - 1)


def help_with(evaluation: int, owner: UUID, still_ours: Callable[[int], None]) -> int:
    """Compute parts of an evaluation until none is left; how many it were.

    `still_ours` is called between parts with the number so far, and raises what ends the help.
    """
    functions, count = Functions(), 0
    while (part := take(evaluation, owner)) is not None:
        count += compute(part, owner, functions)
        still_ours(count)
    return count
