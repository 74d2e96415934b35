"""Behind PgBouncer in transaction mode, Debian's own: two connections of the server serve everybody."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.jobs.conftest import database_url_of_this_test
from tests.server import ROOT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.only_on("postgresql")]

INI = """
[databases]
* = host={host} port={port} connect_query='SET jit = off'
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 2
"""


@pytest.fixture
def pooled_url():
    """The database of this test through a pooler."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "pgbouncer is not installed; .ci/run does that"
    direct = urlsplit(database_url_of_this_test())
    # Not pytest's folder: a socket's path has 107 characters at most, and PgBouncer does not run as root.
    with tempfile.TemporaryDirectory(prefix="pooler-", dir="/tmp") as folder:
        ini = Path(folder) / "pgbouncer.ini"
        known = f"host={direct.hostname} port={direct.port} user={direct.username}"
        ini.write_text(
            INI.format(host=direct.hostname, port=direct.port, folder=folder).replace(
                f"host={direct.hostname} port={direct.port}", known
            )
        )
        user = None
        if os.geteuid() == 0:
            user = "postgres" if "postgres" in {each.pw_name for each in pwd.getpwall()} else "nobody"
            shutil.chown(folder, user)
            ini.chmod(0o644)
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen([program, str(ini)], stdout=log, stderr=log, user=user)
        try:
            while process.poll() is None and not _listens(Path(folder) / ".s.PGSQL.6432"):
                time.sleep(0.02)
            assert process.poll() is None, (Path(folder) / "log").read_text()
            place = f"{direct.username}@{folder.replace('/', '%2F')}:6432"
            yield urlunsplit(direct._replace(netloc=place))
        finally:
            process.kill()
            process.wait()


def _listens(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(place)) == 0


def run(url: str, code: str, **variables: str) -> str:
    """What a program of ours prints that reaches the database through the pooler."""
    environment = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "distillery.settings"}
    environment |= {"DATABASE_DIRECT_URL": database_url_of_this_test(), **variables}
    begun = f"import django\ndjango.setup()\nfrom django.db import connection\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", begun], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


EVERYTHING = """
import threading
from contextlib import closing
from distillery.dbtimeouts import limit_connections
from distillery.management.commands.up import one_at_a_time
from core.jobs import services
from core.jobs.models import Job

limit_connections("web")
for number in range(50):
    services.enqueue(kind="test.unknown", payload={"number": number})

# Rows are read piece by piece while other clients come and go between the pieces.
def other():
    with closing(connection.copy()) as beside, beside.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM jobs_job")

seen = 0
for job in Job.objects.order_by("pk").iterator(chunk_size=5):
    seen += 1
    if seen % 5 == 0:
        threads = [threading.Thread(target=other) for _ in range(5)]
        [each.start() for each in threads]
        [each.join() for each in threads]
print("rows", seen)

# One start migrates, a second one waits for it.
order = []
def second():
    with one_at_a_time():
        order.append("second")
with one_at_a_time():
    waiting = threading.Thread(target=second)
    waiting.start()
    waiting.join(0.3)
    order.append("first")
waiting.join()
print("order", order)

# Nothing of ours stays with the server's connections.
with connection.cursor() as cursor:
    cursor.execute("SELECT current_setting('statement_timeout'), current_setting('lock_timeout')")
    print("limits", cursor.fetchone())
    cursor.execute("SHOW jit")
    print("jit", cursor.fetchone()[0])
    cursor.execute(
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
        " WHERE locktype = 'advisory' AND datname = current_database()"
    )
    print("locks", cursor.fetchone()[0])
    cursor.execute("SELECT count(*) FROM pg_prepared_statements")
    print("prepared", cursor.fetchone()[0])
"""


def test_nothing_that_belongs_to_a_session_is_used(pooled_url, tmp_path):
    said = run(pooled_url, EVERYTHING, DATA_DIR=str(tmp_path), SECRET_KEY="k" * 50).splitlines()
    assert said == [
        "rows 50",
        "order ['first', 'second']",
        "limits ('0', '0')",
        "jit off",
        "locks 0",
        "prepared 0",
    ]


TRANSACTIONS = """
import threading
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from marketplace.models import SignedWrite

#: Six clients of two connections of the server: what belongs to a transaction stays with it.
def call(number):
    for turn in range(20):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            first = cursor.fetchone()
            User.objects.create(username=f"{number}-{turn}")
            row = SignedWrite(signature=f"{number}-{turn}", at=timezone.now())
            SignedWrite.objects.bulk_create([row], ignore_conflicts=True)
            cursor.execute("SELECT pg_backend_pid()")
            same.append(cursor.fetchone() == first)
    with connection.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        settings.append(cursor.fetchone()[0])
    connection.close()

same, settings = [], []
threads = [threading.Thread(target=call, args=[number]) for number in range(6)]
[each.start() for each in threads]
[each.join() for each in threads]
print(User.objects.count(), SignedWrite.objects.count(), len(same), set(same))
with connection.cursor() as cursor:
    cursor.execute("SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'")
    print(set(settings) == {cursor.fetchone()[0]})
"""


def test_transactions_leave_nothing_with_a_connection(pooled_url, tmp_path):
    said = run(pooled_url, TRANSACTIONS, DATA_DIR=str(tmp_path), SECRET_KEY="k" * 50).splitlines()
    assert said == ["120 120 120 {True}", "True"]


MIGRATION = """
import time
from contextlib import closing
from distillery.management.commands.up import MIGRATION_LOCK, one_at_a_time

with one_at_a_time():
    time.sleep(0.2)  # longer than the role lets a transaction do nothing
    with closing(connection.copy()) as beside, beside.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [MIGRATION_LOCK])
        print(cursor.fetchone()[0])
"""


def test_limits_of_the_role_do_not_end_the_lock_of_a_migration(tmp_path):
    limits = {"PGOPTIONS": "-c idle_in_transaction_session_timeout=50ms"}
    url = database_url_of_this_test()
    assert run(url, MIGRATION, DATA_DIR=str(tmp_path), SECRET_KEY="k" * 50, **limits) == "False\n"


BACKUP = """
from pathlib import Path
from distillery.backup import find_database_faults, save_database
save_database(Path({target!r}), lambda what, done: None)
print(find_database_faults(Path({target!r}), "postgresql"))
with connection.cursor() as cursor:
    cursor.execute("SELECT current_setting('search_path')")
    print(cursor.fetchone()[0])
"""


def test_a_backup_goes_past_the_pooler(pooled_url, tmp_path):
    code = BACKUP.format(target=str(tmp_path / "database.dump"))
    said = run(pooled_url, code, DATA_DIR=str(tmp_path), SECRET_KEY="k" * 50).splitlines()
    assert said[0] == "[]"
    assert "public" in said[1]


def test_a_pooler_of_no_postgresql_is_refused(tmp_path):
    environment = {**os.environ, "DATABASE_URL": "", "DATA_DIR": str(tmp_path)}
    del environment["DATABASE_URL"]
    environment["DATABASE_DIRECT_URL"] = "postgres://user@host/name"
    code = "from django.conf import settings; settings.DATABASES"
    environment["DJANGO_SETTINGS_MODULE"] = "distillery.settings"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert "DATABASE_DIRECT_URL is set, and DATABASE_URL names no pooler" in done.stderr
