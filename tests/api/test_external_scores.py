"""Scores from elsewhere by the API: added from an upload, looked at, kept, removed."""

import pytest
from django.contrib.auth.models import User

from evaluations.models import ExternalScores
from tests.api.conftest import is_problem, program_of
from tests.evaluations.desk_world import make_release
from tests.releases.shelf_world import make_project

pytestmark = pytest.mark.django_db
LIST = "/projects/capitals/external-scores"


@pytest.fixture
def program(settings, tmp_path):
    settings.RELEASES_STORAGE, settings.DATA_DIR = str(tmp_path / "shelf"), tmp_path
    make_release(make_project())
    return program_of(User.objects.get(username="manager"))


def add(program, content, **given):
    file = program.ask("PUT", "/projects/capitals/uploads?name=comet.csv", content)
    return program.post(
        LIST, {"upload": file.json()["sha256"], "release": "1.0.0", "name": "comet-22", **given}
    )


def test_scores_are_kept_listed_and_removed(program):
    made = add(program, "candidate_id,score\nq0-good,0.5\nq1-bad,0.25\n", says="COMET")
    assert made.status_code == 201, made.content
    found = made.json()
    assert (found["name"], found["release"], found["kept"], found["says"]) == (
        "comet-22",
        "1.0.0",
        True,
        "COMET",
    )
    assert (found["count"], found["missing"], found["low"], found["high"]) == (2, 88, 0.25, 0.5)
    assert program.get(LIST).json() == {"items": [found], "next": None}
    assert program.ask("DELETE", f"{LIST}/{found['id']}").status_code == 204
    assert program.get(LIST).json()["items"] == []
    is_problem(program.get(f"{LIST}/{found['id']}"), 404, "not_found")


def test_scores_that_are_looked_at_first_are_listed_when_they_are_kept(program):
    made = add(program, "candidate_id,score\nq0-good,0.5\n", keep=False).json()
    assert not made["kept"]
    assert program.get(LIST).json()["items"] == []
    assert program.post(f"{LIST}/{made['id']}/keep").json()["kept"]
    assert [row["id"] for row in program.get(LIST).json()["items"]] == [made["id"]]
    again = program.post(f"{LIST}/{made['id']}/keep")
    assert "These scores are kept already." in again.json()["detail"]


@pytest.mark.parametrize(
    ("content", "given", "words"),
    [
        ("candidate_id,score\nnobody,0.5\n", {}, "line 2, candidate_id: the release has no candidate"),
        ("candidate_id,score\nq0-good,0.5\n", {"release": "9.0.0"}, "There is no release '9.0.0' here"),
        (
            "candidate_id,score\nq0-good,0.5\n",
            {"name": "bleu-4"},
            "the name of a metric that is computed here",
        ),
        ("candidate_id,score\nq0-good,0.5\n", {"column": "grade"}, "has no column 'grade'"),
    ],
)
def test_what_cannot_be_added_is_refused_in_words_and_leaves_nothing(program, content, given, words):
    answer = add(program, content, **given)
    assert answer.status_code == 422, answer.content
    assert words in str(answer.json())
    assert not ExternalScores.objects.exists()


def test_an_id_beyond_the_column_is_not_found(program):
    is_problem(program.get(f"{LIST}/{2**70}"), 404, "not_found")
