"""From a training to judgments over a real marketplace, with simulated people."""

import json
import subprocess
import sys

import pytest

from tests.server import ROOT, RunningServer

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def found():
    with RunningServer() as server:
        done = subprocess.run(
            [sys.executable, "-m", "tests.judgments.inside"],
            cwd=ROOT,
            env={**server.environment, "TASK_URL": server.url},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def test_everybody_is_trained_and_paid_and_those_who_passed_judge(found):
    passed = {int(worker) for worker, right in found["trained"].items() if right == 2}
    assert found["paid"] == len(found["trained"]) > len(passed) >= 2
    assert set(found["judges"]) <= passed
    assert found["judgments"] == 24
    assert found["troubles"] == []


def test_answers_to_one_query_came_in_one_hit(found):
    queries = found["queries"]
    for units in found["hits"]:
        own = [queries[unit] for unit in units if unit in queries]
        assert sorted(own) == sorted(query for query in set(own) for _ in range(2))


def test_checks_were_mixed_in_and_those_who_read_passed_them(found):
    right, wrong = found["checks"]
    assert right + wrong == len(found["hits"])
    assert right > wrong
