"""A database that is older than what its data folder knows sends nothing, and says why."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from core.crypto import unseal
from crowd.models import DispatchEpoch, DispatchHalt, MarketOperation
from crowd.outbox import epoch
from crowd.outbox.dispatch import dispatch
from crowd.services import stages
from crowd.services.tick import tick
from tests.crowd.world import make_stage

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(market):
    """Published once, so that database and data folder know a number; then a HIT more is planned."""
    made = make_stage()
    stages.open_stage(stage=made)
    assert dispatch(made.endpoint).confirmed == 2
    stages.extend_hit_places(hit=made.hits.order_by("pk")[0], places=1, purpose="more")
    return made


@pytest.fixture
def path(settings):
    return Path(settings.DATA_DIR) / epoch.FILE


def remembered(path):
    return json.loads(path.read_text())["number"]


def number():
    return DispatchEpoch.objects.get().number


def restore(batches):
    """As if a backup of so many batches before had been put in place by other means than ours."""
    DispatchEpoch.objects.update(number=F("number") - batches)


def test_each_batch_is_known_beside_the_database_before_its_first_call(stage, path, market):
    seen = []
    market.on_call = lambda name: seen.append((name, remembered(path)))
    before = number()
    dispatch(stage.endpoint)
    assert number() == before + 1
    assert seen == [("extend", before + 1)]


def test_a_restored_database_sends_nothing_and_says_why(stage, market):
    restore(1)
    calls = len(market.calls)
    assert tick().idle and dispatch(stage.endpoint).total == 0
    assert len(market.calls) == calls
    with pytest.raises(CommandError, match="Use --after-restore, which looks"):
        call_command("crowd", "reconcile", "--not-restored")
    assert DispatchHalt.objects.get().why == (
        "The database is older than what this installation last did (batch 1 of calls, the database "
        "knows 0): it was restored from a backup."
    )


def test_a_database_that_goes_back_while_a_round_runs_is_noticed_before_the_next_call(
    stage, market, monkeypatch
):
    calls = len(market.calls)
    advance = epoch.advance

    def gone_back():
        number = advance()
        restore(2)
        return number

    monkeypatch.setattr(epoch, "advance", gone_back)
    dispatch(stage.endpoint)
    assert len(market.calls) == calls
    operation = MarketOperation.objects.get(kind="extend")
    assert (operation.state, operation.first_sent_at, operation.attempts) == ("planned", None, 0)
    assert DispatchHalt.objects.count() == 1


def test_nothing_new_is_planned_for_a_halted_marketplace(stage, market):
    epoch.halt_all("A test.")
    other = make_stage(stage.endpoint)
    stages.open_stage(stage=other)
    assert not other.hits.exists()


def test_other_hosts_do_not_halt_again_what_was_compared(stage, path, market):
    older = path.read_text()
    restore(1)
    assert tick().idle
    DispatchHalt.objects.all().delete()
    path.write_text(older)
    assert tick().sent == 1


def test_a_new_data_folder_sends_nothing_until_a_person_says_that_it_is_new(stage, path):
    path.unlink()
    assert tick().idle
    assert "has never seen this database" in epoch.unsure()
    call_command("crowd", "reconcile", "--not-restored")
    assert epoch.unsure() == ""
    assert tick().sent == 1


def test_a_new_host_sends_as_soon_as_another_one_that_knows_the_database_runs(stage, path):
    known = path.read_text()
    path.unlink()
    assert tick().idle
    new = path.read_text()
    path.write_text(known)
    epoch.vouch()
    path.write_text(new)
    assert tick().sent == 1


def test_a_data_folder_of_another_database_is_new_too(stage, path):
    DispatchEpoch.objects.update(installation="00000000-0000-4000-8000-000000000000")
    assert tick().idle
    assert "has never seen this database" in epoch.unsure()


def test_a_database_that_never_sent_anything_may_begin_anywhere(db, path):
    path.write_text('{"installation": "of another", "number": 7}')
    assert epoch.obstacle() == ""
    assert remembered(path) == 0


def test_where_the_data_folder_cannot_be_written_nothing_is_sent(stage, market, monkeypatch):
    def full(memory):
        raise OSError(28, "No space left on device")

    calls = len(market.calls)
    monkeypatch.setattr(epoch, "_write", full)
    assert dispatch(stage.endpoint).total == 0
    assert len(market.calls) == calls
    assert MarketOperation.objects.get(kind="extend").state == "planned"


def test_keys_of_an_endpoint_are_entered_again(stage, monkeypatch):
    monkeypatch.setenv("CROWD_ACCESS_KEY", "AKNEW")
    monkeypatch.setenv("CROWD_SECRET", "new secret")
    call_command("crowd", "endpoint", "keys", stage.endpoint.name, stdout=StringIO())
    stage.endpoint.refresh_from_db()
    assert stage.endpoint.access_key == "AKNEW"
    assert unseal(stage.endpoint.secret_sealed, purpose="crowd.endpoint") == "new secret"
