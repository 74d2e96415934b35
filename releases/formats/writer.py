"""All formats of a release, those that may beside each other."""

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path

from releases.formats.registry import Format, Written, format_named
from releases.source import Progress, Source

_LOOK_SECONDS = 0.2


class StoppedError(Exception):
    """The release is not built any further; whoever stopped it says why."""


class _ProgressInbox:
    """What formats in other threads say about their progress, until the thread that may pass it on does."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[int, int, str]] = {}
        self.stopped = threading.Event()

    def of(self, name: str) -> Progress:
        """The progress of one format; it ends the format once all is stopped."""

        def progress(done: int, total: int, note: str) -> None:
            if self.stopped.is_set():
                raise StoppedError(note)
            self._said[name] = (done, total, note)

        return progress

    def tell(self, progress: Progress) -> None:
        """Pass on what the slowest says."""
        said = sorted(self._said.values(), key=lambda each: each[0] / max(1, each[1]))
        if said:
            progress(*said[0])


def write_formats(
    names: Sequence[str], folder: Path, source: Source, progress: Progress
) -> dict[str, Written]:
    """Write each format into a folder of its name; one that has nothing to write has no folder.

    Raises what the first that fails raises.

    Formats that ask the database stay in this thread, for a connection belongs to one; the others run in two
    more. `progress` is called in this thread only.
    """
    formats = {name: format_named(name) for name in names}
    for name in names:
        (folder / name).mkdir()
    heard, written = _ProgressInbox(), dict[str, Written]()
    with ThreadPoolExecutor(max_workers=2, thread_name_prefix="format") as pool:
        running: dict[str, Future[Written]] = {}
        try:
            for name, module in formats.items():
                if _beside(module):
                    running[name] = pool.submit(module.write, folder / name, source, heard.of(name))
            for name, module in formats.items():
                if not _beside(module):
                    written[name] = module.write(folder / name, source, progress)
            while wait(running.values(), _LOOK_SECONDS, FIRST_EXCEPTION).not_done:
                _raise_first(running)
                heard.tell(progress)
        except BaseException:
            heard.stopped.set()
            raise
        written |= {name: future.result() for name, future in running.items()}
    for name in names:
        if not any((folder / name).iterdir()):
            (folder / name).rmdir()
    return {name: written[name] for name in names}


def _beside(module: Format) -> bool:
    return bool(getattr(module, "BESIDE", False))


def _raise_first(running: dict[str, "Future[Written]"]) -> None:
    for future in running.values():
        if future.done() and (error := future.exception()) is not None:
            raise error
