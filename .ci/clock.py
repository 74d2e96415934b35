"""Run one command, and every process that it starts, with the clock at another time.

    .venv/bin/python .ci/clock.py +40d -- pytest tests                 # forty days from now
    .venv/bin/python .ci/clock.py 2027-03-28T00:30 -- pytest tests     # from that moment on, UTC

The clock goes on from there as usual, and monotonic time, which measures time limits, is left as it is. Local
time is Berlin's, which has a summer time. libfaketime (Debian's package of that name) does it, by LD_PRELOAD.
"""

import os
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

LIBRARIES = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib/faketime/libfaketime.so.1")
ZONE = "Europe/Berlin"


def find_library() -> str:
    """Where Debian put the library."""
    for pattern in LIBRARIES:
        for library in sorted(Path("/").glob(pattern.removeprefix("/"))):
            return str(library)
    sys.exit("libfaketime is not installed (Debian package: libfaketime).")


def read_offset(words: str) -> int:
    """Seconds from now to the time that `+40d` or `2028-02-29T12:00` (UTC) names."""
    if days := re.fullmatch(r"\+(\d+)d", words):
        return int(days[1]) * 86_400
    try:
        moment = datetime.fromisoformat(words).replace(tzinfo=UTC)
    except ValueError:
        sys.exit(f"{words} is no time: write +40d, or 2028-02-29T12:00.")
    return round((moment - datetime.now(UTC)).total_seconds())


def main() -> None:
    """Become the command."""
    if len(sys.argv) < 4 or sys.argv[2] != "--" or shutil.which(sys.argv[3]) is None:
        sys.exit(__doc__)
    os.environ |= {
        "LD_PRELOAD": find_library(),
        "FAKETIME": f"{read_offset(sys.argv[1]):+d}s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # Its virtual machine waits for ever, and what we start in it scores texts.
        "FAKETIME_SKIP_CMDS": "java",
        "TZ": ZONE,
    }
    os.execvp(sys.argv[3], sys.argv[3:])


if __name__ == "__main__":
    main()
