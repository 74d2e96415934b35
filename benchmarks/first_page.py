"""Measures the first page after a start: the form of a new evaluation, which knows every metric.

    python benchmarks/first_page.py [--rounds 5]

Each round starts a server of this checkout and asks for the page twice. What is installed
counts: run it where PyTorch and the packages of the learned metrics are.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.server import RunningServer  # noqa: E402

PAGE = "/desk/projects/capitals/evaluations/new/"
#: A project with a release and a manager who is signed in, made with the settings of the server.
WORLD = """
import json
import django
django.setup()
from django.conf import settings
from tests.evaluations.desk_world import make_release
from tests.releases.shelf_world import as_, make_project
make_release(make_project())
print(json.dumps(as_("manager").cookies[settings.SESSION_COOKIE_NAME].value))
"""


def main() -> None:
    """Print each round, and the best of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print("PyTorch is installed." if find_spec("torch") else "PyTorch is not installed.")
    with RunningServer() as server:
        command = [sys.executable, "-c", WORLD]
        made = subprocess.run(
            command, cwd=ROOT, env=server.environment, capture_output=True, text=True, check=True
        )
        session = json.loads(made.stdout.splitlines()[-1])
        taken = []
        for _ in range(rounds):
            server.stop()
            server.start()
            first, again = visit(server, session), visit(server, session)
            taken.append(first)
            print(f"first page {words(first)}; again {words(again)}; load {os.getloadavg()[0]:.1f}")
        print(f"best first page: {words(min(taken))}")


def visit(server: RunningServer, session: str) -> tuple[float, float]:
    """Seconds of the page by the clock, and of the server's processor time."""
    before, at = processor_seconds(server), time.perf_counter()
    connection = HTTPConnection(server.url.removeprefix("http://"))
    connection.request("GET", PAGE, headers={"Cookie": f"sessionid={session}"})
    answer = connection.getresponse()
    body = answer.read()
    taken = time.perf_counter() - at
    connection.close()
    assert answer.status == 200 and b'value="meteor"' in body, answer.status
    return taken, processor_seconds(server) - before


def processor_seconds(server: RunningServer) -> float:
    """What all processes of the server have used."""
    ticks = 0
    for pid in server.pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def words(taken: tuple[float, float]) -> str:
    """A visit in milliseconds."""
    return f"{taken[0] * 1000:.0f} ms ({taken[1] * 1000:.0f} of processor)"


if __name__ == "__main__":
    main()
