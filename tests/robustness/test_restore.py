"""A lab loses everything and restores a backup of the day before: nothing is published or paid twice.

One world for all tests of this file; see tests/robustness/restored.py.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.distillery.installation import Installation
from tests.robustness.restored import HITS, PLACES
from tests.server import ROOT, RunningServer

pytestmark = pytest.mark.timeout(900)  # for a machine that does much else
DONE = HITS * PLACES + 1


class Lab(Installation):
    """An installation that campaigns at a marketplace elsewhere."""

    def environment(self, **variables):
        return super().environment(TASK_URL="https://tasks.example.org", PYTHONWARNINGS="ignore", **variables)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    made = Lab(tmp_path_factory.mktemp("lab"))
    yield made
    made.leave()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Where the backup is."""
    return tmp_path_factory.mktemp("backups") / "monday"


@pytest.fixture(scope="module")
def story(lab, saved):
    """What was said and seen at each step, by name."""
    with RunningServer() as market:
        requester = market.requester("50.00", "none-1")
        workers = [market.worker() for _ in range(PLACES)]
        given = {
            "site": market.url,
            "api": market.api_url,
            "access_key": requester.access_key,
            "secret": requester.secret,
            "workers": [(worker.worker_id, worker.token) for worker in workers],
            "test_token": market.test_token,
            "saved": str(saved),
            "server": os.environ.get("DATABASE_URL", ""),
        }
        done = subprocess.run(
            [sys.executable, "-m", "tests.robustness.restored"],
            cwd=ROOT,
            env=lab.environment(),
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def test_everything_was_planned_before_the_backup_and_done_after_it(story):
    assert story["planned"] == HITS
    assert story["seen before"]["assignments"] == {"Approved": DONE}
    assert len(story["seen before"]["hits"]) == HITS + 2
    assert story["books before"]["unfinished"] == 0


def test_after_a_restore_nothing_is_sent_and_it_is_said_why(story):
    assert story["idle"] == [True, True, True]
    assert story["doctor"].startswith("Nothing is sent to market-")
    assert "The database was restored from the backup of 20" in story["doctor"]
    [notice] = story["notices"]
    assert "`manage.py crowd reconcile --after-restore`" in notice
    assert story["books while halted"]["hits"] == []


def test_no_hit_is_published_twice(story):
    assert story["seen after"]["hits"] == story["seen before"]["hits"]
    assert set(story["seen after"]["annotations"]) == {1}


def test_nobody_is_paid_twice_also_when_the_same_bonus_is_asked_for_again(story):
    assert story["seen after"] == story["seen before"]
    assert len(story["seen after"]["bonuses"]) == 1


def test_all_work_is_known_with_its_answers_and_paid_in_our_books(story):
    known = story["books known"]
    assert (known["states"], known["answers"]) == ({"approved": DONE}, DONE)


def test_hits_of_a_stage_that_was_opened_after_the_backup_are_taken_over_with_places_and_units(story):
    for what in ("hits", "units"):
        assert story["books known"][what] == story["books before"][what]


def test_the_books_are_those_of_before_and_those_of_the_marketplace(story):
    books = story["books after"]
    assert books == story["books before"]
    assert (books["spent"], books["reserved"]) == (story["seen after"]["spent"], story["seen after"]["held"])
    assert books["spent"] == books["spent in the ledger"]
    assert books["reserved"] == books["reserved in the ledger"]


def test_the_reconciliation_was_killed_after_each_of_its_commits(story):
    assert story["killed"] > 2 * HITS
    assert story["doctor after"] == "Calls go out to marketplaces."


def test_a_backup_is_checked_and_overwrites_nothing(story):
    assert "written and read again" in story["backup"]
    assert "is there already, and a backup overwrites nothing" in story["backup again"]


def test_a_restore_overwrites_no_database(story):
    assert "There is a database here already, and a restore overwrites nothing." in story["restore over it"]
    assert "manage.py crowd reconcile --after-restore" in story["restore"]


def test_a_backup_that_was_changed_is_refused_before_anything_is_written(story):
    for step in ("verify damaged", "restore damaged"):
        sentence = "models/judge/weights is not the file that was backed up (10,239 bytes of 10,240)."
        assert sentence in story[step]
    assert "is whole" in story["verify"]


def test_uploads_and_models_come_back(story):
    assert story["files"] == [True, True]


def test_the_folder_alone_opens_nothing(story, saved):
    key = json.loads(saved.with_name("monday.keys").read_text())["SECRET_KEY"].encode()
    files = [path for path in saved.rglob("*") if path.is_file()]
    assert len(files) == 4
    assert not any(key in path.read_bytes() or path.stat().st_mode & 0o077 for path in files)
