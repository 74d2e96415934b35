"""A decision about an answer is undone for some seconds, with all that it planned, and never by halves."""

import re

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Answer, AnswerNote, Query
from annotation.services import review_decisions
from annotation.services.review_decisions import HOLD, ReviewError
from core.projects.models import Event
from core.projects.services import set_role
from crowd.models import Assignment, MarketOperation
from crowd.outbox.calls import AT_MOST_ONCE, WITH_TOKEN, CallClasses, plan
from crowd.outbox.dispatch import due
from crowd.services import review
from tests.annotation.distilling import PASSAGE, make_query, make_stage, settle, write
from tests.cases import apart
from tests.saving import messages_of, undo_button

pytestmark = pytest.mark.django_db
DECISIONS = {
    "approve": (review_decisions.approve, {}),
    "rewrite": (review_decisions.ask_rewrite, {"reason": "In your own words."}),
    "exclude": (review_decisions.exclude, {"reason": "Copied."}),
    "reject": (review_decisions.exclude, {"reason": "Copied.", "reject_work": True}),
}


@pytest.fixture
def stage():
    return make_stage(approve_at_once=False)


@pytest.fixture
def me(stage):
    user = User.objects.create_user("manager")
    set_role(project=stage.project, user=user, role="manager")
    return user


@pytest.fixture
def desk(me):
    client = Client()
    client.force_login(me)
    return client


@pytest.fixture
def answers(stage):
    """Two answers to a query, in work that waits for a person."""
    query = make_query(stage)
    written = [write(stage, query, "Rome", worker="A1"), write(stage, query, PASSAGE, worker="A2")]
    now = timezone.now()
    Assignment.objects.filter(stage=stage).update(state="submitted", submitted_at=now)
    settle(stage)
    return written


def at(stage, name, *keys):
    return reverse(f"annotation:{name}", args=[stage.project.slug, stage.slug, *keys])


def state(answer):
    return Answer.objects.get(pk=answer.pk).state


def planned():
    return sorted(MarketOperation.objects.values_list("kind", flat=True))


def sendable(stage, now):
    return MarketOperation.objects.filter(due(stage.endpoint, now, CallClasses(WITH_TOKEN, AT_MOST_ONCE)))


def decide(name, answer, me):
    service, fields = DECISIONS[name]
    return service(answer=answer, actor=me, seen="undecided", hold=True, **fields)


def test_nothing_is_sent_before_it_can_no_longer_be_undone(stage, me, answers, subtests):
    for name in DECISIONS:
        with apart(subtests, name=name):
            made = decide(name, answers[0], me)
            assert MarketOperation.objects.exists()
            assert not sendable(stage, made.at + HOLD / 2).exists()
            assert sendable(stage, made.at + HOLD).count() == MarketOperation.objects.count()


def test_undoing_takes_away_what_was_planned_and_it_can_be_decided_again(stage, me, answers, subtests):
    for name, expected in (
        ("approve", ["approve"]),
        ("rewrite", ["approve", "message"]),
        ("exclude", ["approve"]),
        ("reject", ["reject"]),
    ):
        with apart(subtests, name=name):
            for _ in range(2):
                made = decide(name, answers[0], me)
                assert planned() == expected
                review_decisions.undo(answer=answers[0], review=made.pk, actor=me)
                assert (state(answers[0]), planned()) == ("undecided", [])
                settle(stage)
                assert planned() == []
            decide(name, answers[0], me)
            assert planned() == expected
            assert Event.objects.filter(action="answer.decision_undone", actor=me).count() == 2


def test_a_query_that_lacked_an_answer_for_a_moment_has_all_again(me):
    stage = make_stage()
    query = make_query(stage)
    first, _ = (write(stage, query, text, worker=text) for text in ("Rome", "Roma"))
    settle(stage)
    made = decide("exclude", first, me)
    assert Query.objects.get().status == Query.Status.CURATED
    review_decisions.undo(answer=first, review=made.pk, actor=me)
    assert (Query.objects.get().status, planned()) == (Query.Status.ANSWERED, [])


def test_what_was_claimed_for_sending_stays_decided(stage, me, answers, subtests):
    for name in DECISIONS:
        for sent in ({"state": "claimed"}, {"first_sent_at": timezone.now()}, {"state": "confirmed"}):
            with apart(subtests, name=name, sent=next(iter(sent))):
                made = decide(name, answers[0], me)
                before = planned()
                last = MarketOperation.objects.order_by("planned_at").last()
                MarketOperation.objects.filter(pk=last.pk).update(**sent)
                with pytest.raises(ReviewError, match="on its way"):
                    review_decisions.undo(answer=answers[0], review=made.pk, actor=me)
                assert planned() == before
                assert state(answers[0]) != "undecided"


def test_only_the_last_decision_is_undone_by_who_made_it_once_and_soon(stage, me, answers):
    made = decide("approve", answers[0], me)

    def refused(words, actor=me):
        with pytest.raises(ReviewError, match=words):
            review_decisions.undo(answer=answers[0], review=made.pk, actor=actor)
        assert planned() == ["approve"]

    refused("nothing to undo", User.objects.create_user("another"))
    with time_machine.travel(made.at + HOLD * 2):
        refused("too late to undo this: 10 seconds")
    review_decisions.undo(answer=answers[0], review=made.pk, actor=me)
    again = decide("approve", answers[0], me)
    refused("nothing to undo")
    review_decisions.reopen(answer=answers[0], actor=me, seen="approved")
    made = again
    refused("nothing to undo")


def test_what_others_did_with_the_work_since_is_not_undone(stage, me, answers):
    second = Answer.objects.create(
        stage=stage,
        assignment=answers[0].assignment,
        worker=answers[0].worker,
        query=make_query(stage, "another question"),
        text="Milan",
        created_at=timezone.now(),
    )
    made = decide("approve", answers[0], me)
    assert planned() == []
    review.approve(assignment=second.assignment, actor=User.objects.create_user("another"))
    with pytest.raises(ReviewError, match="decided about as a whole"):
        review_decisions.undo(answer=answers[0], review=made.pk, actor=me)
    assert (state(answers[0]), planned()) == ("approved", ["approve"])


def test_an_exclusion_stays_where_another_answer_was_asked_for(stage, me, answers):
    made = decide("exclude", answers[0], me)
    plan(kind="extend", endpoint=stage.endpoint, stage=stage, target="x", purpose="more", payload={})
    with pytest.raises(ReviewError, match="another answer was asked for"):
        review_decisions.undo(answer=answers[0], review=made.pk, actor=me)
    assert (state(answers[0]), planned()) == ("excluded", ["approve", "extend"])
    review_decisions.reopen(answer=answers[0], actor=me, seen="excluded")


def test_the_message_has_the_button_and_the_next_answer_is_there(stage, desk, answers):
    other = write(stage, make_query(stage, "another question"), "Milan", worker="A3")
    settle(stage)
    sent = {"seen": "undecided", "reason": "Copied."}
    page = desk.post(at(stage, "approve_answer", answers[0].pk), sent, follow=True)
    assert page.redirect_chain[-1][0].endswith(f"#answer-{answers[1].pk}")
    page = desk.post(at(stage, "exclude_answer", answers[1].pk), sent, follow=True)
    assert page.redirect_chain[-1][0] == at(stage, "answers_of_query", other.query_id)
    address, fields = undo_button(page)
    page = desk.post(at(stage, "approve_answer", other.pk), sent)
    assert page.headers["Location"] == f"{at(stage, 'answers_of_query', other.query_id)}#answer-{other.pk}"
    page = desk.post(address, fields, follow=True)
    assert page.redirect_chain[-1][0] == (
        f"{at(stage, 'answers_of_query', answers[1].query_id)}#answer-{answers[1].pk}"
    )
    assert "Undone." in page.content.decode()
    assert (state(answers[0]), state(answers[1])) == ("approved", "undecided")
    page = desk.post(address, fields, follow=True)
    assert "nothing to undo" in page.content.decode()
    page = desk.post(address, {"review": "nonsense 0-0 -"}, follow=True)
    assert messages_of(page) == ["There are no such decisions; nothing is undone."]


def test_whoever_goes_through_the_answers_of_a_writer_stays_there(stage, desk, answers):
    second = write(stage, make_query(stage, "another question"), "Milan", worker="A1")
    address = at(stage, "approve_answer", second.pk) + "?by=writer"
    page = desk.post(address, {"seen": "undecided"}, follow=True)
    writer = at(stage, "answers_of_worker", second.worker_id)
    assert page.redirect_chain[-1][0] == f"{writer}?page=1#answer-{answers[0].pk}"
    assert desk.post(*undo_button(page)).headers["Location"] == f"{writer}?page=1#answer-{second.pk}"
    assert state(second) == "undecided"


def test_all_that_were_approved_at_once_are_undone_at_once(stage, desk, me):
    query = make_query(stage)
    written = [write(stage, query, text, worker=text) for text in ("Rome", "Roma", "Rom")]
    Assignment.objects.filter(stage=stage).update(state="submitted", submitted_at=timezone.now())
    settle(stage)
    page = desk.post(at(stage, "approve_unflagged", query.pk), follow=True)
    assert planned() == ["approve"] * 3
    MarketOperation.objects.filter(assignment=written[1].assignment).update(state="claimed")
    page = desk.post(*undo_button(page), follow=True)
    assert "2 decisions are undone. 1 stay: It is too late" in page.content.decode()
    assert [state(each) for each in written] == ["undecided", "approved", "undecided"]
    assert planned() == ["approve"]


def test_what_has_no_flags_is_approved_over_many_queries_and_undone(stage, desk, answers):
    other = write(stage, make_query(stage, "another question"), "Milan", worker="A3")
    settle(stage)
    place = at(stage, "approve_chosen_unflagged")
    page = desk.post(place, {"chosen": [answers[0].query_id, other.query_id]}, follow=True)
    assert messages_of(page) == ["2 answers are approved."]
    assert [state(each) for each in (*answers, other)] == ["approved", "undecided", "approved"]
    desk.post(*undo_button(page))
    assert [state(each) for each in (*answers, other)] == ["undecided"] * 3
    page = desk.post(place, {"every": 2})
    assert "Approve answers to 2 queries?" in page.content.decode()
    page = desk.post(f"{place}?state=flagged", {"every": 1, "confirmed": 1}, follow=True)
    assert messages_of(page) == ["One answer is approved."]
    assert (state(answers[0]), state(other)) == ("approved", "undecided")
    page = desk.post(place, {"chosen": [answers[1].query_id]}, follow=True)
    assert messages_of(page)[0].startswith("No answer is approved: those that wait have flags")
    assert messages_of(desk.post(place, follow=True)) == ["Nothing is chosen. Tick the queries first."]


def test_a_note_stays_with_its_author_and_time(stage, desk, me, answers):
    page = desk.post(at(stage, "add_note", answers[0].pk), {"note": "  Ask\n<b>Ada</b> "}, follow=True)
    note = AnswerNote.objects.get()
    assert (note.answer, note.author, note.text) == (answers[0], me, "Ask <b>Ada</b>")
    assert "Ask &lt;b&gt;Ada&lt;/b&gt;" in page.content.decode()
    for text, words in (("", "Write the note first"), ("x" * 1001, "has 1,001 characters; 1,000 fit")):
        page = desk.post(at(stage, "add_note", answers[0].pk), {"note": text}, follow=True)
        assert words in page.content.decode()
    assert AnswerNote.objects.count() == 1


def test_what_answers_and_passages_share_is_marked_in_both(stage, desk):
    query = make_query(stage, passages=("Nothing.", PASSAGE))
    longer = (
        "To my mind this is the one where all of the ministers sit most days of a year, and I am sure that "
    )
    write(stage, query, longer + "it lies in the central portion, or so.", worker="A1")
    settle(stage)
    page = desk.get(at(stage, "answers_of_query", query.pk)).content.decode()
    marks = re.findall(r'<mark class="shared"[^>]*title="([^"]*)">([^<]*)<', page.replace("\n ", ""))
    shared = "lies in the central portion"
    assert marks == [("also in answer 1", shared), ("in passage 2", shared)]
