"""Indexes: built, brought up to date, built again when they do not hold what the database has."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from core.errors import on_failure
from retrieval.copies import engine_named, engine_of, publish_index
from retrieval.engine import Engine
from retrieval.errors import IndexBrokenError, NotIndexedError, RetrievalError
from retrieval.models import Corpus, Index
from retrieval.services.corpora import counting_passages, working_on

#: Passages read from the database at a time.
READ_AT_ONCE = 5_000


@dataclass(frozen=True)
class IndexResult:
    """What came of it: passages added now, passages in the index, and why it was built again, if it was."""

    added: int
    passages: int
    generation: int
    reason: str = ""


def build_index(
    *, corpus: Corpus, anew: bool = False, progress: Callable[[int], None] = lambda passages: None
) -> IndexResult:
    """Bring the index of a corpus up to date: add what is new, or build it again where that is needed.

    Searches are answered all the time, by the old generation until a new one is complete. A build that was
    killed goes on where its last commit was. An index of another engine than the installation's moves: it is
    built again there, and answers here until that is done. `progress` hears how many passages it has read so
    far.
    """
    with working_on(corpus) as lease:
        corpus.index.refresh_from_db()
        Index.objects.filter(corpus=corpus).update(state=Index.State.BUILDING, note="")

        def mark_failed(error: BaseException) -> None:
            note = (str(error) or type(error).__name__)[:300]
            Index.objects.filter(corpus=corpus).update(state=Index.State.FAILED, note=note)

        with on_failure(mark_failed):
            built = _build(corpus, anew, progress)
            lease.check()
            published = publish_index(corpus.index)
        Index.objects.filter(corpus=corpus).update(
            state=Index.State.READY,
            generation=built.generation,
            passages=built.passages,
            last_passage=engine_of(corpus).highest(),
            built_at=timezone.now(),
            note=built.reason,
            published=published,
        )
        return built


def _build(corpus: Corpus, anew: bool, progress: Callable[[int], None]) -> IndexResult:
    if corpus.index.engine != settings.RETRIEVAL_ENGINE:
        return _move(corpus, settings.RETRIEVAL_ENGINE, progress)
    engine = engine_of(corpus)
    reason = "asked for" if anew else _reason_to_start_over(corpus, engine)
    if reason:
        added = engine.rebuild(_passages(corpus, 0, progress))
    else:
        added = engine.index(_passages(corpus, _highest(engine), progress))
    return IndexResult(added, engine.count(), engine.generation(), reason)


def _move(corpus: Corpus, engine_name: str, progress: Callable[[int], None]) -> IndexResult:
    """Build the index in another engine, let that one answer, and remove the files of the former."""
    former, index = engine_of(corpus), corpus.index
    reason = f"It moved from {index.engine} to {engine_name}." if index.generation else ""
    engine = engine_named(engine_name, corpus)
    added = engine.rebuild(_passages(corpus, 0, progress))
    Index.objects.filter(pk=index.pk).update(engine=engine_name)
    index.engine = engine_name
    with suppress(RetrievalError):  # a server that is gone for good keeps nobody from leaving it
        former.drop()
    return IndexResult(added, engine.count(), engine.generation(), reason)


def _reason_to_start_over(corpus: Corpus, engine: Engine) -> str:
    """Why adding is not enough, in words; empty where it is."""
    try:
        highest, count = engine.highest(), engine.count()
    except NotIndexedError:
        return ""
    except IndexBrokenError as error:
        return f"The files could not be used: {error}"[:300]
    expected = counting_passages(corpus).filter(pk__lte=highest).count()
    if expected == count:
        return ""
    return f"It held {count:,} of the first {expected:,} passages."


def _highest(engine: Engine) -> int:
    try:
        return engine.highest()
    except NotIndexedError:
        return 0


def _passages(corpus: Corpus, after: int, progress: Callable[[int], None]) -> Iterator[tuple[int, str]]:
    """Numbers and what is indexed of each passage: title and text."""
    rows = counting_passages(corpus).order_by("pk").values_list("pk", "title", "text")
    read = 0
    while batch := list(rows.filter(pk__gt=after)[:READ_AT_ONCE]):
        for pk, title, text in batch:
            yield pk, f"{title}\n{text}" if title else text
        after = batch[-1][0]
        read += len(batch)
        progress(read)
