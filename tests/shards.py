"""Run the tests in several processes, each with files of its own; what `make test` and its kin call.

    python -m tests.shards --workers 4 -m "not browser" tests          # every other argument is pytest's

Each process imports and collects only its files, so that all are collected once. Which file belongs to which
process follows from `tests/durations.txt`: `--record` writes there how long each file of this run took.
At the end: the slowest tests, and tests and seconds by folder.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from tests.server import drop_template

ROOT = Path(__file__).resolve().parent.parent
DURATIONS = Path(__file__).with_name("durations.txt")
#: Of a file that is not in the list yet.
USUAL_SECONDS = 2.0
#: Files that load PyTorch and make small models: one process does so for all of them.
WITH_PYTORCH = "tests/learned/"
NO_TESTS_COLLECTED = 5
PROGRESS = re.compile(r"^[.,FEsuxX]+ +\[ *\d+%\]$")
SLOWEST = 25


@dataclass(frozen=True)
class TestResult:
    """One test of a run, in seconds with its fixtures."""

    file: str
    name: str
    seconds: float
    outcome: str


def read_durations() -> dict[str, float]:
    """Seconds of each file, as they were recorded."""
    lines = DURATIONS.read_text(encoding="utf-8").splitlines() if DURATIONS.exists() else []
    return {file: float(seconds) for seconds, file in (line.split() for line in lines if line[:1] != "#")}


def write_durations(results: list[TestResult]) -> None:
    """Add this run's files to the list; files that are gone leave it."""
    durations = {file: seconds for file, seconds in read_durations().items() if (ROOT / file).exists()}
    of_run: defaultdict[str, float] = defaultdict(float)
    for result in results:
        if result.file:  # it has none where it could not be collected
            of_run[result.file] += result.seconds
    durations |= of_run
    lines = [f"{seconds:7.1f} {file}\n" for file, seconds in sorted(durations.items())]
    head = "# Seconds of each test file, by `python -m tests.shards --record`: they decide who runs what.\n"
    DURATIONS.write_text(head + "".join(lines), encoding="utf-8")


def find_files(paths: list[str], left_out: list[str]) -> list[str]:
    """The test files in these folders, without those below the paths that are left out."""
    files = {
        file.relative_to(ROOT).as_posix()
        for path in paths
        for file in ([ROOT / path] if (ROOT / path).is_file() else (ROOT / path).rglob("test_*.py"))
    }
    return sorted(file for file in files if not any(Path(file).is_relative_to(path) for path in left_out))


def share_files(files: list[str], workers: int) -> list[list[str]]:
    """Give each file, the longest first, to the process with the least to do."""
    durations = read_durations()
    with_pytorch = [file for file in files if file.startswith(WITH_PYTORCH)]
    groups = [[file] for file in files if file not in with_pytorch]
    groups += [with_pytorch] if with_pytorch else []
    seconds = {group[0]: sum(durations.get(file, USUAL_SECONDS) for file in group) for group in groups}
    shares: list[list[str]] = [[] for _ in range(workers)]
    loads = [0.0] * workers
    for group in sorted(groups, key=lambda group: (-seconds[group[0]], group[0])):
        least = loads.index(min(loads))
        shares[least] += group
        loads[least] += seconds[group[0]]
    return [sorted(share) for share in shares if share]


class Shard(threading.Thread):
    """One process with its files; it shows progress while it runs, and everything else when it has ended."""

    def __init__(self, number: int, arguments: list[str], report: Path) -> None:
        super().__init__(daemon=True)
        self.number, self.report = number, report
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest", f"--junitxml={report}", *arguments],
            cwd=ROOT,
            env={**os.environ, "TEST_SHARD": str(number)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.code = 0

    def run(self) -> None:
        """Read what it prints until it ends."""
        assert self._process.stdout is not None
        rest = []
        for line in self._process.stdout:
            if PROGRESS.match(line.rstrip()):
                print(f"{self.number}: {line}", end="", flush=True)
            else:
                rest.append(line)
        self.code = self._process.wait()
        seconds = time.monotonic() - self._began
        print(f"Process {self.number} ended after {seconds:.0f} s:\n{''.join(rest)}", end="", flush=True)

    def wait(self) -> None:
        """Wait until it has ended; after Ctrl-C, which it has heard as well, until it has cleaned up."""
        try:
            self.join()
        except KeyboardInterrupt:
            self.join(30)
            self._process.kill()
            raise


def read_report(report: Path) -> list[TestResult]:
    """The tests in a report of pytest's."""
    if not report.exists():
        return []
    results = []
    for case in ET.parse(report).getroot().iter("testcase"):
        parts = case.get("classname", "").split(".")
        modules = ("/".join(parts[:end]) + ".py" for end in range(len(parts), 0, -1))
        file = next((module for module in modules if (ROOT / module).is_file()), "")
        outcome = next(
            (child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed"
        )
        results.append(TestResult(file, case.get("name", ""), float(case.get("time", 0)), outcome))
    return results


def print_summary(results: list[TestResult], seconds: float) -> None:
    """The slowest tests, tests and seconds by folder, and the counts."""
    print(f"\nSlowest tests of {len(results):,}, in seconds with their fixtures:")
    for result in sorted(results, key=lambda result: -result.seconds)[:SLOWEST]:
        print(f"{result.seconds:8.1f}  {result.file}::{result.name}")
    folders: dict[str, list[float]] = defaultdict(list)
    for result in results:
        folders["/".join(result.file.split("/")[:2])].append(result.seconds)
    print("\n  tests  seconds  folder")
    for folder, durations in sorted(folders.items(), key=lambda item: -sum(item[1])):
        print(f"{len(durations):7,}{sum(durations):9.0f}  {folder}")
    outcomes = Counter(result.outcome for result in results)
    skipped = f", {outcomes['skipped']} skipped" if outcomes["skipped"] else ""
    print(f"\nAll processes: {seconds:.0f} s")
    failed = outcomes["failure"] + outcomes["error"]
    print(f"{outcomes['passed']} passed, {failed} failed{skipped}", flush=True)


def main() -> int:
    """Run everything; the exit status is 0 where all passed."""
    parser = argparse.ArgumentParser(description="Run the tests in several processes.", allow_abbrev=False)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--record", action="store_true", help="write the seconds of each file to the list")
    parser.add_argument("--leave-out", action="append", default=[], metavar="PATH")
    options, arguments = parser.parse_known_args()
    paths = [each for each in arguments if (ROOT / each.partition("::")[0]).exists()]
    arguments = [each for each in arguments if each not in paths]
    if any("::" in path for path in paths):
        shares = [paths]
    else:
        left_out = [path for path in options.leave_out if path not in paths]
        shares = share_files(find_files(paths or ["tests", "distributions"], left_out), options.workers)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        shards = [
            Shard(number, [*arguments, *share], Path(folder) / f"{number}.xml")
            for number, share in enumerate(shares, start=1)
        ]
        for shard in shards:
            shard.start()
        for shard in shards:
            shard.wait()
        results = [result for shard in shards for result in read_report(shard.report)]
    drop_template()
    print_summary(results, time.monotonic() - started)
    if options.record:
        write_durations(results)
    codes = {shard.code for shard in shards}
    failed = [shard.number for shard in shards if shard.code not in (0, NO_TESTS_COLLECTED)]
    if failed or codes == {NO_TESTS_COLLECTED}:
        print("No test was collected." if not failed else f"Processes with failures: {failed}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
