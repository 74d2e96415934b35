"""An installation from before keys had a table of their own is upgraded: nothing of it is lost."""

import json
import os
import subprocess
import sys

import pytest

from tests.server import ROOT, blank_database, drop_database

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
from marketplace.services.accesskeys import SEALED_FOR
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
    """manage.py on a database that begins without a table."""
    url = blank_database(tmp_path)
    environment = {**os.environ, "DATABASE_URL": url, "DATA_DIR": str(tmp_path)}

    def run(*arguments):
        command = [sys.executable, "manage.py", *arguments]
        result = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    yield run
    drop_database(url)


def test_keys_and_work_of_an_old_installation_survive(manage):
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
