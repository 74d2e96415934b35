"""The requester protocol and the worker API answer with the bytes of the snapshot."""

import re

import pytest

from marketplace.protocol.shapes import OPERATIONS
from tests.contracts.protocol import record_protocol
from tests.contracts.snapshots import FOLDER, check_snapshot


@pytest.mark.django_db
def test_every_operation_answers_as_it_did(settings):
    settings.MARKETPLACE_REQUESTS_PER_SECOND = 10_000
    check_snapshot("protocol", record_protocol())


def test_the_snapshot_has_every_operation():
    text = (FOLDER / "protocol.txt").read_text(encoding="utf-8")
    assert sorted(set(OPERATIONS) - set(re.findall(r"^> (\w+) ", text, flags=re.MULTILINE))) == []
