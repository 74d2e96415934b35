"""Two requesters, workers, and the shortest way to a HIT."""

import itertools
import random

import pytest
from django.utils import timezone

from marketplace import ids
from marketplace.accounts import people
from marketplace.lifecycle import hits
from marketplace.lifecycle.hits import TypeProperties
from marketplace.models import HIT, Requester, Worker
from marketplace.money import deposits

QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2006-07-14/ExternalQuestion.xsd"><ExternalURL>https://tasks.example.org/q?a=1&amp;b=2</ExternalURL>'
    "<FrameHeight>0</FrameHeight></ExternalQuestion>"
)
_numbers = itertools.count(random.randrange(10**9))


@pytest.fixture
def requester(db) -> Requester:
    return make_requester()


@pytest.fixture
def worker(db) -> Worker:
    return make_worker()


def make_requester(deposit_cents: int = 100_00, fees: str = "mturk-2026") -> Requester:
    requester, _ = people.create_requester(name=f"Lab {next(_numbers)}", fee_profile=fees)
    return deposits.deposit(requester=requester, cents=deposit_cents)


def make_worker(**properties) -> Worker:
    worker, _ = people.create_scripted_worker(name=f"worker {next(_numbers)}", **properties)
    return worker


def make_hit(requester: Requester, *, places: int = 1, lifetime_s: int = 3600, **properties) -> HIT:
    values = {
        "title": "Answer a question",
        "description": "Read and answer",
        "keywords": "",
        "reward_cents": 10,
        "duration_s": 600,
        "auto_approval_s": 3600,
        "requirements": [],
    } | properties
    hit_type = hits.create_hit_type(
        requester=requester, properties=TypeProperties(**values), now=timezone.now()
    )
    return hits.create_hit(
        hit_id=ids.new_entity_id(),
        hit_type=hit_type,
        question=QUESTION,
        max_assignments=places,
        lifetime_s=lifetime_s,
        annotation="",
        now=timezone.now(),
    )
