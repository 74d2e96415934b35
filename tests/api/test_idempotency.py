"""Requests that come again do nothing again, whatever dies in between."""

import threading
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from core.api import idempotency
from core.api.idempotency import KEPT, LEASE, Claim, StoredReply, claim_key, keep_reply
from core.api.models import IdempotencyRecord
from core.projects.models import Project
from core.projects.services import create_project
from distillery.tasks import prune
from tests.api.conftest import is_problem, program_of
from tests.desk.conftest import let_make_projects

NEW = {"slug": "coffee", "title": "Coffee"}


def test_the_same_request_gets_the_same_reply_and_makes_one_project(program):
    first = program.post("/projects", NEW, key="k1")
    again = program.post("/projects", NEW, key="k1")
    assert (first.status_code, first.content, first["ETag"]) == (201, again.content, again["ETag"])
    assert again.status_code == 201 and again["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert Project.objects.filter(slug="coffee").count() == 1


def test_the_key_of_another_request_is_refused_and_a_refusal_keeps_none(program):
    is_problem(program.post("/projects", {**NEW, "slug": "tea"}, key="k1"), 409, "slug_taken")
    assert program.post("/projects", NEW, key="k1").status_code == 201
    is_problem(program.post("/projects", {**NEW, "slug": "cocoa"}, key="k1"), 422, "idempotency_key_reused")
    is_problem(
        program.post("/projects/tea/stages", {}, key="k1"), 422, "invalid"
    )  # what cannot be read is refused first, and uses no key
    is_problem(program.post("/projects", NEW, key="k" * 201), 400, "idempotency_key_invalid")
    assert not Project.objects.filter(slug="cocoa").exists()
    user = User.objects.create_user("maria")  # keys are each person's own
    create_project(slug="milk", title="Milk", owner=user)
    let_make_projects(user)
    other = program_of(user)
    assert other.post("/projects", {**NEW, "slug": "cocoa"}, key="k1").status_code == 201


def test_while_the_first_is_worked_on_the_second_is_told_to_wait(program, owner):
    answers: list[Any] = []

    def create_slowly(**fields: Any) -> Project:
        answers.append(program.post("/projects", NEW, key="k1"))
        return create_project(**fields)

    with patch("core.projects.services.create_project", create_slowly):
        first = program.post("/projects", NEW, key="k1")
    assert first.status_code == 201
    is_problem(answers[0], 409, "idempotency_key_in_flight")
    assert 1 <= int(answers[0]["Retry-After"]) <= LEASE.total_seconds() + 1


def test_an_error_of_ours_leaves_neither_effect_nor_key(program):
    def fail(*_: Any) -> None:
        raise RuntimeError("the power went")

    with patch("web.api.resources.keep_reply", fail):
        is_problem(program.post("/projects", NEW, key="k1"), 500, "internal")
    assert not Project.objects.filter(slug="coffee").exists()
    assert not IdempotencyRecord.objects.exists()
    assert program.post("/projects", NEW, key="k1").status_code == 201


def test_the_claim_of_a_process_that_died_ends_and_nothing_was_done(program, owner):
    """Killed between claim and commit: the claim is there, the effect and the reply are not."""
    body = b'{"slug": "coffee", "title": "Coffee"}'
    digest = idempotency.digest_of("POST", "/api/v1/projects", body)
    assert isinstance(claim_key(user=owner, key="k1", digest=digest), Claim)
    is_problem(program.post("/projects", body, key="k1"), 409, "idempotency_key_in_flight")
    IdempotencyRecord.objects.update(claimed_until=timezone.now())
    assert program.post("/projects", body, key="k1").status_code == 201


def test_one_that_was_only_slow_finds_its_claim_gone_and_rolls_back(program, owner):
    """Its claim ended, another took over and is done: the slow one must not do it a second time."""
    claim = claim_key(user=owner, key="k1", digest="d")
    IdempotencyRecord.objects.update(claimed_until=timezone.now())
    second = claim_key(user=owner, key="k1", digest="d")
    assert isinstance(claim, Claim) and isinstance(second, Claim)
    with pytest.raises(idempotency.KeyInFlightError):
        keep_reply(claim, StoredReply(201, {}, "{}"))
    keep_reply(second, StoredReply(201, {}, '{"by": "the second"}'))
    found = claim_key(user=owner, key="k1", digest="d")
    assert isinstance(found, StoredReply) and found.body == '{"by": "the second"}'


def test_replies_are_kept_for_seven_days(program, owner):
    program.post("/projects", NEW, key="k1")
    old = timezone.now() - KEPT - timedelta(minutes=1)
    IdempotencyRecord.objects.update(created_at=old)
    assert claim_key(user=owner, key="k1", digest="another") != None  # noqa: E711
    IdempotencyRecord.objects.update(created_at=old)
    prune()
    assert not IdempotencyRecord.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_at_the_same_moment_one_acts():
    owner = User.objects.create_user("olga")
    let_make_projects(owner)
    create_project(slug="tea", title="Tea", owner=owner)
    program = program_of(owner)
    start, answers = threading.Barrier(6), []

    def ask() -> None:
        try:
            start.wait(timeout=30)
            answers.append(program_of_thread(program).post("/projects", NEW, key="k1"))
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    codes = sorted(answer.status_code for answer in answers)
    assert len(codes) == 6 and set(codes) <= {201, 409}, codes
    assert sum("Idempotency-Replayed" not in each.headers for each in answers if each.status_code == 201) == 1
    assert Project.objects.filter(slug="coffee").count() == 1


def program_of_thread(program: Any) -> Any:
    from django.test import Client

    return type(program)(program.token, Client(raise_request_exception=False))
