"""All migrations, one after the other: they make what `distillery/schemas` has, and lose nothing."""

import json
import os
import subprocess
import sys

import pytest
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from tests.server import ROOT, blank_database, drop_database
from tests.upgrades.conftest import in_force
from tests.upgrades.test_upgrades import describe_schema

#: The tables as they were, with two requesters and work of both: more than the migration fills at a time.
BEFORE = """
from datetime import timedelta
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone
from core.crypto import seal

apps = MigrationLoader(connection).project_state(("marketplace", "0001_initial")).apps
model = lambda name: apps.get_model("marketplace", name)
now = timezone.now()
worker = model("Worker").objects.create(worker_id="AOLD", name="old hand", created_at=now)
for number in (1, 2):
    lab = model("Requester").objects.create(
        name=f"lab {number}", customer_id=f"C{number}", access_key=f"KEY{number}",
        secret_sealed=seal(f"secret {number}", purpose="marketplace.requester"),
        fee_profile="mturk-2026", created_at=now,
    )
    kind = model("HITType").objects.create(
        requester=lab, type_id=f"T{number}", group_id=f"G{number}", title="t", description="d",
        reward_cents=0, duration_s=60, auto_approval_s=60, value_digest=str(number), created_at=now,
    )
    hit = model("HIT").objects.create(
        requester=lab, hit_type=kind, hit_id=f"H{number}", question="<q/>", created_at=now,
        expires_at=now + timedelta(days=1), max_assignments=1, max_at_creation=1, reward_cents=0, fee_cents=0,
        fee_profile="mturk-2026", open_places=0, submitted=1, places_made=1, held_places=1,
    )
    place = model("Place").objects.create(hit=hit, ordinal=1, assignment_id=f"A{number}")
    returned = dict(hit=hit, place=place, worker=worker, accepted_at=now, deadline=now)
    model("Holding").objects.bulk_create(
        [model("Holding")(**returned, assignment_id=f"A{number}", state="returned") for _ in range(12_000)],
        batch_size=500,
    )
    model("Holding").objects.create(
        **returned, assignment_id=f"A{number}", state="submitted", submitted_at=now, answer="<a/>"
    )
"""
AFTER = """
import json
from django.db.models import Count, F
from marketplace.models import AccessKey, Holding
from marketplace.accounts.accesskeys import SEALED_FOR
from core.crypto import unseal

print(json.dumps({
    "keys": [
        [key.requester.name, key.access_key, unseal(key.secret_sealed, purpose=SEALED_FOR), key.ends_at]
        for key in AccessKey.objects.order_by("access_key")
    ],
    "work": list(
        Holding.objects.order_by("requester__name").values_list("requester__name").annotate(n=Count("pk"))
    ),
    "astray": Holding.objects.exclude(requester=F("hit__requester")).count(),
}, default=str))
"""


@pytest.fixture
def manage(tmp_path):
    """manage.py on a database that begins without a table, whose name is `manage.database`."""
    url = blank_database(tmp_path)
    environment = {**os.environ, "DATABASE_URL": url, "DATA_DIR": str(tmp_path)}

    def run(*arguments):
        command = [sys.executable, "manage.py", *arguments]
        result = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    run.database = url.rpartition("/")[2] if url.startswith("postgres") else url.removeprefix("sqlite:///")
    yield run
    drop_database(url)


def describe_database(name):
    """Tables, indexes, constraints, and the rows that migrations and Django write."""
    permission = ("content_type__app_label", "content_type__model", "codename", "name")
    with in_force(name):
        return {
            **describe_schema(),
            "rows of migrations": sorted(MigrationRecorder.Migration.objects.values_list("app", "name")),
            "rows of types": sorted(ContentType.objects.values_list("app_label", "model")),
            "rows of permissions": sorted(Permission.objects.values_list(*permission)),
        }


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_they_make_what_the_file_makes_that_an_empty_database_begins_with(manage):
    manage("migrate", "-v", "0")
    of_file = describe_database(connection.settings_dict["NAME"])
    assert describe_database(manage.database) == of_file, "make schema"


@pytest.mark.long
def test_keys_and_work_of_an_installation_survive_from_before_keys_had_a_table(manage):
    manage("migrate", "marketplace", "0001_initial", "-v", "0")
    manage("shell", "--no-imports", "-c", BEFORE)
    manage("migrate", "-v", "0")
    found = json.loads(manage("shell", "--no-imports", "-c", AFTER))
    assert found == {
        "keys": [["lab 1", "KEY1", "secret 1", None], ["lab 2", "KEY2", "secret 2", None]],
        "work": [["lab 1", 12_001], ["lab 2", 12_001]],
        "astray": 0,
    }
    manage("marketplace", "audit")
