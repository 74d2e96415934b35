"""Starting: seconds from the command to the first answer, the first time and with everything there.

    python -m benchmarks.start [--rounds 3]

Each round has a data folder of its own, in which the command is run twice. `manage.py judge` prints the study
link as one line of JSON, then the link is asked for; of `manage.py up` the first page is.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from benchmarks import common
from benchmarks.common import Figure
from tests.server import ROOT, free_port

PATIENCE_S = 180


@contextmanager
def run_command(folder: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A command of `manage.py` in a data folder, stopped after the block."""
    variables = {"DATABASE_URL", "REDIS_URL", "PUBLIC_URL", "SECRET_KEY"}
    environment = {name: value for name, value in os.environ.items() if name not in variables}
    with Path(folder, "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=environment | {"DATA_DIR": folder},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)  # it stops what it started, and waits for that
        try:
            process.wait(60)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        assert process.stdout is not None
        process.stdout.close()


def wait_for_page(url: str, process: "subprocess.Popen[str]") -> None:
    """Ask again and again until the page is there."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(url, timeout=30) as answer:
                answer.read()
                return
        except (URLError, OSError):
            time.sleep(0.02)
    raise RuntimeError(f"No answer of {url}.")


def start_judge(folder: str) -> dict[str, float]:
    """Seconds to the link, and to the page behind it."""
    begin = time.perf_counter()
    words = ("judge", "examples/answers.csv", "--json", "--no-open", "--port", str(free_port()))
    with run_command(folder, *words) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(Path(folder, "log").read_text(encoding="utf-8"))
        printed = time.perf_counter() - begin
        wait_for_page(json.loads(line)["link"], process)
        return {"judge: the link": printed, "judge: its page": time.perf_counter() - begin}


def start_up(folder: str) -> dict[str, float]:
    """Seconds to the first page of an installation."""
    begin, port = time.perf_counter(), free_port()
    with run_command(folder, "up", "--port", str(port)) as process:
        wait_for_page(f"http://127.0.0.1:{port}/", process)
        return {"up: the first page": time.perf_counter() - begin}


def measure(starts: list[Callable[[str], dict[str, float]]], rounds: int) -> Iterator[Figure]:
    """The best of all rounds, for a first and a second start."""
    for start in starts:
        times: dict[str, list[float]] = {}
        for _ in range(rounds):
            with tempfile.TemporaryDirectory(prefix="start-") as folder:
                for occasion in ("first start", "second start"):
                    for name, seconds in start(folder).items():
                        times.setdefault(f"{name}, {occasion}", []).append(seconds)
        for name, values in sorted(times.items()):
            yield Figure(name, f"{min(values):.1f} s", note=f"slowest of {rounds}: {max(values):.1f} s")


def main() -> None:
    """Measure and print."""
    parser = common.parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(common.describe_machine("waitress"))
    common.print_table("Starting", measure([start_judge, start_up], options.rounds))


if __name__ == "__main__":
    main()
