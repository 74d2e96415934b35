"""Reports and invoices whose maker is killed with SIGKILL, on a real server with work done over HTTP."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.clients import Requester, external_question
from tests.server import ROOT, RunningServer


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with RunningServer() as running:
        yield running


def earned(server: RunningServer, workers: int = 3) -> Requester:
    """A requester who paid some workers, an hour ago as the clock has it."""
    lab = server.requester("50.00")
    for number in range(workers):
        hit = lab.client.create_hit(
            Title=f"Task {number}",
            Description="One of some.",
            Reward="0.25",
            LifetimeInSeconds=3600,
            AssignmentDurationInSeconds=600,
            Question=external_question(),
        )["HIT"]
        taken = server.worker().do(hit["HITId"])
        lab.client.approve_assignment(AssignmentId=taken["assignment_id"])
    server.advance(3600)
    return lab


def kill_at(server: RunningServer, what: str, lab: Requester, point: int) -> None:
    """Start making it, wait for the point, and kill the process there."""
    maker = subprocess.Popen(
        [sys.executable, "-m", "tests.requester.dying", what, lab.name, str(point)],
        cwd=ROOT,
        env=server.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert maker.stdin is not None and maker.stdout is not None
    with maker.stdin, maker.stdout:
        assert maker.stdout.readline() == "reached\n"
        maker.kill()
        maker.wait(timeout=30)


@pytest.mark.parametrize("point", [3, *(pytest.param(point, marks=pytest.mark.long) for point in (1, 2, 4))])
def test_a_killed_report_is_there_whole_or_not_at_all(server, point):
    lab = earned(server)
    kill_at(server, "payable", lab, point)
    again = ("marketplace", "payable", "make", lab.name, "--simulated", "--json")
    if point == 4:
        with pytest.raises(RuntimeError, match="is in a report already"):
            server.console(*again)
    else:
        assert server.console(*again) == {"number": 1, "workers": 3, "sum": "0.75"}
    assert server.console("marketplace", "audit", "--json") == {"faults": []}


@pytest.mark.parametrize("point", [pytest.param(3, marks=pytest.mark.long), 4])
def test_a_killed_invoice_takes_no_number(server, point):
    before = invoices(server)
    lab = earned(server)
    kill_at(server, "invoice", lab, point)
    assert invoices(server) == before + [len(before) + 1] * (point == 4)


def invoices(server: RunningServer) -> list[int]:
    """The numbers of all invoices."""
    code = (
        "import json; from marketplace.models import Invoice; "
        "print(json.dumps(list(Invoice.objects.order_by('number').values_list('number', flat=True))))"
    )
    found: list[int] = json.loads(server.manage("shell", "--no-imports", "-c", code))
    return found
