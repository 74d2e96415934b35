"""All formats of a release from two passes over its tables: one in Python, one through Arrow beside it."""

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import Self, cast

from core.progress import Progress
from releases.formats import LABELS, RecordFormat, RowFormat, Written, format_named
from releases.formats.arrow import records
from releases.tables import FilledTable, Source, Table

_LOOK_SECONDS = 0.2


class StoppedError(Exception):
    """The release is not built any further; whoever stopped it says why."""


class _Progress:
    """The progress of a pass in another thread, for the thread that may pass it on."""

    def __init__(self) -> None:
        self._latest: tuple[int, int, str] | None = None
        self.stopped = threading.Event()

    def note(self, done: int, total: int, note: str) -> None:
        """Called by the pass; ends it once all is stopped."""
        if self.stopped.is_set():
            raise StoppedError(note)
        self._latest = (done, total, note)

    def pass_on(self, progress: Progress) -> None:
        if self._latest:
            progress(*self._latest)


class _Feed:
    """Tables in the order in which they are read, for passes that wait for the next one."""

    def __init__(self) -> None:
        self._tables: list[FilledTable] = []
        self._complete = self._stopped = False
        self._changed = threading.Condition()

    def add(self, filled: FilledTable) -> None:
        with self._changed:
            self._tables.append(filled)
            self._changed.notify_all()

    def end(self, *, stopped: bool = False) -> None:
        """No table follows; a pass that still waits for one is over where all is stopped."""
        with self._changed:
            self._complete, self._stopped = True, self._stopped or stopped
            self._changed.notify_all()

    def __iter__(self) -> Iterator[FilledTable]:
        place = 0
        while (filled := self._at(place)) is not None:
            yield filled
            place += 1

    def _at(self, place: int) -> FilledTable | None:
        """The table at a place, once it is there; None where no more follow."""
        with self._changed:
            self._changed.wait_for(lambda: self._complete or place < len(self._tables))
            if self._stopped:
                raise StoppedError
            return self._tables[place] if place < len(self._tables) else None


class FormatWriters:
    """Writes formats in threads beside the reading of the tables, each into a folder of its name.

    One pass is over rows as Python has them, one over Arrow's record batches. `source` has a table's rows,
    lines and counts before the table is added.
    """

    def __init__(self, names: Sequence[str], folder: Path, source: Source) -> None:
        self.names, self._folder = names, folder
        formats = {name: format_named(name) for name in names}
        of_rows = {name: cast("RowFormat", each) for name, each in formats.items() if _takes_rows(each)}
        of_records = {
            name: cast("RecordFormat", each) for name, each in formats.items() if name not in of_rows
        }
        for name in names:
            (folder / name).mkdir()
        self._feed = _Feed()
        self._progress = _Progress(), _Progress()
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="format")
        rows, records = self._progress
        self._passes = (
            self._pool.submit(write_rows, of_rows, folder, source, rows.note, self._feed),
            self._pool.submit(write_records, of_records, folder, source, records.note, self._feed),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """What is under way ends with its next batch, unless all was written."""
        for each in self._progress:
            each.stopped.set()
        self._feed.end(stopped=True)
        self._pool.shutdown()

    def add(self, filled: FilledTable) -> None:
        """A table was read. Raises what a pass has raised meanwhile."""
        for each in self._passes:
            if each.done():
                each.result()
        self._feed.add(filled)

    def finish(self, progress: Progress) -> dict[str, Written]:
        """All tables were added: wait for the files. `progress` is called in this thread only."""
        self._feed.end()
        waiting: Collection[Future[dict[str, Written]]] = self._passes
        while waiting:
            done, waiting = wait(waiting, _LOOK_SECONDS, FIRST_EXCEPTION)
            for each in self._progress:
                each.pass_on(progress)
            for future in done:
                future.result()
        written = {name: each for future in self._passes for name, each in future.result().items()}
        for name in self.names:
            if not any((self._folder / name).iterdir()):
                (self._folder / name).rmdir()
        return {name: written[name] for name in self.names}


def write_formats(
    names: Sequence[str],
    folder: Path,
    source: Source,
    progress: Progress,
    writers: FormatWriters | None = None,
) -> dict[str, Written]:
    """Write each format into a folder of its name; one that has nothing to write has no folder.

    With `writers`, which have had all tables, what they have not written yet is waited for.
    """
    if writers is not None:
        return writers.finish(progress)
    with FormatWriters(names, folder, source) as new:
        for filled in source.tables.values():
            new.add(filled)
        return new.finish(progress)


def write_rows(
    formats: Mapping[str, RowFormat],
    folder: Path,
    source: Source,
    progress: Progress,
    tables: Iterable[FilledTable] | None = None,
) -> dict[str, Written]:
    """Read each table that a format needs once, and give every batch to all that need it."""
    with ExitStack() as stack:
        writers = {
            name: stack.enter_context(module.open_writer(folder / name, source))
            for name, module in formats.items()
        }
        needed = {table.name for each in writers.values() for table in each.tables}
        done = 0
        for filled in source.tables.values() if tables is None else tables:
            table = filled.table
            mine = {
                name: each
                for name, each in writers.items()
                if table.name in {one.name for one in each.tables}
            }
            for batch in filled.batches() if mine else ():
                for writer in mine.values():
                    writer.add(table, batch)
                done += len(batch)
                progress(done, _count(source, needed), _note(mine, table))
        return {name: writer.finish() for name, writer in writers.items()}


def write_records(
    formats: Mapping[str, RecordFormat],
    folder: Path,
    source: Source,
    progress: Progress,
    tables: Iterable[FilledTable] | None = None,
) -> dict[str, Written]:
    """Read each table as record batches once, and give every batch to all formats."""
    written: dict[str, Written] = {name: {} for name in formats}
    done = 0
    for filled in source.tables.values() if tables is None else tables:
        table = filled.table
        if not formats or not any(source.rows.get(table.name, {}).values()):
            continue
        for split in source.splits(table.name):
            with ExitStack() as stack:
                takers = []
                for name, module in formats.items():
                    file = f"{table.name}-{split}{module.SUFFIX}"
                    takers.append(stack.enter_context(module.open_file(folder / name / file, table)))
                    written[name][file] = source.rows[table.name][split]
                for batch in records(source, table, split):
                    for take in takers:
                        take(batch)
                    done += batch.num_rows
                    progress(done, _count(source, source.rows), _note(formats, table))
    return written


def _count(source: Source, tables: Iterable[str]) -> int:
    """The rows of these tables, as far as they were read."""
    return sum(sum(source.rows.get(name, {}).values()) for name in list(tables))


def _note(names: Iterable[str], table: Table) -> str:
    """What is being written, in words."""
    return f"{', '.join(LABELS[name].partition(',')[0] for name in names)}: {table.title.lower()}"


def _takes_rows(module: RowFormat | RecordFormat) -> bool:
    return hasattr(module, "open_writer")
