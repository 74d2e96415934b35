"""Transactions that let go of their rows early: what they hold is on the disk when their block is left."""

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from core.database.durability import released_early

pytestmark = pytest.mark.django_db(transaction=True)


def ask(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


def commits_wait():
    """Whether a commit of this transaction waits for the disk; SQLite's always write their journal."""
    return connection.vendor != "postgresql" or ask("SHOW synchronous_commit") == "on"


def position():
    """Up to where the log is written."""
    return ask("SELECT pg_current_wal_insert_lsn()::text") if connection.vendor == "postgresql" else None


def is_flushed(written):
    return written is None or ask(f"SELECT pg_current_wal_flush_lsn() > '{written}'::pg_lsn")


@pytest.fixture(autouse=True)
def synchronous():
    """Commits wait for the disk, as in an installation; the servers of tests have it off."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = on")
    yield
    connection.close()  # the next one has the server's setting


def test_a_block_is_kept_as_a_whole_or_not_at_all():
    with released_early():
        User.objects.create_user("kept")
    with pytest.raises(ZeroDivisionError), released_early():
        User.objects.create_user("gone")
        1 / 0  # noqa: B018  # an error
    assert [user.username for user in User.objects.all()] == ["kept"]
    assert commits_wait()


def test_inside_of_a_transaction_it_is_a_part_of_it():
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        with released_early():
            User.objects.create_user("gone")
            assert commits_wait()
        1 / 0  # noqa: B018  # an error
    assert not User.objects.exists()


def test_the_commit_is_on_the_disk_when_the_block_is_left():
    for number in range(20):
        with released_early():
            User.objects.create_user(f"ada-{number}")
            assert commits_wait() == (connection.vendor != "postgresql")
            written = position()
        assert is_flushed(written)
        assert commits_wait()
    assert User.objects.count() == 20
