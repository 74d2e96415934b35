"""Each paper's human protocol as its study file: applied, run by simulated workers, filtered and released."""

import json
import subprocess
import sys

import pytest

from crowd.study.planning import plan
from crowd.study.reader import read
from tests.server import ROOT, RunningServer
from tests.study.conftest import KEYS

PAPERS = ("000", "002", "003", "004")


@pytest.fixture(scope="module")
def protocols():
    """What became of all four, one after the other on one server."""
    with RunningServer() as server:
        done = subprocess.run(
            [sys.executable, "-m", "tests.study.papers"],
            cwd=ROOT,
            env={**server.environment, "TASK_URL": server.url},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout)


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.django_db
def test_every_file_can_be_applied_as_it_is_and_lacks_only_an_owner(name):
    path = ROOT / "examples" / "papers" / f"{name}.toml"
    cautions = plan(read(str(path)), KEYS, to_apply=False).cautions
    assert [caution.field for caution in cautions] == ["project.members"]


@pytest.mark.long
def test_every_page_could_be_filled_in(protocols):
    assert protocols["troubles"] == []


@pytest.mark.long
def test_000_has_many_answers_per_query_by_different_people_from_the_same_passages(protocols):
    paper = protocols["000"]
    assert paper["status"] == {"q1": "answered", "q2": "excluded"}
    assert paper["writers"] == paper["rows"]["answers"] == 20
    assert paper["rows"]["references"] == 1
    assert all(f"**{step}.**" in paper["card"] for step in ("Screening", "Curation", "Distillation"))


@pytest.mark.long
def test_002_has_ten_judges_per_answer_and_removes_at_most_five_by_z(protocols):
    paper = protocols["002"]
    assert paper["judges"] == [10, 10]
    assert (paper["rows"]["ratings"], paper["rows"]["scores"]) == (20, 2)
    assert set(paper["filtered"]) <= {"", "z"}
    assert all(row["n_raw"] == 10 and row["n_kept"] >= 5 for row in paper["scores"])


@pytest.mark.long
def test_003_has_labels_of_answers_and_two_annotators_for_each_candidate(protocols):
    paper = protocols["003"]
    labels = {row["query_id"]: (bool(row["opinion"]), bool(row["entities"])) for row in paper["answers"]}
    assert labels == {"q1": (False, False), "q3": (False, True), "q4": (True, False)}
    assert paper["judges"] == [2]
    assert {row["opinion"] for row in paper["candidates"] if row["query_id"] == "q4"} == {"Yes"}


@pytest.mark.long
def test_004_has_continuations_of_people_beside_three_systems(protocols):
    paper = protocols["004"]
    people = [row for row in paper["candidates"] if row["people"]]
    assert len(people) == 8
    assert {(row["system"], row["simulated"]) for row in people} == {("human", True)}
    assert len({row["query_id"] for row in people}) == 8
    assert paper["rows"]["candidates"] == 32
    assert all(row["held_out"] for row in paper["answers"])
    assert len(paper["answers"]) == 8
    assert "**Continuation.**" in paper["card"]
    assert paper["turns"] == 2


@pytest.mark.long
def test_004_has_surveys_whose_writers_judge_none_of_them_and_removes_by_checks_and_kappa(protocols):
    paper = protocols["004"]
    assert paper["per_survey"] == [4 + 20 + 4]
    assert paper["judges"] == 6
    assert paper["judged_own"] == []
    assert (paper["recipe"]["checks_failed"], paper["recipe"]["kappa_below"]) == (1, 0.2)
    assert paper["filtered"]["attention checks"] >= 2 * 24
    assert paper["kept_reversed"] == []
    assert paper["removed"] == []
