"""The version of the consent text that each answer and rating stands under."""

import csv
import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS

from crowd.models import Assignment, Stage
from people.models import ConsentText, Guest, StudyLink, Visit
from releases.manifest import verify
from releases.options import Options
from releases.row_reader import tables_of
from releases.scope import scope_of
from tests.judgments.class_world import join
from tests.judgments.questionnaire_world import answer, make_study, write_answers
from tests.releases.test_building import built
from tests.releases.world import EDITORS, JUDGES, THEN

pytestmark = pytest.mark.django_db
FORMATS = ("jsonl", "csv", "parquet", "msmarco")


def agree(world, worker, version, at):
    """Somebody who came by a link agreed to a version of the project's text."""
    text, _ = ConsentText.objects.get_or_create(
        project=world.project, version=version, defaults={"body": "Text.", "made_at": THEN}
    )
    link, _ = StudyLink.objects.get_or_create(
        project=world.project,
        token_digest="digest",
        defaults={"target_kind": "project", "target_id": world.project.pk, "title": "A", "made_at": THEN},
    )
    guest, _ = Guest.objects.get_or_create(
        project=world.project,
        worker_id=worker,
        defaults={"identity_kind": "browser", "identity": worker, "recovery_digest": worker, "made_at": THEN},
    )
    Visit.objects.create(link=link, guest=guest, consent_text=text, consented_at=at, opened_at=at, seen_at=at)


@pytest.fixture
def world(made_world):
    world = made_world
    early, late = THEN - timedelta(days=30), THEN + timedelta(days=3000)
    agree(world, EDITORS[0], 1, early)
    agree(world, EDITORS[0], 3, late)
    agree(world, JUDGES[0], 2, early)
    return world


def consents(world, folder, file):
    """Versions by pseudonym, of all rows of a table's lines."""
    lines = [line for path in folder.glob(f"jsonl/{file}-*.jsonl") for line in path.read_text().splitlines()]
    return {row["worker"]: row["consent"] for row in map(json.loads, lines)}


def test_every_row_says_to_which_version_its_person_had_agreed(world, tmp_path):
    import pyarrow.parquet as pq

    done = built(world, tmp_path / "release", Options(formats=FORMATS))
    folder = tmp_path / "release"
    answers, ratings = (consents(world, folder, each) for each in ("answers", "ratings"))
    assert sorted(map(str, answers.values())) == ["None"] * (len(answers) - 1) + ["en-1"]
    assert sorted(map(str, ratings.values())) == ["None"] * (len(ratings) - 1) + ["en-2"]
    with next(folder.glob("csv/answers-*.csv")).open(newline="") as file:
        assert {row["consent"] for row in csv.DictReader(file)} == {"", "en-1"}
    found = pq.read_table(next(folder.glob("parquet/ratings-*.parquet")))
    assert found.schema.names[-1] == "consent"
    assert set(found["consent"].to_pylist()) == {None, "en-2"}
    columns = {
        each["name"]: [column["name"] for column in each["columns"]] for each in done.manifest["tables"]
    }
    assert {name for name, found in columns.items() if "consent" in found} == {"answers", "ratings"}
    card = (folder / "README.md").read_text("utf-8")
    assert "| `consent` | text | Language and version of the consent text" in card
    assert not verify(folder).problems


def test_responses_to_questionnaires_say_it_too(db, tmp_path):
    owner = User.objects.create_user("owner", is_staff=True, is_superuser=True)
    study = make_study(write_answers(tmp_path / "a.jsonl"), "likert-aspects", owner, people=1)
    worker = join(study.project, study.stage.endpoint)
    agree(study, worker.external_id, 1, THEN - timedelta(days=30))
    answer(study.stage, worker)
    filled = tables_of(scope_of(study.project, Options(), DEFAULT_DB_ALIAS))["responses"]
    assert filled.table.names[-1] == "consent"
    rows = [row for batch in filled.batches() for row in batch]
    assert {row[-1] for row in rows} == {"en-1"}


def test_without_a_visit_there_is_no_such_column(made_world):
    tables = tables_of(scope_of(made_world.project, Options(), DEFAULT_DB_ALIAS))
    assert not any("consent" in filled.table.names for filled in tables.values())


def test_where_texts_are_in_several_languages_each_row_says_which_was_read(world, tmp_path):
    stage = Stage.objects.filter(project=world.project, kind="judging").first()
    stage.config = {**stage.config, "languages": {"de": {"question": "Wie richtig?"}}}
    stage.save(update_fields=["config"])
    judge = Assignment.objects.filter(stage=stage, worker__external_id=JUDGES[0])
    assert judge.update(language="de")
    done = built(world, tmp_path / "release", Options(formats=FORMATS))
    folder = tmp_path / "release"
    lines = [line for path in folder.glob("jsonl/ratings-*.jsonl") for line in path.read_text().splitlines()]
    read = {(row["consent"], row["language"]) for row in map(json.loads, lines)}
    assert ("en-2", "de") in read
    assert {language for _, language in read} == {"de", None}
    columns = {each["name"]: each["columns"][-1]["name"] for each in done.manifest["tables"]}
    assert {name for name, last in columns.items() if last == "language"} == {"answers", "ratings"}
    assert "The column `language` of answers, ratings and responses" in (folder / "README.md").read_text(
        "utf-8"
    )
    assert not verify(folder).problems
