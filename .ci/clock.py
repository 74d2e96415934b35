"""Run one command, and every process that it starts, with the clock at another time.

    .venv/bin/python .ci/clock.py +40d -- pytest tests                 # forty days from now
    .venv/bin/python .ci/clock.py 2027-03-28T00:30 -- pytest tests     # from that moment on, UTC

The clock goes on from there as usual. Monotonic time, which measures waits and time limits, is left as it is;
files are as old as they would be. Local time is Berlin's, which has a summer time. A library that is loaded
before all others does it (`clock.c`): it needs Linux and a C compiler. Debian's libfaketime would be less
code, but makes every `time.sleep` of Python 3.11 fail.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")
ZONE = "Europe/Berlin"


def build_library(folder: Path) -> Path:
    """Compile the library into the folder."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        sys.exit("A C compiler is missing (Debian packages: gcc libc6-dev).")
    library = folder / "clock.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    return library


def read_offset(words: str) -> int:
    """Seconds from now to the time that `+40d` or `2028-02-29T12:00` (UTC) names."""
    if days := re.fullmatch(r"\+(\d+)d", words):
        return int(days[1]) * 86_400
    try:
        moment = datetime.fromisoformat(words).replace(tzinfo=UTC)
    except ValueError:
        sys.exit(f"{words} is no time: write +40d, or 2028-02-29T12:00.")
    return round((moment - datetime.now(UTC)).total_seconds())


def main() -> int:
    """Run the command; the exit status is its own."""
    if len(sys.argv) < 4 or sys.argv[2] != "--" or shutil.which(sys.argv[3]) is None:
        sys.exit(__doc__)
    offset = read_offset(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="distillery-clock-") as folder:
        environment = {
            **os.environ,
            "CLOCK_OFFSET": str(offset),
            "LD_PRELOAD": str(build_library(Path(folder))),
            # Compiled modules bear the times of their files: those of the usual clock stay as they are.
            "PYTHONPYCACHEPREFIX": folder,
            "TZ": ZONE,
        }
        return subprocess.run(sys.argv[3:], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
