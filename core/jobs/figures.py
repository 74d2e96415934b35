"""Figures that a job counts: ordered by a page, counted once by a worker, stored for all processes.

    PEOPLE = FigureKind("people", count_people)      # a part of the app's extension

Pages read them by `web.cache`. A row is a figure with its arguments. It has one job, which is queued again
whenever the figure is ordered again: so no figure is counted twice at a time, and where a worker dies another
one counts, as with any job.
"""

import hashlib
import json
import logging
import pickle
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet, Sum, Window
from django.db.models.functions import Length, Now
from django.utils import timezone
from django.utils.crypto import salted_hmac

from core.extensions import parts_of
from core.jobs import services
from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext
from core.jobs.models import OPEN_STATES, Job, JobState, StoredFigure

T_co = TypeVar("T_co", covariant=True)
#: The kind of the jobs. The settings give it separate threads, for a page waits for them.
COUNT = "jobs.figure"
LONGEST = timedelta(minutes=30)
#: Pages show nothing that was counted longer ago.
KEPT_SECONDS = 3600
#: Bytes of one figure as it is stored, where a person in the table of people takes 88; and of all together
#: once old ones were deleted.
LARGEST, MOST_BYTES = 32 * 2**20, 512 * 2**20
#: Changes with the form of what is stored.
_FORM = 3
_MAC_BYTES = 32
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FigureKind(Generic[T_co]):
    """Figures of one name: `count` makes one from arguments that fit into JSON, by which it is known.

    It must not depend on who asks. What it gives is pickled: values, dataclasses, rows of models, arrays.
    """

    name: str
    count: Callable[..., T_co]


@dataclass(frozen=True, slots=True)
class FigureHead:
    """What is known of a figure without its value; `counted` 0: it never was counted by this version."""

    pk: int
    state: str
    stamp: str
    counted: int
    counted_at: datetime | None
    seconds: float | None
    job_state: str
    error: str
    ordered_at: datetime
    failed_at: datetime | None

    @property
    def is_ordered(self) -> bool:
        """A job counts it or will."""
        return self.job_state in OPEN_STATES

    @property
    def is_waiting(self) -> bool:
        """No worker has taken its job up yet."""
        return self.job_state == JobState.QUEUED


def key_of(kind: FigureKind[Any], identity: object) -> str:
    """The key of the figure of these arguments, or of what else tells it from others, in this version."""
    # What is stored are objects of this version's classes; another version stores its own figures.
    identity_json = json.dumps(
        [kind.name, settings.DISTILLERY_VERSION, _FORM, identity], sort_keys=True, default=repr
    )
    return hashlib.sha256(identity_json.encode()).hexdigest()


def digest(value: object) -> str:
    """A stamp or a state in 64 letters; equal values have equal ones."""
    return hashlib.sha256(repr(value).encode()).hexdigest()


def read_head(key: str) -> FigureHead | None:
    """What is known of a figure; None where it was never ordered."""
    columns = (
        "pk", "state", "stamp", "counted", "counted_at", "seconds",
        "job__state", "job__error", "job__created_at", "job__finished_at",
    )  # fmt: skip
    row = StoredFigure.objects.filter(key=key).values_list(*columns).first()
    return FigureHead(*row) if row else None


def read_value(pk: int, counted: int) -> tuple[object] | None:
    """The figure as it was counted that time, alone in a tuple; None where it is gone or another by now."""
    row = StoredFigure.objects.filter(pk=pk, counted=counted).values_list("key", "value").first()
    return None if row is None else unpack(bytes(row[1] or b""), purpose=row[0])


def read_values(keys: Iterable[str]) -> dict[str, object]:
    """What is stored under these keys, of whatever moment."""
    rows = StoredFigure.objects.filter(key__in=list(keys), counted__gt=0).values_list("key", "value")
    values = {key: unpack(bytes(value or b""), purpose=key) for key, value in rows}
    return {key: value[0] for key, value in values.items() if value is not None}


def order(kind: FigureKind[Any], arguments: Mapping[str, Any], *, key: str, state: str, stamp: str) -> None:
    """Have a worker count it, unless one does already; stamp and state are those of now or before."""
    with transaction.atomic():
        job = services.enqueue(kind=COUNT, payload={"figure": kind.name}, effect=f"figure:{key}")
        values = {"kind": kind.name, "arguments": dict(arguments), "job": job}
        wish = {"wanted_state": state, "wanted_stamp": stamp}
        _, is_new = StoredFigure.objects.get_or_create(key=key, defaults=values | wish)
        if not is_new and services.repeat(job=job):
            StoredFigure.objects.filter(key=key).update(**wish)


def over() -> QuerySet[Job]:
    """Jobs of figures that pages no longer show, for they are too old; a figure goes with its job."""
    return _closed_jobs().filter(finished_at__lt=Now() - timedelta(seconds=KEPT_SECONDS))


def surplus() -> QuerySet[Job]:
    """Jobs of figures that newer ones leave no storage for."""
    stored = StoredFigure.objects.filter(counted__gt=0).annotate(
        filled=Window(Sum(Length("value")), order_by=[F("counted_at").desc(), F("pk").desc()])
    )
    return _closed_jobs().filter(pk__in=stored.filter(filled__gt=MOST_BYTES).values("job"))


def _closed_jobs() -> QuerySet[Job]:
    return Job.objects.filter(kind=COUNT).exclude(state__in=OPEN_STATES)


def count_figure(context: JobContext) -> None:
    """Count the figure of this job; what it is stored as is what was wanted when counting began."""
    row = StoredFigure.objects.filter(job=context.job).defer("value").first()
    if row is None:
        raise PermanentError("This figure is no longer stored; a page that needs it orders it again.")
    kind = next((each for each in parts_of(FigureKind) if each.name == row.kind), None)
    if kind is None:
        raise PermanentError(f"No app of this version counts figures of the kind {row.kind!r}.")
    at, begun = timezone.now(), time.monotonic()
    value = pack((kind.count(**row.arguments),), purpose=row.key)
    seconds = time.monotonic() - begun
    if len(value) > LARGEST:
        size, most = _megabytes(len(value)), _megabytes(LARGEST)
        message = f"The figure {row.kind!r} takes {size} MB; {most} MB are stored at most"
        logger.warning("%s; its arguments: %.500r", message, row.arguments)
        raise PermanentError(message)
    figures = StoredFigure.objects.filter(pk=row.pk)
    context.commit(
        lambda: figures.update(
            state=row.wanted_state,
            stamp=row.wanted_stamp,
            counted=F("counted") + 1,
            counted_at=at,
            seconds=seconds,
            value=value,
        )
    )


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f}"


def pack(value: object, *, purpose: str) -> bytes:
    """A value in bytes that only this installation makes: what is not ours is never unpickled."""
    data = zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), 1)
    return _mac(data, purpose) + data


def unpack(packed: bytes, *, purpose: str) -> Any | None:
    """The value again; None where this installation's key of today did not sign it for this purpose."""
    mac, data = packed[:_MAC_BYTES], packed[_MAC_BYTES:]
    if not compare_digest(mac, _mac(data, purpose)):
        return None
    return pickle.loads(zlib.decompress(data))  # noqa: S301  # signed by this installation


def _mac(data: bytes, purpose: str) -> bytes:
    return salted_hmac(f"figure:{purpose}", data, algorithm="sha256").digest()
