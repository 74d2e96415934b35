"""Counting a corpus in shards, by whatever workers there are, with the same bytes as one process alone.

Each shard is a durable job. Whoever builds the network does those that no worker has taken, one after the
other, and then merges them; so a build comes to its end without any worker, and a shard of a worker that dies
is done by another. A worker of the same host leaves its shard in the builder's folder, one of another host in
the storage that all hosts share.
"""

import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import Sum
from django.db.models.functions import Coalesce, Now

from core.files.atomic import scratch_dir
from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext
from core.jobs.models import OPEN_STATES, Job, JobState
from core.jobs.runner import run
from core.jobs.services import cancel, enqueue, reconcile
from core.storage import fetch_bundle, prune_bundles, publish_bundle, shared_store
from retrieval.errors import RetrievalError
from retrieval.models import Corpus
from retrieval.services.corpora import counting_passages
from retrieval.tokens import with_title

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from retrieval.network import Progress
    from retrieval.network.segment import Segment

# Who counts the passages of a corpus for its network: this process, or several beside it.

#: Passages read from the database at a time.
READ_AT_ONCE = 5_000

#: Counts all passages of a corpus into shards below a folder; says how far it is.
Counter = Callable[[Corpus, Path, "Callable[[Progress], None]"], "Sequence[Segment]"]


def together(processes: int) -> Counter:
    """Count in this process, or for more than one in so many others."""

    def count(corpus: Corpus, scratch: Path, progress: "Callable[[Progress], None]") -> "Sequence[Segment]":
        from retrieval.network.builder import count_here  # noqa: PLC0415  # heavy

        return count_here(
            passages_of(corpus), scratch, corpus.language, processes=processes, progress=progress
        )

    return count


def passages_of(corpus: Corpus, *, after: int = 0, upto: int | None = None) -> Iterator[tuple[int, str]]:
    """Numbers and texts of passages with their titles, rising, in constant memory."""
    rows: Any = counting_passages(corpus).order_by("pk").values_list("pk", "title", "text")
    if upto is not None:
        rows = rows.filter(pk__lte=upto)
    while batch := list(rows.filter(pk__gt=after)[:READ_AT_ONCE]):
        for pk, title, text in batch:
            yield pk, with_title(title, text)
        after = batch[-1][0]


def numbers_of(corpus: Corpus) -> "NDArray[np.int64]":
    """Numbers of all passages that count, rising."""
    import numpy as np  # noqa: PLC0415  # heavy

    rows = counting_passages(corpus).order_by("pk").values_list("pk", flat=True)
    return np.fromiter(rows.iterator(chunk_size=50_000), dtype=np.int64)


SHARD = "retrieval.network-shard"
_NAP_SECONDS, _RECONCILE_SECONDS = 0.2, 5.0
#: Passages between two words about progress.
_TELL_EVERY = 1_000


def over_workers(shards: int, *, still_ours: Callable[[], None] = lambda: None) -> Counter:
    """Count in so many shards. `still_ours` is called all the time and raises what ends the build."""

    def count(corpus: Corpus, scratch: Path, progress: "Callable[[Progress], None]") -> "Sequence[Segment]":
        from retrieval.network import Progress  # noqa: PLC0415  # heavy
        from retrieval.network.segment import Segment  # noqa: PLC0415  # heavy

        jobs = _enqueued(corpus, scratch, shards)
        reconciled = time.monotonic()
        try:
            while not _done(jobs):
                still_ours()
                if not _do_one(jobs):
                    time.sleep(_NAP_SECONDS)
                if time.monotonic() - reconciled > _RECONCILE_SECONDS:
                    reconcile()
                    reconciled = time.monotonic()
                progress(Progress("counting", _counted(jobs)))
            _fetch_shards(jobs, scratch)
        finally:
            for pk in Job.objects.filter(pk__in=jobs, state__in=OPEN_STATES).values_list("pk", flat=True):
                cancel(job_id=pk)
            prune_bundles(shared_store(), _bundle_name(scratch.relative_to(settings.DATA_DIR)), ())
        return [Segment.open(scratch / str(number)) for number in range(len(jobs))]

    return count


def as_many_as_needed(
    corpus: Corpus, scratch: Path, progress: "Callable[[Progress], None]"
) -> "Sequence[Segment]":
    """A `Counter`: a small corpus in this process, a large one in shards over the workers that there are."""
    from retrieval.network.builder import SHARD_PASSAGES  # noqa: PLC0415  # heavy

    shards = -(-counting_passages(corpus).count() // SHARD_PASSAGES)
    counter = over_workers(shards) if shards > 1 else together(1)
    return counter(corpus, scratch, progress)


def count_one(context: JobContext) -> dict[str, Any]:
    """Count the shard of a job into its folder, or publish it; the handler of SHARD."""
    payload, store = context.payload, shared_store()
    scratch = Path(settings.DATA_DIR) / payload["scratch"]
    corpus = Corpus.objects.filter(pk=payload["corpus"]).first()
    if corpus is not None and scratch.is_dir():
        _count_into(scratch, corpus, context)
        return {}
    if corpus is None or not store.is_shared:
        raise PermanentError("The build that wanted this shard is over.")
    with scratch_dir(Path(settings.DATA_DIR) / "building", "shard-") as scratch_folder:
        _count_into(scratch_folder, corpus, context)
        name = _bundle_name(Path(payload["scratch"]))
        return {"bundle": publish_bundle(store, name, scratch_folder, [str(payload["number"])])}


def _count_into(scratch: Path, corpus: Corpus, context: JobContext) -> None:
    from retrieval.network.counts import count_shard  # noqa: PLC0415  # heavy

    payload = context.payload
    target, mine = scratch / str(payload["number"]), scratch / f"{payload['number']}-{secrets.token_hex(8)}"
    passages = 0

    def watched(texts: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        nonlocal passages
        for passages, passage in enumerate(texts, 1):
            if passages % _TELL_EVERY == 0:
                context.progress(passages, 0, "Counting the words of passages")
            yield passage

    try:
        texts = passages_of(corpus, after=payload["after"], upto=payload["upto"])
        count_shard(watched(texts), mine, corpus.language)
        context.progress(passages, passages, "Counting the words of passages")
        if not target.exists():
            mine.rename(target)
    except OSError as error:
        raise PermanentError(f"It cannot be written: {error}.") from error
    finally:
        shutil.rmtree(mine, ignore_errors=True)


def _fetch_shards(jobs: Sequence[int], scratch: Path) -> None:
    """Have here what other hosts counted."""
    results = dict(Job.objects.filter(pk__in=jobs).values_list("pk", "result"))
    name = _bundle_name(scratch.relative_to(settings.DATA_DIR))
    for number, pk in enumerate(jobs):
        target, bundle = scratch / str(number), (results[pk] or {}).get("bundle")
        if bundle and not target.exists():
            fetched = scratch / f"fetched-{number}"
            fetch_bundle(shared_store(), name, bundle, fetched)
            (fetched / str(number)).rename(target)


def _bundle_name(scratch: Path) -> str:
    """Of the shards of one build, whose folder below the data folder is given."""
    return f"shards/{'-'.join(scratch.parts)}"


def _enqueued(corpus: Corpus, scratch: Path, shards: int) -> list[int]:
    """A job for each shard: ranges of numbers with as many passages each as can be."""
    numbers = numbers_of(corpus)
    count = max(1, min(shards, len(numbers)))
    ends = [len(numbers) * place // count for place in range(1, count + 1)]
    borders = [0, *(int(numbers[end - 1]) if end else 0 for end in ends)]
    return [
        enqueue(
            kind=SHARD,
            payload={
                "corpus": corpus.pk,
                "scratch": str(scratch.relative_to(settings.DATA_DIR)),
                "number": number,
                "after": after,
                "upto": upto,
            },
        ).pk
        for number, (after, upto) in enumerate(pairwise(borders))
    ]


def _done(jobs: Sequence[int]) -> bool:
    """Whether all shards are counted; RetrievalError where one cannot be."""
    states = dict(Job.objects.filter(pk__in=jobs).values_list("pk", "state"))
    failed = [pk for pk in jobs if states.get(pk) in (None, JobState.FAILED, JobState.CANCELLED)]
    if failed:
        why = Job.objects.filter(pk=failed[0]).values_list("error", flat=True).first() or "It was cancelled."
        raise RetrievalError(f"A part of the corpus could not be counted. {why}")
    return all(state == JobState.DONE for state in states.values())


def _do_one(jobs: Sequence[int]) -> bool:
    """Count a shard that nobody has; False where there is none. Last ones first: workers begin at 1."""
    waiting = Job.objects.filter(pk__in=jobs, state=JobState.QUEUED, run_after__lte=Now())
    free = waiting.order_by("-pk").values_list("pk", flat=True).first()
    if free is not None:
        run(job_id=free)
    return free is not None


def _counted(jobs: Sequence[int]) -> int:
    return int(Job.objects.filter(pk__in=jobs).aggregate(sum=Coalesce(Sum("progress_done"), 0))["sum"])
