"""Where the processes of a host write their counts, one file per process and kind."""

import os
from contextlib import suppress
from pathlib import Path

from django.conf import settings

FOLDER = Path(settings.DATA_DIR) / "monitoring"


def forget_dead_processes(folder: Path = FOLDER) -> None:
    """Remove the counts of processes that have ended; for the start of a server, whose counts begin at 0."""
    for file in folder.glob("*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if pid.isdigit() and not _is_alive(int(pid)):
            with suppress(OSError):
                file.unlink()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
