"""Rewrites: a reviewer asks, a message brings a link, and its author writes once more."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.models import Answer, AnswerReview, Query
from annotation.services import query_answers, review_decisions
from annotation.services.query_answers import NotAskedError, rewrite_answer
from crowd.models import Assignment, LedgerEntry, MarketOperation
from crowd.taskpage import Ticket, write_ticket
from tests.annotation.distilling import HOSTILE, PASSAGE, flags_of, make_query, make_stage, settle, write
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage():
    return make_stage(redundancy=1)


@pytest.fixture
def reviewer():
    return User.objects.create_user("reviewer")


@pytest.fixture
def answer(stage):
    made = write(stage, make_query(stage), PASSAGE, worker="A1")
    settle(stage)
    return made


def ask(answer, reviewer, reason="Please use your own words"):
    review_decisions.ask_rewrite(
        answer=answer, actor=reviewer, seen=Answer.objects.get(pk=answer.pk).state, reason=reason
    )
    letter = MarketOperation.objects.filter(kind="message").latest("planned_at").payload
    return re.search(r"http://\S+", letter["text"])[0], letter


@pytest.fixture
def link(answer, reviewer):
    return ask(answer, reviewer)[0].partition("8000")[2]


def page(link, client=None):
    return (client or Client(enforce_csrf_checks=True)).get(link)


def send(link, **fields):
    return Client(enforce_csrf_checks=True).post(link, fields)


def test_the_author_gets_a_message_with_the_reason_and_a_link(answer, reviewer):
    with pytest.raises(review_decisions.ReviewError, match="Say why"):
        ask(answer, reviewer, reason=" ")
    assert not MarketOperation.objects.exists()
    link, letter = ask(answer, reviewer)
    assert letter["workers"] == ["A1"]
    assert letter["subject"] == "Please write one answer again: Answer a question"
    assert "Please use your own words" in letter["text"]
    assert "changes nothing about its pay" in letter["text"]
    assert link.startswith("http://127.0.0.1:8000/task/rewrite/")
    assert AnswerReview.objects.get().reason == "Please use your own words"


def test_the_page_shows_query_passages_the_earlier_answer_and_the_reason_and_keeps_its_address(link):
    response = page(link)
    said = words(response)
    assert "what is the capital of italy" in said
    assert "Please use your own words" in said
    assert f"\n{PASSAGE}</textarea>" in response.content.decode()
    assert "the new answer is not paid extra" in said
    assert not response.cookies
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "no-store" in response.headers["Cache-Control"]
    assert "script-src 'self'" in response.headers["Content-Security-Policy"]
    assert "<script" not in response.content.decode()


def test_the_new_text_is_a_row_of_its_own_nothing_is_paid_again_and_the_link_works_once(stage, answer, link):
    assert settle(stage)["reopened"] == 0, "while it waits the answer counts"

    def of_money():
        return list(Assignment.objects.values()), LedgerEntry.objects.count(), MarketOperation.objects.count()

    before = of_money()
    response = send(link, text="It is Rome.")
    assert "takes the place of the earlier one" in words(response)
    assert of_money() == before
    answer.refresh_from_db()
    new = answer.revision
    assert (answer.state, answer.text) == ("replaced", PASSAGE)
    assert (new.state, new.text) == ("undecided", "It is Rome.")
    assert (new.worker, new.assignment) == (answer.worker, answer.assignment)
    assert (flags_of(answer), flags_of(new)) == (["copy-run", "copy-share"], [])
    assert new.checked_at is not None
    assert Query.objects.get().status == Query.Status.ANSWERED
    assert "stored" in words(send(link, text="Something else."))  # the same form sent twice is no alarm
    assert Answer.objects.count() == 2
    assert page(link).status_code == 410
    with pytest.raises(NotAskedError):
        rewrite_answer(answer=answer, response={"text": "again"})


def test_the_same_checks_hold_and_what_was_written_stays_beside_the_error(link):
    for text, why in [
        ("", "Write your answer"),
        ("what is the capital of italy", "This is the question itself."),
        (PASSAGE, "This is your earlier answer."),
        ("Рим является столицей", "another script"),
        ("x" * 2001, "at most 2,000 fit"),
    ]:
        response = send(link, text=text)
        assert (response.status_code, why in words(response)) == (422, True), text
        assert 'href="#u1-text-error"' in response.content.decode()
        assert Answer.objects.count() == 1
    response = send(link, text="Рим является <столицей>")
    assert "Рим является &lt;столицей&gt;</textarea>" in response.content.decode()


def test_opinion_and_entities_are_asked_again(stage, reviewer):
    query = make_query(stage, yes_no=True, type="LOCATION")
    answer = write(stage, query, "Rome is it.", worker="A2")
    link = ask(answer, reviewer)[0].partition("8000")[2]
    assert 'value="Yes" checked' in page(link).content.decode()
    assert send(link, text="Rome is it.", opinion="Depends", entities="Rome").status_code == 200
    new = Answer.objects.get(revises=answer)
    assert (new.opinion, new.entities) == ("Depends", [{"start": 0, "end": 4, "text": "Rome"}])


def test_a_link_that_was_changed_made_up_or_is_too_old_is_nothing(answer, link, reviewer):
    for bad in (link[:-3] + "x/", "/task/rewrite/nonsense/", "/task/rewrite/%00%F0/"):
        assert page(bad).status_code == 404
        assert send(bad, text="It is Rome.").status_code == 404
    with time_machine.travel(timezone.now() + timedelta(days=15)):
        assert page(link).status_code == 404
    with time_machine.travel(timezone.now() + timedelta(days=13)):
        assert page(link).status_code == 200
    token = query_answers.write_rewrite_token(answer.pk)
    assert query_answers.read_rewrite_token(token) == answer.pk
    assert query_answers.read_rewrite_token("") is None
    assert query_answers.read_rewrite_token(write_ticket(Ticket(answer.pk, "https://x"))) is None
    review_decisions.approve(answer=answer, actor=reviewer, seen="rewrite")
    assert page(link).status_code == 410, "a reviewer who decides otherwise ends the link"
    assert send(link, text="It is Rome.").status_code == 410
    assert Answer.objects.count() == 1


def test_a_rewrite_can_be_asked_about_again(stage, answer, link, reviewer):
    send(link, text="It is Rome.")
    second = Answer.objects.get(revises=answer)
    again = ask(second, reviewer, "Say a little more")[0].partition("8000")[2]
    assert "Say a little more" in words(page(again))
    send(again, text="It is Rome, on the Tiber.")
    assert [each.state for each in Answer.objects.order_by("pk")] == ["replaced", "replaced", "undecided"]
    assert settle(stage) == {"checked": 0, "answered": 0, "reopened": 0, "held_out": 0}


def test_hostile_reasons_and_answers_are_escaped(stage, reviewer):
    answer = write(stage, make_query(stage, HOSTILE), f"Rome {HOSTILE}", worker="A3")
    link = ask(answer, reviewer, HOSTILE)[0].partition("8000")[2]
    assert "<script>alert" not in page(link).content.decode()
    assert "<script>alert" not in send(link, text="").content.decode()


def test_a_form_that_is_far_too_large_is_refused_in_words(link, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    response = Client().post(link, "text=" + "x" * 5000, content_type="application/x-www-form-urlencoded")
    assert response.status_code == 413
    assert "nothing was stored" in words(response)
