"""All formats of a release from two passes over its rows: one in Python, one through Arrow beside it."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import cast

from core.errors import on_failure
from releases.formats import LABELS, RecordFormat, RowFormat, Written, format_named
from releases.formats.arrow import records
from releases.tables import TABLES, Progress, Source, Table

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


def write_formats(
    names: Sequence[str], folder: Path, source: Source, progress: Progress
) -> dict[str, Written]:
    """Write each format into a folder of its name; one that has nothing to write has no folder.

    Raises what the first that fails raises. `progress` is called in this thread only.
    """
    formats = {name: format_named(name) for name in names}
    for name in names:
        (folder / name).mkdir()
    of_rows = {name: cast("RowFormat", each) for name, each in formats.items() if _takes_rows(each)}
    of_records = {name: cast("RecordFormat", each) for name, each in formats.items() if name not in of_rows}
    beside = _Progress()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="format") as pool:
        future = pool.submit(write_records, of_records, folder, source, beside.note)
        with on_failure(lambda error: beside.stopped.set()):
            written = write_rows(of_rows, folder, source, progress)
            _wait_for(future, beside, progress)
        written |= future.result()
    for name in names:
        if not any((folder / name).iterdir()):
            (folder / name).rmdir()
    return {name: written[name] for name in names}


def write_rows(
    formats: Mapping[str, RowFormat], folder: Path, source: Source, progress: Progress
) -> dict[str, Written]:
    """Read each table that a format needs once, and give every batch to all that need it."""
    with ExitStack() as stack:
        writers = {
            name: stack.enter_context(module.open_writer(folder / name, source))
            for name, module in formats.items()
        }
        takers = {
            table.name: {name: each for name, each in writers.items() if table in each.tables}
            for table in TABLES
            if table.name in source.tables
        }
        needed = [source.tables[name] for name, each in takers.items() if each]
        done, total = 0, sum(sum(source.rows.get(each.table.name, {}).values()) for each in needed)
        for filled in needed:
            mine = takers[filled.table.name]
            for batch in filled.batches():
                for writer in mine.values():
                    writer.add(filled.table, batch)
                done += len(batch)
                progress(done, total, _note(mine, filled.table))
        return {name: writer.finish() for name, writer in writers.items()}


def write_records(
    formats: Mapping[str, RecordFormat], folder: Path, source: Source, progress: Progress
) -> dict[str, Written]:
    """Read each table as record batches once, and give every batch to all formats."""

    written: dict[str, Written] = {name: {} for name in formats}
    done, total = 0, sum(sum(rows.values()) for rows in source.rows.values())
    for filled in source.filled if formats else ():
        table = filled.table
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
                    progress(done, total, _note(formats, table))
    return written


def _note(names: Iterable[str], table: Table) -> str:
    """What is being written, in words."""
    return f"{', '.join(LABELS[name].partition(',')[0] for name in names)}: {table.title.lower()}"


def _takes_rows(module: RowFormat | RecordFormat) -> bool:
    return hasattr(module, "open_writer")


def _wait_for(future: "Future[dict[str, Written]]", beside: _Progress, progress: Progress) -> None:
    while wait([future], _LOOK_SECONDS).not_done:
        beside.pass_on(progress)
    beside.pass_on(progress)
