"""Corpora and their passages: made, filled from files, emptied, removed.

A file of a million passages is no one transaction: all other writers would wait for it. It goes in by
batches, and until the last one is in, `Corpus.adding_after` says which passages count. Whatever breaks off
in between, a kill too, leaves passages that do not count; the next addition or removal takes them away.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.text import slugify

from projects.models import Project
from projects.services import record, why_read_only
from retrieval.engine.lock import only_writer
from retrieval.engines import engine_of, folder_of
from retrieval.errors import CorpusError, IndexBrokenError, NotIndexedError
from retrieval.models import Corpus, Index, Passage, WordNetwork
from retrieval.networks import remove_network
from retrieval.reading import PassageFile, Row

#: Passages in one transaction, and in one statement: SQLite binds 999 values at least.
BATCH = 5_000
_ROWS = 100
_KEYS = 500
_COLUMNS = ("corpus_id", "key", "text", "title", "url", "page", "start", "end", "digest")
Item = TypeVar("Item")


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
        problems = "; ".join(f"{name}: {' '.join(words)}" for name, words in error.message_dict.items())
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
    """Add the passages of a file, all or none; how many. FileRefusedError lists what is wrong with it.

    `progress` hears how many passages are in and how many bytes of the file are done, after each batch.
    """
    with working_on(corpus):
        _take_back(corpus)
        last = counting_passages(corpus).aggregate(last=Max("pk"))["last"] or 0
        _say(corpus, adding_after=last)
        added = 0
        try:
            rows = file.rows()
            while batch := list(islice(rows, BATCH)):
                if not file.faults and _insert(corpus, batch, file):
                    added += len(batch)
                progress(added, file.bytes_done)
            if file.faults:
                raise file.refused()
        except BaseException:
            _take_back(corpus)
            raise
        with transaction.atomic():
            _say(corpus, adding_after=None)
            Index.objects.filter(corpus=corpus).update(state=Index.State.STALE)
            WordNetwork.objects.filter(corpus=corpus).update(state=WordNetwork.State.STALE)
            record(
                project=corpus.project,
                action="passages.added",
                subject=corpus.slug,
                actor=actor,
                details={"file": file.path.name, "passages": added},
            )
        return added


def delete_passages(*, corpus: Corpus, keys: Sequence[str], actor: Any = None) -> int:
    """Remove passages by their ids in the corpus, from the index too; how many there were.

    Candidates made of them stay as they are: they hold the text that people were shown.
    """
    with working_on(corpus):
        numbers: list[int] = []
        for some in chunks(keys, _KEYS):
            found = Passage.objects.filter(corpus=corpus, key__in=some)
            numbers += found.values_list("pk", flat=True)
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
            Index.objects.filter(corpus=corpus).update(passages=engine.count())
        except NotIndexedError:
            pass
        except IndexBrokenError:
            Index.objects.filter(corpus=corpus).update(state=Index.State.STALE)
        return len(numbers)


def remove_corpus(*, corpus: Corpus, actor: Any = None) -> None:
    """Remove a corpus with its passages and its index. Candidates made of it stay."""
    with working_on(corpus):
        _say(corpus, adding_after=0)
        _take_back(corpus)
        engine_of(corpus).drop()
        remove_network(corpus)
        with transaction.atomic():
            record(project=corpus.project, action="corpus.removed", subject=corpus.slug, actor=actor)
            corpus.delete()
    folder = folder_of(corpus.index)
    (folder / "work").unlink(missing_ok=True)
    if folder.is_dir():
        folder.rmdir()


def counting_passages(corpus: Corpus) -> Any:  # a QuerySet whose rows depend on what is asked of it
    """Passages of a corpus without those of an addition that is not complete."""
    passages = Passage.objects.filter(corpus=corpus)
    return passages if corpus.adding_after is None else passages.filter(pk__lte=corpus.adding_after)


@contextmanager
def working_on(corpus: Corpus) -> Iterator[None]:
    """Be the only one who changes the passages or the index of this corpus; BusyError if somebody else is."""
    with only_writer(folder_of(corpus.index) / "work", f"the corpus {corpus.slug!r}"):
        corpus.refresh_from_db(fields=["adding_after"])
        yield


def chunks(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
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


def _insert(corpus: Corpus, batch: list[Row], file: PassageFile) -> bool:
    """Insert a batch in one transaction. False, and nothing of it, when ids repeat; `file` has the faults."""
    first: dict[str, int] = {}
    for row in batch:
        if row.key in first:
            _repeated(file, row, f"the id {row.key[:60]!r} is on line {first[row.key]} already")
        first.setdefault(row.key, row.line)
    if file.faults:
        return False
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for rows in chunks(batch, _ROWS):
                values = [value for row in rows for value in (corpus.pk, *row[1:], "")]
                cursor.execute(_insertion(len(rows)), values)
    except IntegrityError:
        for some in chunks(list(first), _KEYS):
            taken = Passage.objects.filter(corpus=corpus, key__in=some)
            for key in taken.values_list("key", flat=True):
                row = next(row for row in batch if row.key == key)
                _repeated(file, row, f"the id {key[:60]!r} is in the corpus already, or further up")
        if not file.faults:
            raise
        file.faults[:] = sorted(file.faults, key=lambda fault: fault.line)[:20]
        return False
    return True


def _repeated(file: PassageFile, row: Row, what: str) -> None:
    if len(file.faults) < 20:
        file.fault(row.line, "id", what, "Give every passage an id of its own.")


def _insertion(rows: int) -> str:
    names = ", ".join(connection.ops.quote_name(name) for name in _COLUMNS)
    places = ", ".join([f"({', '.join(['%s'] * len(_COLUMNS))})"] * rows)
    table = connection.ops.quote_name(Passage._meta.db_table)
    return f"INSERT INTO {table} ({names}) VALUES {places}"  # noqa: S608  # names of ours only
