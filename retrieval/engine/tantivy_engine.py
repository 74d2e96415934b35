"""The embedded engine: tantivy, with files in the data folder and one writer per index.

What tantivy does not forgive is kept here: a number is added as unsigned (a guessed type is refused late)
and deleted by query (deleting by term of an unsigned field does nothing and says nothing); the rules for
words are registered on every Index object; user text never meets tantivy's query parser; equal scores come
in the order in which documents are stored, so they are sorted again where that is not the order of their
numbers; numbers are read from their column, as no text is stored.
"""

import errno
import json
import math
import os
import re
import shutil
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice, pairwise
from operator import itemgetter, neg
from pathlib import Path
from typing import Any, NamedTuple, cast

from tantivy import (
    DocAddress,
    Document,
    Index,
    IndexWriter,
    Occur,
    Query,
    Schema,
    SchemaBuilder,
    Searcher,
    TextAnalyzer,
    TextAnalyzerBuilder,
    Tokenizer,
)

from core.errors import on_failure
from retrieval.engine import ScoredPassages, analysis
from retrieval.engine.analysis import cut
from retrieval.engine.files import ChangeCount, IndexFolder, Pointer, only_writer, replace_json
from retrieval.errors import BusyError, IndexBrokenError, NoRoomError, NotIndexedError, RetrievalError

#: When a thread of tantivy's dies it does not say of what; with less room than this it was the disk.
LEAST_ROOM = 32_000_000
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_NUMBER = re.compile(r"os error (\d+)")


@contextmanager
def damage_told(what: str, folder: Path) -> Iterator[None]:
    """Tantivy's errors as ours. Of short files it panics, which is no Exception in Python."""

    def tell_panic(error: BaseException) -> None:
        if type(error).__name__ == "PanicException":
            raise IndexBrokenError(f"{what}: {error}") from error

    try:
        with on_failure(tell_panic):
            yield
    except (ValueError, OSError) as error:
        raise translate_error(what, error, folder) from error


def translate_error(what: str, error: Exception, folder: Path) -> RetrievalError:
    """A full disk where the error says so, or where a thread died and there is no room; else damage."""
    number = _NUMBER.search(str(error))
    full = getattr(error, "errno", None) in _FULL or (number is not None and int(number[1]) in _FULL)
    if not full and "thread" in str(error):
        full = shutil.disk_usage(_find_parent(folder)).free < LEAST_ROOM
    if full:
        return NoRoomError(
            f"{what}: the disk with {folder.parent} is full, or this user may use no more of it. Make "
            "room and try again; what the index held before it still holds."
        )
    return IndexBrokenError(f"{what}: {error}")


def _find_parent(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())


#: Memory for passages that are not on disk yet, in bytes, and the threads that share it: enough for a million
#: passages in fewer segments than tantivy would merge. The other half of the processors cuts passages.
HEAP = 256_000_000
WRITERS = max(1, min(4, (os.cpu_count() or 1) // 2))
#: Passages between two commits of a long run: what a kill may cost.
COMMIT_EVERY = 500_000
#: Passages with the score of the last place among which the lowest numbers are looked for: at first, at most.
SPARE, MOST_TIED = 32, 2_000
#: Seconds after which a search looks at the files whatever the count of changes says: a writer may be killed
#: between a change and its count, or be of an earlier version, which does not count.
LOOK_EVERY = 0.1
#: By what tantivy keeps the documents of each segment in order, and how its files say so.
_SORTED_BY = "pk"
_SORTING = {"field": _SORTED_BY, "order": "Asc"}
#: The file of a generation that names its commit.
_META = "meta.json"
_DELETE_AT_ONCE = 10_000
_OPEN_ATTEMPTS = 5
#: The rules by which the words of passages are cut, as tantivy knows them.
CHAIN = "words"

Hit = tuple[float, DocAddress]


@cache
def schema() -> Schema:
    """A number and words with their frequencies: no positions, no stored text."""
    builder = SchemaBuilder()
    builder.add_unsigned_field("pk", indexed=True, fast=True)
    builder.add_text_field("body", tokenizer_name=CHAIN, index_option="freq")
    return builder.build()


def find_hits(searcher: Searcher, weights: Mapping[str, float], k: int) -> list[Hit]:
    """The k best hits for weighted words, best first; equal ones as tantivy has them.

    Weights that are no number above 0 count for nothing. Words are added up in the order of the alphabet, so
    that the same words have the same score to the last bit.
    """
    clauses = [
        _weigh_word(word, weight)
        for word, weight in sorted(weights.items())
        if math.isfinite(weight) and weight > 0
    ]
    if not clauses:
        return []
    hits: list[Hit] = searcher.search(Query.boolean_query(clauses), k, count=False).hits
    return hits


@lru_cache(maxsize=10_000)
def _weigh_word(word: str, weight: float) -> tuple[Occur, Query]:
    """A word of a query; the same ones are asked for again and again."""
    query = Query.term_query(schema(), "body", word, index_option="freq")
    return Occur.Should, query if weight == 1 else Query.boost_query(query, weight)


class _Snapshot(NamedTuple):
    """A commit, what its file looked like, and whether all documents are in the order of their numbers."""

    searcher: Searcher
    seen: tuple[int, ...]
    is_in_order: bool


class _Sight(NamedTuple):
    """When the files were looked at, by the monotonic clock, and what had been written before that."""

    at: float
    changes: ChangeCount
    written: bytes | None


@dataclass
class _Reader:
    """An open generation, and its newest commit that was looked at."""

    index: Index
    folder: Path
    meta: str
    snapshot: _Snapshot | None = None
    look: _Sight | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def unchanged(self) -> _Snapshot | None:
        """The newest commit, where it is known without a look at both files.

        By the count of changes; where no writer has counted any, by the commit's own file, as a rebuild ends
        with removing it.
        """
        snapshot, look = self.snapshot, self.look
        if snapshot is None or look is None or time.monotonic() - look.at > LOOK_EVERY:
            return None
        if look.written is not None:
            return snapshot if look.changes.now() == look.written else None
        try:
            return snapshot if _looks(self.meta) == snapshot.seen else None
        except FileNotFoundError:
            return None

    def newest(self) -> _Snapshot:
        """The commit that its file names now."""
        now = _looks(self.meta)
        snapshot = self.snapshot
        if snapshot is not None and snapshot.seen == now:
            return snapshot
        with self.lock:
            snapshot = self.snapshot
            if snapshot is None or snapshot.seen != now:
                self.index.reload()
                searcher, layout = self.index.searcher(), Path(self.meta).read_bytes()
                # Another commit may have come since: then the order is not known, and the next search asks.
                is_same = _looks(self.meta) == now
                in_order = is_same and _are_in_order(searcher, json.loads(layout))
                snapshot = self.snapshot = _Snapshot(searcher, now, in_order)
            return snapshot


def _looks(path: str) -> tuple[int, ...]:
    facts = os.stat(path)  # noqa: PTH116  # at every search
    return facts.st_ino, facts.st_mtime_ns, facts.st_size


def _are_in_order(searcher: Searcher, layout: Mapping[str, Any]) -> bool:
    """Whether each segment is sorted by number and begins after the end of the one before it.

    Then tantivy decides between equal scores as we do. Generations of earlier versions are not sorted.
    `layout`: what the commit's file says.
    """
    ends = _ends_of_segments(searcher, layout)
    return ends is not None and all(before[1] < after[0] for before, after in pairwise(ends))


def _ends_of_segments(searcher: Searcher, layout: Mapping[str, Any]) -> list[tuple[int, int]] | None:
    """The lowest and highest number of each segment; None where segments are empty or not sorted."""
    sizes = [segment["max_doc"] for segment in layout["segments"]]
    if layout.get("index_settings", {}).get("sort_by_field") != _SORTING or 0 in sizes:
        return None
    places = [DocAddress(number, place) for number, size in enumerate(sizes) for place in (0, size - 1)]
    numbers = cast(list[int], searcher.fast_field_values("pk", places))
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _list_in_order(folder: Path) -> None:
    """List the segments of the newest commit by their lowest numbers. By the one writer, after its work.

    Tantivy lists them in no particular order, and searches them as they are listed.
    """
    layout = json.loads((folder / _META).read_bytes())
    ends = _ends_of_segments(_opened(folder).searcher(), layout)
    if not ends or ends == sorted(ends):
        return
    layout["segments"] = [
        segment for _, segment in sorted(zip(ends, layout["segments"], strict=True), key=itemgetter(0))
    ]
    with suppress(OSError):  # on a full disk the commit is as good, and searches sort equal scores
        replace_json(folder / _META, layout)


#: Indexes that a process keeps open at most; the ones opened first are let go.
MOST_OPEN = 64
#: Open generations of this process, by process number (a fork opens its own), folder and generation.
_open: dict[tuple[int, Path], tuple[Pointer, _Reader]] = {}


class TantivyEngine:
    """The index of one corpus in one folder; objects are cheap and share what the process has open."""

    def __init__(self, folder: Path, language: str, *, what: str = "this index") -> None:
        self._files = IndexFolder(folder)
        self._language = language
        self._what = what

    # Reading

    def terms(self, text: str) -> list[str]:
        """Words of a query as the index knows them, each once, in their order."""
        return analysis.terms(text, self._language)

    def search(self, weights: Mapping[str, float], k: int) -> ScoredPassages:
        """Best passages for weighted terms, by falling score, then number, whatever the order of segments.

        BM25 with k1 1.2 and b 0.75 (tantivy's constants).
        """
        for _ in range(_OPEN_ATTEMPTS - 1):
            snapshot = self._newest()
            try:
                return self._best(snapshot, weights, k)
            except IndexBrokenError:
                # A file that went while it was being opened is missed by tantivy only now.
                _open.pop((os.getpid(), self._files.path), None)
        return self._best(self._newest(), weights, k)

    def _best(self, snapshot: _Snapshot, weights: Mapping[str, float], k: int) -> ScoredPassages:
        if k < 1:
            return ScoredPassages((), ())
        searcher, _, is_in_order = snapshot
        with damage_told(f"{self._what} cannot be searched", self._files.path):
            hits = (find_hits if is_in_order else _find_tied)(searcher, weights, k)
            if not hits:
                return ScoredPassages((), ())
            scores, addresses = zip(*hits, strict=True)
            numbers = cast(list[int], searcher.fast_field_values("pk", list(addresses)))
        if is_in_order:
            return ScoredPassages(numbers, scores)
        pairs = sorted(zip(map(neg, scores), numbers, strict=True))[:k]
        return ScoredPassages([number for _, number in pairs], [-score for score, _ in pairs])

    def count(self) -> int:
        """How many passages it holds."""
        return self._look().searcher.num_docs

    def highest(self) -> int:
        """Highest number that it holds, 0 for none."""
        searcher = self._look().searcher
        answer = searcher.aggregate(Query.all_query(), {"highest": {"max": {"field": "pk"}}})
        return int(answer["highest"]["value"] or 0)

    def generation(self) -> int:
        """How often it was built again; 0 where it never was."""
        try:
            return self._files.current().generation
        except NotIndexedError:
            return 0

    # Writing

    def index(self, passages: Iterable[tuple[int, str]]) -> int:
        """Add passages in rising order of number; the first ones make the first generation."""
        with self._writing():
            pointer = self._current_or_first()
            return self._write(self._files.of(pointer.generation), passages)

    def rebuild(self, passages: Iterable[tuple[int, str]]) -> int:
        """Make a generation of these alone beside the present one, and swap it in when it is complete."""
        with self._writing():
            generation = self._files.fresh()
            folder = self._files.of(generation)
            with on_failure(lambda error: shutil.rmtree(folder, ignore_errors=True)):
                written = self._write(folder, passages)
            self._point(Pointer(generation, analysis.chain_name(self._language)))
            self._files.remove_others(generation)
            return written

    def delete(self, ids: Sequence[int]) -> None:
        """Forget passages. By query: tantivy deletes nothing by a term of an unsigned field."""
        with self._writing():
            folder = self._files.of(self._checked().generation)
            with self._writer(_opened(folder), folder) as writer:
                index_schema = schema()
                for start in range(0, len(ids), _DELETE_AT_ONCE):
                    id_batch = list(ids[start : start + _DELETE_AT_ONCE])
                    writer.delete_documents_by_query(Query.term_set_query(index_schema, "pk", id_batch))
                with damage_told(f"{self._what} cannot be written", folder):
                    writer.commit()

    def drop(self) -> None:
        """Remove the files, and the folder where nothing else is in it."""
        if self._files.path.exists():
            with only_writer(self._files.lock, self._what):
                self._files.remove()
        _open.pop((os.getpid(), self._files.path), None)

    # Inside

    def _newest(self) -> _Snapshot:
        """The newest commit of the current generation."""
        cached = _open.get((os.getpid(), self._files.path))
        if cached is not None and cached[0].chain == analysis.chain_name(self._language):
            snapshot = cached[1].unchanged()
            if snapshot is not None:
                return snapshot
        return self._look()

    def _look(self) -> _Snapshot:
        """The same by the files themselves."""
        cached = _open.get((os.getpid(), self._files.path))
        for attempt in range(_OPEN_ATTEMPTS):
            look = self._begin_look(cached)
            pointer = self._checked()
            try:
                return self._reader(pointer, look)
            except (IndexBrokenError, FileNotFoundError) as error:
                # Between reading the pointer and opening the files, a newer generation may have replaced it.
                _open.pop((os.getpid(), self._files.path), None)
                if attempt + 1 == _OPEN_ATTEMPTS or not self._has_moved_on(pointer):
                    raise IndexBrokenError(f"The files of {self._what} cannot be read: {error}") from error
        raise IndexBrokenError(f"The files of {self._what} cannot be read.")

    def _has_moved_on(self, pointer: Pointer) -> bool:
        return self._checked() != pointer

    def _begin_look(self, cached: tuple[Pointer, _Reader] | None) -> _Sight:
        former = cached[1].look if cached else None
        if former is not None and former.changes.is_of(self._files.changes):
            changes = former.changes
        else:
            changes = ChangeCount(self._files.changes)
        return _Sight(time.monotonic(), changes, changes.now())

    def _reader(self, pointer: Pointer, look: _Sight) -> _Snapshot:
        key = (os.getpid(), self._files.path)
        cached = _open.get(key)
        if cached is None or cached[0] != pointer:
            folder = self._files.of(pointer.generation)
            cached = (pointer, _Reader(_opened(folder), folder, str(folder / _META)))
            _open.pop(key, None)
            _open[key] = cached
            for other in list(_open)[:-MOST_OPEN]:
                _open.pop(other, None)
        reader = cached[1]
        with damage_told(f"The files of {self._what} cannot be read", reader.folder):
            snapshot = reader.newest()
        reader.look = look
        return snapshot

    def _checked(self) -> Pointer:
        """The current generation, if it was made by today's rules for words."""
        pointer = self._files.current()
        if pointer.chain != analysis.chain_name(self._language):
            raise IndexBrokenError(
                f"{self._what} has words by other rules ({pointer.chain}). Run manage.py index build."
            )
        return pointer

    def _current_or_first(self) -> Pointer:
        try:
            return self._checked()
        except NotIndexedError:
            pointer = Pointer(self._files.fresh(), analysis.chain_name(self._language))
            folder = self._files.of(pointer.generation)
            self._write(folder, ())
            self._point(pointer)
            return pointer

    def _write(self, folder: Path, passages: Iterable[tuple[int, str]]) -> int:
        what = f"{self._what} cannot be written"
        with damage_told(what, folder):
            folder.mkdir(parents=True, exist_ok=True)
        written, source = 0, cut(passages, self._language)
        with self._writer(_opened(folder, create=True), folder) as writer:
            while True:
                added = self._add(writer, islice(source, COMMIT_EVERY), folder)
                if added or not written:
                    with damage_told(what, folder):
                        writer.commit()
                written += added
                if not added:
                    return written

    def _point(self, pointer: Pointer) -> None:
        with damage_told(f"{self._what} cannot be written", self._files.path):
            self._files.point(pointer)

    def _add(self, writer: IndexWriter, passages: Iterable[tuple[int, str]], folder: Path) -> int:
        """Add passages that are cut already."""
        added = 0
        for pk, body in passages:
            document = Document()
            document.add_unsigned("pk", pk)
            document.add_text("body", body)
            try:
                writer.add_document(document)
            except ValueError as error:
                raise translate_error(f"{self._what} cannot be written", error, folder) from error
            added += 1
        return added

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with only_writer(self._files.lock, self._what):
            try:
                yield
            finally:
                self._files.count_change()

    @contextmanager
    def _writer(self, index: Index, folder: Path) -> Iterator[IndexWriter]:
        """A writer of a generation; what was not committed when it ends is forgotten."""
        try:
            with damage_told(f"The files of {self._what} cannot be written", self._files.path):
                writer = index.writer(HEAP, WRITERS)
        except IndexBrokenError as error:
            if "LockBusy" in str(error):
                raise BusyError(f"Something else writes {self._what}. Stop it and try again.") from error
            raise
        try:
            yield writer
        finally:
            writer.wait_merging_threads()
        with damage_told(f"The files of {self._what} cannot be written", folder):
            _list_in_order(folder)


def _find_tied(searcher: Searcher, weights: Mapping[str, float], k: int) -> list[Hit]:
    """The best k, and those that are as good as the last of them, wherever they are."""
    limit, most = k + SPARE, k + MOST_TIED
    while True:
        hits = find_hits(searcher, weights, limit)
        worst = hits[k - 1][0] if len(hits) > k else -math.inf
        # Passages as good as the last one may be beyond the limit, with lower numbers.
        if len(hits) < limit or hits[-1][0] < worst or limit >= most:
            break
        limit = min(limit * 8, most)
    if len(hits) > k:  # best first: those after the last that is as good as the k-th
        end = k
        while end < len(hits) and hits[end][0] >= worst:
            end += 1
        hits = hits[:end]
    return hits


@cache
def _cut_already() -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.whitespace()).build()


def _opened(folder: Path, *, create: bool = False) -> Index:
    """Open the files of a generation, with the rules for words registered; readers never create any."""
    if not folder.is_dir():
        raise FileNotFoundError(folder)
    with damage_told(f"The files in {folder} cannot be opened", folder):
        if create:  # files that are there already keep their own order
            index = Index(schema(), path=str(folder), reuse=True, sort_by_field=_SORTED_BY)
        else:
            index = Index.open(str(folder))
        index.register_tokenizer(CHAIN, _cut_already())
        index.config_reader("manual")
    return index
