"""A transaction that holds a lock for ever costs the requests that need it, and no web thread."""

import psycopg2
import pytest
from botocore.exceptions import ClientError
from django.db import connection, connections

from distillery import dbtimeouts
from tests.server import RunningServer

pytestmark = pytest.mark.only_on("postgresql")


@pytest.fixture
def impatient():
    """A server of one thread that waits for a lock for a second."""
    with RunningServer(environment={"DATABASE_LOCK_TIMEOUT": "1"}, threads=1) as running:
        yield running


def test_a_request_that_needs_a_lock_which_is_never_given_back_answers(impatient):
    """The lock is given back only after the answer."""
    client = impatient.requester("10.00").client
    holder = psycopg2.connect(impatient.environment["DATABASE_URL"])
    try:
        holder.cursor().execute("LOCK TABLE marketplace_requester IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(ClientError) as refused:
            client.get_account_balance()
        assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    finally:
        holder.rollback()
        holder.close()
    assert client.get_account_balance()["AvailableBalance"] == "10.00"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("part", "shown"), [("web", ["1min", "20s", "5min"]), ("jobs", ["0", "5min", "1h"])])
def test_connections_of_each_part_have_their_limits(part, shown):
    connections.close_all()
    dbtimeouts.limit_connections(part)
    try:
        with connection.cursor() as cursor:
            found = []
            for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "jit"):
                cursor.execute(f"SHOW {name}")
                found.append(cursor.fetchone()[0])
        assert found == [*shown, "off"]
    finally:
        dbtimeouts.connection_created.disconnect(dispatch_uid="distillery.dbtimeouts")
        connections.close_all()
