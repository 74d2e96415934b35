"""Answers and work are decided once: the last answer decides the work, and approved work its answers."""

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Answer, AnswerFlag
from annotation.services import review_decisions
from core.projects.models import Event, Project
from core.projects.services import set_role
from crowd.adapters.base import CallRefusal
from crowd.models import Assignment, MarketOperation, Stage
from crowd.outbox import results
from crowd.services import decisions, review
from releases.selectors import content_of
from tests.annotation.distilling import make_query, make_stage, settle, write
from tests.cases import apart

pytestmark = pytest.mark.django_db


def another_answer(first: Answer) -> Answer:
    """An answer to a further query in the same work."""
    return Answer.objects.create(
        stage=first.stage,
        assignment=first.assignment,
        worker=first.worker,
        query=make_query(first.stage, "another question"),
        text="Milan",
        created_at=timezone.now(),
    )


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


def listed(stage):
    """The marketplace lists all that was sent."""
    now = timezone.now()
    Assignment.objects.filter(stage=stage, state="stored").update(state="submitted", submitted_at=now)


def approvals():
    rows = MarketOperation.objects.filter(kind="approve").order_by("assignment")
    return list(rows.values_list("assignment", flat=True))


def counts(desk, stage):
    page = desk.get(reverse("desk:queues", args=[stage.project.slug]))
    return {each.queue.name: each.count for each in page.context["waiting"]}


def at(stage, name, pk):
    return reverse(f"annotation:{name}", args=[stage.project.slug, stage.slug, pk])


def test_each_piece_of_work_waits_once_and_is_decided_once(stage, desk):
    query = make_query(stage)
    written = [write(stage, query, text, worker=text) for text in ("Rome", "Roma")]
    listed(stage)
    settle(stage)
    assert counts(desk, stage) == {"answers": 2}
    desk.post(at(stage, "approve_unflagged", query.pk))
    assert approvals() == [answer.assignment_id for answer in written]
    assert counts(desk, stage) == {}
    assert Event.objects.filter(action="assignment.approved", actor__username="manager").count() == 2


def test_any_decision_about_the_only_answer_approves_its_work(stage, me, subtests):
    answer = write(stage, make_query(stage), "Rome", worker="A1")
    listed(stage)
    for decide in (review_decisions.approve, review_decisions.ask_rewrite, review_decisions.exclude):
        with apart(subtests, decide=decide.__name__):
            reason = {} if decide is review_decisions.approve else {"reason": "Too short."}
            decide(answer=answer, actor=me, seen="undecided", **reason)
            assert approvals() == [answer.assignment_id]


def test_work_waits_until_all_its_answers_are_decided(stage, me, desk):
    first = write(stage, make_query(stage), "Rome", worker="A1")
    second = another_answer(first)
    AnswerFlag.objects.create(answer=second, name="spelling", created_at=timezone.now())
    listed(stage)
    assert counts(desk, stage) == {"answers": 1, "flagged": 1}
    review_decisions.approve(answer=first, actor=me, seen="undecided")
    assert (approvals(), counts(desk, stage)) == ([], {"flagged": 1})
    review_decisions.exclude(answer=second, actor=me, seen="undecided", reason="Milan is no capital.")
    assert (approvals(), counts(desk, stage)) == ([first.assignment_id], {})


def test_an_answer_that_was_decided_before_its_work_was_listed_is_not_asked_about_again(stage, me, desk):
    answer = write(stage, make_query(stage), "Rome", worker="A1")
    review_decisions.approve(answer=answer, actor=me, seen="undecided")
    assert approvals() == []
    listed(stage)
    settle(stage)
    settle(stage)
    assert (approvals(), counts(desk, stage)) == ([answer.assignment_id], {})
    assert Event.objects.get(action="assignment.approved").actor == me


def test_what_the_marketplace_refused_waits_for_a_person_and_is_not_asked_for_ever(stage, me, desk):
    answer = write(stage, make_query(stage), "Rome", worker="A1")
    listed(stage)
    review_decisions.approve(answer=answer, actor=me, seen="undecided")
    results.apply(MarketOperation.objects.get(kind="approve"), CallRefusal("RequestError", "No."))
    settle(stage)
    assert (len(approvals()), counts(desk, stage)) == (1, {"held": 1})


def test_an_exclusion_can_reject_the_work_for_the_same_reason(stage, desk):
    answer = write(stage, make_query(stage), "Rome", worker="A1")
    listed(stage)
    page = desk.get(at(stage, "answers_of_query", answer.query_id)).content.decode()
    assert "Exclude and reject the work" in page
    sent = {"seen": "undecided", "reason": "Copied.", "work": "reject"}
    desk.post(at(stage, "exclude_answer", answer.pk), sent)
    operation = MarketOperation.objects.get()
    assert (operation.kind, operation.payload["note"]) == ("reject", "Copied.")
    assert counts(desk, stage) == {}


def test_rejected_work_has_no_answers_to_decide_and_held_work_is_one_decision(stage, desk):
    write(stage, make_query(stage), "Rome", worker="A1")
    with transaction.atomic():
        Assignment.objects.update(state="rejected")
        assert counts(desk, stage) == {}
        transaction.set_rollback(True)
    listed(stage)
    Assignment.objects.update(held=True)
    assert counts(desk, stage) == {"held": 1}


def test_where_work_is_approved_at_once_a_review_plans_nothing(me):
    stage = make_stage()
    answer = write(stage, make_query(stage), "Rome", worker="A1")
    listed(stage)
    review_decisions.approve(answer=answer, actor=me, seen="undecided")
    assert approvals() == []


class TestApprovingTheWholeWork:
    """Undecided answers without flags are approved with their work, in the name of the same person."""

    def two_answers(self, stage):
        first = write(stage, make_query(stage), "Rome is the capital.", worker="A1")
        second = another_answer(first)
        listed(stage)
        settle(stage)
        AnswerFlag.objects.filter(answer=first).delete()
        AnswerFlag.objects.get_or_create(
            answer=second, name="spelling", defaults={"created_at": timezone.now()}
        )
        return first, second

    def test_one_approval_decides_about_answers_and_flagged_ones_keep_their_own(self, stage, me, desk):
        first, second = self.two_answers(stage)
        answer = desk.post(
            reverse("desk:approve", args=[stage.project.slug, stage.slug, first.assignment_id]),
            {"note": ""},
            follow=True,
        )
        assert "One answer in it still has flags and waits in the review" in answer.content.decode()
        states = dict(Answer.objects.values_list("pk", "state"))
        assert states == {first.pk: "approved", second.pk: "undecided"}
        made = first.reviews.get()
        assert (made.actor, made.action, made.reason) == (me, "approve", "Its whole work was approved.")
        assert not second.reviews.exists()

    def test_a_release_takes_what_was_approved_with_its_work(self, stage, me):
        first, _ = self.two_answers(stage)
        review.approve(assignment=first.assignment, actor=me)
        Stage.objects.filter(pk=stage.pk).update(reserved_cents=1_000)
        Project.objects.filter(pk=stage.project_id).update(budget_cents=10_000, reserved_cents=1_000)
        decisions.book_approval(first.assignment, at=timezone.now())
        found = {each.group.name: each.count for each in content_of(stage.project).of_answers}
        assert (found["undecided"], found["flagged"], found["held"]) == (0, 1, 0)

    def test_many_at_once_do_the_same(self, stage, desk):
        first, _ = self.two_answers(stage)
        answer = desk.post(
            reverse("desk:approve_chosen", args=[stage.project.slug, stage.slug]),
            {"chosen": [first.assignment_id]},
            follow=True,
        )
        assert "Work of A1 was approved. One answer in it still has flags" in answer.content.decode()
        first.refresh_from_db()
        assert first.state == "approved"

    def test_answers_that_no_check_has_seen_are_checked_first(self, stage, me):
        query = make_query(stage)
        answers = [write(stage, query, "the same words twice", worker=name) for name in ("A1", "A2")]
        listed(stage)
        for answer in answers:
            review.approve(assignment=answer.assignment, actor=me)
        assert not Answer.objects.filter(checked_at=None).exists()
        flagged = {answer.pk for answer in Answer.objects.exclude(flags=None)}
        approved = set(Answer.objects.filter(state="approved").values_list("pk", flat=True))
        assert approved == {answer.pk for answer in answers} - flagged

    def test_what_a_reviewer_decided_before_stays(self, stage, me):
        first, _ = self.two_answers(stage)
        review_decisions.exclude(answer=first, actor=me, seen="undecided", reason="Copied.")
        review.approve(assignment=first.assignment, actor=me)
        first.refresh_from_db()
        assert first.state == "excluded"
        assert first.reviews.count() == 1

    def test_held_work_that_goes_on_and_work_approved_after_all_are_whole_too(self, stage, me):
        first, _ = self.two_answers(stage)
        Assignment.objects.filter(pk=first.assignment_id).update(held=True)
        review.release_hold(assignment=first.assignment, actor=me)
        first.refresh_from_db()
        assert first.state == "approved"

    def test_a_program_that_approves_decides_about_no_answer(self, stage):
        first, _ = self.two_answers(stage)
        review.approve(assignment=first.assignment, actor=None)
        first.refresh_from_db()
        assert first.state == "undecided"
