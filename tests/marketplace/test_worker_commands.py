"""`manage.py marketplace worker export|close|receipt`."""

import io
import json
import zipfile

import pytest
from django.core.management import CommandError, call_command

from marketplace.accounts import people
from marketplace.models import Worker
from tests.site import world


def run(*arguments):
    said = io.StringIO()
    call_command("marketplace", "worker", *arguments, "--json", stdout=said)
    return json.loads(said.getvalue())


@pytest.fixture
def rosa(db) -> Worker:
    lab = world.make_requester()
    worker = world.make_worker("rosa")
    world.do(worker, world.post(world.make_group(lab, reward_cents=35)))
    people.block(requester=lab, worker=worker, reason="Too fast.")
    return worker


@pytest.mark.parametrize("blocks", [True, False])
def test_the_operator_writes_a_workers_data_into_a_file(rosa, tmp_path, blocks):
    path = tmp_path / "rosa.zip"
    said = run("export", "AROSA", str(path), *(["--blocks"] if blocks else []))
    assert said == {"worker_id": "AROSA", "file": str(path), "bytes": path.stat().st_size}
    with zipfile.ZipFile(path) as archive:
        assert ("AROSA/blocks.csv" in archive.namelist()) == blocks
        assert "Blue." in archive.read("AROSA/assignments.csv").decode()


def test_no_file_is_overwritten(rosa, tmp_path):
    path = tmp_path / "rosa.zip"
    path.write_text("mine")
    with pytest.raises(CommandError, match="is there already"):
        run("export", "AROSA", str(path))
    assert path.read_text() == "mine"
    with pytest.raises(CommandError, match="cannot be written"):
        run("export", "AROSA", str(tmp_path / "nowhere" / "rosa.zip"))


def test_an_account_is_closed_only_by_yes(rosa):
    with pytest.raises(CommandError, match="--yes"):
        run("close", "AROSA")
    rosa.refresh_from_db()
    assert rosa.closed_at is None
    said = run("close", "AROSA", "--yes")
    assert (said["closed"], said["returned"], said["login_stays"]) == (True, 0, False)
    assert run("receipt", said["receipt"]) == {
        "worker_id": "AROSA",
        "waiting": 1,
        "waiting_amount": "0.35",
        "not_paid_out": "0.00",
    }


def test_what_is_not_there_is_refused_in_words(rosa):
    with pytest.raises(CommandError, match="no worker with the id 'ANOBODY'"):
        run("close", "ANOBODY", "--yes")
    with pytest.raises(CommandError, match="not a receipt"):
        run("receipt", "AROSA.nonsense")
