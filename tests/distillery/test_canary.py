"""A host with another SECRET_KEY, or without one, does not start over sealed data."""

import sqlite3

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection

from core.crypto import seal
from core.crypto.models import Canary
from distillery import canary, checks, env
from distillery.apps import _place_canary as place_after
from tests.marketplace.conftest import make_requester

OTHER = "another secret key, long enough for what it has to do"


def test_another_key_is_an_error_of_the_doctor_and_keeps_up_from_starting_unless_the_former_is_known(
    db, settings
):
    canary.place_canary()
    former, settings.SECRET_KEY = settings.SECRET_KEY, OTHER
    finding = checks.secret_key()
    assert (finding.level, finding.topic) == ("error", "secrets")
    assert finding in checks.findings(before_start=True)
    with pytest.raises(CommandError, match="Not started"):
        call_command("up")
    settings.SECRET_KEY_FALLBACKS = [former]
    assert canary.key_opens() is True


def test_no_canary_is_sealed_with_a_key_that_does_not_open_what_is_there(db, settings):
    make_requester()
    settings.SECRET_KEY = OTHER
    assert checks.secret_key().level == "error"
    canary.place_canary()
    assert not Canary.objects.exists()


def test_the_right_key_opens_the_canary_and_nothing_sealed_is_nothing_wrong(db):
    assert canary.key_opens() is None
    assert checks.secret_key().level == "ok"
    canary.place_canary()
    canary.place_canary()
    assert Canary.objects.count() == 1
    assert canary.key_opens() is True
    assert checks.secret_key().level == "ok"


def test_a_start_after_one_that_was_stopped_while_migrating_is_not_kept_from_it(db):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE marketplace_worker DROP COLUMN payment_note_sealed")
    assert canary.key_opens() is None
    assert checks.secret_key().level == "ok"


def test_migrating_places_the_canary_and_emptying_the_database_does_not(db):
    call_command("migrate", verbosity=0)  # nothing is left to migrate
    assert canary.key_opens() is None
    place_after(plan=[("a migration", False)])
    assert canary.key_opens() is True


def test_a_key_is_generated_only_where_nothing_is_sealed_and_then_read_without_asking(tmp_path):
    folder = tmp_path / "secrets"
    with pytest.raises(ImproperlyConfigured, match="THING is missing: the database holds secrets that were"):
        env.secret("THING", folder, needed=lambda: True)
    keys = {env.secret("THING", folder, needed=lambda: None) for _ in range(2)}
    assert len(keys) == 2  # where the database does not answer, none is kept
    assert not folder.exists()
    first = env.secret("THING", folder, needed=lambda: False)
    assert env.secret("THING", folder, needed=pytest.fail) == first


def test_sealed_data_are_found_in_a_file_without_starting_django(tmp_path):
    url = f"sqlite:///{tmp_path / 'lab.sqlite3'}"
    assert env.holds_sealed_values(url) is False
    with sqlite3.connect(tmp_path / "lab.sqlite3") as database:
        database.execute("CREATE TABLE crowd_endpoint (id INTEGER, secret_sealed TEXT)")
        database.execute("INSERT INTO crowd_endpoint VALUES (1, '')")
        database.commit()
        assert env.holds_sealed_values(url) is False
        database.execute("INSERT INTO crowd_endpoint VALUES (2, 'gAAAA')")
        database.commit()
    database.close()
    assert env.holds_sealed_values(url) is True
    (tmp_path / "broken.sqlite3").write_text("no database at all, but long enough to be looked at")
    assert env.holds_sealed_values(f"sqlite:///{tmp_path / 'broken.sqlite3'}") is None


@pytest.mark.only_on("postgresql")
@pytest.mark.django_db(transaction=True)
def test_sealed_data_are_found_on_a_server(settings):
    from django.db import connection

    given = connection.get_connection_params()
    url = f"postgres://{given['user']}@{given['host']}:{given['port']}/{given['dbname']}"
    Canary.objects.all().delete()
    assert env.holds_sealed_values(url) is False
    Canary.objects.create(pk=1, value_sealed=seal("x", purpose=canary.PURPOSE))
    assert env.holds_sealed_values(url) is True
    assert env.holds_sealed_values(url.replace(given["dbname"], "no_such_database")) is None


def test_a_host_without_the_key_is_told_so_in_one_line(installation):
    code = "from distillery.canary import place_canary; place_canary()"
    assert installation.manage("shell", "-c", code).returncode == 0
    place = installation.data_dir / "secrets" / "secret_key"
    place.unlink()
    refused = installation.manage("doctor")
    assert (refused.returncode, place.exists()) == (1, False)
    assert refused.stderr.startswith("SECRET_KEY is missing: the database holds secrets")
    assert refused.stderr.count("\n") == 1
