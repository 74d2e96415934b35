"""Stored secrets after SECRET_KEY was changed."""

from io import StringIO

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from core.crypto import unseal
from crowd.models import Endpoint
from distillery.canary import SEALED, key_opens
from distillery.env import SEALED_COLUMNS
from marketplace.models import AccessKey, Worker
from marketplace.money.finance import payment_note, set_payment_note
from tests.marketplace.conftest import make_requester, make_worker
from tests.taskpage.world import SECRET, make_stage

pytestmark = pytest.mark.django_db


@pytest.fixture
def rotated(settings):
    """A key, a note and an endpoint of before; then another SECRET_KEY."""
    make_requester()
    set_payment_note(worker=make_worker(), note="IBAN DE00")
    make_worker()
    make_stage()
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret key, long enough for what it has to do"
    return settings


def test_everything_opens_without_the_old_key_afterwards(rotated):
    out = StringIO()
    call_command("reseal", stdout=out)
    rotated.SECRET_KEY_FALLBACKS = []
    key, worker = AccessKey.objects.get(), Worker.objects.exclude(payment_note_sealed="").get()
    assert unseal(key.secret_sealed, purpose="marketplace.requester")
    assert payment_note(worker) == "IBAN DE00"
    assert unseal(Endpoint.objects.get().secret_sealed, purpose="crowd.endpoint") == SECRET
    assert "1 sealed with the present key" in out.getvalue()
    call_command("reseal", stdout=StringIO())


def test_what_no_key_opens_is_named_and_left_as_it_is_until_somebody_says_to_empty_it(rotated):
    rotated.SECRET_KEY_FALLBACKS = []
    before = AccessKey.objects.get().secret_sealed
    with pytest.raises(CommandError, match="3 could not be read"):
        call_command("reseal", stdout=StringIO(), stderr=StringIO())
    assert AccessKey.objects.get().secret_sealed == before
    said = StringIO()
    call_command("reseal", "--forget-lost", stdout=StringIO(), stderr=said)
    assert AccessKey.objects.get().secret_sealed == Endpoint.objects.get().secret_sealed == ""
    assert said.getvalue().count("emptied; enter it again.") == 3
    assert key_opens() is True


def test_every_sealed_column_is_known():
    columns = {
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.name.endswith("_sealed")
    }
    assert columns == {(model, field) for model, field, _ in SEALED}
    assert set(SEALED_COLUMNS) == {(model._meta.db_table, field) for model, field, _ in SEALED}
