"""Scores from elsewhere by the API: read from an uploaded file, and removed."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from core.projects.models import Project
from evaluations.models import ExternalScores
from tests.api.conftest import is_problem, program_of
from tests.evaluations.desk_world import make_release

AT = "/projects/tea/external-scores"


@pytest.fixture
def release(project: Project, settings: Any, tmp_path: Path) -> Any:
    settings.RELEASES_STORAGE, settings.DATA_DIR = str(tmp_path / "shelf"), tmp_path
    return make_release(project)


def add(program, content: str, **more):
    staged = program.ask("PUT", "/projects/tea/uploads?name=judge.csv", content.encode()).json()
    return program.post(AT, {"upload": staged["sha256"], "release": "1.0.0", "name": "judge-1", **more})


def test_scores_are_added_and_removed(program, release):
    made = add(program, "candidate_id,score\nq0-good,0.5\nq1-bad,0.25\n")
    assert made.status_code == 201, made.content
    found = made.json()
    assert (found["count"], found["missing"], found["low"], found["high"]) == (2, 88, 0.25, 0.5)
    assert (found["created_by"], found["file_name"]) == ("olga", "judge.csv")
    assert program.get(AT).json()["items"] == [found]
    one = f"{AT}/{found['id']}"
    viewer = program_of(User.objects.get(username="viewer"))
    is_problem(viewer.ask("DELETE", one), 403, "role_missing")
    assert program.ask("DELETE", one).status_code == 204
    assert not ExternalScores.objects.exists()


def test_a_file_with_a_mistake_is_refused_with_its_line_and_nothing_is_kept(program, release):
    wrong = add(program, "candidate_id,score\nq0-good,high\n")
    assert "judge.csv, line 2, score" in is_problem(wrong, 422, "evaluation_refused")["detail"]
    assert not ExternalScores.objects.exists()
    good = "candidate_id,score\nq0-good,0.5\n"
    is_problem(add(program, good, release="9.9.9"), 422, "no_such_release")
    is_problem(add(program, good, name="Judge 1"), 422, "invalid")
    taken = is_problem(add(program, good, name="bleu-4"), 422, "evaluation_refused")
    assert "the name of a metric that is computed here" in taken["detail"]
    column = is_problem(add(program, good, column="grade"), 422, "evaluation_refused")
    assert "has no column 'grade'" in column["detail"]
    assert not ExternalScores.objects.exists()
    is_problem(program.ask("DELETE", f"{AT}/{10**30}"), 404, "not_found")
