"""From a training to judgments over a real marketplace, with simulated people."""

import json
import subprocess
import sys

import pytest

from tests.server import ROOT, RunningServer


@pytest.fixture(scope="module")
def market():
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


def test_everybody_is_trained_and_paid_and_those_who_passed_judge(market):
    passed = {int(worker) for worker, right in market["trained"].items() if right == 2}
    assert market["paid"] == len(market["trained"]) > len(passed) >= 2
    assert set(market["judges"]) <= passed
    assert market["judgments"] == 24
    assert market["troubles"] == []


def test_answers_to_one_query_came_in_one_hit(market):
    queries = market["queries"]
    for units in market["hits"]:
        own = [queries[unit] for unit in units if unit in queries]
        assert sorted(own) == sorted(query for query in set(own) for _ in range(2))


def test_checks_were_mixed_in_and_those_who_read_passed_them(market):
    right, wrong = market["checks"]
    assert right + wrong == len(market["hits"])
    assert right > wrong
