"""The server of the tests leaves nothing behind, however the tests end."""

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_TESTS = """
import sys
from tests.server import RunningServer

with RunningServer() as server:
    print(*server.pids, server.data_dir, flush=True)
    sys.stdin.read()
"""
_SECONDS = 60


def test_killed_tests_leave_no_web_server():
    tests = subprocess.Popen(
        [sys.executable, "-c", _TESTS],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert tests.stdout is not None and tests.stdin is not None
    *pids, folder = tests.stdout.readline().split()
    assert len(pids) == 1
    handles = [os.pidfd_open(int(pid)) for pid in pids]
    tests.kill()
    tests.communicate()
    for handle in handles:
        assert ended(handle)
        os.close(handle)
    shutil.rmtree(folder)  # the killed process could not


def ended(handle: int) -> bool:
    """Whether the process of this handle ends in time."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(_SECONDS * 1000))
