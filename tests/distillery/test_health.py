"""`/health/`, as load balancers ask it."""

import pytest
from django.db import OperationalError, connection

from distillery import health


@pytest.mark.django_db
def test_it_says_that_all_is_well_with_one_query(client, django_assert_num_queries):
    with django_assert_num_queries(1):
        answer = client.get("/health/")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "database": "ok"}
    assert "no-store" in answer["Cache-Control"]
    assert not answer.cookies


def test_it_is_unavailable_without_a_database_and_keeps_the_reason_to_itself(client, monkeypatch):
    def refuse():
        raise OperationalError("password of distillery refused at db.internal")

    monkeypatch.setattr(health.connection, "cursor", refuse)
    monkeypatch.setattr(health.connection, "close", lambda: None)
    answer = client.get("/health/")
    assert answer.status_code == 503
    assert answer.json() == {"status": "unavailable", "database": "unreachable"}


@pytest.mark.only_on("postgresql")
@pytest.mark.django_db(transaction=True)
def test_a_connection_that_died_is_made_anew():
    connection.ensure_connection()
    connection.connection.close()
    assert health._database_answers() or health._database_answers()


def test_it_only_answers_reading(client):
    assert client.post("/health/").status_code == 405
