"""Statements that PostgreSQL keeps for a connection; on SQLite the same holds of statements as they are."""

import pytest
from django.db import connection, connections, transaction

from core import prepared_statements
from core.composed_queries import ComposedQuery, ComposedUpdate
from core.prepared_statements import execute_prepared
from distillery.postgresql.base import DatabaseWrapper
from marketplace.models import Worker
from tests.marketplace.conftest import make_worker

pytestmark = pytest.mark.django_db(transaction=True)
SQL = "SELECT name, words FROM noted WHERE name LIKE %s AND words <> '50 %%'"
ON_POSTGRESQL = "postgresql"


@pytest.fixture
def noted():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE noted (name varchar(20), words varchar(20))")
        cursor.execute("INSERT INTO noted VALUES ('Jean%', 'clear'), ('Rosa', '50 %')")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE noted")


def run(sql: str = SQL, *parameters: str, fixed: bool = False) -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        execute_prepared(cursor, sql, parameters or ["%"], fixed_columns=fixed)
        return cursor.fetchall()


def prepared() -> list[str]:
    """Names of what this connection has prepared; PostgreSQL's own word for it."""
    if connection.vendor != ON_POSTGRESQL:
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pg_prepared_statements WHERE name LIKE 'select_noted_%%'", [])
        return [name for (name,) in cursor.fetchall()]


def expected(count: int) -> int:
    return count if connection.vendor == ON_POSTGRESQL else 0


def test_a_statement_is_prepared_once_for_a_connection(noted):
    assert run() == run() == [("Jean%", "clear")]
    assert len(prepared()) == expected(1)
    connection.close()
    assert run() == [("Jean%", "clear")]
    assert len(prepared()) == expected(1)


def test_what_returns_columns_that_may_widen_is_not_prepared_in_a_transaction(noted):
    with transaction.atomic():
        assert run() == [("Jean%", "clear")]
        assert prepared() == []
        assert run(fixed=True) == [("Jean%", "clear")]
    assert len(prepared()) == expected(1)


def test_a_column_that_is_widened_meanwhile_disturbs_nobody(noted):
    assert run() == [("Jean%", "clear")]
    if connection.vendor == ON_POSTGRESQL:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE noted ALTER words TYPE varchar(40)")
    assert run() == run() == [("Jean%", "clear")]


def test_behind_a_pooler_nothing_is_prepared(noted, settings):
    settings.DATABASE_DIRECT_URL = "postgres://somewhere/else"
    assert run() == [("Jean%", "clear")]
    assert prepared() == []


def test_a_pooler_that_nobody_told_of_is_noticed(noted, monkeypatch, caplog):
    monkeypatch.setattr(prepared_statements._Use, "is_lost", False)
    assert run() == [("Jean%", "clear")]
    with connection.cursor() as cursor:
        if connection.vendor == ON_POSTGRESQL:
            cursor.execute("DEALLOCATE ALL")  # as another client's session has none of ours
    assert run() == run() == [("Jean%", "clear")]
    assert prepared() == []
    assert ("DATABASE_DIRECT_URL" in caplog.text) is (connection.vendor == ON_POSTGRESQL)


def test_constants_and_places_come_in_their_order():
    person, other = make_worker(), make_worker()
    query = ComposedQuery(
        Worker,
        ["country", "id"],
        lambda country, pk: Worker.objects.filter(country=country, adult=False, pk=pk).exclude(name="50 %s"),
    )
    update = ComposedUpdate(
        Worker, ["id", "name"], lambda pk, name: (Worker.objects.filter(pk=pk, adult=False), {"name": name})
    )
    assert update.run(person.pk, "100 %s sure") == 1
    person.refresh_from_db()
    assert (person.name, query.get(person.country, person.pk).name) == ("100 %s sure", "100 %s sure")
    assert query.get(other.country, other.pk) == other


def test_a_connection_that_the_server_ended_is_opened_again_although_it_was_used_just_now():
    settings_dict = {**connection.settings_dict, "CONN_HEALTH_CHECKS": True}
    if connection.vendor != ON_POSTGRESQL:
        assert connection.settings_dict["ENGINE"] == "distillery.sqlite3"
        return
    assert isinstance(connections[connection.alias], DatabaseWrapper)
    mine = DatabaseWrapper(settings_dict, alias="another")
    try:
        for ended in (False, False, True, False):
            mine.close_if_unusable_or_obsolete()  # as between two requests
            if ended:
                with connection.cursor() as cursor:
                    cursor.execute(
                        "SELECT pg_terminate_backend(%s, 2000)", [mine.connection.info.backend_pid]
                    )
            with mine.cursor() as cursor:
                cursor.execute("SELECT 1")
                assert cursor.fetchone() == (1,)
    finally:
        mine.close()
