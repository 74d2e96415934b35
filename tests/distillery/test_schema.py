"""A database whose tables are not what its migrations made: it is said precisely, and nothing is migrated."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from distillery import checks
from distillery.schema import inspect_schema

pytestmark = pytest.mark.django_db


def execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def differences() -> list[str]:
    return [each.sentence for each in inspect_schema().differences]


def refusal() -> str:
    with pytest.raises(CommandError) as refused:
        call_command("migrate", stdout=StringIO(), skip_checks=False)
    return str(refused.value)


def test_an_index_that_is_missing_is_named_with_the_sql_that_makes_it():
    execute("DROP INDEX hit_end")
    assert differences() == ["the index hit_end on marketplace_hit is missing"]
    finding = checks.migrations()
    assert (finding.level, finding.topic) == ("error", "tables")
    assert "the index hit_end on marketplace_hit is missing" in finding.sentence
    assert 'CREATE INDEX "hit_end" ON "marketplace_hit"' in finding.remedy
    assert "Nothing was migrated. The tables are not those" in refusal()
    execute(finding.remedy.partition("in the database: ")[2])
    assert inspect_schema().is_well
    assert differences() == []
    assert checks.migrations().level == "ok"


def test_a_column_or_table_that_is_missing_is_named_and_no_migration_is_promised():
    execute("ALTER TABLE crowd_stage DROP COLUMN apart_from", "DROP TABLE poll_vote")
    assert differences() == ["the table poll_vote is missing", "crowd_stage.apart_from is missing"]
    said = refusal()
    assert "crowd_stage.apart_from is missing" in said
    assert "No migration repairs that" in said
    assert "start with a new database" in said


@pytest.mark.only_on("postgresql")
def test_types_nulls_and_constraints_are_compared():
    execute(
        "ALTER TABLE crowd_stage ALTER COLUMN title TYPE varchar(7) USING left(title, 7)",
        "ALTER TABLE crowd_stage ALTER COLUMN slug DROP NOT NULL",
        "ALTER TABLE marketplace_rating DROP CONSTRAINT rating_stars",
        "ALTER TABLE poll_vote ADD COLUMN later integer NOT NULL",
    )
    assert sorted(differences()) == [
        "crowd_stage.slug may be null and should not",
        "crowd_stage.title is character varying(7) and not character varying(200)",
        "poll_vote.later is unknown here and must have a value",
        "the constraint rating_stars on marketplace_rating is missing",
    ]


def test_a_newer_database_is_a_warning_where_this_version_can_work_on_it():
    execute(
        "INSERT INTO django_migrations (app, name, applied) VALUES ('poll', '0099_later', '2030-01-01')",
        "ALTER TABLE poll_vote ADD COLUMN later integer NOT NULL DEFAULT 7",
    )
    finding = checks.migrations()
    assert finding.level == "warning"
    assert "newer version: it went through poll.0099_later" in finding.sentence


def test_a_database_that_went_another_way_is_refused():
    execute(
        "UPDATE django_migrations SET name = '0002_imported' WHERE name = '0002_imported_score'",
        "UPDATE django_migrations SET name = '0004_other' WHERE name = '0004_drawn_reference_of_open_stages'",
        "DELETE FROM django_migrations WHERE app = 'judgments' AND name > '0003' AND name <> '0004_other'",
    )
    report = inspect_schema()
    assert report.unknown == ["judgments.0002_imported", "judgments.0004_other"]
    assert "the table judgments_importedscore is there before the migration that makes it" in differences()
    assert "lacks others of the same apps (judgments.0002_imported_score" in refusal()
