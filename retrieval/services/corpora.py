"""Corpora and their passages: made, filled from files, emptied, removed.

A file of a million passages is no one transaction: all other writers would wait for it. It goes in by
batches, and until the last one is in, `Corpus.adding_after` says which passages count. Whatever breaks off
in between, a kill too, leaves passages that do not count; the next addition or removal takes them away.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar
from uuid import uuid4

from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.models import Max, Q
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.text import slugify

from core.errors import on_failure
from core.files.refusals import RowCounts
from core.jobs.handlers import heartbeats
from core.projects.models import Project
from core.projects.services import record, why_read_only
from core.storage import host_id, shared_store
from retrieval.copies import engine_of, folder_of, publish_index, remove_network, take_up, withdraw
from retrieval.engine import files
from retrieval.engine.files import only_writer
from retrieval.errors import (
    BusyError,
    CorpusError,
    EngineError,
    IndexBrokenError,
    NoRoomError,
    NotIndexedError,
)
from retrieval.models import Corpus, Index, Passage, WordNetwork
from retrieval.passage_files import LONGEST_DOCUMENT, MOST_FAULTS, PassageFile, Row, split
from retrieval.sentences import WindowOptions
from retrieval.services.repeats import (
    NEAR,
    POLICIES,
    SAME_ID,
    Identity,
    IdentityCounts,
    Item,
    Repeat,
    Repeats,
    items_of,
    seen_file,
    watching,
)

# Rows of a file into the database, a batch in one transaction; ids that repeat are faults of the file.

#: Passages in one statement: SQLite binds 999 values at least.
_ROWS = 100
_KEYS = 500
_COLUMNS = ("corpus_id", "key", "text", "title", "url", "page", "start", "end", "digest")


def insert(corpus: Corpus, batch: Sequence[tuple[Row, str]], file: PassageFile) -> bool:
    """Insert rows with their digests. False, and nothing of them, when ids repeat; `file` has the faults."""
    first: dict[str, int] = {}
    for row, _ in batch:
        if row.key in first:
            _repeated(file, row, f"the id {row.key[:60]!r} is on {file.unit} {first[row.key]} already")
        first.setdefault(row.key, row.line)
    if file.faults:
        return False
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for at in range(0, len(batch), _ROWS):
                rows = batch[at : at + _ROWS]
                values = [value for row, digest in rows for value in (corpus.pk, *row[1:], digest)]
                cursor.execute(_insertion(len(rows)), values)
    except IntegrityError:
        known_keys = known_among(corpus, list(first))
        for row, _ in batch:
            if row.key in known_keys:
                _repeated(file, row, f"the id {row.key[:60]!r} is in the corpus already, or further up")
        if not file.faults:
            raise
        return False
    return True


def known_among(corpus: Corpus, keys: Sequence[str]) -> set[str]:
    """Which of these ids passages of the corpus have."""
    passages = Passage.objects.filter(corpus=corpus)
    known_keys: set[str] = set()
    for at in range(0, len(keys), _KEYS):
        known_keys.update(passages.filter(key__in=keys[at : at + _KEYS]).values_list("key", flat=True))
    return known_keys


def _repeated(file: PassageFile, row: Row, what: str) -> None:
    if len(file.faults) < MOST_FAULTS:
        file.fault(row.line, "id", what, "Give every passage an id of its own.")


def _insertion(rows: int) -> str:
    names = ", ".join(connection.ops.quote_name(name) for name in _COLUMNS)
    places = ", ".join([f"({', '.join(['%s'] * len(_COLUMNS))})"] * rows)
    table = connection.ops.quote_name(Passage._meta.db_table)
    return f"INSERT INTO {table} ({names}) VALUES {places}"  # noqa: S608  # names of ours only


#: After so many seconds without a sign the other host counts as dead.
LEASE = timedelta(seconds=30)
_PAUSE = 0.2


class CorpusLease:
    """The right of this process to change a corpus. Where nothing is shared, the lock alone is enough."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._token = f"{host_id()}:{uuid4().hex}" if shared_store().is_shared else ""

    def check(self) -> None:
        """BusyError where another host took over; else none can until the transaction around this ends."""
        if self._token and not self.renew():
            raise BusyError(f"Another host took over work on the corpus {self._corpus.slug!r}. Try again.")

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """A transaction that changes nothing once another host took over."""
        if not self._token:
            yield
            return
        with transaction.atomic():
            self.check()
            yield

    def is_ours(self) -> bool:
        """Whether no other host took over."""
        return not self._token or self.renew()

    def renew(self) -> bool:
        """Keep it for longer; False where it is lost."""
        mine = Corpus.objects.filter(pk=self._corpus.pk, held_by=self._token)
        return bool(mine.update(held_until=_until()))

    def take(self) -> None:
        """Wait for `lock.PATIENCE` seconds at most; BusyError after that.

        What this host itself held is free: it has the lock, so the process that held it is gone.
        """
        deadline = time.monotonic() + files.PATIENCE
        free = Q(held_by="") | Q(held_until__lt=Now()) | Q(held_by__startswith=f"{host_id()}:")
        rows = Corpus.objects.filter(pk=self._corpus.pk)
        while not rows.filter(free).update(held_by=self._token, held_until=_until()):
            if not rows.exists():
                return
            if time.monotonic() >= deadline:
                raise BusyError(
                    f"Another host works on the corpus {self._corpus.slug!r}, and still did after "
                    f"{files.PATIENCE:g} s. Try again when it is done."
                )
            time.sleep(_PAUSE)

    @contextmanager
    def hold(self) -> Iterator["CorpusLease"]:
        """Hold it while the block runs."""
        if not self._token:
            yield self
            return
        self.take()
        try:
            with heartbeats(
                self.renew,
                every=lambda: LEASE.total_seconds() / 5,
                name=f"lease of {self._corpus}",
                after=lambda ended: None,
            ):
                yield self
        finally:
            mine = Corpus.objects.filter(pk=self._corpus.pk, held_by=self._token)
            mine.update(held_by="", held_until=None)


def _until() -> CombinedExpression:
    return Now() + LEASE


#: Passages in one transaction.
BATCH = 5_000
Some = TypeVar("Some")


def create_corpus(
    *,
    project: Project,
    slug: str,
    title: str = "",
    language: str = "",
    licence: str = "",
    attribution: str = "",
    actor: Any = None,
) -> Corpus:
    """A corpus without passages; in the project's language unless one is named."""
    if why := why_read_only(project):
        raise CorpusError(why)
    corpus = Corpus(
        project=project,
        slug=slug,
        title=title or slug,
        language=language or project.language,
        licence=licence,
        attribution=attribution,
        created_at=timezone.now(),
    )
    try:
        corpus.clean_fields()
    except ValidationError as error:
        problems = "; ".join(f"{name}: {' '.join(messages)}" for name, messages in error.message_dict.items())
        raise CorpusError(f"The corpus cannot be made. {problems}") from error
    try:
        with transaction.atomic():
            corpus.save(force_insert=True)
            Index.objects.create(
                corpus=corpus, state=Index.State.STALE, location=f"{corpus.pk}-{secrets.token_hex(4)}"
            )
            record(project=project, action="corpus.created", subject=slug, actor=actor)
    except IntegrityError as error:
        raise CorpusError(f"There is already a corpus {slug!r} in {project.slug!r}.") from error
    return corpus


def slug_for(name: str) -> str:
    """A slug from the name of a file, without its endings."""
    return slugify(name.split(".", maxsplit=1)[0])[:80] or "corpus"


def add_passages(
    *,
    corpus: Corpus,
    file: PassageFile,
    actor: Any = None,
    progress: Callable[[int, int], None] = lambda passages, bytes: None,
) -> int:
    """Add the passages of a file as they are, all or none; how many."""
    return add_file(corpus=corpus, file=file, actor=actor, progress=progress).passages


@dataclass(frozen=True)
class AdditionOptions:
    """How a file is added: documents split or not, repetitions and known ids left out or not.

    `same_id` says what becomes of an id that is there already, with another text: the file is refused, the
    `first` is kept, or the id gets a number. `near` is the share of common word triples from which passages
    are nearly the same; None: not looked for. ValueError, in words, for what cannot be.
    """

    splitting: WindowOptions | None = None
    repeats: str = "keep"
    near: float | None = None
    skip_known: bool = False
    same_id: str = "refuse"

    def __post_init__(self) -> None:
        """Check once, wherever the options come from."""
        if self.same_id not in SAME_ID:
            raise ValueError(f"Repeated ids are one of {', '.join(SAME_ID)}, not {self.same_id}.")
        if self.repeats not in POLICIES:
            raise ValueError(f"Repetitions are one of {', '.join(POLICIES)}, not {self.repeats}.")
        if self.near is not None:
            low, high = NEAR
            if not low <= self.near <= high:
                raise ValueError(f"Near-duplicates have {low:g} to {high:g} in common, not {self.near:g}.")
            if self.repeats == "keep":
                raise ValueError("Near-duplicates are looked for only with report or skip.")


@dataclass(frozen=True)
class AdditionCounts:
    """What came of it: passages that went in, rows left out as their ids were known, repetitions, the sum."""

    passages: int
    known: int
    repeats: Repeats
    counts: RowCounts
    identified: IdentityCounts

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with examples in words."""
        identified = self.identified
        return {
            "counts": self.counts.as_json(),
            "added": self.passages,
            "known": self.known,
            "same_id": {
                "left_out": identified.left_out,
                "numbered": identified.numbered,
                "examples": identified.examples,
            },
            "repeats": dict(self.repeats.counts),
            "examples": [str(each) for each in self.repeats.examples],
        }


def _at_once(effect: Callable[[], Any]) -> Any:
    with transaction.atomic():
        return effect()


def add_file(
    *,
    corpus: Corpus,
    file: PassageFile,
    options: AdditionOptions = AdditionOptions(),
    actor: Any = None,
    progress: Callable[[int, int], None] = lambda passages, bytes: None,
    report_repeat: Callable[[Repeat], None] = lambda repeat: None,
    commit: Callable[[Callable[[], Any]], Any] = _at_once,
) -> AdditionCounts:
    """Add the passages of a file, all or none. FileRefusedError lists what is wrong with it.

    `progress` hears how many passages are in and how many bytes of the file are done, after each batch;
    `report_repeat` hears of each repetition. `commit` runs what makes the passages count, in a transaction.
    """
    with working_on(corpus) as lease:
        _take_back(corpus)
        last = counting_passages(corpus).aggregate(last=Max("pk"))["last"] or 0
        added = read = used = 0
        make = _making(file, corpus.language, options.splitting)
        ids = Identity(corpus, file, make, policy=options.same_id, skip_known=options.skip_known, last=last)

        def take_back(error: BaseException) -> None:
            if lease.is_ours():
                corpus.refresh_from_db(fields=["adding_after"])
                _take_back(corpus)

        with on_failure(take_back):
            with watching(corpus, options.repeats, options.near, report_repeat) as watch:
                _say(corpus, adding_after=last)
                items = items_of(file.rows(), make)
                while batch := _take_batch(items):
                    read += len(batch)
                    rows = [row for item in ids.passed(batch) for row in item.passages]
                    with lease.guarded():
                        if not file.faults and insert(corpus, passed := watch.passed(rows), file):
                            added += len(passed)
                            used += len({row.line for row, _ in passed})
                    progress(added, file.bytes_done)
            if file.faults:
                raise file.refused()
            left_out = ids.found.known + ids.found.left_out
            counts = RowCounts(read, used, 0, read - used - left_out, left_out)
            done = AdditionCounts(added, ids.found.known, watch.found, counts, ids.found)
            commit(lambda: _count_them(corpus, file, done, actor, lease))
        return done


def _count_them(
    corpus: Corpus, file: PassageFile, done: AdditionCounts, actor: Any, lease: CorpusLease
) -> dict[str, Any]:
    """Let the new passages count, in the transaction around this call."""
    lease.check()
    _say(corpus, adding_after=None)
    Index.objects.filter(corpus=corpus).update(state=Index.State.STALE)
    WordNetwork.objects.filter(corpus=corpus).update(state=WordNetwork.State.STALE)
    details = {"known": done.known, "repeats": dict(done.repeats.counts), "counts": done.counts.as_json()}
    record(
        project=corpus.project,
        action="passages.added",
        subject=corpus.slug,
        actor=actor,
        details={"file": file.name or file.path.name, "passages": done.passages}
        | {name: value for name, value in details.items() if value},
    )
    return done.as_dict()


def _making(file: PassageFile, language: str, splitting: WindowOptions | None) -> Callable[[Row], list[Row]]:
    """What makes the passages of a row: the row itself, or its windows."""
    if splitting is None:
        return lambda row: [row]
    file.longest_text = LONGEST_DOCUMENT
    return lambda row: list(split(file, [row], language, splitting))


def _take_batch(items: Iterator[Item]) -> list[Item]:
    """As many items as have the passages of one transaction."""
    batch: list[Item] = []
    passages = 0
    for item in items:
        batch.append(item)
        passages += len(item.passages)
        if passages >= BATCH:
            break
    return batch


def delete_passages(*, corpus: Corpus, keys: Sequence[str], actor: Any = None) -> int:
    """Remove passages by their ids in the corpus, from the index too; how many there were.

    Candidates made of them stay as they are: they hold the text that people were shown.
    """
    with working_on(corpus):
        numbers: list[int] = []
        for key_batch in chunks(keys, _KEYS):
            passages = Passage.objects.filter(corpus=corpus, key__in=key_batch)
            numbers += passages.values_list("pk", flat=True)
        with transaction.atomic():
            for batch in chunks(numbers, _KEYS):
                Passage.objects.filter(pk__in=batch).delete()
            if numbers:
                WordNetwork.objects.filter(corpus=corpus).update(state=WordNetwork.State.STALE)
                details = {"passages": len(numbers)}
                record(
                    project=corpus.project,
                    action="passages.removed",
                    subject=corpus.slug,
                    actor=actor,
                    details=details,
                )
        try:
            engine = engine_of(corpus)
            engine.delete(numbers)
            Index.objects.filter(corpus=corpus).update(
                passages=engine.count(), published=publish_index(corpus.index)
            )
        except NotIndexedError:
            pass
        except (IndexBrokenError, EngineError, NoRoomError):
            Index.objects.filter(corpus=corpus).update(state=Index.State.STALE)
        return len(numbers)


def remove_corpus(*, corpus: Corpus, actor: Any = None) -> None:
    """Remove a corpus with its passages and its index. Candidates made of it stay."""
    with working_on(corpus):
        _say(corpus, adding_after=0)
        _take_back(corpus)
        engine_of(corpus).drop()
        withdraw(corpus.index)
        for network in WordNetwork.objects.filter(corpus=corpus):
            withdraw(network)
        remove_network(corpus)
        with transaction.atomic():
            record(project=corpus.project, action="corpus.removed", subject=corpus.slug, actor=actor)
            corpus.delete()
    folder = folder_of(corpus.index)
    (folder / "work").unlink(missing_ok=True)
    seen_file(corpus).unlink(missing_ok=True)
    if folder.is_dir():
        folder.rmdir()


def counting_passages(corpus: Corpus) -> Any:  # a QuerySet whose rows depend on what is asked of it
    """Passages of a corpus without those of an addition that is not complete."""
    passages = Passage.objects.filter(corpus=corpus)
    return passages if corpus.adding_after is None else passages.filter(pk__lte=corpus.adding_after)


@contextmanager
def working_on(corpus: Corpus) -> Iterator[CorpusLease]:
    """Be the only one who changes the passages or the index of this corpus; BusyError if somebody else is."""
    locked = only_writer(folder_of(corpus.index) / "work", f"the corpus {corpus.slug!r}")
    with locked, CorpusLease(corpus).hold() as lease:
        corpus.refresh_from_db(fields=["adding_after"])
        take_up(corpus)
        yield lease


def chunks(items: Sequence[Some], size: int) -> Iterator[Sequence[Some]]:
    """Items, so many at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _say(corpus: Corpus, *, adding_after: int | None) -> None:
    Corpus.objects.filter(pk=corpus.pk).update(adding_after=adding_after)
    corpus.adding_after = adding_after


def _take_back(corpus: Corpus) -> None:
    """Remove the passages of an addition that did not come to its end."""
    if corpus.adding_after is None:
        return
    left = Passage.objects.filter(corpus=corpus, pk__gt=corpus.adding_after)
    while numbers := list(left.order_by("pk").values_list("pk", flat=True)[:BATCH]):
        left.filter(pk__lte=numbers[-1]).delete()
    _say(corpus, adding_after=None)
