"""Programs that read what strangers made: what they read may end them, and nothing beside them.

A file of a few kilobytes can be made to fill all memory when it is read. So formats that have to be unpacked
by a library are read by a program of its own under a limit of memory and of computing time. It
writes frames to its standard output, objects of plain types one after the other and None at the end; the
process that started it gets them one at a time.

    for frame in frames(Path("reader.py"), "file.parquet"): ...       in the process that wants to know

    confine(); write({"rows": 3}); write(None)           in the program
"""

import logging
import marshal
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

try:
    import resource
except ImportError:  # not on every system
    resource = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

#: Memory that such a program may have, beside the code that it loads: less than 300 MiB in all.
MEGABYTES = 224
#: With which status it ends when its memory is spent and it could still say so.
OUT_OF_MEMORY = 3
#: Seconds of computing in which there has to be a frame.
SECONDS = 120
#: Seconds on the clock after which a program without a frame hangs, however busy the machine is.
_PATIENCE, _GRACE = 600, 10
_LONGEST_FRAME = 256 * 2**20


class EndedError(Exception):
    """A program ended before it was done; `spent` says that it had no memory or no time left."""

    def __init__(self, *, spent: bool, message: str) -> None:
        self.spent, self.message = spent, message
        super().__init__("Its memory or time is spent." if spent else message)


def confine(*, megabytes: int = MEGABYTES) -> None:
    """Limit this process: its memory for data, and how long it may compute until the next frame."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _go_on()


def _go_on() -> None:
    """Another while of computing; the system ends what goes beyond it."""
    if resource is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        until = int(used.ru_utime + used.ru_stime) + SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def write(frame: Any) -> None:
    """Give an object to the process that started this one; None says that it was the last."""
    data = marshal.dumps(frame)
    sys.stdout.buffer.write(len(data).to_bytes(4, "big") + data)
    _go_on()
    if frame is None:
        sys.stdout.buffer.flush()


def frames(program: Path, *arguments: str) -> Iterator[Any]:
    """What a program writes. EndedError when it ends without saying that it is done.

    The program is ended when its frames are no longer wanted.
    """
    command = [sys.executable, "-P", "-W", "ignore", str(program), *arguments]
    with tempfile.TemporaryFile() as errors:
        running = subprocess.Popen(  # noqa: S603  # our own programs
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, bufsize=0
        )
        try:
            assert running.stdout is not None
            while (frame := _read(running.stdout)) is not None:
                if frame[0] is None:
                    return
                yield frame[0]
            status = running.wait(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            status = -signal.SIGKILL
        finally:
            running.kill()
            running.wait()
            assert running.stdout is not None
            running.stdout.close()
        errors.seek(0)
        error_text = errors.read(1 << 16).decode("utf-8", "replace")
    spent = status < 0 or status == OUT_OF_MEMORY
    if not spent:
        logger.warning("%s failed: %s", program.name, error_text[-2000:])
    raise EndedError(spent=spent, message=error_text)


def _read(pipe: IO[bytes]) -> tuple[Any] | None:
    """The next object, in a tuple; None where there is none."""
    size = int.from_bytes(_bytes(pipe, 4), "big")
    data = _bytes(pipe, size) if 0 < size <= _LONGEST_FRAME else b""
    return (marshal.loads(data),) if size and len(data) == size else None  # noqa: S302  # our own program's


def _bytes(pipe: IO[bytes], size: int) -> bytes:
    """So many bytes, fewer where the program ends or hangs."""
    pieces: list[bytes] = []
    while size and select.select([pipe], [], [], _PATIENCE)[0]:
        piece = pipe.read(size)
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
