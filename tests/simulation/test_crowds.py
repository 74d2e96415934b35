"""Crowds at work on a running server, each profile as its name says."""

import json
import stat
import subprocess
import sys

import pytest

from tests.server import ROOT


def crowd(mix: str, people: int = 4, **options):
    return {"mix": mix, "people": people, **options}


def states(found) -> dict[str, int]:
    counted: dict[str, int] = {}
    for row in found["assignments"]:
        counted[row["state"]] = counted.get(row["state"], 0) + 1
    return counted


def test_diligent_people_do_everything_and_are_paid_to_the_cent(work):
    """And are marked as simulated, and measured by the page like everybody."""
    found = work(crowd("diligent"), items=6, units_per_hit=2, redundancy=3)
    assert found["said"][0]["submitted"] == 9
    assert found["said"][0]["troubles"] == []
    assert states(found) == {"approved": 9}
    assert found["missing"] == 0
    assert found["spent_cents"] == found["paid_cents"] == 90
    assert found["reserved_cents"] == 0
    assert set(found["hits"]) == {"closed"}
    assert found["unfinished"] == 0
    assert all(row["simulated"] for row in found["assignments"])
    assert found["real_workers"] == 0
    assert all(row["telemetry"]["active_ms"] > 0 for row in found["assignments"])


def test_a_constant_person_gives_one_answer_to_everything(work):
    found = work(crowd("constant", 3), items=4, units_per_hit=2)
    by_worker: dict[int, set[str]] = {}
    for worker, _, choice in found["votes"]:
        by_worker.setdefault(worker, set()).add(choice)
    assert len(found["votes"]) == 12
    assert all(len(choices) == 1 for choices in by_worker.values())


def test_who_clicks_twice_leaves_one_record(work):
    found = work(crowd("duplicate-clicker", 3), items=2, units_per_hit=1)
    assert found["said"][0]["submitted"] == 6
    assert states(found) == {"approved": 6}
    assert len(found["votes"]) == 6
    assert found["paid_cents"] == 60
    assert found["said"][0]["troubles"] == []


@pytest.mark.long
def test_people_who_go_home_after_one_hit_leave_a_stage_half_done(work):
    found = work(crowd("diligent", 3, hits_each=1, drafts=False), items=6, units_per_hit=2, redundancy=3)
    assert found["said"][0]["submitted"] == 3
    assert found["said"][0]["troubles"] == []
    assert sorted(row["worker"] for row in found["assignments"]) == [0, 1, 2]
    assert found["missing"] == 12
    assert found["reserved_cents"] == 60


@pytest.mark.long
def test_people_wait_for_hits_that_the_next_round_publishes(work):
    """As where a stage is open and its queries are decided about one after another."""
    found = work(crowd("diligent", 4, then_redundancy=3), items=4, units_per_hit=2, redundancy=1)
    assert (found["said"][0]["submitted"], found["missing"]) == (6, 0)


@pytest.mark.long
def test_an_abandoner_leaves_a_hit_open_and_does_not_come_back(work):
    found = work(crowd("abandoner", 6), items=6, units_per_hit=1, redundancy=6)
    said = found["said"][0]
    assert said["abandoned"] == states(found)["working"] >= 1
    left = [row["worker"] for row in found["assignments"] if row["state"] == "working"]
    assert len(left) == len(set(left))
    assert len(found["votes"]) == said["submitted"] == states(found).get("approved", 0)


@pytest.mark.long
def test_a_returner_gives_hits_back_and_others_do_them(work):
    found = work(crowd("returner", 6), crowd("diligent", 9), items=6, units_per_hit=1, redundancy=3)
    assert found["said"][0]["returned"] >= 1
    assert found["missing"] == 0
    assert len(found["votes"]) == 18


@pytest.mark.long
def test_the_same_seed_gives_the_same_answers_and_another_seed_others(work):
    one, again = (work(crowd("sloppy", 4, threads=1, seed=5), items=8) for _ in range(2))
    assert one["votes"] == again["votes"]
    one, other = (work(crowd("sloppy", 3, threads=1, seed=seed), items=8) for seed in (5, 6))
    assert one["votes"] != other["votes"]


@pytest.mark.long
def test_what_somebody_answers_does_not_hang_on_who_else_is_quick(work):
    one, other = (work(crowd("diligent", 5, threads=threads, seed=5), items=8) for threads in (1, 6))
    said = {(worker, unit): choice for worker, unit, choice in one["votes"]}
    common = [
        (said[worker, unit], choice) for worker, unit, choice in other["votes"] if (worker, unit) in said
    ]
    assert common and all(before == after for before, after in common)


@pytest.mark.long
def test_a_heavy_crowd_loses_nothing(work):
    found = work(crowd("heavy", 30, threads=8), items=40, units_per_hit=4, redundancy=5, checks=3)
    said = found["said"][0]
    assert said["troubles"] == []
    assert states(found).get("approved", 0) == said["submitted"]
    assert "quarantined" not in states(found) and "stored" not in states(found)
    assert found["spent_cents"] == found["paid_cents"] == 10 * said["submitted"]
    units = [(worker, unit) for worker, unit, _ in found["votes"] if unit.startswith("item:")]
    assert len(units) == len(set(units)) == 4 * said["submitted"]


@pytest.mark.long
def test_hits_split_for_the_fee_are_done_by_different_people(work):
    found = work(crowd("diligent", 14), items=2, units_per_hit=1, redundancy=12, fees="mturk-2026")
    assert found["missing"] == 0
    assert len({(worker, unit) for worker, unit, _ in found["votes"]}) == len(found["votes"]) == 24


def test_the_command_tells_what_the_crowd_did(server, work):
    stage = work(items=3, redundancy=2)["stage"]
    done = subprocess.run(
        [sys.executable, "manage.py", "simulate", str(stage), "--workers", "4", "--fast", "--json"],
        cwd=ROOT,
        env={**server.environment, "TASK_URL": server.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["people"] == 4
    assert said["submitted"] == 4


def test_tokens_are_kept_for_the_next_run_and_readable_for_their_owner_only(server, work):
    work(crowd("diligent", 2), items=1)
    path = server.data_dir / "simulated-workers.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_text()
    work(crowd("diligent", 2), items=1)
    assert path.read_text() == before


def test_an_unknown_stage_and_real_money_are_refused(server, work):
    work(items=1)
    with pytest.raises(RuntimeError, match=r"CommandError: There is no stage 'no/such'.*/poll"):
        server.console("simulate", "no/such")
    stage = work(items=1, real_money=True)["stage"]
    with pytest.raises(RuntimeError, match=r"CommandError: .*play money only"):
        server.console("simulate", str(stage), "--workers", "1")
