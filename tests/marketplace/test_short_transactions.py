"""Transactions that let go of their locks before the disk has them; on SQLite they are ordinary ones."""

import threading
from contextlib import suppress

import pytest
from django.contrib.auth.models import User
from django.db import Error, IntegrityError, connection, connections, transaction
from django.db.models import Value
from django.db.models.functions import Concat
from django.utils import timezone

from core.composed_queries import ComposedInsert
from core.short_transactions import short_transaction
from marketplace.models import LedgerEntry, SignedWrite

pytestmark = pytest.mark.django_db(transaction=True)
#: How often something is looked for that comes by itself.
LOOKS = 100_000


def ask(sql, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()[0] if cursor.description else None


def names():
    return sorted(User.objects.values_list("username", flat=True))


@pytest.fixture(autouse=True)
def synchronous():
    """Commits wait for the disk, as in an installation; the servers of tests have it off."""
    if connection.vendor == "postgresql":
        ask("SET synchronous_commit = on")
    yield
    connection.close()  # the next one has the server's setting


def test_a_block_is_kept_as_a_whole_or_not_at_all():
    with short_transaction():
        User.objects.create_user("kept")
        User.objects.create_user("kept too")
    with pytest.raises(ZeroDivisionError), short_transaction():
        User.objects.create_user("gone")
        1 / 0  # noqa: B018  # an error
    with pytest.raises(ZeroDivisionError), short_transaction():
        1 / 0  # noqa: B018  # an error before any statement
    with short_transaction():
        pass
    assert names() == ["kept", "kept too"]
    assert not connection.in_atomic_block
    User.objects.create_user("by itself")
    assert connections[connection.alias].get_autocommit()


def test_inside_of_a_transaction_it_is_a_part_of_it():
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        with short_transaction():
            User.objects.create_user("gone")
        1 / 0  # noqa: B018  # an error
    assert names() == []


def test_what_is_tried_within_it_can_be_undone_alone():
    with short_transaction():
        with suppress(ZeroDivisionError), transaction.atomic():
            User.objects.create_user("gone")
            1 / 0  # noqa: B018  # an error
        User.objects.create_user("kept")
        with suppress(IntegrityError), transaction.atomic():
            User.objects.create_user("kept")
        assert [user.username for user in User.objects.iterator()] == ["kept"]
    assert names() == ["kept"]


def test_the_next_transaction_is_an_ordinary_one_also_in_a_hook_of_this_one():
    heard = []

    def listen():
        with transaction.atomic():
            User.objects.create_user("from a hook")
            heard.append(getattr(connections[connection.alias], "is_short", False))

    with short_transaction():
        User.objects.create_user("first")
        transaction.on_commit(listen)
        assert heard == []
    assert heard == [False]
    assert names() == ["first", "from a hook"]


def insert_later(signature):
    ComposedInsert(SignedWrite).run_later(SignedWrite(signature=signature, at=timezone.now()))


def test_a_row_without_a_result_goes_with_the_next_statement_or_with_commit():
    insert_later("outside")
    with short_transaction():
        insert_later("first")
    with short_transaction():
        insert_later("second")
        assert SignedWrite.objects.filter(signature="second").count() == 1
        insert_later("third")
    with pytest.raises(ZeroDivisionError), short_transaction():
        insert_later("gone")
        1 / 0  # noqa: B018  # an error
    assert set(SignedWrite.objects.values_list("signature", flat=True)) == {
        "outside",
        "first",
        "second",
        "third",
    }


def test_what_commit_refuses_leaves_nothing_and_the_connection_goes_on():
    insert_later("there")
    with pytest.raises(IntegrityError), short_transaction():
        User.objects.create_user("gone")
        insert_later("there")
    with pytest.raises(IntegrityError), short_transaction():
        User.objects.create_user("gone too")
        LedgerEntry.objects.create(
            requester_id=-1, at=timezone.now(), kind="deposit", debit="outside", credit="available", cents=1
        )
    with short_transaction():
        User.objects.create_user("kept")
    assert names() == ["kept"]


def test_a_commit_is_on_the_disk_when_the_block_is_left():
    for number in range(20):
        with short_transaction():
            User.objects.create_user(f"ada-{number}")
            written = (
                ask("SELECT pg_current_wal_insert_lsn()::text") if connection.vendor == "postgresql" else None
            )
        if written:
            assert ask("SELECT pg_current_wal_flush_lsn() > %s::pg_lsn", written)
            assert ask("SHOW synchronous_commit") == "on"
    assert User.objects.count() == 20


def test_a_connection_that_the_server_ended_within_it_is_an_error_and_opened_again():
    if connection.vendor == "postgresql":
        with pytest.raises(Error), short_transaction():
            User.objects.create_user("gone")
            with suppress(Error):
                ask("SELECT pg_terminate_backend(pg_backend_pid())")
        connections[connection.alias].close_if_unusable_or_obsolete()  # as before the next request
    with short_transaction():
        User.objects.create_user("kept")
    assert names() == ["kept"]


def wait_for(look):
    for _ in range(LOOKS):
        if look():
            return
    raise AssertionError("it never came")


@pytest.mark.only_on("postgresql")
def test_a_row_is_free_while_its_call_still_waits_for_a_standby():
    """A standby that never answers: the call is not answered, what it locked is free, others see it."""
    person = User.objects.create_user("a")
    calls, over = [], threading.Event()

    def call():
        try:
            ask("SET synchronous_commit = on")
            while not over.is_set():
                with short_transaction():
                    User.objects.filter(pk=person.pk).update(username=Concat("username", Value("a")))
                calls.append(1)
        finally:
            connection.close()

    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()"
    )
    ask("SET synchronous_commit = local")  # for what this test itself commits
    ask("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
    thread = threading.Thread(target=call)
    try:
        ask("SELECT pg_reload_conf()")
        thread.start()
        wait_for(lambda: ask(waiting) == 1)
        answered = len(calls)
        with transaction.atomic():
            name = User.objects.select_for_update(nowait=True).get(pk=person.pk).username
        assert len(name) == 1 + answered + 1
        assert ask(waiting) == 1
        assert len(calls) == answered
    finally:
        over.set()
        ask("ALTER SYSTEM RESET synchronous_standby_names")
        ask("SELECT pg_reload_conf()")
        thread.join()
    assert len(calls) >= answered + 1
