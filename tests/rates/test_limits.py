"""Rates: the same rules in a process and in Redis, and in Redis over all processes."""

import itertools
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from core.rates import ProcessLimits, RedisLimits
from tests.server import ROOT

_names = itertools.count()
ON_REDIS = pytest.mark.only_on("redis-server")


@pytest.fixture(scope="session")
def redis_url():
    """A real Redis on a socket of its own."""
    # Not pytest's folder: a socket's path has 107 characters at most.
    with tempfile.TemporaryDirectory(prefix="rates-", dir="/tmp") as folder:
        place = Path(folder) / "redis"
        words = ["--port", "0", "--unixsocket", str(place), "--dir", folder, "--save", ""]
        server = subprocess.Popen(["redis-server", *words], stdout=subprocess.DEVNULL)
        try:
            while server.poll() is None and not _answers(place):
                time.sleep(0.01)
            yield f"unix://{place}"
        finally:
            server.kill()
            server.wait()


def _answers(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(place))
            probe.sendall(b"PING\r\n")
            return probe.recv(16).startswith(b"+PONG")
        except OSError:
            return False


@pytest.fixture
def name():
    return f"{os.getpid()}-{next(_names)}"


@pytest.fixture(params=["process", pytest.param("redis", marks=ON_REDIS)])
def limits(request):
    alone = ProcessLimits(time.monotonic)
    if request.param == "process":
        return alone
    return RedisLimits(request.getfixturevalue("redis_url"), alone)


def test_a_burst_passes_and_what_follows_waits(limits, name):
    # One token in 100 s: whatever the machine does meanwhile, none comes back.
    waits = [limits.take(name, rate=0.01, burst=3) for _ in range(5)]
    assert waits[:3] == [0, 0, 0]
    assert all(90 < wait <= 100 for wait in waits[3:])
    assert limits.take(f"{name}-other", rate=0.01, burst=3) == 0


def test_looking_takes_nothing(limits, name):
    assert [limits.peek(name, rate=0.01, burst=1) for _ in range(3)] == [0, 0, 0]
    assert limits.take(name, rate=0.01, burst=1) == 0
    assert limits.peek(name, rate=0.01, burst=1) > 90


def test_who_waits_for_a_turn_gets_one_after_the_other(limits, name):
    waits = [limits.take(name, rate=0.01, burst=1, owe=True) for _ in range(3)]
    assert waits[0] == 0
    assert 90 < waits[1] <= 100
    assert 190 < waits[2] <= 200


def test_a_far_end_that_is_throttled_holds_all_back(limits, name):
    limits.drain(name, rate=2, burst=10, seconds=100)
    assert 90 < limits.take(name, rate=2, burst=10, owe=True) <= 100


def test_counts_begin_again_after_their_time(limits, name):
    assert limits.count(name, 3, within_s=100) == 3
    assert limits.count(name, 4, within_s=100) == 7
    assert limits.count(f"{name}-other", 4, within_s=100) == 4


def test_a_process_forgets_its_counts_when_their_time_is_over():
    now = [0.0]
    limits = ProcessLimits(lambda: now[0])
    assert limits.count("a", 3, within_s=60) == 3
    assert [limits.take("b", rate=0.5, burst=1) for _ in range(2)] == [0, 2]
    now[0] = 60.0
    assert limits.count("a", 1, within_s=60) == 1
    assert limits.take("b", rate=0.5, burst=1) == 0


PROCESS = """
import sys, time
from core.rates import ProcessLimits, RedisLimits
limits = RedisLimits(sys.argv[1], ProcessLimits(time.monotonic))
print(sum(limits.take(sys.argv[2], rate=0.001, burst=20) == 0 for _ in range(30)))
"""


@ON_REDIS
def test_two_processes_have_one_burst_together(redis_url, name):
    command = [sys.executable, "-c", PROCESS, redis_url, name]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in "ab"]
    assert sum(int(each.communicate()[0]) for each in both) == 20


def test_while_redis_is_away_each_process_counts_for_itself(name, caplog):
    limits = RedisLimits("unix:///nowhere/redis", ProcessLimits(time.monotonic))
    assert [limits.take(name, rate=0.01, burst=1) > 0 for _ in range(3)] == [False, True, True]
    assert limits.count(name, 2, within_s=60) == 2
    limits.drain(name, rate=1, burst=5, seconds=50)
    assert limits.peek(name, rate=1, burst=5) > 40
    assert caplog.messages[0].startswith("Redis counts no rates for now")
    assert len(caplog.records) == 1
