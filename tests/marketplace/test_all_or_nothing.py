"""An error at any step of accepting, submitting or publishing leaves every row as it was."""

import itertools

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.db.utils import IntegrityError
from django.utils import timezone

from marketplace import ids
from marketplace.errors import Refusal
from marketplace.lifecycle import assignments, hits
from marketplace.models import HIT, Holding, Place
from marketplace.money import ledger
from tests.statements import is_write

from .conftest import QUESTION, make_hit, make_worker

#: More than any of these paths writes.
MOST_WRITES = 40


class BrokenError(Exception):
    """What a test raises in place of a statement."""


def read_all():
    """Every row of the marketplace."""
    models = apps.get_app_config("marketplace").get_models()
    return {model.__name__: sorted(map(repr, model.objects.values_list())) for model in models}


def fail_at_each_write(work):
    """Call `work` with an error in place of each statement that writes, in turn; how many there are."""
    for number in range(MOST_WRITES):
        before, writes = read_all(), itertools.count()

        def refuse(execute, sql, params, many, context, number=number, writes=writes):
            if is_write(sql) and next(writes) == number:
                raise BrokenError
            return execute(sql, params, many, context)

        try:
            with connection.execute_wrapper(refuse):
                work()
        except BrokenError:
            assert read_all() == before, f"write {number} failed"
        else:
            return number
    raise AssertionError("it never ended")


def test_accepting(requester, worker):
    hit = make_hit(requester, places=2)

    assert fail_at_each_write(lambda: assignments.accept(worker=worker, hit=hit)) >= 3
    assert Holding.objects.filter(worker=worker, hit=hit, state="accepted").count() == 1


def test_submitting_work_that_is_paid_at_once(requester, worker):
    hit = make_hit(requester, auto_approval_s=0)
    pk = assignments.accept(worker=worker, hit=hit).pk

    def submit():
        loaded = Holding.objects.select_related("hit__hit_type", "worker").get(pk=pk)
        assignments.submit(holding=loaded, fields=[("answer", "Blue.")])

    assert fail_at_each_write(submit) >= 5
    assert Holding.objects.get(pk=pk).state == "approved"
    requester.refresh_from_db()
    assert requester.held_cents == 0
    assert ledger.audit() == []


def test_publishing(requester):
    hit_type = make_hit(requester).hit_type

    @transaction.atomic  # as calls of the protocol are
    def publish():
        hits.create_hit(
            hit_id=ids.new_entity_id(),
            hit_type=hit_type,
            question=QUESTION,
            max_assignments=3,
            lifetime_s=3600,
            annotation="",
            now=timezone.now(),
        )

    assert fail_at_each_write(publish) >= 3
    assert HIT.objects.filter(hit_type=hit_type).count() == 2
    assert ledger.audit() == []


def test_a_hit_that_was_taken_already(requester, worker, monkeypatch):
    hit = make_hit(requester, places=3)
    assignments.accept(worker=worker, hit=hit)
    before = read_all()

    with pytest.raises(Refusal) as refused:
        assignments.accept(worker=worker, hit=hit)
    assert refused.value.code == "AssignmentAlreadyExists"
    assert isinstance(refused.value.__cause__, IntegrityError)
    assert read_all() == before
    assert Place.objects.filter(hit=hit).count() == 1
    assert assignments.accept(worker=make_worker(), hit=hit).state == "accepted"
